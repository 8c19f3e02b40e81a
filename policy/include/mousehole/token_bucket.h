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
 * In a policer, a packet that does not conform takes nothing. A shaper waits until the packet conforms. A user of
 * the bucket that may not wait leaves a debt, or takes what there is.
 *
 * Format: tokens are counted in scaled units, 10^9 * 2^shift to a token, so that a rate of r tokens/s is
 * r * 2^shift scaled units per ns. The shift is the largest for which max(burst, 2^20 tokens) stays below 2^61
 * scaled units: 11 for bursts up to 1 MB, 1 for a burst of 10^9. The state holds what is missing from a full
 * bucket, so that an all-zero state is a full bucket and a debt needs no sign.
 * Range: rate 0 or 1 .. 10^11 tokens/s (0: no token ever arrives, and the bucket holds none); burst 1 .. 10^9
 * tokens; any gap. A packet is charged for at most 2^62 scaled units (at least 2,000,000 tokens); debts stop
 * at 2^63.
 * Worst error: the rate, rounded to 2^-shift tokens/s, is off by 2^-(shift + 1): 0.00025 tokens/s for bursts up
 * to 2^20 tokens, 0.25 for 10^9. Whole bit/s are exact for bursts up to 250 MB. Everything else is exact: no
 * fraction of a token is lost, however often the bucket is refilled. The level in percent is right to 0.0001.
 *
 * Deviations from the papers: time that runs backwards (clocks of two CPUs) adds no tokens.
 */
#ifndef MOUSEHOLE_TOKEN_BUCKET_H
#define MOUSEHOLE_TOKEN_BUCKET_H

#include "policy.h"

struct mh_token_bucket_params {
	u64 rate_scaled;  /* scaled units per ns */
	u64 burst_scaled; /* below 2^61 */
	u64 token_scaled; /* scaled units in a token */
	u64 most_tokens;  /* 2^62 / token_scaled: more are not charged at once, and never conform */
};

/* The traffic profiles of one user's green and yellow packets. */
struct mh_profile_settings {
	u64 green_bps;    /* bit/s of IP length */
	u64 yellow_bps;
	u64 burst_bytes;  /* of each */
};

/* All zero is a full bucket. */
struct mh_token_bucket {
	u64 missing_scaled; /* burst - level; more than the burst is a debt */
	u64 last_ns;        /* when it was last refilled */
};

#define MH_TOKEN_BUCKET_DEEPEST (1ULL << 63)

/* Returns tokens in scaled units, at most 2^62 of these. */
MH_FN u64 mh_token_bucket_cost(const struct mh_token_bucket_params *params, u32 tokens)
{
	return mh_min(tokens, params->most_tokens) * params->token_scaled;
}

/* Adds the tokens that have arrived since the last refill. Must precede a look at the level or a withdrawal. */
MH_FN void mh_token_bucket_refill(const struct mh_token_bucket_params *params, struct mh_token_bucket *bucket,
				  u64 now_ns)
{
	u64 gap_ns;

	if (now_ns <= bucket->last_ns)
		return;
	gap_ns = now_ns - bucket->last_ns;
	bucket->last_ns = now_ns;
	if (!params->rate_scaled)
		return;
	if (gap_ns > bucket->missing_scaled / params->rate_scaled)
		bucket->missing_scaled = 0;
	else
		bucket->missing_scaled -= gap_ns * params->rate_scaled;
}

/* Returns the level of the bucket in scaled units; 0 while it is in debt. */
MH_FN u64 mh_token_bucket_level(const struct mh_token_bucket_params *params,
				const struct mh_token_bucket *bucket)
{
	return params->burst_scaled - mh_min(bucket->missing_scaled, params->burst_scaled);
}

/* Returns whether the bucket holds this many tokens. */
MH_FN u32 mh_token_bucket_conforms(const struct mh_token_bucket_params *params,
				   const struct mh_token_bucket *bucket, u32 tokens)
{
	return bucket->missing_scaled + mh_token_bucket_cost(params, tokens) <= params->burst_scaled;
}

/* Takes tokens even if the bucket does not hold them; the rest becomes a debt. */
MH_FN void mh_token_bucket_take(const struct mh_token_bucket_params *params, struct mh_token_bucket *bucket,
				u32 tokens)
{
	u64 missing = bucket->missing_scaled + mh_token_bucket_cost(params, tokens);

	bucket->missing_scaled = mh_min(missing, MH_TOKEN_BUCKET_DEEPEST);
}

/* Takes the tokens, or all that the bucket holds if these are fewer; a debt does not grow. */
MH_FN void mh_token_bucket_take_clipped(const struct mh_token_bucket_params *params,
					struct mh_token_bucket *bucket, u32 tokens)
{
	u64 missing = bucket->missing_scaled + mh_token_bucket_cost(params, tokens);

	bucket->missing_scaled = mh_min(missing, mh_max(bucket->missing_scaled, params->burst_scaled));
}

/* Polices a packet: refills the bucket and takes the packet's tokens if it conforms. Returns 1 if it does, else 0. */
MH_FN u32 mh_token_bucket_packet(const struct mh_token_bucket_params *params, struct mh_token_bucket *bucket,
				 u32 tokens, u64 now_ns)
{
	mh_token_bucket_refill(params, bucket, now_ns);
	if (!mh_token_bucket_conforms(params, bucket, tokens))
		return 0;
	mh_token_bucket_take(params, bucket, tokens);
	return 1;
}

/*
 * Returns the time from the last refill until the bucket holds the tokens, ns; 0 if it does, MH_NEVER if it never
 * will.
 */
MH_FN u64 mh_token_bucket_wait_ns(const struct mh_token_bucket_params *params,
				  const struct mh_token_bucket *bucket, u32 tokens)
{
	u64 cost = mh_token_bucket_cost(params, tokens), wanted = bucket->missing_scaled + cost;

	if (wanted <= params->burst_scaled)
		return 0;
	if (cost > params->burst_scaled || !params->rate_scaled)
		return MH_NEVER;
	return (wanted - params->burst_scaled - 1) / params->rate_scaled + 1;
}

/* Returns the level in percent of the burst, Q16; 0 for a bucket that cannot hold tokens. */
MH_FN u64 mh_token_bucket_percent_q16(const struct mh_token_bucket_params *params,
				      const struct mh_token_bucket *bucket)
{
	u64 burst = params->burst_scaled >> 20;

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
	params->rate_scaled = mh_fixed(rate, shift);
	params->token_scaled = 1000000000ULL << shift;
	params->burst_scaled = rate > 0 ? burst * params->token_scaled : 0;
	params->most_tokens = (1ULL << 62) / params->token_scaled;
}

/*
 * Returns ceil(percent * burst / 100), the level in scaled units at this percentage of the burst. Percent is Q32,
 * at most 100. The burst is split into hundreds, a hundred into 32-bit halves, so that no product passes 64 bits.
 */
static inline u64 mh_token_bucket_scaled_at(const struct mh_token_bucket_params *params, u64 percent_q32)
{
	u64 hundreds = params->burst_scaled / 100, rest = params->burst_scaled % 100;
	u64 whole = percent_q32 >> 32, part = percent_q32 & 0xffffffffULL;
	u64 low = part * (hundreds & 0xffffffffULL);
	u64 fraction_q32 = (low & 0xffffffffULL) + (percent_q32 * rest + 99) / 100;

	return whole * hundreds + part * (hundreds >> 32) + (low >> 32) + ((fraction_q32 + 0xffffffffULL) >> 32);
}

/* Fills the parameters of the buckets of green (0) and of yellow packets (1); tokens are bytes. */
static inline void mh_profile_setup(struct mh_token_bucket_params bucket[2],
				    const struct mh_profile_settings *settings)
{
	mh_token_bucket_setup(&bucket[0], (double)settings->green_bps / 8, (u32)settings->burst_bytes);
	mh_token_bucket_setup(&bucket[1], (double)settings->yellow_bps / 8, (u32)settings->burst_bytes);
}

#endif

#endif
