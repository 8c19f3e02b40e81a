/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * CoDel at the head of a band: drops or marks when the delay has stayed above a target for an interval.
 *
 * RFC 8289 section 5. A part of codel.h, which has one band, and of fq_codel.h, which has one for each flow.
 *
 *   late     : the head has waited for `target` or longer, more than 1500 bytes wait behind it on the whole link, and
 *              both have been so at every departure for `interval`
 *   dropping : begins with a late head, which goes; while heads are late the next goes at
 *              drop_next <- drop_next + interval / sqrt(count), count <- count + 1; ends with the first that is not
 *   resumed  : dropping that begins within 16 intervals after drop_next begins near its last rate
 *   ECN      : an ECN-capable head is marked instead, and sent: at most one mark per departure
 *
 * Each call judges one head. After the answer MH_DROPPED the caller calls again, and `step` remembers what RFC 8289's
 * loop would do with the next head.
 *
 * Format: times in ns. interval / sqrt(count) is the integer part of sqrt(interval^2 / count).
 * Worst error: none up to intervals of 2^31 ns, 2.1 s; beyond, 2^-30 of the gap, since a square must fit 62 bits.
 * Deviations: the RFC's pseudo-code has no ECN; this is as in Linux. Linux has its square root in 16 bits.
 */
#ifndef MOUSEHOLE_CODEL_LAW_H
#define MOUSEHOLE_CODEL_LAW_H

#include "policy.h"

/* A head is late only if more bytes than this wait behind it: `maxpacket`, RFC 8289 section 5.3, the MTU. */
#define MH_CODEL_BYTES 1500
/* Intervals after drop_next for which the rate of drops is remembered (Linux). */
#define MH_CODEL_MEMORY 16
/* Bits of a gap before `shift` is applied: half those of the square whose root it is. */
#define MH_CODEL_BITS 31

struct mh_codel_law {
	u64 target_ns;
	u64 interval_ns;
	u32 shift; /* bits of the interval that a gap leaves out; computed by mh_codel_law_setup() */
	u32 ecn;
};

/* Values of `step`: judge the head anew, or go on after a drop within, or at the beginning of, the dropping state. */
enum { MH_CODEL_LOOK = 0, MH_CODEL_KEEP = 1, MH_CODEL_START = 2 };

/* The state of one band; all zero is one that never saw a packet. */
struct mh_codel_vars {
	u64 first_above_ns; /* when the interval ends after which heads are late; 0 while none runs */
	u64 drop_next_ns;
	u32 count;
	u32 last_count;
	u32 is_dropping;
	u32 step; /* MH_CODEL_LOOK, or what the next call does after a drop */
};

/* Returns the integer part of the square root of a value below 2^62, without a branch. */
MH_FN u64 mh_codel_square_root(u64 value)
{
	u64 root = 0, bit = 1ULL << (2 * MH_CODEL_BITS - 2), rest, fits;
	u32 step;

	for (step = 0; step < MH_CODEL_BITS; step++) {
		rest = value - root - bit;
		fits = (rest >> 63) - 1; /* all bits of what is not negative */
		value = (rest & fits) | (value & ~fits);
		root = (root >> 1) + (bit & fits);
		bit >>= 2;
	}
	return root;
}

/*
 * Returns interval / sqrt(count), ns, the gap between two drops (RFC 8289 section 5.6, `control_law`). A count of 0
 * counts as 1.
 */
MH_FN u64 mh_codel_gap_ns(const struct mh_codel_law *law, u32 count)
{
	u64 interval = law->interval_ns >> law->shift;

	return mh_codel_square_root(interval * interval / mh_max(count, 1)) << law->shift;
}

/*
 * Returns whether the head of a band is late, and updates `first_above_ns` (section 5.6, `dodequeue`). `all_bytes` are
 * those that wait in all bands of the link.
 */
MH_FN u32 mh_codel_is_late(const struct mh_codel_law *law, struct mh_codel_vars *vars, const struct mh_band *band,
			   u64 all_bytes, u64 now_ns)
{
	if (now_ns < band->head_since_ns + law->target_ns || all_bytes <= (u64)band->head.ip_bytes + MH_CODEL_BYTES) {
		vars->first_above_ns = 0;
		return 0;
	}
	if (!vars->first_above_ns) {
		vars->first_above_ns = now_ns + law->interval_ns;
		return 0;
	}
	return now_ns >= vars->first_above_ns;
}

/* Enters the dropping state; if the last one ended recently, near its rate of drops (section 5.5, `dequeue`). */
MH_FN void mh_codel_start_dropping(const struct mh_codel_law *law, struct mh_codel_vars *vars, u64 now_ns)
{
	u32 more = vars->count - vars->last_count;
	u32 is_recent = now_ns < vars->drop_next_ns + MH_CODEL_MEMORY * law->interval_ns;

	vars->is_dropping = 1;
	vars->count = more > 1 && more < 0x7fffffff && is_recent ? more : 1;
	vars->last_count = vars->count;
	vars->drop_next_ns = now_ns + mh_codel_gap_ns(law, vars->count);
}

/*
 * Notes that `dequeue` finds the band empty: leaves the dropping state, or enters it if the first drop emptied the
 * band.
 */
MH_FN void mh_codel_note_empty(const struct mh_codel_law *law, struct mh_codel_vars *vars, u64 now_ns)
{
	vars->first_above_ns = 0;
	vars->is_dropping = 0;
	if (vars->step == MH_CODEL_START)
		mh_codel_start_dropping(law, vars, now_ns);
	vars->step = MH_CODEL_LOOK;
}

/* Leaves the dropping state because the link was idle, which means that the band was empty. */
MH_FN void mh_codel_reset(struct mh_codel_vars *vars)
{
	vars->first_above_ns = 0;
	vars->is_dropping = 0;
}

/*
 * Judges the head of a band that is not empty, once for each head: returns 0 if it leaves, MH_MARKED if it leaves with
 * a mark, MH_DROPPED if it is dropped. After MH_DROPPED the caller judges the next head, or calls mh_codel_note_empty.
 */
MH_FN u32 mh_codel_judge_head(const struct mh_codel_law *law, struct mh_codel_vars *vars, const struct mh_band *band,
			u64 all_bytes, u64 now_ns)
{
	u32 is_late = mh_codel_is_late(law, vars, band, all_bytes, now_ns), step = vars->step;
	u32 marks = law->ecn && band->head.flags & MH_ECT;

	vars->step = MH_CODEL_LOOK;
	if (step == MH_CODEL_START) {
		mh_codel_start_dropping(law, vars, now_ns);
		return 0;
	}
	if (!is_late) {
		vars->is_dropping = 0;
		return 0;
	}
	if (!vars->is_dropping) {
		if (marks)
			mh_codel_start_dropping(law, vars, now_ns);
		else
			vars->step = MH_CODEL_START;
		return marks ? MH_MARKED : MH_DROPPED;
	}
	if (step == MH_CODEL_KEEP)
		vars->drop_next_ns += mh_codel_gap_ns(law, vars->count);
	if (now_ns < vars->drop_next_ns)
		return 0;
	vars->count++;
	if (marks)
		vars->drop_next_ns += mh_codel_gap_ns(law, vars->count);
	else
		vars->step = MH_CODEL_KEEP;
	return marks ? MH_MARKED : MH_DROPPED;
}

#ifdef MH_DESCRIBE

/* The table's entries for the member `law`, a struct mh_codel_law, of a parameters' struct. */
#define MH_CODEL_TABLE(params_t_)                                                                                    \
	{ MH_FIELD(params_t_, law.target_ns), .kind = MH_TIME, .name = "target", .value = "5ms", .least = 0,         \
	  .most = 1e9, .meaning = "acceptable standing delay", .source = "RFC 8289 section 4.3; RFC 8290 section 5.2.2" }, \
	{ MH_FIELD(params_t_, law.interval_ns), .kind = MH_TIME, .name = "interval", .value = "100ms",               \
	  .least = 1e-9, .most = 1e9, .meaning = "time the delay must stay above the target",                        \
	  .source = "RFC 8289 section 4.3; RFC 8290 section 5.2.1" },                                                \
	{ MH_FIELD(params_t_, law.ecn), .kind = MH_FLAG, .mask = 1, .name = "ecn", .value = "true",                  \
	  .meaning = "mark ECN-capable packets instead of dropping them",                                            \
	  .source = "RFC 8290 section 5.2.6; RFC 8289 leaves it open" }

/* Computes `shift`, so that the interval without its last `shift` bits has MH_CODEL_BITS bits. Refuses nothing. */
static inline struct mh_fault mh_codel_law_setup(struct mh_codel_law *law)
{
	law->shift = 0;
	while (law->interval_ns >> law->shift >> MH_CODEL_BITS)
		law->shift++;
	return MH_NO_FAULT;
}

#endif
#endif
