/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * Promotion: gives some packets of a long flow the better colour.
 *
 * Chen & Heidemann, ISI-TR-2001-548, section 3.3.
 *
 *   none            never
 *   probabilistic   with probability threshold / count (P-SFD): U < threshold / count
 *   1 of K          out = out + 1; if out = K: promote and out = 0 (S-SFD, K = 4)
 *
 * A flow of x bytes thus gets th * (1 + ln(x / th)) good bytes under P-SFD and th + (x - th) / K under S-SFD;
 * with K = 4 the two cross at x = 10.35 th.
 *
 * Format: U * count < threshold is compared in whole numbers of 2^-32: no division, and the probability is
 * right to 2^-32. Range: K 1 .. 2^32 - 1 (1 promotes every packet); threshold and count 0 .. 2^32 - 1.
 *
 * Deviations from the paper: a flow's count stops at 4.3 GB, so that P-SFD's probability stops falling
 * there (3.5e-6 at 15 KB).
 */
#ifndef MOUSEHOLE_PROMOTION_H
#define MOUSEHOLE_PROMOTION_H

#include "base.h"

enum { MH_PROMOTE_NONE = 0, MH_PROMOTE_PROBABILISTIC = 1, MH_PROMOTE_ONE_OF_K = 2 };

struct mh_promotion_params {
	u32 kind;  /* MH_PROMOTE_NONE, .. */
	u32 every; /* K */
};

/* Zero is a flow without packets beyond the threshold. */
struct mh_promotion {
	u32 out_count; /* packets beyond the threshold since the last promotion */
};

/*
 * Returns whether a packet beyond the threshold is promoted. `count` is what its flow has sent,
 * this packet included, in the unit of `threshold`. To be called once for each such packet, because
 * MH_PROMOTE_ONE_OF_K counts the calls.
 */
MH_FN u32 mh_promotion_packet(const struct mh_promotion_params *params, struct mh_promotion *promotion,
			      u32 threshold, u32 count, u32 random)
{
	if (params->kind == MH_PROMOTE_PROBABILISTIC)
		return (u64)random * count < (u64)threshold << 32;
	if (params->kind != MH_PROMOTE_ONE_OF_K)
		return 0;
	promotion->out_count++;
	if (promotion->out_count < params->every)
		return 0;
	promotion->out_count = 0;
	return 1;
}

#endif
