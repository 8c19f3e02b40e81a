/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * LFP's marker, Long Flow Promotion: short flows green, long flows green while there are enough tokens, elephants red.
 *
 * Alcaraz, Gilly, Juiz & Puigjaner, "Accommodating Short and Long Web Traffic Flows over a DiffServ
 * Architecture", section 2.
 *
 *   meter the packet (flow_meter.h, in packets)
 *   alpha = count <= tau                                                          section 2.1
 *   open  = fill >= kappa + delta,  or still open and fill >= kappa - delta       section 2.2, eq 8
 *   gamma = count >= Q(u) of the sizes of the last H flows (size_history.h)       section 2.3, eq 12
 *   colour = green (P_S)    if alpha; takes a token as far as there is one
 *          = red (P_down)   else if gamma held for an earlier packet of the flow, or holds now
 *          = green (P_up)   else if open and there is a token, which it takes
 *          = yellow (P_L)   otherwise
 *
 * fill is the level of one token bucket (token_bucket.h) in percent: rate omega, burst zeta, one token for each
 * packet on the wire. The paper gives tau = 10 (section 2) and u = 95 % (section 2.4), and no other values.
 * The queue behind the marker has three priorities.
 *
 * Format: the limits of the fill are in scaled units of the bucket, rounded up; the rest as in the parts.
 * Range: kappa, delta with 0 <= kappa - delta, kappa + delta <= 100; tau 0 .. 2^32 - 2; others as in the parts.
 * Worst error: that of the bucket's rate, and 1/128 of Q beyond 127 packets.
 *
 * Deviations from the paper:
 * - eq 14 and Fig. 4 are printed without their bars; they are read as above. A packet that is both promoted and an
 *   elephant's is red.
 * - An elephant stays one until its state expires (Fig. 4's q2 has no exit); `memoryless` judges each packet anew.
 * - gamma is false while no known size lies beyond the rank of Q(u), that is until 1 / (1 - u) flows have ended:
 *   20 at 95 %. With u = 100 % no flow is an elephant.
 * - A packet of a short flow takes what the bucket holds of its token, where eq 6 takes a whole token or none. A
 *   super-packet therefore costs as much as its segments. The difference is less than a token.
 * - eq 8 uses the fill at t_k. By eqs 5 and 6 that includes what this packet takes, which in turn depends on eq 8.
 *   Here the fill is read after the refill and before the packet. At kappa - delta itself promotion stays open
 *   (eq 8), though the text closes it there.
 * - All flows share one bucket and one open/closed state: eq 8's beta names a flow, but depends only on the
 *   bucket's fill. The bucket starts full and therefore open, if its rate is not 0. With a rate of 0 it holds no
 *   tokens and nothing is promoted.
 * - A flow that returns after its timeout, or with a SYN, has ended and enters the history at that moment
 *   (mh_lfp_restarts), unless the caller has swept it before. The times of sweeps thus decide when sizes count.
 */
#ifndef MOUSEHOLE_LFP_H
#define MOUSEHOLE_LFP_H

#include "flow_meter.h"
#include "policy.h"
#include "size_history.h"
#include "token_bucket.h"

struct mh_lfp_settings {
	u64 omega_q32;            /* tokens per second, as a share of the link's rate in packets of 1500 B */
	u64 kappa_percent_q32;    /* fill around which promotion opens and closes */
	u64 delta_percent_q32;    /* half the width between both */
	u64 quantile_percent_q32; /* u */
	u32 burst;                /* zeta, packets */
	u32 flows;                /* H */
};

struct mh_lfp_params {
	struct mh_flow_meter_params meter;
	struct mh_token_bucket_params bucket;
	struct mh_size_history_params history;
	u64 open_scaled;  /* promotion opens at this level, kappa + delta */
	u64 close_scaled; /* and closes below this one, kappa - delta */
	u32 threshold;    /* tau, packets */
	u32 memoryless;   /* whether an elephant may cease to be one */
	struct mh_lfp_settings settings;
};

/* All zero is a new flow. */
struct mh_lfp_flow {
	struct mh_flow_meter meter;
	u32 elephant; /* whether gamma held for an earlier packet */
	u32 reserved;
};

/* Written when a flow ends and read for each packet. All zero makes no flow an elephant. */
struct mh_lfp_published {
	u32 quantile; /* Q(u), packets */
	u32 is_known; /* whether a known size lies beyond it */
};

/* The state that all flows share. All zero is a full bucket and an empty history. */
struct mh_lfp_state {
	struct mh_token_bucket bucket;
	u32 open; /* whether long flows are promoted */
	u32 reserved;
	struct mh_lfp_published published;
	struct mh_size_history history; /* only slow steps and readings use it */
};

/* Returns whether the flow has been silent for longer than the timeout. The caller then calls mh_lfp_flow_end(). */
MH_FN u32 mh_lfp_expired(const struct mh_lfp_params *params, const struct mh_lfp_flow *flow, u64 now_ns)
{
	return mh_flow_meter_expired(&params->meter, &flow->meter, now_ns);
}

/* Adds the size of a flow that has ended to the history and publishes the new Q(u); ignores a flow without packets. */
MH_FN void mh_lfp_flow_end(const struct mh_lfp_params *params, const struct mh_lfp_flow *flow,
			   struct mh_lfp_state *state)
{
	struct mh_size_history *history = &state->history;

	if (!flow->meter.packets)
		return;
	mh_size_history_flow_end(&params->history, history, flow->meter.packets);
	state->published.quantile = mh_size_history_quantile(history);
	state->published.is_known = mh_size_history_rank(&params->history, history->count) < history->count;
}

/* Returns whether a packet starts a flow anew that has sent packets before; the caller first ends it. */
MH_FN u32 mh_lfp_restarts(const struct mh_lfp_params *params, const struct mh_lfp_flow *flow,
			  const struct mh_view *view, u64 now_ns)
{
	return flow->meter.packets && mh_flow_meter_is_fresh(&params->meter, &flow->meter, view, now_ns);
}

/* Returns the time between two sweeps of expired flows: one second, in ns. */
MH_FN u64 mh_lfp_period(const struct mh_lfp_params *params)
{
	(void)params;
	return 1000000000ULL;
}

/* Refills the bucket up to `now_ns`, updates the hysteresis of eq 8, and returns whether promotion is open. */
MH_FN u32 mh_lfp_update_promotion(const struct mh_lfp_params *params, struct mh_lfp_state *state, u64 now_ns)
{
	u64 level;

	mh_token_bucket_refill(&params->bucket, &state->bucket, now_ns);
	level = mh_token_bucket_level(&params->bucket, &state->bucket);
	if (level >= params->open_scaled)
		state->open = 1;
	else if (level < params->close_scaled)
		state->open = 0;
	return state->open;
}

/* Returns gamma (eq 12) of a flow that has sent `count` packets: whether it has reached Q(u) and Q(u) is known. */
MH_FN u32 mh_lfp_is_elephant(const struct mh_lfp_published *published, u32 count)
{
	return published->is_known && count >= published->quantile;
}

/* Returns 0: no colour depends on chance. */
MH_FN u32 mh_lfp_draws(const struct mh_lfp_params *params)
{
	(void)params;
	return 0;
}

/*
 * Meters a packet of `flow`, returns its colour, and takes tokens for a green one (Fig. 4). Refills the bucket and
 * opens or closes promotion for all flows first.
 */
MH_FN u32 mh_lfp_packet(const struct mh_lfp_params *params, struct mh_lfp_flow *flow,
			struct mh_lfp_state *state, const struct mh_view *view, u64 now_ns, u32 random)
{
	u32 open, segments = mh_segments(view), keep = !params->memoryless;

	(void)random;
	if (mh_flow_meter_packet(&params->meter, &flow->meter, view, now_ns))
		flow->elephant = 0;
	open = mh_lfp_update_promotion(params, state, now_ns);
	if (flow->meter.packets <= params->threshold) {
		mh_token_bucket_take_clipped(&params->bucket, &state->bucket, segments);
		return MH_GREEN;
	}
	flow->elephant = (flow->elephant && keep) ||
			 mh_lfp_is_elephant(&state->published, flow->meter.packets);
	if (flow->elephant)
		return MH_RED;
	if (!open || !mh_token_bucket_conforms(&params->bucket, &state->bucket, segments))
		return MH_YELLOW;
	mh_token_bucket_take(&params->bucket, &state->bucket, segments);
	return MH_GREEN;
}

#ifdef MH_DESCRIBE

static const struct mh_parameter mh_lfp_parameters[] = {
	{ MH_FIELD(mh_lfp_params, threshold), .kind = MH_COUNT, .name = "tau", .value = "10", .least = 0,
	  .most = 4294967294.0, .meaning = "a flow's first packets are green, up to this count",
	  .source = "LFP section 2" },
	{ MH_FIELD(mh_lfp_params, settings.omega_q32), .kind = MH_NUMBER, .bits = 32, .name = "omega",
	  .value = "0.5", .least = 0, .most = 1e6,
	  .meaning = "tokens per second over the link's rate in packets of 1500 B",
	  .source = "ours: the paper does not say" },
	{ MH_FIELD(mh_lfp_params, settings.burst), .kind = MH_COUNT, .name = "zeta", .value = "50", .least = 1,
	  .most = 1e9, .meaning = "tokens in a full bucket", .source = "ours: the paper does not say" },
	{ MH_FIELD(mh_lfp_params, settings.kappa_percent_q32), .kind = MH_PERCENT, .name = "kappa", .value = "50",
	  .least = 0, .most = 100, .meaning = "fill of the bucket around which promotion opens and closes, %",
	  .source = "ours: the paper does not say" },
	{ MH_FIELD(mh_lfp_params, settings.delta_percent_q32), .kind = MH_PERCENT, .name = "delta", .value = "25",
	  .least = 0, .most = 50, .meaning = "promotion opens at kappa + delta and closes below kappa - delta, %",
	  .source = "ours: the paper does not say" },
	{ MH_FIELD(mh_lfp_params, settings.quantile_percent_q32), .kind = MH_PERCENT, .name = "u", .value = "95",
	  .least = 0.0001, .most = 100, .meaning = "a flow beyond this quantile of the last flows is an elephant, %",
	  .source = "LFP section 2.4" },
	{ MH_FIELD(mh_lfp_params, settings.flows), .kind = MH_COUNT, .name = "h", .value = "1000", .least = 1,
	  .most = MH_SIZE_HISTORY_MOST, .meaning = "how many of the last flows are remembered",
	  .source = "ours: the paper does not say" },
	{ MH_FIELD(mh_lfp_params, memoryless), .kind = MH_FLAG, .mask = 1, .name = "memoryless", .value = "false",
	  .meaning = "an elephant may become an ordinary flow again",
	  .source = "off: LFP Fig. 4 has no way out of q2" },
	{ MH_FIELD(mh_lfp_params, meter.timeout_ns), .kind = MH_TIMEOUT, .name = "timeout", .value = "5s",
	  .least = 1e-9, .most = 1e9, .meaning = "a flow that was silent for longer starts again at zero",
	  .source = "derived from LFP Table 1" },
	{ MH_FIELD(mh_lfp_params, meter.syn_restarts), .kind = MH_FLAG, .mask = 1, .name = "syn", .value = "true",
	  .meaning = "a SYN makes its flow new, so that a reused port does not inherit an old count",
	  .source = "ours: the paper does not say" },
};

/*
 * Fills the bucket, the history and the levels at which promotion opens and closes, the rate from that of the slowest
 * link. Refuses levels outside 0 to 100 % and a rate that the bucket cannot hold.
 */
static inline struct mh_fault mh_lfp_setup(struct mh_lfp_params *params, const struct mh_link_context *link)
{
	const struct mh_lfp_settings *settings = &params->settings;
	u64 kappa = settings->kappa_percent_q32, delta = settings->delta_percent_q32;
	double slowest = link->rate_bps < link->bottleneck_bps ? link->rate_bps : link->bottleneck_bps;
	double rate = mh_from_q32(settings->omega_q32) * slowest / (1500.0 * 8);

	if (delta > kappa || kappa + delta > 100ULL << 32)
		return MH_FAULT("delta", "at most kappa, and at most 100 - kappa");
	if (rate != 0 && (rate < 1 || rate > 1e11))
		return MH_FAULT("omega", "0, or so much that the bucket gets from 1 to 1e11 tokens a second on this link");
	mh_token_bucket_setup(&params->bucket, rate, settings->burst);
	mh_size_history_setup(&params->history, settings->quantile_percent_q32, settings->flows);
	params->open_scaled = mh_token_bucket_scaled_at(&params->bucket, kappa + delta);
	params->close_scaled = mh_token_bucket_scaled_at(&params->bucket, kappa - delta);
	return MH_NO_FAULT;
}

/* Returns the reading `elephant_packets`: Q(u); NaN before the first flow has ended. */
static inline double mh_lfp_elephant_packets(const void *params, const void *state)
{
	const struct mh_lfp_state *lfp = state;

	(void)params;
	return lfp->history.count ? mh_size_history_quantile(&lfp->history) : __builtin_nan("");
}

static const struct mh_reading mh_lfp_readings[] = { { "elephant_packets", mh_lfp_elephant_packets } };

#endif

MH_SETUP(lfp)
MH_DRAWS(lfp)
MH_EXPIRED(lfp)
MH_FLOW_END(lfp)
MH_RESTARTS(lfp)
MH_PERIOD(lfp)
MH_MARKER(lfp, mh_lfp_params, mh_lfp_flow, mh_lfp_state,
	  .summary = "short flows are green, long ones too while tokens abound, else yellow; elephants are red",
	  .source = "Alcaraz, Gilly, Juiz & Puigjaner, EPEW 2011, section 2",
	  .detail = "The first tau packets of a flow are green. Green packets spend tokens. While the bucket is fuller than a "
		    "set point, packets of longer flows are green as well, else yellow. A flow longer than the u-quantile of "
		    "the last h flows is an elephant and red from then on.",
	  .unread = "bucket.most_tokens",
	  MH_TABLE_OF(lfp), MH_READINGS_OF(lfp), MH_OFFERS(lfp, setup), MH_OFFERS(lfp, draws),
	  MH_PUBLISHES(mh_lfp_state), MH_OFFERS(lfp, expired), MH_OFFERS(lfp, flow_end), MH_OFFERS(lfp, restarts),
	  MH_OFFERS(lfp, period))

#endif
