/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * DualPI2: a queue for L4S senders and one for all others, coupled so that their flows get about equal rates.
 *
 * RFC 9332; defaults are those of Linux's sch_dualpi2.
 *
 *   band = 0 (L) of a packet with the identifier of L4S (RFC 9331 section 5.1) or, with `nqb`, with DSCP 45 (RFC 9956),
 *          else 1 (C)
 *   p'   : every `period`, p' <- p' + alpha (d - target) + beta (d - d_before), within 0 .. 1; d is the longer of the
 *          times that the heads of L and C have waited
 *   C    : an arrival is dropped, or marked if it is ECN-capable and `ecn` is set, with probability p'^2
 *   L    : an arrival is marked with probability k p', and at its departure if it waited longer than `step` and is not
 *          the last of its band. What is not ECN-capable is not marked.
 *   short queue : while less than 3000 bytes wait in all, an arrival is neither dropped nor marked by chance
 *   overload : once k p' is 1, nothing is marked in place of a drop: arrivals of both bands are dropped with probability
 *              p'^2, and arrivals of L that stay are marked
 *   next : L, while C has had its share of the bytes sent since both had packets; else C
 *
 * Work-conserving. The buffer is that of the link, shared by both bands.
 *
 * Format: p' and probabilities Q32; alpha and beta in Q24 of p' per ns; the credit in 2^-16 bytes.
 * Range: delays are cut at 2^30 ns, 1.07 s. After an idle time of more than 64 periods, 64 are made up for.
 * Worst error: 2^-25 of the relative value of a gain, and half a unit of p' per step.
 * Deviations: both bands decide at arrival (Linux: `drop_enqueue`; the RFC's appendix A at departure), except for the step.
 * p' changes at the first event after its period; what waited then is what the RFC's timer would have seen. The share of
 * C is by bytes sent, the RFC's appendix A leaves the scheduler open. Linux has no `nqb`; that such packets are dropped in
 * overload only, since they cannot be marked, is a reading.
 */
#ifndef MOUSEHOLE_DUALPI2_H
#define MOUSEHOLE_DUALPI2_H

#include "policy.h"

enum { MH_DUALPI2_L = 0, MH_DUALPI2_C = 1, MH_DUALPI2_BANDS = 2 };

/* Longest delay that counts, and most periods made up for at once. */
#define MH_DUALPI2_DELAY_NS (1ULL << 30)
#define MH_DUALPI2_PERIODS 64
/* A queue of less takes every arrival that fits: two full packets (Linux, and PIE in RFC 8033). */
#define MH_DUALPI2_SHORT_BYTES 3000

struct mh_dualpi2_params {
	struct mh_limit limit; /* the link's buffer, of both bands together */
	u64 target_ns;
	u64 period_ns;
	u64 step_ns;
	u64 alpha_q24; /* of p' in Q32 per ns; computed by set-up */
	u64 beta_q24;
	u64 coupling_q16;
	u64 share_q16; /* of C; computed by set-up */
	u32 ecn;
	u32 nqb;
	struct {
		u64 alpha_q32; /* 1/s */
		u64 beta_q32;
		u64 share_percent_q32;
	} settings;
};

/* All zero is an empty queue that never saw a packet. */
struct mh_dualpi2_state {
	u64 p_q32;        /* p' */
	u64 due_ns;       /* when p' changes next */
	u64 delay_ns;     /* at the last change */
	u64 owed_scaled;  /* bytes that the scheduler owes to C, in 2^-16 bytes beyond MH_DUALPI2_EVEN */
	u32 has_begun;    /* 0 before the first packet */
	u32 reserved;
};

#define MH_DUALPI2_EVEN (1ULL << 63)

/* Returns 1: most arrivals depend on chance. */
MH_FN u32 mh_dualpi2_draws(const struct mh_dualpi2_params *params)
{
	(void)params;
	return 1;
}

/* Returns how long a band's head has waited at `at_ns`, ns, at most MH_DUALPI2_DELAY_NS; 0 if nothing waited then. */
MH_FN u64 mh_dualpi2_head_delay_ns(const struct mh_band *band, u64 at_ns)
{
	if (!band->waiting.packets || band->head_since_ns >= at_ns)
		return 0;
	return mh_min(at_ns - band->head_since_ns, MH_DUALPI2_DELAY_NS);
}

/*
 * Returns p' plus a term of the PI controller, gain * (now - before), within 0 .. 1. `now_ns` and `before_ns` are delays,
 * or a delay and the target, of at most MH_DUALPI2_DELAY_NS.
 */
MH_FN u64 mh_dualpi2_add_term(u64 p_q32, u64 gain_q24, u64 now_ns, u64 before_ns)
{
	u64 change;

	if (now_ns >= before_ns) {
		change = (gain_q24 * (now_ns - before_ns) + (1ULL << 23)) >> 24;
		return mh_min(p_q32 + change, MH_ONE_Q32);
	}
	change = (gain_q24 * (before_ns - now_ns) + (1ULL << 23)) >> 24;
	return p_q32 > change ? p_q32 - change : 0;
}

/* Returns the band of a packet, MH_DUALPI2_L or MH_DUALPI2_C, by its identifier and code point. */
MH_FN u32 mh_dualpi2_band(const struct mh_dualpi2_params *params, const struct mh_view *view)
{
	return view->flags & MH_L4S || (params->nqb && view->dscp == MH_DSCP_NQB) ? MH_DUALPI2_L : MH_DUALPI2_C;
}

/*
 * Takes the steps of p' that have become due up to `now_ns`. Called first at every arrival and departure, so that
 * `waiting` is what each of these steps would have seen.
 */
MH_FN void mh_dualpi2_update_probability(const struct mh_dualpi2_params *params, struct mh_dualpi2_state *state,
			     const struct mh_waiting *waiting, u64 now_ns)
{
	u32 step;
	u64 delay, p;

	if (!state->has_begun) {
		state->has_begun = 1;
		state->due_ns = now_ns + params->period_ns;
		state->owed_scaled = MH_DUALPI2_EVEN;
	}
	for (step = 0; step < MH_DUALPI2_PERIODS && state->due_ns <= now_ns; step++) {
		delay = mh_max(mh_dualpi2_head_delay_ns(&waiting->band[MH_DUALPI2_L], state->due_ns),
			       mh_dualpi2_head_delay_ns(&waiting->band[MH_DUALPI2_C], state->due_ns));
		p = mh_dualpi2_add_term(state->p_q32, params->alpha_q24, delay, params->target_ns);
		state->p_q32 = mh_dualpi2_add_term(p, params->beta_q24, delay, state->delay_ns);
		state->delay_ns = delay;
		state->due_ns += params->period_ns;
	}
	if (state->due_ns <= now_ns)
		state->due_ns = now_ns + params->period_ns;
}

/* Returns the probability of marks in L, k p', at most 1, Q32. */
MH_FN u64 mh_dualpi2_coupled_probability(const struct mh_dualpi2_params *params, const struct mh_dualpi2_state *state)
{
	return mh_min((state->p_q32 * params->coupling_q16) >> 16, MH_ONE_Q32);
}

/*
 * Returns the band of an arrival, with MH_MARKED if it is to be marked, or a refusal with the verdict (RFC 9332
 * appendix A; overload as above). Takes the steps of p' that are due.
 */
MH_FN u32 mh_dualpi2_enqueue(const struct mh_dualpi2_params *params, struct mh_dualpi2_state *state,
			     const struct mh_waiting *waiting, const struct mh_view *view, u32 hash, u64 now_ns,
			     u32 random)
{
	u32 band = mh_dualpi2_band(params, view), can_mark = view->flags & MH_ECT, is_hit, verdict;
	u32 full = mh_is_full(&params->limit, &waiting->all, view->ip_bytes, mh_segments(view));
	u64 coupled;

	(void)hash;
	mh_dualpi2_update_probability(params, state, waiting, now_ns);
	coupled = mh_dualpi2_coupled_probability(params, state);
	is_hit = random < mh_mul_q32(state->p_q32, state->p_q32);
	if (waiting->all.bytes < MH_DUALPI2_SHORT_BYTES)
		verdict = MH_PASS;
	else if (coupled >= MH_ONE_Q32)
		verdict = is_hit ? MH_DROP_EARLY : band == MH_DUALPI2_L && can_mark ? MH_MARK : MH_PASS;
	else if (band == MH_DUALPI2_L)
		verdict = can_mark && random < coupled ? MH_MARK : MH_PASS;
	else
		verdict = !is_hit ? MH_PASS : params->ecn && can_mark ? MH_MARK : MH_DROP_EARLY;
	return mh_into(band, mh_verdict_with_buffer(full, verdict));
}

/*
 * Returns the band whose head leaves, with MH_MARKED for a packet of L that waited longer than `step` and is not the
 * last. Takes the steps of p' that are due, and charges the head to the bands' shares. Called only while packets wait.
 */
MH_FN u32 mh_dualpi2_dequeue(const struct mh_dualpi2_params *params, struct mh_dualpi2_state *state,
			     const struct mh_waiting *waiting, u64 now_ns)
{
	const struct mh_band *l = &waiting->band[MH_DUALPI2_L], *c = &waiting->band[MH_DUALPI2_C];
	u32 marked = 0;

	mh_dualpi2_update_probability(params, state, waiting, now_ns);
	if (!l->waiting.packets || !c->waiting.packets)
		state->owed_scaled = MH_DUALPI2_EVEN;
	if (!l->waiting.packets)
		return MH_DUALPI2_C;
	if (c->waiting.packets) {
		if (state->owed_scaled > MH_DUALPI2_EVEN) {
			state->owed_scaled -= (u64)c->head.ip_bytes * ((1ULL << 16) - params->share_q16);
			return MH_DUALPI2_C;
		}
		state->owed_scaled += (u64)l->head.ip_bytes * params->share_q16;
	}
	if (l->head.flags & MH_ECT && l->waiting.packets > mh_segments(&l->head) &&
	    now_ns - l->head_since_ns > params->step_ns)
		marked = MH_MARKED;
	return MH_DUALPI2_L | marked;
}

#ifdef MH_DESCRIBE

static const struct mh_parameter mh_dualpi2_parameters[] = {
	{ MH_FIELD(mh_dualpi2_params, target_ns), .kind = MH_TIME, .name = "target", .value = "15ms", .least = 1e-3,
	  .most = 1, .meaning = "delay that the queue settles at without L4S senders", .source = "Linux sch_dualpi2" },
	{ MH_FIELD(mh_dualpi2_params, period_ns), .kind = MH_TIME, .name = "period", .value = "16ms", .least = 1e-3,
	  .most = 1, .meaning = "how often the probability changes", .source = "Linux sch_dualpi2" },
	{ MH_FIELD(mh_dualpi2_params, settings.alpha_q32), .kind = MH_NUMBER, .bits = 32, .name = "alpha", .value = "0.16",
	  .least = 0, .most = 10, .meaning = "gain of the delay beyond the target, 1/s", .source = "Linux sch_dualpi2" },
	{ MH_FIELD(mh_dualpi2_params, settings.beta_q32), .kind = MH_NUMBER, .bits = 32, .name = "beta", .value = "3.2",
	  .least = 0, .most = 100, .meaning = "gain of the growth of the delay, 1/s", .source = "Linux sch_dualpi2" },
	{ MH_FIELD(mh_dualpi2_params, coupling_q16), .kind = MH_NUMBER, .bits = 16, .name = "coupling", .value = "2",
	  .least = 0, .most = 16, .meaning = "marks of L4S per unit of p', k", .source = "RFC 9332 section 2.1" },
	{ MH_FIELD(mh_dualpi2_params, step_ns), .kind = MH_TIME, .name = "step", .value = "1ms", .least = 0, .most = 1,
	  .meaning = "a packet of L4S that waited longer is marked", .source = "Linux sch_dualpi2" },
	{ MH_FIELD(mh_dualpi2_params, settings.share_percent_q32), .kind = MH_PERCENT, .name = "share", .value = "10",
	  .least = 0.1, .most = 99.9, .meaning = "least share of the bytes for packets without L4S, %",
	  .source = "Linux sch_dualpi2, `classic_protection`" },
	{ MH_FIELD(mh_dualpi2_params, ecn), .kind = MH_FLAG, .mask = 1, .name = "ecn", .value = "true",
	  .meaning = "packets without L4S that are ECN-capable are marked instead of dropped",
	  .source = "Linux sch_dualpi2" },
	{ MH_FIELD(mh_dualpi2_params, nqb), .kind = MH_FLAG, .mask = 1, .name = "nqb", .value = "true",
	  .meaning = "packets with DSCP 45 (NQB) wait with those of L4S", .source = "RFC 9956" },
};

/* Takes the link's buffer as limit and converts the gains and the share to fixed point. Refuses nothing. */
static inline struct mh_fault mh_dualpi2_setup(struct mh_dualpi2_params *params, const struct mh_link_context *link)
{
	params->limit = mh_link_limit(link);
	params->alpha_q24 = mh_fixed(mh_from_q32(params->settings.alpha_q32) * 4294967296.0 / 1e9, 24);
	params->beta_q24 = mh_fixed(mh_from_q32(params->settings.beta_q32) * 4294967296.0 / 1e9, 24);
	params->share_q16 = mh_fixed(mh_from_q32(params->settings.share_percent_q32) / 100, 16);
	return MH_NO_FAULT;
}

/* Returns the reading `base_probability`: p', 0 to 1. */
static inline double mh_dualpi2_probability(const void *params, const void *state)
{
	(void)params;
	return mh_from_q32(((const struct mh_dualpi2_state *)state)->p_q32);
}

static const struct mh_reading mh_dualpi2_readings[] = { { "base_probability", mh_dualpi2_probability } };

#endif

MH_SETUP(dualpi2)
MH_DRAWS(dualpi2)
MH_QUEUE(dualpi2, mh_dualpi2_params, mh_dualpi2_state, MH_DUALPI2_BANDS,
	 .flags = MH_MARKS,
	 .summary = "a queue for L4S senders before one for all others, coupled so that flows of both get equal rates",
	 .source = "RFC 9332",
	 .detail = "Packets with the identifier of L4S (ECT(1) or CE), or of flows that build no queue (NQB, `--nqb`), wait in "
		   "a queue of their own, which goes first and marks what waits longer than a millisecond. All others are dropped or marked by PI2, so that they wait for 15 "
		   "ms. The marks of L4S grow with the square root of these drops, which gives flows of both kinds about the "
		   "same rate. Senders of the profile `prague` use it; without them it is a single queue under PI2.",
	 .unread = "limit.reserved",
	 MH_TABLE_OF(dualpi2), MH_READINGS_OF(dualpi2), MH_OFFERS(dualpi2, setup), MH_OFFERS(dualpi2, draws))

#endif
