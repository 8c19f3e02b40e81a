/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* Counters: those of each CPU, and those of each flow. */
#ifndef MOUSEHOLE_LIVE_ACCOUNT_H
#define MOUSEHOLE_LIVE_ACCOUNT_H

#include "state.h"

/* Adds packets and IP bytes to a count. */
ML_INLINE void ml_count(struct ml_count *count, u32 packets, u32 bytes)
{
	count->packets += packets;
	count->bytes += bytes;
}

/* Counts a frame by its kind, and again if it is a fragment or a super-packet. */
ML_INLINE void ml_count_kind(struct ml_counters *counters, const struct ml_packet *packet)
{
	u32 segments = packet->view.segments, bytes = packet->view.ip_bytes;

	switch (packet->kind) {
	case ML_IS_IPV4:
		ml_count(&counters->ipv4, segments, bytes);
		break;
	case ML_IS_IPV6:
		ml_count(&counters->ipv6, segments, bytes);
		break;
	case ML_IS_NOT_IP:
		ml_count(&counters->not_ip, segments, bytes);
		break;
	default:
		ml_count(&counters->malformed, segments, bytes);
	}
	if (packet->is_fragment)
		ml_count(&counters->fragments, segments, bytes);
	if (segments > 1)
		ml_count(&counters->super_packets, segments, bytes);
}

/* Returns the reason why a packet is dropped; ML_DROP_REASONS if it is not dropped. */
ML_INLINE u32 ml_find_drop_reason(const struct ml_decision *decision)
{
	if (decision->colour == MH_DISCARD)
		return ML_POLICED;
	if (decision->is_full)
		return ML_FULL;
	if (decision->verdict == MH_DROP_EARLY)
		return ML_EARLY;
	return decision->verdict == MH_DROP_FORCED ? ML_FORCED : ML_DROP_REASONS;
}

/* Adds a packet, dropped or not, and its decision to its flow's counters, and sets when the flow
 * was seen. To be called with the lock. */
ML_INLINE void ml_account_flow(struct ml_flow *flow, const struct mh_view *view, const struct ml_decision *decision,
			       u32 keeps_mark, u64 now_ns)
{
	u32 reason = ml_find_drop_reason(decision), colour = (u32)mh_min(decision->colour, MH_RED);

	if (!flow->bytes)
		flow->first_seen_ms = (u32)(now_ns / 1000000);
	flow->last_seen_ns = now_ns;
	flow->bytes += view->ip_bytes;
	flow->colour = colour;
	flow->colour_packets[colour] += view->segments;
	if (reason < ML_DROP_REASONS)
		flow->dropped[reason] += view->segments;
	else if (decision->verdict == MH_MARK)
		flow->ce_marked += view->segments;
	if (keeps_mark)
		flow->already_marked += view->segments;
}

/* Adds a packet, dropped or not, and its decision to the CPU's counters. */
ML_INLINE void ml_count_decision(struct ml_counters *counters, const struct mh_view *view,
				 const struct ml_decision *decision, u32 keeps_mark)
{
	u32 reason = ml_find_drop_reason(decision), colour = (u32)mh_min(decision->colour, MH_RED);

	ml_count(&counters->colour[colour], view->segments, view->ip_bytes);
	if (reason < ML_DROP_REASONS) {
		ml_count(&counters->dropped[reason], view->segments, view->ip_bytes);
		ml_count(&counters->colour_dropped[colour], view->segments, view->ip_bytes);
	} else if (decision->verdict == MH_MARK) {
		ml_count(&counters->ce_marked, view->segments, view->ip_bytes);
	}
	if (keeps_mark)
		ml_count(&counters->already_marked, view->segments, view->ip_bytes);
}

#endif
