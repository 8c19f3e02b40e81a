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
 *   Spacing, bytes and ECN are RED's. A packet without a hint (0) is judged by RED's own line and leaves a unchanged.
 *
 * Below max, the line is RED's line moved right by (max - min)(1 - r). With r = 1 it is RED itself; as r -> 0,
 * nothing is dropped below max. The penalty stops growing at r* = 1 + (min - floor) / (max - min), where
 * min' = floor.
 *
 * The paper: w_c = 0.002 and w_q the same, floor = 5 packets (section 3.2), thresholds in bytes, all else as
 * recommended by RED's author (section 4.3): max_p 0.1, max three times min ("Discussions of Setting Parameters",
 * 1997). Its Figure 3, which gave min, is lost; ours is 30. The paper does not say whether drops depend on the size
 * of a packet. Its simulator had that off by default, and so has this header.
 *
 * Format: red.h's; hints and their average are packets in Q32, w_c is Q32. Ranges: red.h's, and floor 0 .. min;
 * max_p at most (max - min) / (max - floor), so that max_p' stays a probability; w_c 1e-6 .. 1.
 *
 * Worst error against floats: a 2^-33 / w_c from rounding and |h - a| * 2^-33 / w_c from the format of w_c; min'
 * 2^-24 packets for given a; p_b 2^-31 + slope * 2^-24 for min, max and max_p as Q32 holds them. At r = 1 it is RED's
 * to the bit. An arrival with a hint costs two divisions.
 *
 * Left open by the paper:
 * - Whether r uses the average before or after this packet's hint. Here it is the average after, the order of
 *   equations 2 and 3. Dropped packets count as well, because the router sees their hints before it drops them.
 * - Where the line starts between max and 2 max. Here it starts at max_p', so that it has no step.
 * - What a packet whose own min' is above the average does to the count since the last drop. "The remainder" is
 *   RED's, and RED resets the count when the average is below min, whatever arrives. The same happens here, and
 *   such a packet counts. With MH_SHRED_RESTART the count is reset below the packet's own min'. Different windows
 *   then interrupt nearly every run of packets that `wait` needs before a drop. The queue grows into the gentle
 *   part, where small windows are dropped too, and the result for 100 flows (Table 2) is lost: papers/shred.
 * Deviation from the paper: the floor counts mean packets, in byte mode too.
 */
#ifndef MOUSEHOLE_SHRED_H
#define MOUSEHOLE_SHRED_H

#include "red.h"

#define MH_SHRED_MAX_HINT 255

/* A bit of `red.options`, in addition to red.h's. */
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

/*
 * Returns max - min' = (max - min) * r, at most max - floor, mean packets in Q32. `hint` is 1 to 255 packets; the average
 * hint is Q32 and not 0.
 */
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

/* Returns the parameters of the RED that judges a packet with this hint: RED's own for a hint of 0, which is none. */
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

/* Returns the base probability p_b at an average, Q32, for a packet with this hint. */
MH_FN u64 mh_shred_probability(const struct mh_shred_params *params, u64 avg_q32, u64 hint, u64 hint_avg_q32)
{
	struct mh_red_params line = mh_shred_line(params, hint, hint_avg_q32);

	return mh_red_probability(&line, avg_q32);
}

/*
 * Returns whether a packet passes and counts towards the next drop: the average is below its min', but not below min.
 * It never does with MH_SHRED_RESTART.
 */
MH_FN u32 mh_shred_only_counts(const struct mh_shred_params *params, const struct mh_red_params *line, u64 avg_q32)
{
	if (params->red.options & MH_SHRED_RESTART)
		return 0;
	return avg_q32 < line->min_q32 && avg_q32 >= params->red.min_q32;
}

/* Updates the average queue and the average hint for an arrival, and returns the verdict on it. */
MH_FN u32 mh_shred_packet(const struct mh_shred_params *params, struct mh_shred_state *state,
			  const struct mh_view *view, const struct mh_backlog *backlog, u64 now_ns, u32 random)
{
	u64 hint = mh_min(view->window_hint, MH_SHRED_MAX_HINT);
	struct mh_red_params line;

	mh_red_update_average(&params->red, &state->red, backlog, now_ns);
	if (hint && state->hint_avg_q32)
		state->hint_avg_q32 = mh_average(state->hint_avg_q32, hint << 32, params->w_hint_q32);
	else if (hint)
		state->hint_avg_q32 = hint << 32;
	line = mh_shred_line(params, hint, state->hint_avg_q32);
	if (mh_shred_only_counts(params, &line, state->red.avg_q32)) {
		mh_red_count_arrival(&state->red, mh_red_spacing_weight(&line, view));
		return MH_PASS;
	}
	return mh_red_admit(&line, &state->red, view, backlog, random);
}

#ifdef MH_DESCRIBE

#define MH_SHRED_FIELD(field_) MH_FIELD(mh_shred_params, red.field_)

static const struct mh_parameter mh_shred_parameters[] = {
	{ MH_FIELD(mh_shred_params, red.min_q32), .kind = MH_LENGTH, .name = "min", .value = "30", .least = 0,
	  .most = 1048575, .meaning = "average queue where early drops begin for an average window",
	  .source = "ours: the paper's Figure 3 is lost" },
	{ MH_FIELD(mh_shred_params, red.max_q32), .kind = MH_LENGTH, .name = "max", .value = "90", .least = 0,
	  .most = 1048576, .meaning = "average queue where the gentle part begins",
	  .source = "ours: three times min, as Floyd 1997" },
	{ MH_FIELD(mh_shred_params, red.max_p_q32), .kind = MH_FRACTION, .name = "maxp", .value = "0.1",
	  .least = MH_RED_LEAST_MAX_P, .most = 1, .meaning = "drop probability at max for an average window",
	  .source = "Floyd 1997, as SHRED section 4.3 says" },
	{ MH_FIELD(mh_shred_params, floor_q32), .kind = MH_LENGTH, .name = "floor", .value = "5", .least = 0,
	  .most = 1048575, .meaning = "the line begins no earlier than this, or than min",
	  .source = "SHRED section 3.2" },
	{ MH_FIELD(mh_shred_params, w_hint_q32), .kind = MH_FRACTION, .name = "wc", .value = "0.002", .least = 1e-6,
	  .most = 1, .meaning = "weight of the newest window in the average window", .source = "SHRED section 3.2" },
	{ MH_SHRED_FIELD(options), .kind = MH_FLAG, .mask = MH_SHRED_RESTART, .name = "restart", .value = "false",
	  .meaning = "a packet below its own line starts the spacing of drops anew; else only the queue below min does",
	  .source = "ours: the paper leaves it open; papers/shred tries both" },
	MH_RED_COMMON(MH_SHRED_FIELD, "0.002", "true", "true", "bytes", "1000B", "SHRED sections 2.1, 3.2 and 4.3"),
};

/*
 * Computes RED's derived fields and SHRED's, with a floor of at most min. Refuses what red.h refuses, and too high a
 * maxp.
 */
static inline struct mh_fault mh_shred_setup(struct mh_shred_params *params, const struct mh_link_context *link)
{
	static const struct mh_red_names names = MH_RED_NAMES("");
	struct mh_red_params *red = &params->red;
	struct mh_fault fault = mh_red_setup_line(red, link, &names);
	double min = mh_from_q32(red->min_q32), max = mh_from_q32(red->max_q32), floor;

	if (fault.parameter)
		return fault;
	params->floor_q32 = mh_min(params->floor_q32, red->min_q32);
	floor = mh_from_q32(params->floor_q32);
	if (mh_from_q32(red->max_p_q32) > (max - min) / (max - floor))
		return MH_FAULT("maxp", "at most (max - min) / (max - floor), so that no window's probability passes 1");
	params->per_max_q64 = mh_fixed(1 / max, 64);
	return MH_NO_FAULT;
}

/* Returns the reading `average_packets`, mean packets. */
static inline double mh_shred_average_packets(const void *params, const void *state)
{
	(void)params;
	return mh_from_q32(((const struct mh_shred_state *)state)->red.avg_q32);
}

/* Returns the reading `average_hint_packets`; 0 before the first hint. */
static inline double mh_shred_hint_packets(const void *params, const void *state)
{
	(void)params;
	return mh_from_q32(((const struct mh_shred_state *)state)->hint_avg_q32);
}

static const struct mh_reading mh_shred_readings[] = { { "average_packets", mh_shred_average_packets },
							{ "average_hint_packets", mh_shred_hint_packets } };

#endif

MH_SETUP(shred)
MH_DROPPER(shred, mh_shred_params, mh_shred_state, .flags = MH_SEES_FULL_BUFFERS | MH_READS_HINTS,
	   .summary = "RED that drops a packet the less, the smaller its sender's window against the average one",
	   .source = "Hartling, Claypool & Kinicki 2002, section 3.2",
	   .detail = "Every data packet carries its sender's window, 1 to 255 segments. The queue keeps the average window and "
		     "moves RED's line for each packet: a window of half the average meets a line that begins half-way to "
		     "max. With a buffer below min it is a drop-tail queue.",
	   MH_TABLE_OF(shred), MH_READINGS_OF(shred), MH_OFFERS(shred, setup))

#endif
