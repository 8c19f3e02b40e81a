/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * Demotion: the colour gets worse in steps as a flow sends more bytes.
 *
 * Bai, Chen, Chen, Han, Tian & Wang, "Information-Agnostic Flow Scheduling for Commodity Data Centers" (PIAS),
 * NSDI 2015: a multi-level feedback queue, flows demoted at thresholds of bytes sent.
 *
 *   meter the packet (flow_meter.h), bytes = what the flow has sent, this packet included
 *   green up to first, yellow up to second, red beyond
 *
 * With one threshold (second = 2^32 - 1, never passed) and without timeout it is what administrators write as
 * `ct original bytes > N` (nftables) or `connbytes` (iptables): a connection stays demoted while it lives, however
 * long it was idle.
 *
 * PIAS computes thresholds for a given load and distribution of sizes. Its authors' tagging module has a first
 * threshold of 20 KiB, no second one until it is configured, and no idle timeout. Of the defaults, 20,480 B for
 * first and no timeout are theirs; 1 MB for second is ours.
 *
 * Format: plain integers, bytes of IP length, no error. Range: first <= second, first 0 .. 2^32 - 2.
 *
 * Deviations from PIAS: three levels, not eight. The authors' module counts payload of new data only; here headers
 * and retransmissions count, as in the kernel's connection tracking. It also starts a flow anew after repeated
 * timeouts, which this header does not. Deviation from `ct bytes`: counters stop at 4.3 GB, and one direction is counted;
 * without `original` or `reply` that rule adds both.
 */
#ifndef MOUSEHOLE_DEMOTION_H
#define MOUSEHOLE_DEMOTION_H

#include "flow_meter.h"
#include "policy.h"

struct mh_demotion_params {
	struct mh_flow_meter_params meter;
	u32 first;  /* bytes up to which a flow is green */
	u32 second; /* bytes up to which it is yellow; 2^32 - 1 for ever */
};

/* Returns whether the flow has been silent for longer than the timeout. A flow's state is a mh_flow_meter. */
MH_FN u32 mh_demotion_expired(const struct mh_demotion_params *params, const struct mh_flow_meter *flow,
			      u64 now_ns)
{
	return mh_flow_meter_expired(&params->meter, flow, now_ns);
}

/* Returns 0: no colour depends on chance. */
MH_FN u32 mh_demotion_draws(const struct mh_demotion_params *params)
{
	(void)params;
	return 0;
}

/* Meters a packet of `flow` and returns its colour by the bytes that the flow has sent, this packet included. */
MH_FN u32 mh_demotion_packet(const struct mh_demotion_params *params, struct mh_flow_meter *flow,
			     struct mh_none *state, const struct mh_view *view, u64 now_ns, u32 random)
{
	(void)state;
	(void)random;
	mh_flow_meter_packet(&params->meter, flow, view, now_ns);
	if (flow->bytes <= params->first)
		return MH_GREEN;
	return flow->bytes <= params->second ? MH_YELLOW : MH_RED;
}

#ifdef MH_DESCRIBE

static const struct mh_parameter mh_demotion_parameters[] = {
	{ MH_FIELD(mh_demotion_params, first), .kind = MH_SIZE, .name = "first", .value = "20480B", .least = 0,
	  .most = 4294967294.0, .meaning = "a flow is green up to this many bytes",
	  .source = "PIAS, the authors' tagging module" },
	{ MH_FIELD(mh_demotion_params, second), .kind = MH_SIZE, .name = "second", .value = "1MB", .least = 0,
	  .most = 4294967295.0, .meaning = "a flow is yellow up to this many bytes and red beyond; 4294967295B is never",
	  .source = "ours; PIAS computes it for a given traffic" },
	{ MH_FIELD(mh_demotion_params, meter.timeout_ns), .kind = MH_TIMEOUT, .name = "timeout", .value = "never",
	  .least = 1e-9, .most = 1e9, .meaning = "a flow that was silent for longer starts again at zero",
	  .source = "PIAS, the authors' tagging module" },
	{ MH_FIELD(mh_demotion_params, meter.syn_restarts), .kind = MH_FLAG, .mask = 1, .name = "syn",
	  .value = "true", .meaning = "a SYN makes its flow new, so that a reused port does not inherit an old count",
	  .source = "as connection tracking does" },
};

/* Refuses thresholds that are not in order. */
static inline struct mh_fault mh_demotion_setup(struct mh_demotion_params *params, const struct mh_link_context *link)
{
	(void)link;
	if (params->second < params->first)
		return MH_FAULT("second", "at least first");
	return MH_NO_FAULT;
}

#endif

MH_SETUP(demotion)
MH_DRAWS(demotion)
MH_EXPIRED(demotion)
MH_MARKER(demotion, mh_demotion_params, mh_flow_meter, mh_none,
	  .install = "firewall:first second=4294967295B timeout=never",
	  .summary = "a flow falls from green to yellow to red with the bytes it has sent",
	  .source = "Bai et al. (PIAS), NSDI 2015; `ct bytes` of nftables",
	  .detail = "A flow begins green and falls at two thresholds of bytes sent. Without a timeout a connection that is "
		    "used again stays where it was.",
	  MH_TABLE_OF(demotion), MH_OFFERS(demotion, setup), MH_OFFERS(demotion, draws),
	  MH_OFFERS(demotion, expired))

#endif
