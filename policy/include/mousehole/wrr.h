/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * Weighted multi-queue: interactive traffic in a band of its own with a share of the link, all else in another.
 *
 * Noureddine & Tobagi, section V: the multi-queue baseline, Telnet in a queue of its own with weight w. The shares are
 * those of deficit round robin (Shreedhar & Varghese, "Efficient Fair Queueing using Deficit Round Robin", SIGCOMM 1995).
 *
 *   band    = 0 of an interactive application, else 1; an arrival is dropped when its band holds the link's buffer
 *   quantum = 1500 bytes times the band's weight over the smaller one
 *   visit   : deficit <- deficit + quantum; the head leaves while its size is within the deficit, which then falls by it;
 *             an empty band's deficit is 0
 *
 * Work-conserving; what a band does not use goes to the other.
 *
 * Format: bytes. Quanta are rounded to the nearest byte.
 * Range: w from 0.1 % to 99.9 %.
 * Worst error: half a byte of 1500 in the share.
 * Deviations: none. The paper does not name its scheduler.
 */
#ifndef MOUSEHOLE_WRR_H
#define MOUSEHOLE_WRR_H

#include "policy.h"

enum { MH_WRR_BANDS = 2 };

struct mh_wrr_params {
	struct mh_limit limit;       /* the link's buffer, of each band */
	u64 weight_percent_q32;      /* share of the link for interactive traffic, % */
	u64 quantum[MH_WRR_BANDS];   /* bytes a visit adds; computed by set-up */
};

/* All zero is an empty queue whose first band is next. */
struct mh_wrr_state {
	u64 deficit[MH_WRR_BANDS]; /* bytes */
	u32 turn;                  /* the band that is visited */
	u32 has_quantum;           /* whether this visit has added the quantum */
};

/* Returns 0: nothing depends on chance. */
MH_FN u32 mh_wrr_draws(const struct mh_wrr_params *params)
{
	(void)params;
	return 0;
}

/* Returns the band of an arrival by its application, or a refusal if the band holds the link's buffer. */
MH_FN u32 mh_wrr_enqueue(const struct mh_wrr_params *params, struct mh_wrr_state *state,
			 const struct mh_waiting *waiting, const struct mh_view *view, u32 hash, u64 now_ns, u32 random)
{
	u32 band = view->application == MH_INTERACTIVE ? 0 : 1;
	u32 full = mh_is_full(&params->limit, &waiting->band[band].waiting, view->ip_bytes, mh_segments(view));

	(void)state;
	(void)hash;
	(void)now_ns;
	(void)random;
	return mh_into(band, mh_verdict_with_buffer(full, MH_PASS));
}

/*
 * Returns the band whose head leaves by deficit round robin (Shreedhar & Varghese 1995), or MH_AGAIN if no packet could
 * leave in MH_WRR_BANDS + 1 visits. Adds quanta, takes the head's size from its band's deficit, and moves the turn.
 */
MH_FN u32 mh_wrr_dequeue(const struct mh_wrr_params *params, struct mh_wrr_state *state,
			 const struct mh_waiting *waiting, u64 now_ns)
{
	u32 visit, band;

	(void)now_ns;
	for (visit = 0; visit <= MH_WRR_BANDS; visit++) {
		band = state->turn ? 1 : 0;
		if (!state->has_quantum)
			state->deficit[band] += params->quantum[band];
		state->has_quantum = 1;
		if (!waiting->band[band].waiting.packets) {
			state->deficit[band] = 0;
		} else if (waiting->band[band].head.ip_bytes <= state->deficit[band]) {
			state->deficit[band] -= waiting->band[band].head.ip_bytes;
			return band;
		}
		state->turn = 1 - band;
		state->has_quantum = 0;
	}
	return MH_AGAIN;
}

#ifdef MH_DESCRIBE

static const struct mh_parameter mh_wrr_parameters[] = {
	{ MH_FIELD(mh_wrr_params, weight_percent_q32), .kind = MH_PERCENT, .name = "weight", .value = "20", .least = 0.1,
	  .most = 99.9, .meaning = "share of the link for interactive traffic, % (the paper: 5 to 30)",
	  .source = "Noureddine & Tobagi, section V" },
};

/* Takes the link's buffer as limit and computes the quanta from the weight. Refuses nothing. */
static inline struct mh_fault mh_wrr_setup(struct mh_wrr_params *params, const struct mh_link_context *link)
{
	double weight = mh_from_q32(params->weight_percent_q32), rest = 100 - weight;
	double least = weight < rest ? weight : rest;

	params->limit = mh_link_limit(link);
	params->quantum[0] = mh_fixed(1500 * weight / least, 0);
	params->quantum[1] = mh_fixed(1500 * rest / least, 0);
	return MH_NO_FAULT;
}

#endif

MH_SETUP(wrr)
MH_DRAWS(wrr)
MH_QUEUE(wrr, mh_wrr_params, mh_wrr_state, MH_WRR_BANDS,
	 .flags = MH_READS_APPLICATIONS,
	 .summary = "interactive traffic in a queue of its own with a share of the link, all else in another",
	 .source = "Noureddine & Tobagi, section V",
	 .detail = "Two drop-tail FIFOs share the link's bytes by weight, each with the link's buffer; what one does not use the "
		   "other has.",
	 .unread = "weight_percent_q32 limit.reserved",
	 MH_TABLE_OF(wrr), MH_OFFERS(wrr, setup), MH_OFFERS(wrr, draws))

#endif
