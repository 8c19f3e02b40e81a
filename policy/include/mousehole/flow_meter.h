/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * Flow meter: counts what a flow has sent since it was last idle.
 *
 * Chen & Heidemann, ISI-TR-2001-548, section 3.2 (`f.bytes_sent`, state dropped after a period p without
 * traffic, 1 s); Guo & Matta, BU-CS-2001-005, section III (the same in packets, T_u).
 *
 *   now - last_seen > timeout  or  SYN (if `syn_restarts`):   bytes = packets = 0
 *   bytes += size, packets += segments, last_seen = now
 *
 * A flow is the 5-tuple of one direction. Every packet counts, including retransmissions and packets that are
 * dropped later. The caller decides whose state it keeps and when it sweeps its table. It may forget an expired
 * flow at any time, or never; the colours are the same.
 *
 * Format: plain integers; ns, bytes of IP length, packets on the wire.
 * Range: timeout 1 ns .. MH_NEVER (no timeout). Counters stop at 2^32 - 1 (4.3 GB): no error below that.
 *
 * Deviations from the paper:
 * - A SYN may restart the count, so that a port used again does not inherit an old flow's size.
 * - Time that runs backwards (clocks of two CPUs) never expires a flow.
 */
#ifndef MOUSEHOLE_FLOW_METER_H
#define MOUSEHOLE_FLOW_METER_H

#include "base.h"

struct mh_flow_meter_params {
	u64 timeout_ns;   /* idle time after which a flow counts as new */
	u32 syn_restarts; /* whether a SYN makes its flow new */
	u32 reserved;
};

/* All zero is a flow that never sent a packet. */
struct mh_flow_meter {
	u64 last_seen_ns;
	u32 bytes;   /* IP length since the flow was new */
	u32 packets; /* segments since the flow was new */
};

/* Returns whether the flow has been idle for longer than the timeout, so that its state may be forgotten. */
MH_FN u32 mh_flow_meter_expired(const struct mh_flow_meter_params *params, const struct mh_flow_meter *meter,
				u64 now_ns)
{
	return now_ns > meter->last_seen_ns && now_ns - meter->last_seen_ns > params->timeout_ns;
}

/* Returns whether this packet starts the flow anew: its first one, a SYN, or one after the timeout. Counts nothing. */
MH_FN u32 mh_flow_meter_is_fresh(const struct mh_flow_meter_params *params, const struct mh_flow_meter *meter,
				 const struct mh_view *view, u64 now_ns)
{
	u32 syn = params->syn_restarts && view->flags & MH_SYN;

	return !meter->packets || syn || mh_flow_meter_expired(params, meter, now_ns);
}

/* Counts a packet, from zero if it starts the flow anew. Returns 1 if it does, else 0. */
MH_FN u32 mh_flow_meter_packet(const struct mh_flow_meter_params *params, struct mh_flow_meter *meter,
			       const struct mh_view *view, u64 now_ns)
{
	u32 fresh = mh_flow_meter_is_fresh(params, meter, view, now_ns);

	if (fresh)
		meter->bytes = meter->packets = 0;
	meter->bytes = mh_saturating_add(meter->bytes, view->ip_bytes);
	meter->packets = mh_saturating_add(meter->packets, mh_segments(view));
	meter->last_seen_ns = mh_max(meter->last_seen_ns, now_ns);
	return fresh;
}

/* Returns what the flow has sent since it was new, in the unit MH_BYTES (IP length) or MH_PACKETS. */
MH_FN u32 mh_flow_meter_count(const struct mh_flow_meter *meter, u32 unit)
{
	return unit == MH_PACKETS ? meter->packets : meter->bytes;
}

#endif
