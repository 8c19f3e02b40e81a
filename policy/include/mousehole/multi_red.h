/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * Multi-RED: up to three virtual REDs, one per colour, over one FIFO.
 *
 * Clark & Fang, "Explicit Allocation of Best-Effort Packet Delivery Service", IEEE/ACM Transactions on
 * Networking 6(4), 1998, section III (RIO: two REDs, OUT judged by the whole queue); Chen & Heidemann,
 * ISI-TR-2001-548, section 3.2 (SFD's virtual queues); Guo & Matta, BU-CS-2001-005, section III (RIO-PS).
 *
 * A packet of colour c is judged by RED's rule (red.h) with the parameters of c and the average of L_c:
 *
 *   coupled    (RIO-C)  L_c = q_0 + .. + q_c     an arrival of colour c updates the averages c .. k-1
 *   decoupled  (RIO-D)  L_c = q_c                an arrival of colour c updates the average c
 *   total      (WRED)   L_c = q_0 + .. + q_k-1   one average, with the weight of colour 0
 *
 * where q_j is the number of waiting packets of colour j before the arrival. L_c is idle from the departure that empties it
 * (the start of that packet's transmission); the caller reports departures by `mh_multi_red_departed`.
 *
 * Decoupled averages can reverse the preference: when most packets are green, yellow's own queue stays short,
 * and yellow packets are hardly ever dropped.
 *
 * Formats, ranges and errors are red.h's. Colours beyond the last one are treated as the last.
 *
 * Deviations from the papers and from their simulator (ns-2.35's DiffServ queue):
 * - That simulator drops nothing once c * p_b > 1. Here p_a is then 1, as the rule of spacing says.
 * - It weights each colour's term of a coupled average with that colour's own w_q. Here an average has one w_q.
 * - It admits every ECT packet, however long the queue is. Here ECT packets are dropped from max on (RFC 3168).
 * - An arrival that is dropped while its virtual queue is idle consumes the idle time.
 * - Both count the spacing per colour in every mode. In total mode, that simulator considers the queue idle when
 *   no packet of the departing colour is left. Here it is idle when no packet waits.
 * - Gentle, wait and byte mode are available per colour. SFD uses none of them; RIO-PS uses gentle, wait and ECN.
 *   `spare_below_packets` is not used.
 */
#ifndef MOUSEHOLE_MULTI_RED_H
#define MOUSEHOLE_MULTI_RED_H

#include "red.h"

enum { MH_COUPLED = 0, MH_DECOUPLED = 1, MH_TOTAL = 2 };

struct mh_multi_red_params {
	struct mh_red_params level[MH_COLOURS];
	u32 colours; /* 1 .. 3 */
	u32 mode;    /* MH_COUPLED, MH_DECOUPLED or MH_TOTAL */
};

/* All zero is a queue that never saw a packet. */
struct mh_multi_red_state {
	struct mh_red_state level[MH_COLOURS];
};

/* Returns the index of the RED that judges `colour`: the colour's, or the last one for colours beyond it. */
MH_FN u32 mh_multi_red_level(const struct mh_multi_red_params *params, u32 colour)
{
	/* Compared with a constant at the end, since Linux 6.1's verifier learns nothing from two variables. */
	return (u32)mh_min(mh_min(colour, params->colours - 1), MH_COLOURS - 1);
}

/* Returns whether packets of `colour`, which is below `colours`, count in the queue length of average `index`. */
MH_FN u32 mh_multi_red_counts(const struct mh_multi_red_params *params, u32 index, u32 colour)
{
	if (params->mode == MH_TOTAL)
		return index == 0;
	if (params->mode == MH_COUPLED)
		return index >= colour && index < params->colours;
	return index == colour;
}

/* Returns the virtual queue of average `index`: the packets and bytes that it counts. Its other members are 0. */
MH_FN struct mh_backlog mh_multi_red_length(const struct mh_multi_red_params *params, u32 index,
					    const struct mh_backlog *backlog)
{
	struct mh_backlog sum = { 0, 0, { 0, 0, 0 }, 0, { 0, 0, 0 } };
	u32 colour;

	for (colour = 0; colour < MH_COLOURS; colour++) {
		if (!mh_multi_red_counts(params, index, mh_multi_red_level(params, colour)))
			continue;
		sum.packets += backlog->colour_packets[colour];
		sum.bytes += backlog->colour_bytes[colour];
	}
	return sum;
}

/* Returns the average by which `colour` is judged, mean packets in Q32. */
MH_FN u64 mh_multi_red_average(const struct mh_multi_red_params *params,
			       const struct mh_multi_red_state *state, u32 colour)
{
	return state->level[params->mode == MH_TOTAL ? 0 : mh_multi_red_level(params, colour)].avg_q32;
}

/* Updates average `index` for an arrival that finds `backlog`. */
MH_FN void mh_multi_red_update(const struct mh_multi_red_params *params, struct mh_multi_red_state *state,
			       u32 index, const struct mh_backlog *backlog, u64 now_ns)
{
	const struct mh_red_params *red = &params->level[index];
	struct mh_red_state *level = &state->level[index];
	struct mh_backlog length = mh_multi_red_length(params, index, backlog);
	u64 length_q32 = mh_red_length(red, length.packets, length.bytes);
	u64 idle_ns = 0;

	if (!length.packets) {
		idle_ns = mh_red_uncounted_idle_ns(level, 0, now_ns);
		level->idle_from_ns = mh_max(level->idle_from_ns, now_ns);
	}
	level->avg_q32 = mh_red_average(red, level->avg_q32, length_q32, idle_ns);
}

/* Updates the averages that count the arrival's colour, and returns the verdict on it by the average of its colour. */
MH_FN u32 mh_multi_red_packet(const struct mh_multi_red_params *params, struct mh_multi_red_state *state,
			      const struct mh_view *view, const struct mh_backlog *backlog, u64 now_ns,
			      u32 random)
{
	u32 colour = mh_multi_red_level(params, view->colour);
	u32 index;

	for (index = 0; index < MH_COLOURS; index++)
		if (mh_multi_red_counts(params, index, colour))
			mh_multi_red_update(params, state, index, backlog, now_ns);
	return mh_red_decide(&params->level[colour], &state->level[colour],
			    mh_multi_red_average(params, state, colour), view, random);
}

/*
 * Notes that packets of `colour` started transmission, the last of them now, and left `after` waiting: idle time may
 * start. Of several departures between two arrivals only the last one of each colour matters: no length that still
 * counts packets is idle, and one that counts none became idle with the last departure of its colours.
 */
MH_FN void mh_multi_red_departed(const struct mh_multi_red_params *params, struct mh_multi_red_state *state,
				 u32 colour, const struct mh_backlog *after, u64 now_ns)
{
	u32 own = mh_multi_red_level(params, colour);
	u32 index;

	for (index = 0; index < MH_COLOURS; index++)
		if (mh_multi_red_counts(params, index, own) && !mh_multi_red_length(params, index, after).packets)
			state->level[index].idle_from_ns = now_ns;
}

#ifdef MH_DESCRIBE

#define MH_MULTI_RED_FIELD(field_) MH_FIELDS(mh_multi_red_params, level, field_, MH_COLOURS)

/* The line of one colour, in an array `level` of a struct. */
#define MH_MULTI_RED_LINE(params_t_, index_, colour_, min_, max_)                                                    \
	{ MH_FIELD(params_t_, level[index_].min_q32), .kind = MH_LENGTH, .name = colour_ "_min",                     \
	  .value = min_, .least = 0, .most = 1048575,                                                                \
	  .meaning = colour_ ": average queue where early drops begin",                                              \
	  .source = "ours, as Noureddine & Tobagi's lost Figure 4 staggers them" },                                  \
	{ MH_FIELD(params_t_, level[index_].max_q32), .kind = MH_LENGTH, .name = colour_ "_max",                     \
	  .value = max_, .least = 0, .most = 1048576,                                                                \
	  .meaning = colour_ ": average queue where every packet is dropped, or where the gentle part begins",       \
	  .source = "ours, as Noureddine & Tobagi's lost Figure 4 staggers them" },                                  \
	{ MH_FIELD(params_t_, level[index_].max_p_q32), .kind = MH_FRACTION, .name = colour_ "_maxp",                \
	  .value = "0.1", .least = MH_RED_LEAST_MAX_P, .most = 1,                                                    \
	  .meaning = colour_ ": drop probability just below " colour_ "_max",                                        \
	  .source = "Noureddine & Tobagi, section IV.A" }

/* The lines of all colours, and what they share. `FIELD` locates a field in each of them. */
#define MH_MULTI_RED_LINES(params_t_, FIELD)                                                                         \
	MH_MULTI_RED_LINE(params_t_, 0, "green", "70%", "100%"),                                                     \
	MH_MULTI_RED_LINE(params_t_, 1, "yellow", "40%", "70%"),                                                     \
	MH_MULTI_RED_LINE(params_t_, 2, "red", "20%", "40%"),                                                        \
	MH_RED_COMMON(FIELD, "0.02", "false", "false", "packets", "1000B", "SFD Table 1")

static const struct mh_parameter mh_multi_red_parameters[] = {
	{ MH_FIELD(mh_multi_red_params, colours), .kind = MH_COUNT, .name = "colours", .value = "3", .least = 1,
	  .most = MH_COLOURS, .meaning = "how many colours have a line of their own; worse ones share the last",
	  .source = "Clark & Fang 1998 have two, Noureddine & Tobagi three" },
	{ MH_FIELD(mh_multi_red_params, mode), .kind = MH_CHOICE, .mask = 3, .name = "mode",
	  .choices = "coupled decoupled total", .value = "coupled",
	  .meaning = "a colour's average counts its own packets (decoupled), also better ones (coupled), or all (total)",
	  .source = "Clark & Fang 1998, section III" },
	MH_MULTI_RED_LINES(mh_multi_red_params, MH_MULTI_RED_FIELD),
};

/* Computes the derived fields of the first `colours` REDs. Returns the first fault. */
static inline struct mh_fault mh_multi_red_setup_lines(struct mh_red_params *level, u32 colours,
						       const struct mh_link_context *link)
{
	static const struct mh_red_names names[MH_COLOURS] = { MH_RED_NAMES("green_"), MH_RED_NAMES("yellow_"),
							       MH_RED_NAMES("red_") };
	struct mh_fault fault = MH_NO_FAULT;
	u32 index;

	for (index = 0; index < colours && !fault.parameter; index++)
		fault = mh_red_setup_line(&level[index], link, &names[index]);
	return fault;
}

/* Computes the derived fields of all REDs in use, and refuses what red.h refuses. */
static inline struct mh_fault mh_multi_red_setup(struct mh_multi_red_params *params, const struct mh_link_context *link)
{
	return mh_multi_red_setup_lines(params->level, params->colours, link);
}

/* Returns the reading `green_average_packets`, mean packets. */
static inline double mh_multi_red_green_packets(const void *params, const void *state)
{
	return mh_from_q32(mh_multi_red_average(params, state, MH_GREEN));
}

/* Returns the reading `yellow_average_packets`, mean packets. */
static inline double mh_multi_red_yellow_packets(const void *params, const void *state)
{
	return mh_from_q32(mh_multi_red_average(params, state, MH_YELLOW));
}

/* Returns the reading `red_average_packets`, mean packets. */
static inline double mh_multi_red_red_packets(const void *params, const void *state)
{
	return mh_from_q32(mh_multi_red_average(params, state, MH_RED));
}

static const struct mh_reading mh_multi_red_readings[] = {
	{ "green_average_packets", mh_multi_red_green_packets },
	{ "yellow_average_packets", mh_multi_red_yellow_packets },
	{ "red_average_packets", mh_multi_red_red_packets },
};

#endif

MH_SETUP(multi_red)
MH_DEPARTED(multi_red)
MH_DROPPER(multi_red, mh_multi_red_params, mh_multi_red_state, .flags = MH_READS_COLOURS,
	   .install = "wred mode=total gentle=false",
	   .summary = "one FIFO with a RED for each colour (RIO, WRED)",
	   .source = "Clark & Fang 1998, section III; SFD section 3.2; RIO-PS section III",
	   .detail = "One FIFO holds all colours, with an average and thresholds for each, so that worse colours are dropped "
		     "first and order is kept.",
	   .unread = "level[0].spare_below_packets level[1].spare_below_packets level[2].spare_below_packets",
	   MH_TABLE_OF(multi_red), MH_READINGS_OF(multi_red), MH_OFFERS(multi_red, setup),
	   MH_OFFERS(multi_red, departed))

#endif
