/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * The inputs of policies besides the packet: the time, random numbers, and the state of the sending socket.
 *
 * A call of a helper costs about as much as all of a marker's arithmetic. So clock and random numbers are read only
 * where a policy needs them, and before a lock is taken. Each policy gets its own random number, so that their
 * decisions are independent.
 */
#ifndef MOUSEHOLE_LIVE_INPUTS_H
#define MOUSEHOLE_LIVE_INPUTS_H

#include "state.h"

/* Returns the time of the current tick's start, ns; the clock is read once in a tick. */
ML_INLINE u64 ml_read_coarse_clock(struct ml_scratch *scratch)
{
	u64 tick = bpf_jiffies64();

	if (scratch->tick != tick) {
		scratch->tick = tick;
		scratch->now_ns = bpf_ktime_get_coarse_ns();
	}
	return scratch->now_ns;
}

/* Returns the time, ns. Queues and departure times need the exact time; elsewhere the kernel's tick suffices, since
 * only idle times are measured. */
ML_INLINE u64 ml_read_clock(const struct ml_work *work)
{
	if (ML_HAS(ML_REPLAY))
		return work->skb->tstamp;
	if (ML_HAS(ML_QUEUE) || (ML_SHAPES && work->all->settings.longest_wait_ms))
		return bpf_ktime_get_ns();
	return ml_read_coarse_clock(work->scratch);
}

/* Returns 32 random bits and advances the CPU's generator: the upper half of SplitMix64 (Steele,
 * Lea & Flood 2014) without its last xor-shift. A state of 0 is seeded by the kernel's
 * generator. */
ML_INLINE u32 ml_draw_random(struct ml_scratch *scratch)
{
	u64 value = scratch->generator;

	if (!value)
		value = (u64)bpf_get_prandom_u32() << 32 | bpf_get_prandom_u32();
	value += 0x9e3779b97f4a7c15ULL;
	scratch->generator = value;
	value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9ULL;
	value = (value ^ value >> 27) * 0x94d049bb133111ebULL;
	return (u32)(value >> 32);
}

/* Draws the random number of each policy that says it reads one; the others keep a former
 * packet's. They are stored in a map, where the verifier does not track whether they were drawn. */
ML_INLINE void ml_draw_numbers(const struct ml_work *work)
{
	const struct __sk_buff *skb = work->skb;
	const struct ml_all_settings *all = work->all;
	struct ml_scratch *scratch = work->scratch;

	if (ml_marker_draws(&all->marker))
		scratch->random[0] = ML_HAS(ML_REPLAY) ? skb->mark : ml_draw_random(scratch);
	if (ml_user_draws(&all->user))
		scratch->random[1] = ML_HAS(ML_REPLAY) ? skb->cb[1] : ml_draw_random(scratch);
	if (ml_dropper_draws(&all->dropper))
		scratch->random[2] = ML_HAS(ML_REPLAY) ? skb->cb[0] : ml_draw_random(scratch);
	ML_FORGET;
}

/*
 * Fills in the state of the sending socket, for packets of this host: its congestion window in segments, and whether it
 * is in loss recovery, which lasts while segments are lost or retransmitted and not yet acknowledged. Forwarded packets
 * have no socket and no hint. The kernel's stable interface does not give the receiver's window.
 */
ML_INLINE void ml_read_socket(struct __sk_buff *skb, struct mh_view *view)
{
	struct bpf_sock *socket = skb->sk;
	struct bpf_tcp_sock *tcp;

	if (!socket)
		return;
	tcp = bpf_tcp_sock(socket);
	if (!tcp)
		return;
	view->window_hint = (u16)mh_min(tcp->snd_cwnd, 0xffff);
	if (tcp->retrans_out || tcp->lost_out)
		view->flags |= MH_IN_RECOVERY;
}

#endif
