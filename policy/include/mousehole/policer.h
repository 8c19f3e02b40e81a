/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * Policer: holds a user's green and yellow packets to a token bucket each.
 *
 * Noureddine & Tobagi, "Improving the Performance of Interactive TCP Applications Using Service
 * Differentiation", section IV.B (HIGH, MED, LOW are green, yellow, red).
 *
 *   green:   passes if the green bucket has tokens for it, and takes them
 *   yellow:  the same with the yellow bucket
 *   red:     passes; it needs no tokens
 *   a packet that does not pass is dropped, or becomes red; it takes no tokens
 *
 * A sender that shapes to the same profiles is never touched. The paper, section V: 250 kb/s and 6000 B for green;
 * 110 or 250 kb/s and 6000 B for yellow.
 *
 * Format, range and worst error: those of token_bucket.h, tokens being bytes of IP length. A super-packet is
 * judged as a whole.
 * Deviations from the paper: none; it leaves open which of the two a policer does, and whether "a lower priority"
 * may be yellow for a green packet: here it is red.
 */
#ifndef MOUSEHOLE_POLICER_H
#define MOUSEHOLE_POLICER_H

#include "token_bucket.h"

/* Beside the colours: the packet is dropped. */
enum { MH_POLICER_DROP = 3 };

struct mh_policer_params {
	struct mh_token_bucket_params bucket[2]; /* green's, yellow's */
	u32 action;                              /* MH_RED or MH_POLICER_DROP: what happens beyond the profile */
	u32 reserved;
};

/* All zero is two full buckets. */
struct mh_policer {
	struct mh_token_bucket bucket[2];
};

/* The colour with which a packet passes, or MH_POLICER_DROP. */
MH_FN u32 mh_policer_packet(const struct mh_policer_params *params, struct mh_policer *policer,
			    const struct mh_view *view, u64 now_ns)
{
	u32 colour = view->colour;

	if (colour > MH_YELLOW)
		return MH_RED;
	if (mh_token_bucket_packet(&params->bucket[colour], &policer->bucket[colour], view->ip_bytes, now_ns))
		return colour;
	return params->action;
}

#endif
