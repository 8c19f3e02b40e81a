/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* Departure times of packets that wait for their user's tokens. The `fq` behind the program holds the packets. */
#ifndef MOUSEHOLE_LIVE_SHAPE_H
#define MOUSEHOLE_LIVE_SHAPE_H

#include "account.h"
#include "state.h"

#if ML_USER_SHAPES && !ML_QUEUE
#define ml_user_is_free ML_JOIN3(mh_, ML_USER, _is_free)
#define ml_user_shape ML_JOIN3(mh_, ML_USER, _shape)

/* Decides when a packet leaves: when it has its tokens, but not before the user's last packet of
 * the same colour, which took earlier tokens, and not before the flow's last packet, so that no
 * flow is reordered. The user's tokens and both departure times change. A packet that would wait
 * longer than allowed is discarded and takes no tokens. A super-packet counts as one packet; the
 * packets after it wait until its tokens are paid. To be called with the lock. */
ML_INLINE void ml_decide_departure(const struct ml_work *work)
{
	const struct ml_all_settings *all = work->all;
	struct ml_scratch *scratch = work->scratch;
	struct ml_state *state = work->state;
	struct ml_user *user = work->user;
	const struct mh_view *view = &scratch->packet.view;
	u64 *flow_departs_ns = ML_HAS_MARKER ? &work->entry->departs_ns : 0, now_ns = work->now_ns;
	u64 longest_ns = (u64)all->settings.longest_wait_ms * 1000000, start_ns = now_ns, wait_ns;
	u32 colour = (u32)mh_min(view->colour, MH_RED);
	u32 needs_tokens = !ml_user_is_free(&all->user, view);

	if (flow_departs_ns)
		start_ns = mh_max(start_ns, *flow_departs_ns);
	if (needs_tokens)
		start_ns = mh_max(start_ns, user->departs_ns[colour]);
	if (start_ns - now_ns > longest_ns)
		goto discarded;
	wait_ns = ml_user_shape(&all->user, &user->policy, &state->user, view, start_ns);
	if (wait_ns) {
		if (wait_ns > longest_ns || start_ns - now_ns + wait_ns > longest_ns)
			goto discarded;
		start_ns += wait_ns;
		ml_user_shape(&all->user, &user->policy, &state->user, view, start_ns);
	}
	if (flow_departs_ns)
		*flow_departs_ns = start_ns;
	if (needs_tokens)
		user->departs_ns[colour] = start_ns;
	scratch->departs_ns = start_ns;
	return;
discarded:
	scratch->decision.colour = MH_DISCARD;
}

/* Clears the departure time of the previous packet. */
ML_INLINE void ml_clear_departure(struct ml_scratch *scratch)
{
	scratch->departs_ns = 0;
}

/* Counts a packet that waits, and sets its departure time. A later time that its socket set
 * (pacing) stays. A shadow only counts. Does nothing for a packet that need not wait. */
ML_INLINE void ml_hold_packet(const struct ml_work *work)
{
	struct __sk_buff *skb = work->skb;
	struct ml_counters *counters = work->counters;
	const struct mh_view *view = &work->scratch->packet.view;
	u64 departs_ns = work->scratch->departs_ns;

	if (departs_ns <= work->now_ns)
		return;
	ml_count(&counters->held, view->segments, view->ip_bytes);
	counters->held_ns += (departs_ns - work->now_ns) * view->segments;
	if (!work->all->settings.shadow && departs_ns > skb->tstamp)
		skb->tstamp = departs_ns;
}
#else
ML_INLINE void ml_clear_departure(struct ml_scratch *scratch)
{
	(void)scratch;
}

ML_INLINE void ml_decide_departure(const struct ml_work *work)
{
	(void)work;
}

ML_INLINE void ml_hold_packet(const struct ml_work *work)
{
	(void)work;
}
#endif

#endif
