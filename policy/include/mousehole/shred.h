/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * SHRED, SHort-lived flow friendly RED: gentle RED whose line moves with the sender's window.
 *
 * Hartling, Claypool & Kinicki, "Active Queue Management for Web Traffic", WPI, 2002: section 3.2, equations
 * 2 to 5; section 6 (hints of 1 to 255, packets without one).
 *
 *   h = the packet's window hint, at most 255; on each arrival, after RED's own average (red.h):
 *   hints:   a <- a + w_c * (h - a),  r = h / a                 a = h at the first hint
 *   min'   = min + (max - min) * (1 - r) = max - (max - min) * r,  at least `floor`
 *   max_p' = max_p * (max - min') / (max - min)                 the slope stays
 *   base:    p_b = max_p' * (avg - min') / (max - min')         min' <= avg < max
 *      gentle: = max_p' + (1 - max_p') * (avg - max) / max      max <= avg < 2 max
 *   all else, spacing, bytes, ECN, is RED's. A packet without hint (0) meets RED's own line and leaves a as it is.
 *
 * So below max the line is RED's moved right by (max - min)(1 - r). r = 1 is RED itself; r -> 0 drops nothing
 * below max; the penalty ends at r* = 1 + (min - floor) / (max - min), where min' = floor.
 *
 * The paper: w_c = 0.002 and w_q the same, floor = 5 packets (section 3.2), thresholds in bytes, all else as
 * recommended by RED's author (section 4.3): max_p 0.1, max three times min ("Discussions of Setting Parameters",
 * 1997). Where min lies stood in its Figure 3, which is lost; ours is 30. That drops depend on the size of a packet
 * is not said, and was off in its simulator unless asked for: so it is here.
 *
 * Format: red.h's; hints and their average are packets in Q32, w_c is Q32. Ranges: red.h's, and floor 0 .. min;
 * max_p at most (max - min) / (max - floor), so that max_p' stays a probability; w_c 1e-6 .. 1.
 *
 * Worst error against floats: a 2^-33 / w_c from rounding and |h - a| * 2^-33 / w_c from the format of w_c; min'
 * 2^-24 packets for given a; p_b 2^-31 + slope * 2^-24. At r = 1 it is RED's to the bit. An arrival with a hint
 * costs two divisions.
 *
 * Left open by the paper:
 * - r uses the average that has this packet's hint in it, the order of equations 2 and 3. Dropped packets count
 *   as well: the router meets them before it drops them.
 * - Between max and 2 max the line starts at max_p', so that it has no step.
 * - What the count since the last drop does at a packet whose own min' is above the average. "The remainder" is
 *   RED's, and RED forgets the count where the average is below min, whoever arrives: so here, and such a packet
 *   counts. With MH_SHRED_RESTART the count is forgotten below the packet's own min'. Then windows that differ
 *   break nearly every run that `wait` needs before a drop, the queue grows into the gentle part, where small
 *   windows are dropped too, and what the paper shows for 100 flows (Table 2) is lost: papers/shred.
 * Deviation from the paper: the floor counts mean packets, in byte mode too.
 */
#ifndef MOUSEHOLE_SHRED_H
#define MOUSEHOLE_SHRED_H

#include "red.h"

#define MH_SHRED_MAX_HINT 255

/* A bit of `red.options`, beside red.h's. */
enum { MH_SHRED_RESTART = 16 };

struct mh_shred_params {
	struct mh_red_params red; /* the line of r = 1 */
	u64 floor_q32;            /* least min', mean packets */
	u64 per_max_q64;          /* 1 / max, per mean packet */
	u64 w_hint_q32;           /* w_c */
};

/* All zero is a queue that never saw a packet. */
struct mh_shred_state {
	struct mh_red_state red;
	u64 hint_avg_q32; /* average hint, packets; 0 before the first */
};

/* (max - min) * r, at most max - floor: how far min' is below max; mean packets, Q32. */
MH_FN u64 mh_shred_reach(const struct mh_shred_params *params, u64 hint, u64 hint_avg_q32)
{
	u64 most_q32 = params->red.max_q32 - params->floor_q32;
	u64 width = (params->red.max_q32 - params->red.min_q32) * hint;
	u64 whole = width / hint_avg_q32;
	u64 rest = width - whole * hint_avg_q32;

	if (whole > most_q32 >> 32)
		return most_q32;
	return mh_min((whole << 32) + (((rest << 24) / hint_avg_q32) << 8), most_q32);
}

/* The line by which a packet with this hint is judged, 0 for none. */
MH_FN struct mh_red_params mh_shred_line(const struct mh_shred_params *params, u64 hint, u64 hint_avg_q32)
{
	struct mh_red_params line = params->red;
	u64 reach_q32;

	if (!hint || hint << 32 == hint_avg_q32)
		return line;
	reach_q32 = mh_shred_reach(params, hint, hint_avg_q32);
	line.min_q32 = line.max_q32 - reach_q32;
	line.max_p_q32 = mh_min(mh_mul_q64(reach_q32, line.slope_q64), MH_ONE_Q32);
	line.gentle_slope_q64 = mh_mul_q32(params->per_max_q64, MH_ONE_Q32 - line.max_p_q32);
	return line;
}

/* Base probability p_b of an average, Q32, for a packet with this hint. */
MH_FN u64 mh_shred_probability(const struct mh_shred_params *params, u64 avg_q32, u64 hint, u64 hint_avg_q32)
{
	struct mh_red_params line = mh_shred_line(params, hint, hint_avg_q32);

	return mh_red_probability(&line, avg_q32);
}

/* Whether the packet is below its own line but not below RED's, so that it passes and counts. */
MH_FN u32 mh_shred_only_counts(const struct mh_shred_params *params, const struct mh_red_params *line, u64 avg_q32)
{
	if (params->red.options & MH_SHRED_RESTART)
		return 0;
	return avg_q32 < line->min_q32 && avg_q32 >= params->red.min_q32;
}

/* Takes an arrival into both averages and judges it. */
MH_FN u32 mh_shred_packet(const struct mh_shred_params *params, struct mh_shred_state *state,
			  const struct mh_view *view, const struct mh_backlog *backlog, u64 now_ns, u32 random)
{
	u64 hint = mh_min(view->window_hint, MH_SHRED_MAX_HINT);
	struct mh_red_params line;

	mh_red_arrive(&params->red, &state->red, backlog, now_ns);
	if (hint && state->hint_avg_q32)
		state->hint_avg_q32 = mh_average(state->hint_avg_q32, hint << 32, params->w_hint_q32);
	else if (hint)
		state->hint_avg_q32 = hint << 32;
	line = mh_shred_line(params, hint, state->hint_avg_q32);
	if (mh_shred_only_counts(params, &line, state->red.avg_q32)) {
		mh_red_count(&state->red, mh_red_weight(&line, view));
		return MH_PASS;
	}
	return mh_red_verdict(&line, &state->red, view, backlog, random);
}

#endif
