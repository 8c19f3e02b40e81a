/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * Demotion: the colour falls by steps with what a flow has sent.
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
 * PIAS computes thresholds for a given load and distribution of sizes; its authors' tagging module has 20 KiB
 * first, no second until it is configured, and no idle timeout. Defaults: 20,480 B first and no timeout are theirs,
 * 1 MB second is ours.
 *
 * Format: plain integers, bytes of IP length, no error. Range: first <= second, first 0 .. 2^32 - 2.
 *
 * Deviations from PIAS: three levels, not eight. The authors' module counts payload of new data only; here headers
 * and retransmissions count, as in the kernel's connection tracking. It also starts a flow anew after repeated
 * timeouts; that is not here. Deviation from `ct bytes`: counters stop at 4.3 GB, and one direction is counted;
 * without `original` or `reply` that rule adds both.
 */
#ifndef MOUSEHOLE_DEMOTION_H
#define MOUSEHOLE_DEMOTION_H

#include "flow_meter.h"

struct mh_demotion_params {
	struct mh_flow_meter_params meter;
	u32 first;  /* bytes up to which a flow is green */
	u32 second; /* bytes up to which it is yellow; 2^32 - 1 for ever */
};

/* Whether the flow may be forgotten. A flow's state is a mh_flow_meter. */
MH_FN u32 mh_demotion_expired(const struct mh_demotion_params *params, const struct mh_flow_meter *flow,
			      u64 now_ns)
{
	return mh_flow_meter_expired(&params->meter, flow, now_ns);
}

/* The colour of a packet of `flow`. */
MH_FN u32 mh_demotion_packet(const struct mh_demotion_params *params, struct mh_flow_meter *flow,
			     const struct mh_view *view, u64 now_ns)
{
	mh_flow_meter_packet(&params->meter, flow, view, now_ns);
	if (flow->bytes <= params->first)
		return MH_GREEN;
	return flow->bytes <= params->second ? MH_YELLOW : MH_RED;
}

#endif
