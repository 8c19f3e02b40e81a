/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * Window marker: TCP-state based differentiation, a packet's colour by its sender's window.
 *
 * Noureddine & Tobagi, "Improving the Performance of Interactive TCP Applications Using Service
 * Differentiation" (TCP-DS): section VI.A, algorithm 1 with its randomised lines (TCP-DS-R).
 *
 *   W = send window in packets, min(congestion window, receiver's window); HIGH green, MED yellow, LOW red
 *   W <= H:                    HIGH
 *   SYN or in fast recovery:   HIGH
 *   W <= M:      randomised: HIGH with probability H / W;   else MED
 *   W > M:       randomised: HIGH with probability H / W, of the rest MED with probability M / W;   else LOW
 *
 * Randomised, H packets of a window are HIGH on average at every W > H, and M (1 - H/W) are MED at W > M. A packet
 * sent again after a timeout has W = 1 and is HIGH by its window. The paper has H = 4, M = 8 for web and file transfers
 * (section VI.C), and the largest window for Telnet: interactive connections are always HIGH. A pure ACK keeps the
 * colour that it has: the receiver gives it the colour of the data that it acknowledges. The shaper is policer.h's.
 *
 * Format: U * W < H and U * W^2 < H W + (W - H) M are compared in whole numbers of 2^-32: no division, and both
 * probabilities are right to 2^-32. Range: 0 <= H <= M <= 65535 packets; `window_hint` 1 .. 65535.
 *
 * Deviations from the paper:
 * - Its randomised lines do not say that a packet marked by chance keeps that colour; here it does.
 * - A packet whose window is unknown (hint 0) is LOW unless it is special.
 * - Fast retransmissions are part of fast recovery (MH_IN_RECOVERY). MH_RETRANSMISSION alone does not help: after a
 *   timeout the window decides, as in algorithm 1, though the text names segments after a timeout.
 */
#ifndef MOUSEHOLE_WINDOW_MARKER_H
#define MOUSEHOLE_WINDOW_MARKER_H

#include "policy.h"

struct mh_window_marker_params {
	u32 high;       /* H, packets */
	u32 medium;     /* M, packets */
	u32 randomised; /* 1 for TCP-DS-R */
	u32 reserved;
};

/*
 * Returns the colour of a packet at a window of more than H packets by algorithm 1's randomised lines. `random` is 32
 * uniform bits, the window at most 65535 packets.
 */
MH_FN u32 mh_window_marker_random_colour(const struct mh_window_marker_params *params, u64 window, u64 random)
{
	u64 high = params->high * window, both = high + (window - params->high) * params->medium;

	if (random * window < (u64)params->high << 32)
		return MH_GREEN;
	if (window <= params->medium || random * window * window < both << 32)
		return MH_YELLOW;
	return MH_RED;
}

/* Returns whether the colour depends on `random`. */
MH_FN u32 mh_window_marker_draws(const struct mh_window_marker_params *params)
{
	return params->randomised;
}

/*
 * Returns the colour of a packet when its host sends it, by the sender's window (algorithm 1); a pure ACK keeps its
 * former colour.
 */
MH_FN u32 mh_window_marker_packet(const struct mh_window_marker_params *params, struct mh_none *flow,
				  struct mh_none *state, const struct mh_view *view, u64 now_ns, u32 random)
{
	u32 window = view->window_hint;

	(void)flow;
	(void)state;
	(void)now_ns;
	if (view->flags & MH_ACK)
		return view->colour;
	if (view->flags & (MH_SYN | MH_IN_RECOVERY))
		return MH_GREEN;
	if (window && (window <= params->high || view->application == MH_INTERACTIVE))
		return MH_GREEN;
	if (!window)
		return MH_RED;
	if (params->randomised)
		return mh_window_marker_random_colour(params, window, random);
	return window <= params->medium ? MH_YELLOW : MH_RED;
}

#ifdef MH_DESCRIBE

static const struct mh_parameter mh_window_marker_parameters[] = {
	{ MH_FIELD(mh_window_marker_params, high), .kind = MH_COUNT, .name = "high", .value = "4", .least = 0,
	  .most = 65535, .meaning = "windows up to this are green, segments",
	  .source = "Noureddine & Tobagi, section VI.C" },
	{ MH_FIELD(mh_window_marker_params, medium), .kind = MH_COUNT, .name = "med", .value = "8", .least = 0,
	  .most = 65535, .meaning = "windows up to this are yellow, segments",
	  .source = "Noureddine & Tobagi, section VI.C" },
	{ MH_FIELD(mh_window_marker_params, randomised), .kind = MH_FLAG, .mask = 1, .name = "randomised",
	  .value = "false", .meaning = "keep about `high` packets of a larger window green, by chance (TCP-DS-R)",
	  .source = "Noureddine & Tobagi, section VI.A" },
};

/* Refuses an H above M. */
static inline struct mh_fault mh_window_marker_setup(struct mh_window_marker_params *params,
						     const struct mh_link_context *link)
{
	(void)link;
	if (params->high > params->medium)
		return MH_FAULT("high", "at most med");
	return MH_NO_FAULT;
}

#endif

MH_SETUP(window_marker)
MH_DRAWS(window_marker)
MH_MARKER(window_marker, mh_window_marker_params, mh_none, mh_none, .flags = MH_READS_HINTS,
	  .summary = "small windows, SYNs and loss recovery are green, medium windows yellow, large ones red",
	  .source = "Noureddine & Tobagi, section VI.A",
	  .detail = "The sending host colours every segment: green while its window is at most `high`, or while it "
		    "recovers from a loss, yellow up to `med`, red beyond. Initial windows of 10 begin beyond both "
		    "thresholds. Only a host knows its windows.",
	  MH_TABLE_OF(window_marker), MH_OFFERS(window_marker, setup), MH_OFFERS(window_marker, draws))

#endif
