/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* Entries into policy.h and queue.h for src/queue.rs and src/functions.rs. */
#define MH_DESCRIBE
#include "mousehole/policy.h"

/* Calls the policy's `enqueue`, changes the backlog by its answer, and returns the answer (mh_queue_enqueue). */
u32 mh_queue_entry_enqueue(const struct mh_policy *policy, const void *params, void *state, struct mh_waiting *waiting,
			   const struct mh_view *view, u32 hash, u64 now_ns, u32 random)
{
	return mh_queue_enqueue(policy, params, state, waiting, view, hash, now_ns, random);
}

/*
 * Calls the policy's `overflow` if `overflows` is set, else `dequeue`, changes the backlog by the answer, and returns
 * the answer (mh_queue_remove).
 */
u32 mh_queue_entry_remove(const struct mh_policy *policy, u32 overflows, const void *params, void *state,
			 struct mh_waiting *waiting, const struct mh_view *view, u64 now_ns, u32 random)
{
	return mh_queue_remove(policy, overflows, params, state, waiting, view, now_ns, random);
}

/* Returns how many answers in a row without a packet a queue of so many bands may give (mh_tries). */
u32 mh_queue_entry_tries(u32 bands)
{
	return mh_tries(bands);
}
