/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * What policies take beside the packet: the time, random numbers, and what the sending socket knows.
 *
 * A call of a helper costs about as much as all of a marker's arithmetic. So clock and random numbers are asked for only
 * where a policy reads them, and before a lock is taken. Each policy that reads one gets a random number of its own, so
 * that what one draws tells nothing of what another does.
 */
#ifndef MOUSEHOLE_LIVE_INPUTS_H
#define MOUSEHOLE_LIVE_INPUTS_H

#include "state.h"

/* Returns the time of the tick that has begun last, ns. */
ML_INLINE u64 ml_coarse_now(struct ml_scratch *scratch)
{
	u64 tick = bpf_jiffies64();

	if (scratch->tick != tick) {
		scratch->tick = tick;
		scratch->now_ns = bpf_ktime_get_coarse_ns();
	}
	return scratch->now_ns;
}

/* Returns the time. A queue needs ns, and so do departure times. Elsewhere a tick of the kernel is fine enough, for idle
 * times; the clock is then read once in a tick. */
ML_INLINE u64 ml_now(const struct ml_work *work)
{
	if (ML_HAS(ML_REPLAY))
		return work->skb->tstamp;
	if (ML_HAS(ML_QUEUE) || (ML_SHAPES && work->all->settings.longest_wait_ms))
		return bpf_ktime_get_ns();
	return ml_coarse_now(work->scratch);
}

/* Returns 32 random bits: SplitMix64 (Steele, Lea & Flood 2014), which the kernel's own generator seeds. */
ML_INLINE u32 ml_random(struct ml_scratch *scratch)
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

/*
 * Draws the random numbers that the policies read. They lie in memory, where the verifier forgets whether they were
 * drawn.
 */
ML_INLINE void ml_draw(const struct ml_work *work)
{
	const struct __sk_buff *skb = work->skb;
	const struct ml_all_settings *all = work->all;
	struct ml_scratch *scratch = work->scratch;

	if (ml_marker_draws(&all->marker))
		scratch->random[0] = ML_HAS(ML_REPLAY) ? skb->mark : ml_random(scratch);
	if (ml_user_draws(&all->user))
		scratch->random[1] = ML_HAS(ML_REPLAY) ? skb->cb[1] : ml_random(scratch);
	if (ml_dropper_draws(&all->dropper))
		scratch->random[2] = ML_HAS(ML_REPLAY) ? skb->cb[0] : ml_random(scratch);
	ML_FORGET;
}

/*
 * Fills in what the sending socket knows, of packets that this host sends: its congestion window, and whether it is
 * in loss recovery, that is while segments are lost or sent again and not yet acknowledged. Forwarded packets have no
 * socket and no hint. The receiver's window is not among what the kernel's stable interface tells.
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
