/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * Strict priority: a band for each colour, the best one that is not empty first. The bands share a buffer, or each has its own.
 *
 * SFD section on the physical-queue variant (PQ); LFP (Alcaraz et al.), whose three buffers have 50 packets each; PIAS
 * (Bai et al., NSDI 2015). A packet in transmission is never interrupted.
 *
 *   band     = that of the colour; colours beyond the last band share it
 *   own      : the arrival is dropped when its band is full
 *   shared   : the arrival is dropped when all bands together are full
 *   push-out : as full_buffer.h has it: the arrival is dropped when its band and better ones are full; else the newest
 *              packets of the worst bands are, until what waits fits
 *   next     = the best band that is not empty
 *
 * Work-conserving. Reorders within a flow whose packets change colour. A bad colour starves while good ones fill the
 * link.
 *
 * Format: plain integers. No rounding.
 * Range: 1 to 3 bands; the buffer is the link's, in bytes or packets.
 * Deviations: none of the papers says whom a full shared buffer drops; push-out is ours, as otherwise packets of a colour
 * that nobody serves lock out better ones.
 */
#ifndef MOUSEHOLE_PRIORITY_H
#define MOUSEHOLE_PRIORITY_H

#include "policy.h"

struct mh_priority_params {
	struct mh_limit limit; /* the link's buffer; of all bands if shared, else of each */
	u32 colours;           /* bands, 1 .. 3 */
	u32 shared;
	u32 pushout;
	u32 reserved;
};

/* Returns the band of a packet: that of its colour, or the last band for colours beyond it. */
MH_FN u32 mh_priority_band(const struct mh_priority_params *params, const struct mh_view *view)
{
	/* Compared with a constant at the end, since Linux 6.1's verifier learns nothing from two variables. */
	return (u32)mh_min(mh_min(view->colour, params->colours - 1), MH_COLOURS - 1);
}

/* Returns the backlog of all bands with the bands in place of the colours, as full_buffer.h takes it. */
MH_FN struct mh_backlog mh_priority_backlog(const struct mh_waiting *waiting)
{
	struct mh_backlog bands = waiting->all;
	u32 band;

	for (band = 0; band < MH_COLOURS; band++) {
		bands.colour_packets[band] = waiting->band[band].waiting.packets;
		bands.colour_bytes[band] = waiting->band[band].waiting.bytes;
	}
	return bands;
}

/* Returns whether the buffer has no room for an arrival of `band`, even after push-out. */
MH_FN u32 mh_priority_is_full(const struct mh_priority_params *params, const struct mh_waiting *waiting, u32 band,
			      const struct mh_view *view)
{
	struct mh_backlog met;

	if (!params->shared)
		return mh_is_full(&params->limit, &waiting->band[band].waiting, view->ip_bytes, mh_segments(view));
	if (!params->pushout)
		return mh_is_full(&params->limit, &waiting->all, view->ip_bytes, mh_segments(view));
	met = mh_priority_backlog(waiting);
	met = mh_protected_backlog(&met, band);
	return mh_is_full(&params->limit, &met, view->ip_bytes, mh_segments(view));
}

/* Returns 0: nothing depends on chance. */
MH_FN u32 mh_priority_draws(const struct mh_priority_params *params)
{
	(void)params;
	return 0;
}

/* Returns the band of an arrival, or a refusal if its buffer is full. */
MH_FN u32 mh_priority_enqueue(const struct mh_priority_params *params, struct mh_none *state,
			      const struct mh_waiting *waiting, const struct mh_view *view, u32 hash, u64 now_ns,
			      u32 random)
{
	u32 band = mh_priority_band(params, view);

	(void)state;
	(void)hash;
	(void)now_ns;
	(void)random;
	return mh_into(band, mh_verdict_with_buffer(mh_priority_is_full(params, waiting, band, view), MH_PASS));
}

/* Returns the worst band that is not empty while a shared buffer with push-out exceeds its limit; else MH_FITS. */
MH_FN u32 mh_priority_overflow(const struct mh_priority_params *params, struct mh_none *state,
			       const struct mh_waiting *waiting, u64 now_ns)
{
	struct mh_backlog bands;

	(void)state;
	(void)now_ns;
	if (!params->shared || !params->pushout || !mh_is_full(&params->limit, &waiting->all, 0, 0))
		return MH_FITS;
	bands = mh_priority_backlog(waiting);
	return mh_victim_band(&bands);
}

/* Returns the best band that is not empty; something waits whenever this is called. */
MH_FN u32 mh_priority_dequeue(const struct mh_priority_params *params, struct mh_none *state,
			      const struct mh_waiting *waiting, u64 now_ns)
{
	u32 band;

	(void)params;
	(void)state;
	(void)now_ns;
	for (band = 0; band < MH_COLOURS - 1 && !waiting->band[band].waiting.packets; band++)
		;
	return band;
}

#ifdef MH_DESCRIBE

/* The parameters of the bands, in a struct that begins with `field_`. */
#define MH_PRIORITY_TABLE(params_t_, field_)                                                                         \
	{ MH_FIELD(params_t_, field_ colours), .kind = MH_COUNT, .name = "colours", .value = "3", .least = 1,        \
	  .most = MH_COLOURS, .meaning = "how many queues; worse colours share the last", .source = "ours" },        \
	{ MH_FIELD(params_t_, field_ shared), .kind = MH_FLAG, .mask = 1, .name = "shared", .value = "true",         \
	  .meaning = "the queues share the link's buffer, or each has as much",                                      \
	  .source = "ours: the same memory as with virtual queues" },                                                \
	{ MH_FIELD(params_t_, field_ pushout), .kind = MH_FLAG, .mask = 1, .name = "pushout", .value = "true",       \
	  .meaning = "a full shared buffer drops the newest packet of the worst colour in it, not the arrival",      \
	  .source = "ours: else low priority locks out high; full_buffer.h" }

static const struct mh_parameter mh_priority_parameters[] = { MH_PRIORITY_TABLE(mh_priority_params, ) };

/* Takes the link's buffer as limit. Refuses nothing. */
static inline struct mh_fault mh_priority_setup(struct mh_priority_params *params, const struct mh_link_context *link)
{
	params->limit = mh_link_limit(link);
	return MH_NO_FAULT;
}

#endif

MH_SETUP(priority)
MH_DRAWS(priority)
MH_OVERFLOW(priority)
MH_QUEUE(priority, mh_priority_params, mh_none, MH_COLOURS,
	 .flags = MH_READS_COLOURS,
	 .install = "classes",
	 .summary = "a drop-tail queue for each colour under strict priority",
	 .source = "prio of tc; PIAS",
	 .detail = "A worse colour is served when no better one waits, so that it may starve, and a flow that changes colour may "
		   "be reordered. The queues share the link's buffer, or each has as much. A full shared buffer drops the "
		   "newest packet of the worst colour in it: otherwise packets that nobody serves would lock out better ones.",
	 .unread = "limit.reserved",
	 MH_TABLE_OF(priority), MH_OFFERS(priority, setup), MH_OFFERS(priority, draws), MH_OFFERS(priority, overflow))

#endif
