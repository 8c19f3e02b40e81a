/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * A randomised trial: nothing is done to the packets of a random share of the hosts, and the duration of each flow's
 * transfer is recorded, so that user space can compare both groups. Without a trial this costs one comparison.
 */
#ifndef MOUSEHOLE_LIVE_TRIAL_H
#define MOUSEHOLE_LIVE_TRIAL_H

#include "state.h"

ML_MAP(ml_transfers, ML_ARRAY, u32, struct ml_transfer, 1); /* one for each entry of ml_flows, or one without a trial */

/*
 * Returns whether a host is spared. Each address that was chosen without knowledge of the key is spared with the same
 * probability, pairwise independently (multiply-shift, of M. Dietzfelbinger, Universal hashing and k-wise independent
 * random variables via integer arithmetic without primes, STACS 1996).
 */
ML_INLINE u32 ml_spares(const struct ml_trial *trial, const u8 *address)
{
	const u32 *words = (const u32 *)address;
	u64 sum = trial->key[4];

	sum += trial->key[0] * words[0];
	sum += trial->key[1] * words[1];
	sum += trial->key[2] * words[2];
	sum += trial->key[3] * words[3];
	return (sum >> 32) < trial->spared_q32;
}

/* Sets whether the packet's host is spared; no host is without a trial. To be called while the
 * packet's key has both addresses. */
ML_INLINE void ml_decide_spared(const struct ml_work *work)
{
	const struct ml_settings *settings = &work->all->settings;
	struct ml_scratch *scratch = work->scratch;
	const struct ml_key *key = &scratch->packet.key;

	scratch->is_spared = 0;
	if (settings->trial.spared_q32)
		scratch->is_spared =
			ml_spares(&settings->trial, settings->flags & ML_USER_IS_DESTINATION ? key->destination : key->source);
	ML_FORGET;
}

/* Adds a packet to its flow's transfer, which begins with a SYN and ends with the last packet
 * with payload before a pause. Does nothing without a trial. To be called with the lock, and
 * before the packet is added to the flow's counters. */
ML_INLINE void ml_note_transfer(const struct ml_work *work)
{
	const struct mh_view *view = &work->scratch->packet.view;
	u32 now_ms, is_over, index = work->index;
	struct ml_transfer *transfer;

	if (!work->all->settings.trial.spared_q32)
		return;
	transfer = bpf_map_lookup_elem(&ml_transfers, &index);
	if (!transfer)
		return;
	if (!work->entry->flow.bytes)
		transfer->began_ms = 0; /* it was of the entry's former flow */
	now_ms = (u32)(work->now_ns / 1000000);
	is_over = now_ms - transfer->ended_ms > ML_PAUSE_MS;
	if (view->flags & MH_SYN) {
		if (!transfer->began_ms || is_over) {
			transfer->began_ms = now_ms | !now_ms;
			transfer->ended_ms = now_ms;
			transfer->bytes = 0;
		}
	} else if (transfer->began_ms && !is_over && !(view->flags & MH_ACK)) {
		transfer->ended_ms = now_ms;
		transfer->bytes += view->ip_bytes;
	}
}

#endif
