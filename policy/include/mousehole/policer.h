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
 *   with packets=datagrams, packets of transports that slow down when packets are lost pass as well, and the profile is
 *   a user's budget for all datagrams together (MH_DATAGRAM)
 *   a packet that does not pass is dropped or becomes red, and takes no tokens
 *
 * A sender that shapes its packets to the same profiles is never policed. The paper, section V: 250 kb/s and 6000 B for green;
 * 110 or 250 kb/s and 6000 B for yellow.
 *
 * Format, range and worst error: those of token_bucket.h, tokens being bytes of IP length. A super-packet is
 * judged as a whole.
 * Deviations from the paper: packets=datagrams is ours. The paper leaves open whether a policer drops or remarks, and
 * whether "a lower priority" may be yellow for a green packet. Here it is red.
 */
#ifndef MOUSEHOLE_POLICER_H
#define MOUSEHOLE_POLICER_H

#include "token_bucket.h"

struct mh_policer_params {
	struct mh_token_bucket_params bucket[2]; /* green's, yellow's */
	u32 action;                              /* beyond the profile: MH_RED, MH_DISCARD, or 0 for nothing */
	u32 hold_acks;                           /* whether pure acknowledgements need tokens as well */
	u32 only_datagrams;                      /* whether datagrams alone need tokens */
	u32 reserved;
	struct mh_profile_settings settings;
};

/* All zero is two full buckets. */
struct mh_policer {
	struct mh_token_bucket bucket[2];
};

/* Returns whether a packet needs no tokens: a red one; as the options say, an acknowledgement, or any but datagrams. */
MH_FN u32 mh_policer_is_free(const struct mh_policer_params *params, const struct mh_view *view)
{
	return view->colour > MH_YELLOW || (view->flags & MH_ACK && !params->hold_acks) ||
	       (params->only_datagrams && !(view->flags & MH_DATAGRAM));
}

/* Returns 0: no packet is policed by chance. */
MH_FN u32 mh_policer_draws(const struct mh_policer_params *params)
{
	(void)params;
	return 0;
}

/*
 * Serves shapers. Takes the tokens of a packet and returns 0 if it may leave now; else returns the time to wait for
 * them, ns. A packet larger than the burst, such as a super-packet, waits for a full bucket and leaves a debt, which
 * those behind it wait for: a shaper releases it eventually, and the rate holds. Returns 0 for a packet that needs no
 * tokens.
 */
MH_FN u64 mh_policer_shape(const struct mh_policer_params *params, struct mh_policer *policer, struct mh_none *state,
			   const struct mh_view *view, u64 now_ns)
{
	const struct mh_token_bucket_params *bucket;
	u32 colour = view->colour;
	u64 wait_ns, awaited;

	(void)state;
	if (colour > MH_YELLOW || mh_policer_is_free(params, view))
		return 0;
	bucket = &params->bucket[colour];
	awaited = mh_min(view->ip_bytes, bucket->burst_scaled / bucket->token_scaled);
	mh_token_bucket_refill(bucket, &policer->bucket[colour], now_ns);
	wait_ns = mh_token_bucket_wait_ns(bucket, &policer->bucket[colour], (u32)awaited);
	if (!wait_ns)
		mh_token_bucket_take(bucket, &policer->bucket[colour], view->ip_bytes);
	return wait_ns;
}

/*
 * Returns the colour with which a packet passes, or MH_DISCARD; takes its tokens if it conforms. Without an action
 * every packet passes and no tokens are taken.
 */
MH_FN u32 mh_policer_packet(const struct mh_policer_params *params, struct mh_policer *policer, struct mh_none *state,
			    const struct mh_view *view, u64 now_ns, u32 random)
{
	u32 colour = view->colour;

	(void)state;
	(void)random;
	if (!params->action || colour > MH_YELLOW || mh_policer_is_free(params, view))
		return (u32)mh_min(colour, MH_RED);
	if (mh_token_bucket_packet(&params->bucket[colour], &policer->bucket[colour], view->ip_bytes, now_ns))
		return colour;
	return params->action;
}

#ifdef MH_DESCRIBE

static const struct mh_parameter mh_policer_parameters[] = {
	{ MH_FIELD(mh_policer_params, settings.green_bps), .kind = MH_RATE, .name = "high_rate", .value = "250kbit",
	  .least = 8, .most = 8e11, .meaning = "a user's rate of green packets", .source = "Noureddine & Tobagi, section VI.C" },
	{ MH_FIELD(mh_policer_params, settings.yellow_bps), .kind = MH_RATE, .name = "med_rate", .value = "500kbit",
	  .least = 8, .most = 8e11, .meaning = "a user's rate of yellow packets", .source = "Noureddine & Tobagi, section VI.C" },
	{ MH_FIELD(mh_policer_params, settings.burst_bytes), .kind = MH_SIZE, .name = "burst", .value = "6000B",
	  .least = 1, .most = 1e9, .meaning = "burst of each colour", .source = "Noureddine & Tobagi, section V" },
	{ MH_FIELD(mh_policer_params, action), .kind = MH_CHOICE, .mask = 3, .name = "police",
	  .choices = "none - remark drop", .value = "remark",
	  .meaning = "what happens to green and yellow packets beyond the profile: nothing, they become red, or are dropped",
	  .source = "Noureddine & Tobagi, section IV.B, has both; ours: which" },
	{ MH_FIELD(mh_policer_params, hold_acks), .kind = MH_FLAG, .mask = 1, .name = "hold_acks", .value = "false",
	  .meaning = "pure acknowledgements need tokens as well", .source = "ours: the paper does not say" },
	{ MH_FIELD(mh_policer_params, only_datagrams), .kind = MH_CHOICE, .mask = 1, .name = "packets",
	  .choices = "all datagrams", .value = "all",
	  .meaning = "which packets need tokens: all, or only those of transports that may not slow down when packets "
		     "are lost",
	  .source = "Noureddine & Tobagi, section IV.B; datagrams: ours" },
};

/* Fills both buckets from the settings. Refuses nothing. */
static inline struct mh_fault mh_policer_setup(struct mh_policer_params *params, const struct mh_link_context *link)
{
	(void)link;
	mh_profile_setup(params->bucket, &params->settings);
	return MH_NO_FAULT;
}

#endif

MH_SETUP(policer)
MH_DRAWS(policer)
MH_SHAPE(policer)
MH_MARKER(policer, mh_policer_params, mh_policer, mh_none, .key = MH_PER_USER, .flags = MH_AT_EDGE_ONLY,
	  .summary = "holds each user's green and yellow packets to a traffic profile of two token buckets",
	  .source = "Noureddine & Tobagi, section IV.B",
	  .detail = "Green and yellow packets beyond the profile become red, or are dropped. It stands behind a marker. With "
		    "a host stage in the scenario each user's host shapes what it sends to the same profile.",
	  MH_TABLE_OF(policer), MH_OFFERS(policer, setup), MH_OFFERS(policer, draws), MH_OFFERS(policer, shape))

#endif
