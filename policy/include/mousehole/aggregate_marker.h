/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * Aggregate marker (ER-TBM): colours all packets of a user by two token buckets, whatever flow they belong to.
 *
 * Noureddine & Tobagi, "Improving the Performance of Interactive TCP Applications Using Service
 * Differentiation", section VI.C (250 kb/s for HIGH, 500 kb/s for MED).
 *
 *   green   if the first bucket has tokens for the packet, which takes them
 *   yellow  else if the second has, and it takes them there
 *   red     otherwise
 *
 * Format, range and worst error: those of token_bucket.h, tokens being bytes of IP length. A super-packet is
 * judged as a whole.
 * Deviations from the paper: none; it does not give the bursts.
 */
#ifndef MOUSEHOLE_AGGREGATE_MARKER_H
#define MOUSEHOLE_AGGREGATE_MARKER_H

#include "token_bucket.h"

struct mh_aggregate_marker_params {
	struct mh_token_bucket_params bucket[2]; /* green's, yellow's */
};

/* All zero is two full buckets. */
struct mh_aggregate_marker {
	struct mh_token_bucket bucket[2];
};

/* The colour of a packet; the one it comes with does not matter. */
MH_FN u32 mh_aggregate_marker_packet(const struct mh_aggregate_marker_params *params,
				     struct mh_aggregate_marker *marker, const struct mh_view *view, u64 now_ns)
{
	if (mh_token_bucket_packet(&params->bucket[0], &marker->bucket[0], view->ip_bytes, now_ns))
		return MH_GREEN;
	if (mh_token_bucket_packet(&params->bucket[1], &marker->bucket[1], view->ip_bytes, now_ns))
		return MH_YELLOW;
	return MH_RED;
}

#endif
