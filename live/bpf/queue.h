/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* The virtual queue: a model of the real queue behind the program, which the program cannot see. */
#ifndef MOUSEHOLE_LIVE_QUEUE_H
#define MOUSEHOLE_LIVE_QUEUE_H

#include "account.h"
#include "lock.h"
#include "state.h"

#if ML_QUEUE
/* Advances the virtual queue to the present time, reports departures to the dropper, and fills
 * in the scratch's backlog. To be called with the lock. */
ML_INLINE void ml_settle_queue(const struct ml_work *work)
{
	const struct ml_all_settings *all = work->all;
	struct ml_scratch *scratch = work->scratch;
	struct ml_state *state = work->state;
	struct mh_backlog *backlog = &scratch->backlog;
	u32 colour, rank;

	mh_virtual_fifo_settle(&state->fifo, work->now_ns, &scratch->departures);
	mh_virtual_fifo_backlog(&all->fifo, &state->fifo, &scratch->packet.view, backlog);
	for (rank = 0; ML_HAS(ML_DROPPER_TRACKS) && rank < MH_COLOURS; rank++) {
		colour = (u32)mh_min(scratch->departures.order[rank], MH_COLOURS - 1);
		ML_HIDE(colour);
		if (scratch->departures.packets[colour])
			ml_dropper_departed(&all->dropper, &state->dropper, colour, backlog,
					    scratch->departures.last_ns[colour]);
		ML_FORGET;
	}
}

/* Adds a packet without a decision to the virtual queue, since it occupies the real one. Takes
 * the lock meanwhile; if that fails, it only counts in lock_busy. */
ML_INLINE void ml_admit_unseen(const struct ml_work *work)
{
	struct ml_state *state = work->state;

	if (!ml_lock(&state->lock)) {
		work->counters->lock_busy++;
		return;
	}
	ml_settle_queue(work);
	mh_virtual_fifo_admit(&work->all->fifo, &state->fifo, &work->scratch->packet.view);
	ml_unlock(&state->lock);
}

/* 4. Decides whether the queue takes the packet, by its buffer and the drop policy, and adds a
 * packet that it takes to the virtual queue. Does nothing for a discarded packet. To be called
 * with the lock. */
ML_INLINE void ml_decide_queue(const struct ml_work *work)
{
	const struct ml_all_settings *all = work->all;
	struct ml_scratch *scratch = work->scratch;
	struct ml_state *state = work->state;
	const struct mh_view *view = &scratch->packet.view;
	struct mh_backlog *backlog = &scratch->backlog;
	struct ml_decision *decision = &scratch->decision;
	u32 verdict;

	if (decision->colour > MH_RED)
		return;
	ml_settle_queue(work);
	decision->is_full = mh_is_full(&all->settings.limit, backlog, view->ip_bytes, view->segments) |
			    mh_virtual_fifo_is_full(&state->fifo);
	ML_FORGET;
	if (ML_HAS_DROPPER && mh_asks_dropper(decision->is_full, ML_HAS(ML_DROPPER_SEES_FULL)))
		decision->verdict = ml_dropper_packet(&all->dropper, &state->dropper, view, backlog,
						      state->fifo.settled_ns, scratch->random[2]);
	ML_FORGET;
	verdict = decision->verdict;
	decision->verdict = mh_verdict_with_buffer(decision->is_full, verdict);
	decision->is_full &= verdict < MH_DROP_EARLY;
	ML_FORGET;
	if (ml_find_drop_reason(decision) == ML_DROP_REASONS)
		mh_virtual_fifo_admit(&all->fifo, &state->fifo, view);
}
#else
ML_INLINE void ml_admit_unseen(const struct ml_work *work)
{
	(void)work;
}

ML_INLINE void ml_decide_queue(const struct ml_work *work)
{
	(void)work;
}
#endif

#endif
