/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * A spin lock in a word of a map. The kernel's spin lock costs two calls and turns interrupts off and on.
 *
 * Nobody sleeps while holding the lock, so it is released after a few tries, unless a hypervisor has suspended the
 * holder's CPU, or this is an interrupt that sends a packet while the interrupted code holds the lock. Rather than wait
 * forever, the caller then lets the packet pass without a decision and counts it in lock_busy.
 */
#ifndef MOUSEHOLE_LIVE_LOCK_H
#define MOUSEHOLE_LIVE_LOCK_H

#include "state.h"

/* How often a lock is tried first. Then it is tried once for each bucket of the flow table, at least 128 times. */
enum { ML_TRIES = 16 };

/* A lock that is waited for. */
struct ml_wait {
	u32 *lock;
	u64 is_taken;
};

/* Tries to take a lock once. Returns whether it did. */
ML_INLINE u32 ml_try_lock(u32 *lock)
{
	return !__sync_val_compare_and_swap(lock, 0, 1);
}

/* Tries once more. Returns 1 to end the loop. */
static long ml_try_again(void *map, const void *key, void *value, void *context)
{
	struct ml_wait *wait = context;

	(void)map, (void)key, (void)value;
	wait->is_taken = ml_try_lock(wait->lock);
	return !!wait->is_taken;
}

/*
 * Takes a lock. Returns whether it did.
 *
 * The verifier need not walk each round of bpf_loop() (Linux 5.17) or of a loop over a map's elements (5.13). The map
 * ml_tags serves for its number of elements only.
 */
ML_INLINE u32 ml_lock(u32 *lock)
{
	struct ml_wait wait = { lock, 0 };
	u32 tries;

	for (tries = 0; tries < ML_TRIES; tries++)
		if (ml_try_lock(lock))
			return 1;
	bpf_for_each_map_elem(&ml_tags, ml_try_again, &wait, 0);
	return wait.is_taken;
}

/* Releases a lock. */
ML_INLINE void ml_unlock(u32 *lock)
{
	__sync_lock_test_and_set(lock, 0);
}

#endif
