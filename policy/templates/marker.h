/*
 * placeholder-policy: the first packets of a flow are green, the next ones yellow, the rest red.
 *
 * This header is a policy as it stands: check it, compare with it, then make it your own.
 *
 *   mousehole policy check placeholder-policy.h
 *   mousehole compare web:sfd --policy placeholder-policy.h --schemes 'droptail,placeholder-policy|priority'
 *
 * What a policy may do. It is called with the packet's view, the time and 32 random bits, and answers with a colour.
 * It calls no functions but those of this header and of mousehole's, reads no clock, keeps no variables of its own,
 * has no floating point and no loop without a constant bound. So it runs in the simulator and in the kernel alike.
 *
 * Say here where the idea comes from, give the formula, the ranges, and what deviates from the paper.
 */
#ifndef PLACEHOLDER_POLICY_H
#define PLACEHOLDER_POLICY_H

#include "mousehole/policy.h"

/*
 * The parameters. The table below fills them from text. Suffixes name units: _ns, _bytes, _q32. A struct has no hidden
 * padding: put wide fields first, and fill up with a field named `reserved`.
 */
struct mh_placeholder_policy_params {
	u64 timeout_ns; /* a flow that was silent for longer starts again at zero; MH_NEVER for never */
	u32 green;      /* packets of a flow that are green */
	u32 yellow;     /* packets of a flow that are green or yellow */
};

/*
 * What is kept of each flow. All zero is a new flow. A policy that keeps nothing takes `mh_none` in its place.
 */
struct mh_placeholder_policy_flow {
	u64 last_seen_ns;
	u32 packets;
	u32 reserved;
};

/* Returns whether the flow may be forgotten. Leave it out, and MH_EXPIRED below, if flows are kept for ever. */
MH_FN u32 mh_placeholder_policy_expired(const struct mh_placeholder_policy_params *params,
					const struct mh_placeholder_policy_flow *flow, u64 now_ns)
{
	return now_ns > flow->last_seen_ns && now_ns - flow->last_seen_ns > params->timeout_ns;
}

/* Returns whether the colour depends on `random`. Leave it out, and MH_DRAWS below, if it always may. */
MH_FN u32 mh_placeholder_policy_draws(const struct mh_placeholder_policy_params *params)
{
	(void)params;
	return 0;
}

/*
 * Returns the colour of a packet: MH_GREEN, MH_YELLOW, MH_RED, or MH_DISCARD to drop it. `view` tells size, segments,
 * flags and more of the packet; base.h lists them. `state` is what all flows share; here it is nothing.
 */
MH_FN u32 mh_placeholder_policy_packet(const struct mh_placeholder_policy_params *params,
				       struct mh_placeholder_policy_flow *flow, struct mh_none *state,
				       const struct mh_view *view, u64 now_ns, u32 random)
{
	(void)state;
	(void)random;
	if (view->flags & MH_SYN || mh_placeholder_policy_expired(params, flow, now_ns))
		flow->packets = 0; /* a new flow, or a port that is used again */
	flow->packets = mh_saturating_add(flow->packets, mh_segments(view));
	flow->last_seen_ns = mh_max(flow->last_seen_ns, now_ns);
	if (flow->packets <= params->green)
		return MH_GREEN;
	return flow->packets <= params->yellow ? MH_YELLOW : MH_RED;
}

/* Only user space compiles what follows: it may use floating point and the headers of the system. */
#ifdef MH_DESCRIBE

/*
 * The parameters as users write them: placeholder-policy(green=10,yellow=40,timeout=1s). policy.h lists the kinds. A
 * default is text as a user would write it; `least` and `most` are in s, bytes, bit/s, packets or as they are.
 */
static const struct mh_parameter mh_placeholder_policy_parameters[] = {
	{ MH_FIELD(mh_placeholder_policy_params, green), .kind = MH_COUNT, .name = "green", .value = "10", .least = 0,
	  .most = 4294967295.0, .meaning = "the first packets of a flow are green, up to this count",
	  .source = "ours" },
	{ MH_FIELD(mh_placeholder_policy_params, yellow), .kind = MH_COUNT, .name = "yellow", .value = "40",
	  .least = 0, .most = 4294967295.0, .meaning = "the next packets are yellow, up to this count",
	  .source = "ours" },
	{ MH_FIELD(mh_placeholder_policy_params, timeout_ns), .kind = MH_TIMEOUT, .name = "timeout", .value = "1s",
	  .least = 1e-9, .most = 1e9, .meaning = "a flow that was silent for longer starts again at zero",
	  .source = "ours" },
};

/*
 * Checks parameters against each other and computes fields that depend on them or on the link (`link`). Leave it out,
 * and MH_SETUP below, if there is nothing of that sort.
 */
static inline struct mh_fault mh_placeholder_policy_setup(struct mh_placeholder_policy_params *params,
							  const struct mh_link_context *link)
{
	(void)link;
	if (params->yellow < params->green)
		return MH_FAULT("yellow", "at least green");
	return MH_NO_FAULT;
}

#endif

/* Names the functions that this policy offers, and describes it. */
MH_SETUP(placeholder_policy)
MH_DRAWS(placeholder_policy)
MH_EXPIRED(placeholder_policy)
MH_MARKER(placeholder_policy, mh_placeholder_policy_params, mh_placeholder_policy_flow, mh_none,
	  .summary = "the first packets of a flow are green, the next ones yellow, the rest red",
	  .source = "ours",
	  .detail = "The edge counts each flow's packets. Up to `green` they are green, up to `yellow` yellow, then red.",
	  MH_TABLE_OF(placeholder_policy), MH_OFFERS(placeholder_policy, setup), MH_OFFERS(placeholder_policy, draws),
	  MH_OFFERS(placeholder_policy, expired))

#endif
