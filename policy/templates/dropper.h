/*
 * placeholder-policy: a queue that drops yellow and red packets by chance while it is long, green ones never.
 *
 * This header is a policy as it stands: check it, compare with it, then make it your own.
 *
 *   mousehole policy check placeholder-policy.h
 *   mousehole compare web:sfd --policy placeholder-policy.h --schemes 'droptail,sfd|placeholder-policy'
 *
 * What a policy may do. It is called for each arrival with the packet's view, what waits in the queue, the time and 32
 * random bits, and answers with a verdict. It calls no functions but those of this header and of mousehole's, reads no
 * clock, keeps no variables of its own, has no floating point and no loop without a constant bound. So it runs in the
 * simulator and in the kernel alike. The buffer's limit is not its business: the queue drops what does not fit.
 *
 * Say here where the idea comes from, give the formula, the ranges, and what deviates from the paper. Here:
 *
 *   avg  <- avg + weight * (packets waiting - avg)
 *   p    =  0 if avg < min, max_p * (avg - min) / (max - min) up to max, 1 beyond
 *   a packet that is not green is dropped with probability p
 */
#ifndef PLACEHOLDER_POLICY_H
#define PLACEHOLDER_POLICY_H

#include "mousehole/policy.h"

/*
 * The parameters. The table below fills them from text. Suffixes name units: _ns, _bytes; _q32 is a number times 2^32,
 * as whole numbers are all that the kernel has. A struct has no hidden padding: put wide fields first, and fill up
 * with a field named `reserved`.
 */
struct mh_placeholder_policy_params {
	u64 min_q32;    /* average queue where drops begin, packets */
	u64 max_q32;    /* average queue where every packet that is not green is dropped */
	u64 max_p_q32;  /* drop probability just below max */
	u64 slope_q32;  /* max_p / (max - min), per packet; computed by set-up */
	u64 weight_q32; /* of the newest queue length in the average */
};

/* What the queue keeps. All zero is a queue that never saw a packet. */
struct mh_placeholder_policy_state {
	u64 avg_q32; /* average queue, packets */
};

/* Longer queues count as this many packets, so that no product passes 64 bits. */
#define MH_PLACEHOLDER_POLICY_MOST (1ULL << 20)

/*
 * Returns the verdict on an arrival: MH_PASS, MH_MARK (pass, and set Congestion Experienced), MH_DROP_EARLY (by chance)
 * or MH_DROP_FORCED. `view` tells colour, size, flags and more of the packet, `backlog` what waits, also by colour;
 * base.h lists both.
 */
MH_FN u32 mh_placeholder_policy_packet(const struct mh_placeholder_policy_params *params,
				       struct mh_placeholder_policy_state *state, const struct mh_view *view,
				       const struct mh_backlog *backlog, u64 now_ns, u32 random)
{
	u64 queue_q32 = mh_min(backlog->packets, MH_PLACEHOLDER_POLICY_MOST) << 32;
	u64 above_q32, chance_q32;

	(void)now_ns;
	state->avg_q32 = mh_average(state->avg_q32, queue_q32, params->weight_q32);
	if (view->colour == MH_GREEN || state->avg_q32 < params->min_q32)
		return MH_PASS;
	if (state->avg_q32 >= params->max_q32)
		return MH_DROP_FORCED;
	above_q32 = state->avg_q32 - params->min_q32;
	chance_q32 = mh_mul_q32(above_q32, params->slope_q32);
	return random < chance_q32 ? MH_DROP_EARLY : MH_PASS;
}

/* Only user space compiles what follows: it may use floating point and the headers of the system. */
#ifdef MH_DESCRIBE

/*
 * The parameters as users write them: placeholder-policy(min=10%,max=50%,maxp=0.1). policy.h lists the kinds. A default
 * is text as a user would write it; `least` and `most` are in s, bytes, bit/s, packets or as they are.
 */
static const struct mh_parameter mh_placeholder_policy_parameters[] = {
	{ MH_FIELD(mh_placeholder_policy_params, min_q32), .kind = MH_LENGTH, .name = "min", .value = "10%",
	  .least = 0, .most = 1048575, .meaning = "average queue where drops begin", .source = "ours" },
	{ MH_FIELD(mh_placeholder_policy_params, max_q32), .kind = MH_LENGTH, .name = "max", .value = "50%",
	  .least = 0, .most = 1048576, .meaning = "average queue where every packet that is not green is dropped",
	  .source = "ours" },
	{ MH_FIELD(mh_placeholder_policy_params, max_p_q32), .kind = MH_FRACTION, .name = "maxp", .value = "0.1",
	  .least = 1e-9, .most = 1, .meaning = "drop probability just below max", .source = "ours" },
	{ MH_FIELD(mh_placeholder_policy_params, weight_q32), .kind = MH_FRACTION, .name = "weight", .value = "0.02",
	  .least = 1e-6, .most = 1, .meaning = "weight of the newest queue length in the average", .source = "ours" },
};

/*
 * Checks parameters against each other and computes fields that depend on them or on the link (`link`). Leave it out,
 * and MH_SETUP below, if there is nothing of that sort.
 */
static inline struct mh_fault mh_placeholder_policy_setup(struct mh_placeholder_policy_params *params,
							  const struct mh_link_context *link)
{
	double min = mh_from_q32(params->min_q32), max = mh_from_q32(params->max_q32);

	(void)link;
	if (max < min + 1)
		return MH_FAULT("max", "at least one packet more than min");
	params->slope_q32 = mh_fixed(mh_from_q32(params->max_p_q32) / (max - min), 32);
	return MH_NO_FAULT;
}

/* Numbers that traces and plots show of the state. */
static inline double mh_placeholder_policy_average_packets(const void *params, const void *state)
{
	(void)params;
	return mh_from_q32(((const struct mh_placeholder_policy_state *)state)->avg_q32);
}

static const struct mh_reading mh_placeholder_policy_readings[] = {
	{ "average_packets", mh_placeholder_policy_average_packets },
};

#endif

/*
 * Names the functions that this policy offers, and describes it. The flags promise that random 0 is the strictest draw,
 * and say that colours matter.
 */
MH_SETUP(placeholder_policy)
MH_DROPPER(placeholder_policy, mh_placeholder_policy_params, mh_placeholder_policy_state,
	   .flags = MH_LEAST_IS_STRICTEST | MH_READS_COLOURS,
	   .summary = "drops yellow and red packets by chance while the queue is long",
	   .source = "ours",
	   .detail = "One FIFO. As its average length rises from min to max, ever more of the packets that are not green "
		     "are dropped.",
	   .unread = "max_p_q32",
	   MH_TABLE_OF(placeholder_policy), MH_READINGS_OF(placeholder_policy), MH_OFFERS(placeholder_policy, setup))

#endif
