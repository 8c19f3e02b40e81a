/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * Excess marker: a flow is long by what it sends beyond a steady rate, and then stays long until it pauses.
 *
 * The meter is the first bucket of RFC 2697 (section 3, CIR and CBS), one for each flow; the score of RFC 9957's queue
 * protection, which also ages at a rate, is its cousin. What is ours: two rates by transport, and hysteresis.
 *
 *   silent for longer than timeout:  the flow is new: its bucket is full, and it is not long
 *   pure acknowledgement, or size <= small:  not counted, and keeps no flow alive
 *   tokens arrive at `datagrams` for datagrams, at `rate` for all others, up to th bytes
 *   tokens >= size:  take them
 *   else:            the flow is long (with latch=false: this packet alone is)
 *   colour = yellow if long, else green
 *   with levels=three: red if long, else yellow for datagrams and green for all others
 *
 * Until the flow is long, th - tokens is the count of bytes beyond the rate: max(0, count - rate * gap) + size. A call,
 * a game or a login never sends faster than the rate for long and stays green for ever; a download does not. Without
 * the latch a download that is starved would fall below the rate, turn green and starve others by turns.
 *
 * What is not counted has the flow's colour all the same, so that the end of a transfer does not overtake it. A flow of
 * acknowledgements alone is never long.
 *
 * With three levels, short transfers do not wait for datagrams that nothing slows down, and datagrams wait for no
 * download: before CAKE, these have a tin each.
 *
 * Datagrams (MH_DATAGRAM) do not slow down when packets are lost, so that a worse class harms them most; and most of
 * them are sent as they are played. What slows down has its own, lower rate. A SYN is not read: a sender could put
 * one into every twentieth packet. A port that is used again within the timeout inherits the old flow's colour.
 *
 * Format, range and worst error: those of token_bucket.h, tokens being bytes of IP length. A super-packet is judged as
 * a whole.
 * Deviations from RFC 2697: no second bucket (no red); the latch; packets that are not counted.
 */
#ifndef MOUSEHOLE_EXCESS_H
#define MOUSEHOLE_EXCESS_H

#include "token_bucket.h"

struct mh_excess_settings {
	u64 rate_bps;
	u64 datagrams_bps;
	u64 th_bytes;
};

struct mh_excess_params {
	struct mh_token_bucket_params elastic;   /* of flows that slow down when packets are lost */
	struct mh_token_bucket_params datagrams; /* of flows that may not */
	u64 timeout_ns;                          /* silence after which a flow is new */
	u32 small;                               /* bytes of IP length up to which packets are not counted */
	u32 latch;                               /* whether a flow that was long stays so until it is new */
	u32 has_three_levels;                    /* whether datagrams have a level of their own */
	u32 reserved;
	struct mh_excess_settings settings;
};

/* All zero is a new flow. */
struct mh_excess_flow {
	struct mh_token_bucket bucket; /* `last_ns` is when a packet was last counted */
	u32 is_long;
	u32 reserved;
};

/* Returns whether the flow has been silent for longer than the timeout, so that its state may be forgotten. */
MH_FN u32 mh_excess_expired(const struct mh_excess_params *params, const struct mh_excess_flow *flow, u64 now_ns)
{
	return now_ns > flow->bucket.last_ns && now_ns - flow->bucket.last_ns > params->timeout_ns;
}

/* Returns 0: no colour depends on chance. */
MH_FN u32 mh_excess_draws(const struct mh_excess_params *params)
{
	(void)params;
	return 0;
}

/* Returns the colour of a packet; `is_long` says whether its flow is long or the packet itself is beyond the rate. */
MH_FN u32 mh_excess_colour(const struct mh_excess_params *params, const struct mh_view *view, u32 is_long)
{
	if (!params->has_three_levels)
		return is_long ? MH_YELLOW : MH_GREEN;
	if (is_long)
		return MH_RED;
	return view->flags & MH_DATAGRAM ? MH_YELLOW : MH_GREEN;
}

/*
 * Returns the colour of a packet of `flow`. Takes its tokens if the bucket holds them; else the flow becomes long, if
 * `latch` is set. A pure acknowledgement or a packet of at most `small` bytes changes nothing.
 */
MH_FN u32 mh_excess_packet(const struct mh_excess_params *params, struct mh_excess_flow *flow, struct mh_none *state,
			   const struct mh_view *view, u64 now_ns, u32 random)
{
	u32 expired = mh_excess_expired(params, flow, now_ns), conforms;

	(void)state;
	(void)random;
	if (view->flags & MH_ACK || view->ip_bytes <= params->small)
		return mh_excess_colour(params, view, flow->is_long && !expired);
	if (expired) {
		flow->bucket.missing_scaled = 0;
		flow->is_long = 0;
	}
	conforms = view->flags & MH_DATAGRAM ?
			   mh_token_bucket_packet(&params->datagrams, &flow->bucket, view->ip_bytes, now_ns) :
			   mh_token_bucket_packet(&params->elastic, &flow->bucket, view->ip_bytes, now_ns);
	if (!conforms)
		flow->is_long = params->latch;
	return mh_excess_colour(params, view, !conforms || flow->is_long);
}

#ifdef MH_DESCRIBE

static const struct mh_parameter mh_excess_parameters[] = {
	{ MH_FIELD(mh_excess_params, settings.th_bytes), .kind = MH_SIZE, .name = "th", .value = "25kB",
	  .least = 1, .most = 1e9, .meaning = "a flow is long beyond this many bytes of IP length above its rate",
	  .source = "ours: docs/nobody-pays.md" },
	{ MH_FIELD(mh_excess_params, settings.rate_bps), .kind = MH_RATE, .name = "rate", .value = "160kbit",
	  .least = 8, .most = 8e11,
	  .meaning = "rate that a flow may send for ever: of TCP, QUIC and what else slows down when packets are lost",
	  .source = "ours: docs/nobody-pays.md" },
	{ MH_FIELD(mh_excess_params, settings.datagrams_bps), .kind = MH_RATE, .name = "datagrams", .value = "4mbit",
	  .least = 8, .most = 8e11, .meaning = "the same of all other datagrams: calls, games, tunnels",
	  .source = "ours: docs/nobody-pays.md" },
	{ MH_FIELD(mh_excess_params, timeout_ns), .kind = MH_TIME, .name = "timeout", .value = "1s",
	  .least = 1e-3, .most = 1e9, .meaning = "a flow that was silent for longer is new",
	  .source = "SFD section 3.2" },
	{ MH_FIELD(mh_excess_params, small), .kind = MH_SIZE, .name = "small", .value = "100B", .least = 0,
	  .most = 4294967295.0, .meaning = "packets up to this IP length are not counted",
	  .source = "ours: above QUIC's acknowledgements, below a packet of a call" },
	{ MH_FIELD(mh_excess_params, latch), .kind = MH_FLAG, .mask = 1, .name = "latch", .value = "true",
	  .meaning = "a long flow stays long until it is new; else only the packets beyond the rate are yellow",
	  .source = "ours; RFC 2697 has false" },
	{ MH_FIELD(mh_excess_params, has_three_levels), .kind = MH_CHOICE, .mask = 1, .name = "levels",
	  .choices = "two three", .value = "two",
	  .meaning = "two: green and, if long, yellow; three: green, of datagrams yellow, and red if long",
	  .source = "ours: docs/nobody-pays.md" },
};

/* Fills both buckets from the settings, rates in bit/s. Refuses nothing. */
static inline struct mh_fault mh_excess_setup(struct mh_excess_params *params, const struct mh_link_context *link)
{
	const struct mh_excess_settings *settings = &params->settings;

	(void)link;
	mh_token_bucket_setup(&params->elastic, (double)settings->rate_bps / 8, (u32)settings->th_bytes);
	mh_token_bucket_setup(&params->datagrams, (double)settings->datagrams_bps / 8, (u32)settings->th_bytes);
	return MH_NO_FAULT;
}

#endif

MH_SETUP(excess)
MH_DRAWS(excess)
MH_EXPIRED(excess)
MH_MARKER(excess, mh_excess_params, mh_excess_flow, mh_none,
	  .unread = "elastic.most_tokens datagrams.most_tokens",
	  .summary = "green until a flow has sent a number of bytes beyond a steady rate, then yellow until it pauses",
	  .source = "ours, after RFC 2697 section 3",
	  .detail = "A flow is long by what it sends beyond a rate, not by its life: calls, games and logins stay green, "
		    "downloads do not, and a long flow stays yellow until it pauses. Datagrams other than QUIC, which do not "
		    "slow down when packets are lost, have a higher rate of their own. Pure acknowledgements and "
		    "small packets are not counted. With three levels datagrams have one of their own. Short transfers gain less than under sfd. Before CAKE, no call or "
		    "game pays; long transfers may, where CAKE alone cuts a video call to its fair share.",
	  MH_TABLE_OF(excess), MH_OFFERS(excess, setup), MH_OFFERS(excess, draws), MH_OFFERS(excess, expired))

#endif
