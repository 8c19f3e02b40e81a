/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * Size history: a quantile of the sizes of the last H flows that ended.
 *
 * Alcaraz et al., "Accommodating Short and Long Web Traffic Flows over a DiffServ Architecture", section 2.3,
 * eqs 10 and 11.
 *
 *   Q(u) = inf { x : F(x) >= u } = the size of rank ceil(u * n) among the n <= H sizes stored
 *
 * Sizes are counted in buckets: one for each size up to 127, then 64 for each doubling. A ring holds the buckets
 * of the last H sizes, so that the oldest can be removed. Groups of 64 buckets have counts of their own. Q is
 * computed at the end of a flow in at most 27 + 64 steps, so that a packet only reads it.
 *
 * Format: plain integers; u in Q32. Range: H 1 .. 4096; u 2^-32 .. 1; sizes 0 .. 2^32 - 1.
 * Worst error: none up to 127; beyond, Q is the middle of its bucket, at most 1/128 off. u is rounded down to
 * 2^-32, so that the rank is right where u * n is a whole number (19 of 20 at 95 %).
 *
 * Deviations from the paper: eq 10 uses the counts of flows at the instants of packets. The text and the quantiles
 * that it reports are of the sizes of flows, which are known when the flows have ended.
 */
#ifndef MOUSEHOLE_SIZE_HISTORY_H
#define MOUSEHOLE_SIZE_HISTORY_H

#include "policy.h"

enum {
	MH_SIZE_HISTORY_MOST = 4096,   /* flows */
	MH_SIZE_HISTORY_GROUP = 64,    /* buckets to a group */
	MH_SIZE_HISTORY_GROUPS = 27,   /* 0 .. 127 in the first two, then a doubling each */
	MH_SIZE_HISTORY_BUCKETS = 1728 /* 27 * 64 */
};

struct mh_size_history_params {
	u64 u_q32;  /* the quantile's level, 1 .. 2^32 */
	u32 length; /* H */
	u32 reserved;
};

/* All zero is a history of no flows. */
struct mh_size_history {
	u32 count;    /* sizes stored */
	u32 next;     /* where in the ring the next one goes: the oldest, once the ring is full */
	u32 quantile; /* Q(u), 0 while no size is stored */
	u32 reserved;
	u16 ring[MH_SIZE_HISTORY_MOST];
	u16 bucket[MH_SIZE_HISTORY_BUCKETS];
	u16 group[MH_SIZE_HISTORY_GROUPS + 1]; /* the last one is not used */
};

/*
 * Returns the bucket of a size, below MH_SIZE_HISTORY_BUCKETS: size >> shift, which has at most 7 bits, plus 64 for
 * each bit of the shift.
 */
MH_FN u32 mh_size_history_bucket(u32 size)
{
	u32 shift = 0, step;

	for (step = 16; step; step >>= 1)
		if (size >> shift >> step >= MH_SIZE_HISTORY_GROUP)
			shift += step;
	return shift * MH_SIZE_HISTORY_GROUP + (size >> shift);
}

/* Returns the middle of the range of sizes that a bucket counts. */
MH_FN u32 mh_size_history_middle(u32 bucket)
{
	u32 shift = bucket < MH_SIZE_HISTORY_GROUP ? 0 : bucket / MH_SIZE_HISTORY_GROUP - 1;
	u32 first = (bucket - shift * MH_SIZE_HISTORY_GROUP) << shift;

	return first + (1U << shift >> 1);
}

/* Adds `by`, 1 or (u32)-1 to subtract one, to the counts of a bucket and of its group. */
MH_FN void mh_size_history_add(struct mh_size_history *history, u32 bucket, u32 by)
{
	bucket = (u32)mh_min(bucket, MH_SIZE_HISTORY_BUCKETS - 1);
	history->bucket[bucket] += (u16)by;
	history->group[bucket / MH_SIZE_HISTORY_GROUP] += (u16)by;
}

/* Returns the rank of Q(u) among `count` sizes, ceil(u * count), 1 .. count. */
MH_FN u32 mh_size_history_rank(const struct mh_size_history_params *params, u32 count)
{
	return (u32)((count * params->u_q32 + MH_ONE_Q32 - 1) >> 32);
}

/* Returns the size of a rank, 1 .. count, in ascending order, to within a bucket. */
MH_FN u32 mh_size_history_size_of_rank(const struct mh_size_history *history, u32 rank)
{
	u32 group, within, first, below = 0;

	for (group = 0; group < MH_SIZE_HISTORY_GROUPS - 1; group++) {
		if (below + history->group[group] >= rank)
			break;
		below += history->group[group];
	}
	first = group * MH_SIZE_HISTORY_GROUP;
	for (within = 0; within < MH_SIZE_HISTORY_GROUP - 1; within++) {
		below += history->bucket[first + within];
		if (below >= rank)
			break;
	}
	return mh_size_history_middle(first + within);
}

/* Adds the size of a flow that has ended, in place of the oldest one if there are H, and computes the new Q(u). */
MH_FN void mh_size_history_flow_end(const struct mh_size_history_params *params,
				    struct mh_size_history *history, u32 size)
{
	u32 at = (u32)mh_min(history->next, MH_SIZE_HISTORY_MOST - 1);
	u32 bucket = mh_size_history_bucket(size);

	if (history->count < params->length)
		history->count++;
	else
		mh_size_history_add(history, history->ring[at], (u32)-1);
	history->ring[at] = (u16)bucket;
	history->next = at + 1 < params->length ? at + 1 : 0;
	mh_size_history_add(history, bucket, 1);
	history->quantile = mh_size_history_size_of_rank(history, mh_size_history_rank(params, history->count));
}

/* Returns Q(u), packets; 0 while no size is stored. */
MH_FN u32 mh_size_history_quantile(const struct mh_size_history *history)
{
	return history->quantile;
}

#ifdef MH_DESCRIBE

/* Fills a history's parameters: the quantile's level in percent, Q32, and how many flows it stores, H, 1 .. 4096. */
static inline void mh_size_history_setup(struct mh_size_history_params *params, u64 percent_q32, u32 flows)
{
	params->u_q32 = percent_q32 / 100;
	params->length = flows;
}

#endif

#endif
