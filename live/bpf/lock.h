/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * A lock, which is a word of a map. The kernel's own spin lock costs two calls and turns interrupts off and on.
 *
 * Nothing sleeps with the lock, so whoever holds it is done after few tries, unless its CPU has been taken away by a
 * hypervisor, or this is an interrupt that sends a packet in the midst of another. Rather than wait without end, the
 * caller then lets the packet pass undecided and counts it under lock_busy; the lock stays its holder's.
 */
#ifndef MOUSEHOLE_LIVE_LOCK_H
#define MOUSEHOLE_LIVE_LOCK_H

#include "state.h"

/* How often a lock is tried at once. Then it is tried once for each bucket of the table of flows, 128 and more. */
enum { ML_TRIES = 16 };

struct ml_wait {
	u32 *lock;
	u64 is_taken;
};

ML_INLINE u32 ml_try(u32 *lock)
{
	return !__sync_val_compare_and_swap(lock, 0, 1);
}

/* Tries once more. Returns 1 to end the loop. */
static long ml_try_again(void *map, const void *key, void *value, void *context)
{
	struct ml_wait *wait = context;

	(void)map, (void)key, (void)value;
	wait->is_taken = ml_try(wait->lock);
	return !!wait->is_taken;
}

/*
 * Takes a lock. Returns whether it did.
 *
 * A loop that the verifier need not walk round by round is bpf_loop(), of 5.17, or one over the elements of a map, of
 * 5.13. So the map is there for its number of elements only.
 */
ML_INLINE u32 ml_lock(u32 *lock)
{
	struct ml_wait wait = { lock, 0 };
	u32 tries;

	for (tries = 0; tries < ML_TRIES; tries++)
		if (ml_try(lock))
			return 1;
	bpf_for_each_map_elem(&ml_tags, ml_try_again, &wait, 0);
	return wait.is_taken;
}

ML_INLINE void ml_unlock(u32 *lock)
{
	__sync_lock_test_and_set(lock, 0);
}

#endif
