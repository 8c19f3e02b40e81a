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
 * where q_j is what waits of colour j before the arrival. L_c is idle from the departure that empties it
 * (the start of that packet's transmission); the caller reports departures by `mh_multi_red_departed`.
 *
 * Decoupled averages can turn the preference round: when most packets are green, yellow's own queue stays
 * short and yellow is hardly ever dropped.
 *
 * Formats, ranges and errors are red.h's. Colours beyond the last one are treated as the last.
 *
 * Deviations from the papers and from their simulator (ns-2.35's DiffServ queue):
 * - That simulator drops nothing once c * p_b > 1; here p_a is then 1, as spacing means it.
 * - It weighs each colour's term of a coupled average with that colour's own w_q; here an average has one w_q.
 * - It admits every ECT packet, however long the queue; here ECT packets are dropped from max on (RFC 3168).
 * - An arrival that is dropped while its virtual queue is idle consumes the idle time.
 * - Spacing counts per colour, in every mode, there too. In total mode, that simulator takes the queue for idle
 *   whenever no packet of the departing colour is left; here it is idle when nothing waits.
 * - Gentle, wait and byte mode are available per colour: SFD uses none of them; RIO-PS gentle, wait, ECN.
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

/* The level that judges `colour`: its own, the last one for colours beyond it. */
MH_FN u32 mh_multi_red_colour(const struct mh_multi_red_params *params, u32 colour)
{
	return (u32)mh_min(colour, mh_min(params->colours - 1, MH_COLOURS - 1));
}

/* Whether packets of `colour` are part of the length behind average `index`. */
MH_FN u32 mh_multi_red_counts(const struct mh_multi_red_params *params, u32 index, u32 colour)
{
	if (params->mode == MH_TOTAL)
		return index == 0;
	if (params->mode == MH_COUPLED)
		return index >= colour && index < params->colours;
	return index == colour;
}

/* The length behind average `index`, as one queue. */
MH_FN struct mh_backlog mh_multi_red_length(const struct mh_multi_red_params *params, u32 index,
					    const struct mh_colour_backlog *backlog)
{
	struct mh_backlog sum = { 0, 0, 0, 0 };
	u32 colour;

	for (colour = 0; colour < MH_COLOURS; colour++) {
		if (!mh_multi_red_counts(params, index, mh_multi_red_colour(params, colour)))
			continue;
		sum.packets += backlog->packets[colour];
		sum.bytes += backlog->bytes[colour];
	}
	return sum;
}

/* The average by which `colour` is judged, mean packets in Q32. */
MH_FN u64 mh_multi_red_average(const struct mh_multi_red_params *params,
			       const struct mh_multi_red_state *state, u32 colour)
{
	return state->level[params->mode == MH_TOTAL ? 0 : mh_multi_red_colour(params, colour)].avg_q32;
}

/* Takes an arrival into average `index`. */
MH_FN void mh_multi_red_update(const struct mh_multi_red_params *params, struct mh_multi_red_state *state,
			       u32 index, const struct mh_colour_backlog *backlog, u64 now_ns)
{
	const struct mh_red_params *red = &params->level[index];
	struct mh_red_state *level = &state->level[index];
	struct mh_backlog length = mh_multi_red_length(params, index, backlog);
	u64 length_q32 = mh_red_length(red, length.packets, length.bytes);
	u64 idle_ns = 0;

	if (!length.packets) {
		idle_ns = mh_red_idle(level, 0, now_ns);
		level->idle_from_ns = mh_max(level->idle_from_ns, now_ns);
	}
	level->avg_q32 = mh_red_average(red, level->avg_q32, length_q32, idle_ns);
}

/* Takes an arrival into the averages it belongs to and judges it by its colour's. */
MH_FN u32 mh_multi_red_packet(const struct mh_multi_red_params *params, struct mh_multi_red_state *state,
			      const struct mh_view *view, const struct mh_colour_backlog *backlog, u64 now_ns,
			      u32 random)
{
	u32 colour = mh_multi_red_colour(params, view->colour);
	u32 index;

	for (index = 0; index < MH_COLOURS; index++)
		if (mh_multi_red_counts(params, index, colour))
			mh_multi_red_update(params, state, index, backlog, now_ns);
	return mh_red_judge(&params->level[colour], &state->level[colour],
			    mh_multi_red_average(params, state, colour), view, random);
}

/* Notes that a packet of `colour` started transmission and left `after` waiting: idle time may start. */
MH_FN void mh_multi_red_departed(const struct mh_multi_red_params *params, struct mh_multi_red_state *state,
				 u32 colour, const struct mh_colour_backlog *after, u64 now_ns)
{
	u32 own = mh_multi_red_colour(params, colour);
	u32 index;

	for (index = 0; index < MH_COLOURS; index++)
		if (mh_multi_red_counts(params, index, own) && !mh_multi_red_length(params, index, after).packets)
			state->level[index].idle_from_ns = now_ns;
}

#endif
