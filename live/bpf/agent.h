/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* The exchange with the agent's slow steps: packets read what it published, and it learns of flows that ended. */
#ifndef MOUSEHOLE_LIVE_AGENT_H
#define MOUSEHOLE_LIVE_AGENT_H

#include "state.h"

#if ML_MARKER_PUBLISHES
ML_MAP(ml_published, ML_ARRAY, u32, __typeof__(((ml_marker_state *)0)->published), 2);

/* Looks up what the agent published last and points work->published to it. Returns whether it is
 * there; always 1 for a marker that publishes nothing. */
ML_INLINE u32 ml_find_published(struct ml_work *work)
{
	u32 zero = 0, index;
	const struct ml_agent *agent = bpf_map_lookup_elem(&ml_agent, &zero);

	index = agent ? agent->active & 1 : 0;
	work->published = bpf_map_lookup_elem(&ml_published, &index);
	return !!work->published;
}

/* Copies what the agent published into the marker's state. ml_find_published must have returned
 * 1. */
ML_INLINE void ml_copy_published(const struct ml_work *work, ml_marker_state *state)
{
	__builtin_memcpy(&state->published, work->published, sizeof(state->published));
}
#else
ML_INLINE u32 ml_find_published(struct ml_work *work)
{
	(void)work;
	return 1;
}

ML_INLINE void ml_copy_published(const struct ml_work *work, ml_marker_state *state)
{
	(void)work, (void)state;
}
#endif

#if ML_MARKER_RESTARTS
struct {
	int (*type)[ML_RINGBUF];
	int (*max_entries)[1 << 16];
} ml_ended ML_SECTION(".maps");

/* Notes whether this packet restarts the flow, and then saves the flow's state before the marker
 * overwrites it. To be called with the lock. */
ML_INLINE void ml_save_ended(const struct ml_work *work)
{
	struct ml_scratch *scratch = work->scratch;

	scratch->has_ended =
		ml_marker_restarts(&work->all->marker, &work->entry->policy, &scratch->packet.view, work->now_ns);
	if (scratch->has_ended)
		scratch->ended = work->entry->policy;
}

/* Sends the state of a restarted flow to the agent, if ml_save_ended saved one. It is lost if
 * the ring buffer is full. */
ML_INLINE void ml_send_ended(struct ml_scratch *scratch)
{
	if (scratch->has_ended)
		bpf_ringbuf_output(&ml_ended, &scratch->ended, sizeof(scratch->ended), 0);
}
#else
ML_INLINE void ml_save_ended(const struct ml_work *work)
{
	(void)work;
}

ML_INLINE void ml_send_ended(struct ml_scratch *scratch)
{
	(void)scratch;
}
#endif

#endif
