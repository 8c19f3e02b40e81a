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
	struct mh_profile_settings settings;
};

/* All zero is two full buckets. */
struct mh_aggregate_marker {
	struct mh_token_bucket bucket[2];
};

/* Returns 0: no colour depends on chance. */
MH_FN u32 mh_aggregate_marker_draws(const struct mh_aggregate_marker_params *params)
{
	(void)params;
	return 0;
}

/*
 * Returns the colour of a packet: green if the first bucket holds a token for each of its bytes,
 * else yellow if the second does, else red. Takes the tokens from that bucket alone; none for red.
 * The former colour does not count.
 */
MH_FN u32 mh_aggregate_marker_packet(const struct mh_aggregate_marker_params *params,
				     struct mh_aggregate_marker *marker, struct mh_none *state,
				     const struct mh_view *view, u64 now_ns, u32 random)
{
	(void)state;
	(void)random;
	if (mh_token_bucket_packet(&params->bucket[0], &marker->bucket[0], view->ip_bytes, now_ns))
		return MH_GREEN;
	if (mh_token_bucket_packet(&params->bucket[1], &marker->bucket[1], view->ip_bytes, now_ns))
		return MH_YELLOW;
	return MH_RED;
}

#ifdef MH_DESCRIBE

static const struct mh_parameter mh_aggregate_marker_parameters[] = {
	{ MH_FIELD(mh_aggregate_marker_params, settings.green_bps), .kind = MH_RATE, .name = "high_rate", .value = "250kbit",
	  .least = 8, .most = 8e11, .meaning = "a user's rate of green packets", .source = "Noureddine & Tobagi, section VI.C" },
	{ MH_FIELD(mh_aggregate_marker_params, settings.yellow_bps), .kind = MH_RATE, .name = "med_rate", .value = "500kbit",
	  .least = 8, .most = 8e11, .meaning = "a user's rate of yellow packets", .source = "Noureddine & Tobagi, section VI.C" },
	{ MH_FIELD(mh_aggregate_marker_params, settings.burst_bytes), .kind = MH_SIZE, .name = "burst", .value = "6000B",
	  .least = 1, .most = 1e9, .meaning = "burst of each colour", .source = "Noureddine & Tobagi, section V" },
};

/* Fills both buckets from the settings. Refuses nothing. */
static inline struct mh_fault mh_aggregate_marker_setup(struct mh_aggregate_marker_params *params,
							const struct mh_link_context *link)
{
	(void)link;
	mh_profile_setup(params->bucket, &params->settings);
	return MH_NO_FAULT;
}

#endif

MH_SETUP(aggregate_marker)
MH_DRAWS(aggregate_marker)
MH_MARKER(aggregate_marker, mh_aggregate_marker_params, mh_aggregate_marker, mh_none, .key = MH_PER_USER,
	  .summary = "all packets of a user are green, yellow or red by two token buckets (ER-TBM)",
	  .source = "Noureddine & Tobagi, section VI.C",
	  .detail = "What common DiffServ edges do: a user's packets are green while one bucket has tokens, yellow while "
		    "the second has, red beyond, whatever they carry.",
	  .unread = "bucket[0].most_tokens bucket[1].most_tokens",
	  MH_TABLE_OF(aggregate_marker), MH_OFFERS(aggregate_marker, setup), MH_OFFERS(aggregate_marker, draws))

#endif
