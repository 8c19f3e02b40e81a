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

/*
 * How often a lock is tried. The verifier walks each round, some 40 instructions for all locks of a program. A callback
 * (bpf_loop, bpf_for_each_map_elem) would be walked once, but only programs that are compiled (JIT) may have one, and
 * kernels of 32-bit machines often interpret them.
 */
enum { ML_TRIES = 256 };

/* Tries to take a lock once. Returns whether it did. */
ML_INLINE u32 ml_try_lock(u32 *lock)
{
	return !__sync_val_compare_and_swap(lock, 0, 1);
}

/*
 * Takes a lock, which ml_unlock must release. Returns whether it did; 0 after ML_TRIES rounds.
 *
 * Who waits reads the clock between two looks, which takes some 20 ns, and tries only what looks free: each try takes
 * the cache line from the holder, whose state lies in it.
 */
ML_INLINE u32 ml_lock(u32 *lock)
{
	u32 tries;

	if (ml_try_lock(lock))
		return 1;
#pragma clang loop unroll(disable)
	for (tries = 1; tries < ML_TRIES; tries++) {
		bpf_ktime_get_ns();
		if (!*(volatile u32 *)lock && ml_try_lock(lock))
			return 1;
	}
	return 0;
}

/* Releases a lock that the caller has taken. The next holder sees the writes before it. */
ML_INLINE void ml_unlock(u32 *lock)
{
	__sync_lock_test_and_set(lock, 0);
}

#endif
