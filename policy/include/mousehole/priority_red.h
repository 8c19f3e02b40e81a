/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * Strict priority with a RED in each band.
 *
 * SFD Figure 4 (b), PQ: two REDs under strict priority. LFP (Alcaraz et al.), section 2: three.
 *
 *   bands, buffer, push-out, next : as priority.h has them
 *   verdict = that of the band's RED (red.h), which sees only what waits in its band, and also when the buffer is full
 *
 * Format, range, error: those of the parts.
 * Deviations: those of the parts. Each RED's idle time begins when the last packet of its band has been sent, though the
 * link sends other bands' packets then.
 */
#ifndef MOUSEHOLE_PRIORITY_RED_H
#define MOUSEHOLE_PRIORITY_RED_H

#include "multi_red.h"
#include "priority.h"

struct mh_priority_red_params {
	struct mh_priority_params bands;
	struct mh_red_params level[MH_COLOURS];
};

/* All zero is a queue that never saw a packet. */
struct mh_priority_red_state {
	struct mh_red_state level[MH_COLOURS];
};

/* Returns the band of an arrival, with MH_MARKED by its RED's verdict, or a refusal. Updates the band's average. */
MH_FN u32 mh_priority_red_enqueue(const struct mh_priority_red_params *params, struct mh_priority_red_state *state,
				  const struct mh_waiting *waiting, const struct mh_view *view, u32 hash, u64 now_ns,
				  u32 random)
{
	u32 band = mh_priority_band(&params->bands, view);
	u32 full = mh_priority_is_full(&params->bands, waiting, band, view);

	(void)hash;
	return mh_into(band, mh_verdict_with_buffer(full, mh_red_packet(&params->level[band], &state->level[band], view,
									&waiting->band[band].waiting, now_ns, random)));
}

/* Returns the band that loses its newest packet, or MH_FITS, as mh_priority_overflow() does. */
MH_FN u32 mh_priority_red_overflow(const struct mh_priority_red_params *params, struct mh_priority_red_state *state,
				   const struct mh_waiting *waiting, u64 now_ns)
{
	(void)state;
	return mh_priority_overflow(&params->bands, 0, waiting, now_ns);
}

/* Returns the best band that is not empty; something waits whenever this is called. */
MH_FN u32 mh_priority_red_dequeue(const struct mh_priority_red_params *params, struct mh_priority_red_state *state,
				  const struct mh_waiting *waiting, u64 now_ns)
{
	(void)state;
	return mh_priority_dequeue(&params->bands, 0, waiting, now_ns);
}

#ifdef MH_DESCRIBE

#define MH_PRIORITY_RED_FIELD(field_)                                                         \
	.offset = offsetof(struct mh_priority_red_params, level[0].field_),                   \
	.bytes = sizeof(((struct mh_priority_red_params *)0)->level[0].field_), .count = MH_COLOURS, \
	.stride = sizeof(struct mh_red_params)

static const struct mh_parameter mh_priority_red_parameters[] = {
	MH_PRIORITY_TABLE(mh_priority_red_params, bands.),
	MH_MULTI_RED_LINES(mh_priority_red_params, MH_PRIORITY_RED_FIELD),
};

/* Takes the link's buffer as limit and computes the derived fields of each RED; refuses what red.h refuses. */
static inline struct mh_fault mh_priority_red_setup(struct mh_priority_red_params *params,
						    const struct mh_link_context *link)
{
	params->bands.limit = mh_link_limit(link);
	return mh_multi_red_setup_lines(params->level, params->bands.colours, link);
}

/* Returns the reading `green_average_packets`, mean packets. */
static inline double mh_priority_red_green_packets(const void *params, const void *state)
{
	(void)params;
	return mh_from_q32(((const struct mh_priority_red_state *)state)->level[MH_GREEN].avg_q32);
}

/* Returns the reading `yellow_average_packets`, mean packets. */
static inline double mh_priority_red_yellow_packets(const void *params, const void *state)
{
	(void)params;
	return mh_from_q32(((const struct mh_priority_red_state *)state)->level[MH_YELLOW].avg_q32);
}

/* Returns the reading `red_average_packets`, mean packets. */
static inline double mh_priority_red_red_packets(const void *params, const void *state)
{
	(void)params;
	return mh_from_q32(((const struct mh_priority_red_state *)state)->level[MH_RED].avg_q32);
}

static const struct mh_reading mh_priority_red_readings[] = {
	{ "green_average_packets", mh_priority_red_green_packets },
	{ "yellow_average_packets", mh_priority_red_yellow_packets },
	{ "red_average_packets", mh_priority_red_red_packets },
};

#endif

MH_SETUP(priority_red)
MH_OVERFLOW(priority_red)
MH_QUEUE(priority_red, mh_priority_red_params, mh_priority_red_state, MH_COLOURS,
	 .flags = MH_READS_COLOURS,
	 .install = "classes",
	 .summary = "a queue with RED for each colour under strict priority",
	 .source = "SFD Figure 4 (b); LFP section 2",
	 .detail = "As priority, and each queue drops early by a RED of its own. The lines are multi-red's.",
	 .unread = "bands.limit.reserved",
	 MH_TABLE_OF(priority_red), MH_READINGS_OF(priority_red), MH_OFFERS(priority_red, setup),
	 MH_OFFERS(priority_red, overflow))

#endif
