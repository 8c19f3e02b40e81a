/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * Token bucket: tokens arrive at a rate, up to a burst; packets take them out, one per byte or one per packet.
 *
 * Noureddine & Tobagi, "Improving the Performance of Interactive TCP Applications Using Service
 * Differentiation", section IV.B (profiles of policers and shapers, in bytes); Alcaraz et al., "Accommodating
 * Short and Long Web Traffic Flows over a DiffServ Architecture", section 2.2, eqs 5-7 (in packets).
 *
 *   level = min(burst, level + rate * gap)       the bucket starts full
 *   conforms if level >= size;  level = level - size when it is taken
 *
 * In a policer a packet that does not conform takes nothing; a shaper waits until it conforms; a taker that
 * may not wait leaves a debt, or takes what there is.
 *
 * Format: tokens are counted in grains, 10^9 * 2^shift to a token, so that a rate of r tokens/s is r * 2^shift
 * grains per ns. The shift is the largest that lets max(burst, 2^20 tokens) stay below 2^61 grains: 11 for
 * bursts up to 1 MB, 1 for a burst of 10^9. Kept is what is missing from a full bucket, so that an all-zero
 * state is full and a debt needs no sign.
 * Range: rate 0 or 1 .. 10^11 tokens/s (0: never a token, and the bucket holds none); burst 1 .. 10^9 tokens;
 * any gap. A packet is charged for at most 2^62 grains (2,000,000 tokens at the least); debts stop at 2^63.
 * Worst error: the rate, rounded to 2^-shift tokens/s, is off by 2^-(shift + 1): 0.00025 tokens/s for bursts up
 * to 2^20 tokens, 0.25 for 10^9; whole bit/s are exact for bursts up to 250 MB. Everything else is exact: no
 * fraction of a token is lost, however often the bucket is refilled. The level in percent is right to 0.0001.
 *
 * Deviations from the papers: time that runs backwards (clocks of two CPUs) adds nothing.
 */
#ifndef MOUSEHOLE_TOKEN_BUCKET_H
#define MOUSEHOLE_TOKEN_BUCKET_H

#include "policy.h"

struct mh_token_bucket_params {
	u64 rate_grains;  /* per ns */
	u64 burst_grains; /* below 2^61 */
	u64 token_grains; /* grains in a token */
	u64 most_tokens;  /* 2^62 / token_grains: more are not charged at once, and never conform */
};

/* A user's profile of green and of yellow packets. */
struct mh_profile_settings {
	u64 green_bps;    /* bit/s of IP length */
	u64 yellow_bps;
	u64 burst_bytes;  /* of each */
};

/* All zero is a full bucket. */
struct mh_token_bucket {
	u64 missing_grains; /* burst - level; more than the burst is a debt */
	u64 last_ns;        /* when it was last refilled */
};

#define MH_TOKEN_BUCKET_DEEPEST (1ULL << 63)

MH_FN u64 mh_token_bucket_cost(const struct mh_token_bucket_params *params, u32 tokens)
{
	return mh_min(tokens, params->most_tokens) * params->token_grains;
}

/* Adds the tokens of the time since the last refill. */
MH_FN void mh_token_bucket_refill(const struct mh_token_bucket_params *params, struct mh_token_bucket *bucket,
				  u64 now_ns)
{
	u64 gap_ns;

	if (now_ns <= bucket->last_ns)
		return;
	gap_ns = now_ns - bucket->last_ns;
	bucket->last_ns = now_ns;
	if (!params->rate_grains)
		return;
	if (gap_ns > bucket->missing_grains / params->rate_grains)
		bucket->missing_grains = 0;
	else
		bucket->missing_grains -= gap_ns * params->rate_grains;
}

/* Grains in the bucket, 0 in debt. */
MH_FN u64 mh_token_bucket_level(const struct mh_token_bucket_params *params,
				const struct mh_token_bucket *bucket)
{
	return params->burst_grains - mh_min(bucket->missing_grains, params->burst_grains);
}

/* Whether so many tokens are there. */
MH_FN u32 mh_token_bucket_conforms(const struct mh_token_bucket_params *params,
				   const struct mh_token_bucket *bucket, u32 tokens)
{
	return bucket->missing_grains + mh_token_bucket_cost(params, tokens) <= params->burst_grains;
}

/* Takes tokens whether they are there or not; what was not there is owed. */
MH_FN void mh_token_bucket_take(const struct mh_token_bucket_params *params, struct mh_token_bucket *bucket,
				u32 tokens)
{
	u64 missing = bucket->missing_grains + mh_token_bucket_cost(params, tokens);

	bucket->missing_grains = mh_min(missing, MH_TOKEN_BUCKET_DEEPEST);
}

/* Takes tokens as far as they are there; a debt stays what it was. */
MH_FN void mh_token_bucket_take_clipped(const struct mh_token_bucket_params *params,
					struct mh_token_bucket *bucket, u32 tokens)
{
	u64 missing = bucket->missing_grains + mh_token_bucket_cost(params, tokens);

	bucket->missing_grains = mh_min(missing, mh_max(bucket->missing_grains, params->burst_grains));
}

/* A policer's step: refills, and takes the tokens if they are there; 1 if they were. */
MH_FN u32 mh_token_bucket_packet(const struct mh_token_bucket_params *params, struct mh_token_bucket *bucket,
				 u32 tokens, u64 now_ns)
{
	mh_token_bucket_refill(params, bucket, now_ns);
	if (!mh_token_bucket_conforms(params, bucket, tokens))
		return 0;
	mh_token_bucket_take(params, bucket, tokens);
	return 1;
}

/* ns after the last refill at which so many tokens are there, not before; MH_NEVER if the burst is smaller. */
MH_FN u64 mh_token_bucket_wait_ns(const struct mh_token_bucket_params *params,
				  const struct mh_token_bucket *bucket, u32 tokens)
{
	u64 cost = mh_token_bucket_cost(params, tokens), wanted = bucket->missing_grains + cost;

	if (wanted <= params->burst_grains)
		return 0;
	if (cost > params->burst_grains || !params->rate_grains)
		return MH_NEVER;
	return (wanted - params->burst_grains - 1) / params->rate_grains + 1;
}

/* The level in percent of the burst, Q16; a bucket that holds nothing is at 0. */
MH_FN u64 mh_token_bucket_percent_q16(const struct mh_token_bucket_params *params,
				      const struct mh_token_bucket *bucket)
{
	u64 burst = params->burst_grains >> 20;

	if (!burst)
		return 0;
	return (mh_token_bucket_level(params, bucket) >> 20) * (100 << 16) / burst;
}

#ifdef MH_DESCRIBE

/* Fills a bucket's parameters: tokens per second, 0 or 1 .. 1e11, and tokens in a full bucket, 1 .. 1e9. */
static inline void mh_token_bucket_setup(struct mh_token_bucket_params *params, double rate, u32 burst)
{
	u64 room = (1ULL << 61) / 1000000000ULL / mh_max(burst, 1ULL << 20);
	u32 shift = 0;

	while (room >> (shift + 1))
		shift++;
	params->rate_grains = mh_fixed(rate, shift);
	params->token_grains = 1000000000ULL << shift;
	params->burst_grains = rate > 0 ? burst * params->token_grains : 0;
	params->most_tokens = (1ULL << 62) / params->token_grains;
}

/*
 * Returns ceil(percent * burst / 100), the level in grains at this percentage of the burst. Percent is Q32, at most
 * 100. The burst is split into hundreds, a hundred into 32-bit halves, so that no product passes 64 bits.
 */
static inline u64 mh_token_bucket_grains_at(const struct mh_token_bucket_params *params, u64 percent_q32)
{
	u64 hundreds = params->burst_grains / 100, rest = params->burst_grains % 100;
	u64 whole = percent_q32 >> 32, part = percent_q32 & 0xffffffffULL;
	u64 low = part * (hundreds & 0xffffffffULL);
	u64 fraction_q32 = (low & 0xffffffffULL) + (percent_q32 * rest + 99) / 100;

	return whole * hundreds + part * (hundreds >> 32) + (low >> 32) + ((fraction_q32 + 0xffffffffULL) >> 32);
}

/* Fills the buckets of green and of yellow packets; tokens are bytes. */
static inline void mh_profile_setup(struct mh_token_bucket_params bucket[2],
				    const struct mh_profile_settings *settings)
{
	mh_token_bucket_setup(&bucket[0], (double)settings->green_bps / 8, (u32)settings->burst_bytes);
	mh_token_bucket_setup(&bucket[1], (double)settings->yellow_bps / 8, (u32)settings->burst_bytes);
}

#endif

#endif
