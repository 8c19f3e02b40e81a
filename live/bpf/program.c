/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * The program at a device's egress: parse, find the flow, ask the policies, count, and act.
 *
 * Every decision is a policy's (policy/include/mousehole). The compiler's command line names them:
 *
 *   ML_MARKER, ML_MARKER_HEADER     the marker of flows; without it every packet is green
 *   ML_USER, ML_USER_HEADER         a second marker that keeps a state for each user (one address), such as `policer`
 *   ML_QUEUE                        1: decide what a queue of the configured rate behind this program takes
 *   ML_DROPPER, ML_DROPPER_HEADER   that queue's drop policy; without it only its buffer decides
 *   ML_MARKER_SHARES                1: packets of several flows share a part of the marker's state
 *   ML_MARKER_PUBLISHES             1: the agent writes a part of it that packets read
 *   ML_MARKER_RESTARTS              1: the agent learns of flows that end when they start anew
 *   ML_MARKER_DRAWS, ML_USER_DRAWS, ML_DROPPER_DRAWS    1: the policy says whether it reads random numbers
 *   ML_USER_SHAPES                  1: that marker can tell how long a packet waits for tokens; see ml_shape()
 *   ML_DROPPER_TRACKS               1: the drop policy wants to know of departures
 *   ML_DROPPER_SEES_FULL            1: it is asked also when the buffer is full
 *
 * A packet's view and backlog lie in a map of the CPU and not on the stack: the verifier forgets what lies in a map,
 * so that paths through the program meet again, and it walks a tenth of the instructions.
 *
 * Each policy that reads one gets a random number of its own, so that what one draws tells nothing of what another does.
 *
 * Two more definitions are for tests and measurements. ML_REPLAY: time and random numbers are those that the packet's
 * context brings (tstamp, mark, cb[0], cb[1]). ML_COUNT_ONLY: parse and count, nothing else.
 *
 * One lock guards a decision: that of the flow's entry, or, where packets of several flows share a state or a queue,
 * that of the shared state. Clock and random numbers are read before.
 *
 * A call of a helper costs about as much as all of a marker's arithmetic. So the table of flows is an array that is
 * searched here (table.h), a flow's lock is a word of its entry, and clock and random numbers are asked for only where
 * a policy reads them.
 */
#include "layout.h"

/* Instead of descriptions: the types of the policies. policy.h leaves these two alone. */
#define MH_MARKER(name_, params_t, flow_t, state_t, ...)                                                             \
	typedef struct params_t ml_params_##name_;                                                                   \
	typedef struct flow_t ml_flow_##name_;                                                                       \
	typedef struct state_t ml_state_##name_;
#define MH_DROPPER(name_, params_t, state_t, ...)                                                                    \
	typedef struct params_t ml_params_##name_;                                                                   \
	typedef struct state_t ml_state_##name_;

#include "mousehole/policy.h"
#ifdef ML_MARKER
#include ML_MARKER_HEADER
#endif
#ifdef ML_USER
#include ML_USER_HEADER
#endif
#ifdef ML_DROPPER
#include ML_DROPPER_HEADER
#endif
#if ML_QUEUE
#include "mousehole/virtual_fifo.h"
#endif

#include "parse.h"

#define ML_PASTE3(a, b, c) a##b##c
#define ML_JOIN3(a, b, c) ML_PASTE3(a, b, c)

/* Whether packets can be held back. A queue of this program's own does not hold them: it counts them as they arrive. */
#if ML_USER_SHAPES && !ML_QUEUE
#define ML_SHAPES 1
#else
#define ML_SHAPES 0
#endif

/* Where time and random numbers come from. A queue needs ns, and so do departure times. Elsewhere a tick of the kernel
 * is fine enough, for idle times; the clock is then read once in a tick. */
#ifdef ML_REPLAY
#define ML_NOW(skb_, all_, scratch_) ((skb_)->tstamp)
#define ML_MARKER_RANDOM(skb_) ((skb_)->mark)
#define ML_USER_RANDOM(skb_) ((skb_)->cb[1])
#define ML_QUEUE_RANDOM(skb_) ((skb_)->cb[0])
#else
#if ML_QUEUE
#define ML_NOW(skb_, all_, scratch_) bpf_ktime_get_ns()
#elif ML_SHAPES
#define ML_NOW(skb_, all_, scratch_)                                                                                 \
	((all_)->settings.longest_wait_ms ? bpf_ktime_get_ns() : ml_coarse_now(scratch_))
#else
#define ML_NOW(skb_, all_, scratch_) ml_coarse_now(scratch_)
#endif
#define ML_MARKER_RANDOM(skb_) ml_random(scratch)
#define ML_USER_RANDOM(skb_) ml_random(scratch)
#define ML_QUEUE_RANDOM(skb_) ml_random(scratch)
#endif

#ifndef ML_DROPPER_SEES_FULL
#define ML_DROPPER_SEES_FULL 0
#endif

/* Whether a policy reads its random number, with these parameters; one that does not say so always may. */
#if ML_MARKER_DRAWS
#define ML_MARKER_READS_RANDOM(all_) ML_JOIN3(mh_, ML_MARKER, _draws)(&(all_)->marker)
#else
#define ML_MARKER_READS_RANDOM(all_) 1
#endif
#if ML_USER_DRAWS
#define ML_USER_READS_RANDOM(all_) ML_JOIN3(mh_, ML_USER, _draws)(&(all_)->user)
#else
#define ML_USER_READS_RANDOM(all_) 1
#endif
#if ML_DROPPER_DRAWS
#define ML_DROPPER_READS_RANDOM(all_) ML_JOIN3(mh_, ML_DROPPER, _draws)(&(all_)->dropper)
#else
#define ML_DROPPER_READS_RANDOM(all_) 1
#endif

/* Whether packets of several flows share a state or a queue. */
#if ML_QUEUE || ML_MARKER_SHARES || defined(ML_USER)
#define ML_SHARED 1
#else
#define ML_SHARED 0
#endif

/* An entry of the table of flows, and of that of users. */
struct ml_entry {
	struct ml_key key;
	struct ml_flow flow;
#ifdef ML_MARKER
	ML_JOIN3(ml_flow_, ML_MARKER, ) policy __attribute__((aligned(8)));
#endif
#if ML_SHAPES
	u64 departs_ns; /* its last packet */
#endif
} __attribute__((aligned(64)));

struct ml_user {
#ifdef ML_USER
	ML_JOIN3(ml_flow_, ML_USER, ) policy __attribute__((aligned(8)));
#endif
	u64 last_seen_ns;
#if ML_SHAPES
	u64 departs_ns[MH_COLOURS]; /* the last packet of each colour that needed tokens */
#endif
};

/* The settings with the parameters of the policies, in the order in which user space writes them. */
struct ml_all_settings {
	struct ml_settings settings;
#ifdef ML_MARKER
	ML_JOIN3(ml_params_, ML_MARKER, ) marker __attribute__((aligned(8)));
#endif
#ifdef ML_USER
	ML_JOIN3(ml_params_, ML_USER, ) user __attribute__((aligned(8)));
#endif
#ifdef ML_DROPPER
	ML_JOIN3(ml_params_, ML_DROPPER, ) dropper __attribute__((aligned(8)));
#endif
#if ML_QUEUE
	struct mh_virtual_fifo_params fifo __attribute__((aligned(8)));
#endif
};

/* What all packets share. */
struct ml_state {
	u32 lock; /* 1 while a CPU decides */
	u32 reserved;
#if ML_MARKER_SHARES
	ML_JOIN3(ml_state_, ML_MARKER, ) marker __attribute__((aligned(8)));
#endif
#ifdef ML_USER
	ML_JOIN3(ml_state_, ML_USER, ) user __attribute__((aligned(8)));
#endif
#ifdef ML_DROPPER
	ML_JOIN3(ml_state_, ML_DROPPER, ) dropper __attribute__((aligned(8)));
#endif
#if ML_QUEUE
	struct mh_virtual_fifo fifo __attribute__((aligned(8)));
#endif
};

/* What was decided of a packet. */
struct ml_decision {
	u32 colour;  /* MH_GREEN, .. or MH_DISCARD */
	u32 verdict; /* MH_PASS, .. */
	u32 is_full; /* dropped because the buffer was full */
};

/* Has the compiler read values back from memory, where the verifier forgets them: paths meet again. */
#define ML_FORGET __asm__ volatile("" ::: "memory")

/* Hides a variable's range from the compiler, so that it leaves out no comparison by which the verifier would learn it. */
#define ML_HIDE(variable_) __asm__ volatile("" : "+r"(variable_))

/* What belongs to the packet in hand. */
struct ml_scratch {
	struct ml_packet packet;
	struct ml_decision decision;
	u32 keeps_mark; /* whether the marks of others are respected */
	u32 random[3];  /* of the marker, the marker of users, and the dropper */
	u32 reserved;
	u64 tick;       /* in which the clock was last read */
	u64 now_ns;     /* what it said */
	u64 generator;  /* of random numbers; 0 before the first */
#if ML_SHAPES
	u64 departs_ns; /* the packet */
#endif
#if defined(ML_MARKER) && !ML_MARKER_SHARES
	ML_JOIN3(ml_state_, ML_MARKER, ) marker __attribute__((aligned(8)));
#endif
#if ML_MARKER_RESTARTS
	u64 has_ended;
	ML_JOIN3(ml_flow_, ML_MARKER, ) ended __attribute__((aligned(8)));
#endif
#if ML_QUEUE
	struct mh_backlog backlog;
	struct mh_virtual_fifo_departures departures;
#endif
#ifdef ML_USER
	struct ml_user fresh_user;
#endif
};

#define ML_MAP(name_, type_, key_t, value_t, entries_)                                                               \
	struct {                                                                                                     \
		int (*type)[type_];                                                                                  \
		int (*max_entries)[entries_];                                                                        \
		key_t *key;                                                                                          \
		value_t *value;                                                                                      \
	} name_ ML_SECTION(".maps")

/* User space sets the sizes of the tables. That of flows begins at a page's border. */
struct {
	int (*type)[ML_ARRAY];
	int (*max_entries)[1024];
	int (*map_flags)[ML_MMAPABLE];
	u32 *key;
	struct ml_entry *value;
} ml_flows ML_SECTION(".maps");
ML_MAP(ml_tags, ML_ARRAY, u32, u64, 128); /* of each bucket of ml_flows */
#ifdef ML_USER
ML_MAP(ml_users, ML_LRU_HASH, struct ml_key, struct ml_user, 1024);
#endif
ML_MAP(ml_settings, ML_ARRAY, u32, struct ml_all_settings, 2);
ML_MAP(ml_control, ML_ARRAY, u32, struct ml_control, 1);
ML_MAP(ml_agent, ML_ARRAY, u32, struct ml_agent, 1);
#if ML_MARKER_PUBLISHES
ML_MAP(ml_published, ML_ARRAY, u32, __typeof__(((ML_JOIN3(ml_state_, ML_MARKER, ) *)0)->published), 2);
#endif
#if ML_MARKER_RESTARTS
struct {
	int (*type)[ML_RINGBUF];
	int (*max_entries)[1 << 16];
} ml_ended ML_SECTION(".maps");
#endif
ML_MAP(ml_state, ML_ARRAY, u32, struct ml_state, 1);
ML_MAP(ml_counters, ML_PERCPU_ARRAY, u32, struct ml_counters, 1);
ML_MAP(ml_scratch, ML_PERCPU_ARRAY, u32, struct ml_scratch, 1);

ML_INLINE void ml_count(struct ml_count *count, u32 packets, u32 bytes)
{
	count->packets += packets;
	count->bytes += bytes;
}

/* Counts a frame by what it is. */
ML_INLINE void ml_count_kind(struct ml_counters *counters, const struct ml_packet *packet)
{
	u32 segments = packet->view.segments, bytes = packet->view.ip_bytes;

	switch (packet->kind) {
	case ML_IS_IPV4:
		ml_count(&counters->ipv4, segments, bytes);
		break;
	case ML_IS_IPV6:
		ml_count(&counters->ipv6, segments, bytes);
		break;
	case ML_IS_NOT_IP:
		ml_count(&counters->not_ip, segments, bytes);
		break;
	default:
		ml_count(&counters->malformed, segments, bytes);
	}
	if (packet->is_fragment)
		ml_count(&counters->fragments, segments, bytes);
	if (segments > 1)
		ml_count(&counters->super_packets, segments, bytes);
}

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

/* How often a lock is tried at once, and then again. */
enum { ML_TRIES = 16, ML_MORE_TRIES = 1 << 14 };

ML_INLINE u32 ml_try(u32 *lock)
{
	return !__sync_val_compare_and_swap(lock, 0, 1);
}

/* Tries once more, for bpf_loop(). Returns 1 to end the loop. The last call does not try, so that it tells of failure. */
static long ml_try_again(u64 number, void *lock)
{
	return number < ML_MORE_TRIES && ml_try(*(u32 **)lock);
}

/*
 * Takes a lock, which is a word of a map. Returns whether it did. The kernel's own spin lock costs two calls and turns
 * interrupts off and on.
 *
 * Nothing sleeps with the lock, so whoever holds it is done after few tries, unless its CPU has been taken away by a
 * hypervisor, or this is an interrupt that sends a packet in the midst of another. Rather than wait without end, the
 * caller then lets the packet pass undecided and counts it under lock_busy; the lock stays its holder's.
 */
ML_INLINE u32 ml_lock(u32 *lock)
{
	u32 tries;

	for (tries = 0; tries < ML_TRIES; tries++)
		if (ml_try(lock))
			return 1;
	return bpf_loop(ML_MORE_TRIES + 1, ml_try_again, &lock, 0) <= ML_MORE_TRIES;
}

ML_INLINE void ml_unlock(u32 *lock)
{
	__sync_lock_test_and_set(lock, 0);
}

#ifdef ML_MARKER
#include "table.h"
#endif

#ifdef ML_USER
/* Returns the user's entry, as ml_find_flow() does. Changes the packet's key. */
ML_INLINE struct ml_user *ml_find_user(struct ml_scratch *scratch, u32 is_destination)
{
	struct ml_key *key = &scratch->packet.key;
	struct ml_user *user;

	if (is_destination)
		__builtin_memcpy(key->source, key->destination, 16);
	__builtin_memset(key->destination, 0, sizeof(*key) - 16);
	user = bpf_map_lookup_elem(&ml_users, key);
	if (user)
		return user;
	bpf_map_update_elem(&ml_users, key, &scratch->fresh_user, ML_NOEXIST);
	return bpf_map_lookup_elem(&ml_users, key);
}
#endif

#ifdef ML_MARKER
/* Returns the marker's colour of a packet, or MH_DISCARD. `published` is what the agent told last. */
ML_INLINE u32 ml_mark(const struct ml_all_settings *all, struct ml_state *state, struct ml_scratch *scratch,
		      struct ml_entry *entry, const void *published, u64 now_ns)
{
	const struct mh_view *view = &scratch->packet.view;
#if ML_MARKER_SHARES
	ML_JOIN3(ml_state_, ML_MARKER, ) *own = &state->marker;
#else
	ML_JOIN3(ml_state_, ML_MARKER, ) *own = &scratch->marker;
#endif

	(void)state;
#if ML_MARKER_PUBLISHES
	__builtin_memcpy(&own->published, published, sizeof(own->published));
#else
	(void)published;
#endif
#if ML_MARKER_RESTARTS
	scratch->has_ended = ML_JOIN3(mh_, ML_MARKER, _restarts)(&all->marker, &entry->policy, view, now_ns);
	if (scratch->has_ended)
		scratch->ended = entry->policy;
#endif
	return ML_JOIN3(mh_, ML_MARKER, _packet)(&all->marker, &entry->policy, own, view, now_ns, scratch->random[0]);
}
#endif

#if ML_MARKER_READS_HINTS || ML_DROPPER_READS_HINTS
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

/* Returns why a packet is dropped, or ML_DROP_REASONS if it is not. */
ML_INLINE u32 ml_drop_reason(const struct ml_decision *decision)
{
	if (decision->colour == MH_DISCARD)
		return ML_POLICED;
	if (decision->is_full)
		return ML_FULL;
	if (decision->verdict == MH_DROP_EARLY)
		return ML_EARLY;
	return decision->verdict == MH_DROP_FORCED ? ML_FORCED : ML_DROP_REASONS;
}

#ifdef ML_MARKER
/* Notes in the flow's account what was decided. */
ML_INLINE void ml_account(struct ml_flow *flow, const struct mh_view *view, const struct ml_decision *decision,
			  u32 keeps_mark, u64 now_ns)
{
	u32 reason = ml_drop_reason(decision), colour = (u32)mh_min(decision->colour, MH_RED);

	if (!flow->bytes)
		flow->first_seen_ms = (u32)(now_ns / 1000000);
	flow->last_seen_ns = now_ns;
	flow->bytes += view->ip_bytes;
	flow->colour = colour;
	flow->colour_packets[colour] += view->segments;
	if (reason < ML_DROP_REASONS)
		flow->dropped[reason] += view->segments;
	else if (decision->verdict == MH_MARK)
		flow->ce_marked += view->segments;
	if (keeps_mark)
		flow->already_marked += view->segments;
}
#endif

/* The same for the CPU's counters. */
ML_INLINE void ml_count_decision(struct ml_counters *counters, const struct mh_view *view,
				 const struct ml_decision *decision, u32 keeps_mark)
{
	u32 reason = ml_drop_reason(decision), colour = (u32)mh_min(decision->colour, MH_RED);

	ml_count(&counters->colour[colour], view->segments, view->ip_bytes);
	if (reason < ML_DROP_REASONS) {
		ml_count(&counters->dropped[reason], view->segments, view->ip_bytes);
		ml_count(&counters->colour_dropped[colour], view->segments, view->ip_bytes);
	} else if (decision->verdict == MH_MARK) {
		ml_count(&counters->ce_marked, view->segments, view->ip_bytes);
	}
	if (keeps_mark)
		ml_count(&counters->already_marked, view->segments, view->ip_bytes);
}

#if ML_QUEUE
/* Brings the queue to the present time, tells the dropper what has departed, and fills in what waits. */
ML_INLINE void ml_settle(const struct ml_all_settings *all, struct ml_state *state, struct ml_scratch *scratch,
			 u64 now_ns)
{
	struct mh_backlog *backlog = &scratch->backlog;
	u32 colour, rank;

	mh_virtual_fifo_settle(&state->fifo, now_ns, &scratch->departures);
	mh_virtual_fifo_backlog(&all->fifo, &state->fifo, &scratch->packet.view, backlog);
	(void)colour, (void)rank;
#if ML_DROPPER_TRACKS
	for (rank = 0; rank < MH_COLOURS; rank++) {
		colour = (u32)mh_min(scratch->departures.order[rank], MH_COLOURS - 1);
		ML_HIDE(colour);
		if (scratch->departures.packets[colour])
			ML_JOIN3(mh_, ML_DROPPER, _departed)(&all->dropper, &state->dropper, colour, backlog,
							     scratch->departures.last_ns[colour]);
		ML_FORGET;
	}
#endif
}

/* Admits a packet that nothing is decided on: it takes its place in the queue. */
ML_INLINE void ml_admit_unseen(const struct ml_all_settings *all, struct ml_state *state, struct ml_scratch *scratch,
			       struct ml_counters *counters, u64 now_ns)
{
	if (!ml_lock(&state->lock)) {
		counters->lock_busy++;
		return;
	}
	ml_settle(all, state, scratch, now_ns);
	mh_virtual_fifo_admit(&all->fifo, &state->fifo, &scratch->packet.view);
	ml_unlock(&state->lock);
}

/* Decides whether the queue behind takes the packet. */
ML_INLINE void ml_queue(const struct ml_all_settings *all, struct ml_state *state, struct ml_scratch *scratch,
			u64 now_ns)
{
	const struct mh_view *view = &scratch->packet.view;
	struct mh_backlog *backlog = &scratch->backlog;
	struct ml_decision *decision = &scratch->decision;
	u32 verdict;

	ml_settle(all, state, scratch, now_ns);
	decision->is_full = mh_is_full(&all->settings.limit, backlog, view->ip_bytes, view->segments) |
			    mh_virtual_fifo_is_full(&state->fifo);
	ML_FORGET;
#ifdef ML_DROPPER
	if (mh_is_asked(decision->is_full, ML_DROPPER_SEES_FULL))
		decision->verdict = ML_JOIN3(mh_, ML_DROPPER, _packet)(&all->dropper, &state->dropper, view, backlog,
								       state->fifo.settled_ns, scratch->random[2]);
	ML_FORGET;
#endif
	verdict = decision->verdict;
	decision->verdict = mh_verdict_with_buffer(decision->is_full, verdict);
	decision->is_full &= verdict < MH_DROP_EARLY;
	ML_FORGET;
	if (ml_drop_reason(decision) == ML_DROP_REASONS)
		mh_virtual_fifo_admit(&all->fifo, &state->fifo, view);
}
#endif

#if ML_SHAPES
/* The last departure of the packet's flow; null where no marker keeps flows. */
#ifdef ML_MARKER
#define ML_FLOW_DEPARTS (&entry->departs_ns)
#else
#define ML_FLOW_DEPARTS 0
#endif

/*
 * Decides when a packet leaves: with its tokens, not before the user's last packet of the same colour, which took the
 * tokens of that time, and not before the flow's last packet, so that no flow is reordered. A packet that would wait
 * longer than allowed is discarded and takes nothing. The kernel's `fq` behind holds the packets back.
 *
 * A super-packet is one packet here: the policy has those behind it wait for its debt.
 */
ML_INLINE void ml_shape(const struct ml_all_settings *all, struct ml_state *state, struct ml_scratch *scratch,
			struct ml_user *user, u64 *flow_departs_ns, u64 now_ns)
{
	const struct mh_view *view = &scratch->packet.view;
	u64 longest_ns = (u64)all->settings.longest_wait_ms * 1000000, start_ns = now_ns, wait_ns;
	u32 colour = (u32)mh_min(view->colour, MH_RED);
	u32 needs_tokens = !ML_JOIN3(mh_, ML_USER, _is_free)(&all->user, view);

	if (flow_departs_ns)
		start_ns = mh_max(start_ns, *flow_departs_ns);
	if (needs_tokens)
		start_ns = mh_max(start_ns, user->departs_ns[colour]);
	if (start_ns - now_ns > longest_ns)
		goto discarded;
	wait_ns = ML_JOIN3(mh_, ML_USER, _shape)(&all->user, &user->policy, &state->user, view, start_ns);
	if (wait_ns) {
		if (wait_ns > longest_ns || start_ns - now_ns + wait_ns > longest_ns)
			goto discarded;
		start_ns += wait_ns;
		ML_JOIN3(mh_, ML_USER, _shape)(&all->user, &user->policy, &state->user, view, start_ns);
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

/* Counts a packet that waits, and gives it its departure time; what its socket asked for (pacing) is never hurried. */
ML_INLINE void ml_hold(struct __sk_buff *skb, struct ml_counters *counters, const struct ml_scratch *scratch,
		       u64 now_ns, u32 shadow)
{
	const struct mh_view *view = &scratch->packet.view;
	u64 departs_ns = scratch->departs_ns;

	if (departs_ns <= now_ns)
		return;
	ml_count(&counters->held, view->segments, view->ip_bytes);
	counters->held_ns += (departs_ns - now_ns) * view->segments;
	if (!shadow && departs_ns > skb->tstamp)
		skb->tstamp = departs_ns;
}
#endif

/* Writes the traffic class, DSCP and ECN, and corrects IPv4's checksum. */
ML_INLINE void ml_write_traffic_class(struct __sk_buff *skb, const struct ml_packet *packet, u32 traffic_class)
{
	u32 offset = packet->network_offset;
	u8 byte = (u8)traffic_class;

	if (packet->kind == ML_IS_IPV4) {
		/* The words of the header that hold the class differ in their low byte alone. */
		bpf_l3_csum_replace(skb, offset + 10, ML_BE16((u16)packet->traffic_class), ML_BE16((u16)byte), 2);
		bpf_skb_store_bytes(skb, offset + 1, &byte, 1, 0);
	} else {
		u8 first = (u8)(0x60 | byte >> 4), second = (u8)(byte << 4 | packet->flow_label_high);

		bpf_skb_store_bytes(skb, offset, &first, 1, 1);
		bpf_skb_store_bytes(skb, offset + 1, &second, 1, 1);
	}
}

/* Returns whether somebody before has said what the packet is, by a DSCP or by a class of the queue behind. */
ML_INLINE u32 ml_is_marked(const struct __sk_buff *skb, const struct ml_packet *packet, u32 priority)
{
	return packet->traffic_class >> 2 || (priority && skb->priority >> 16 == priority >> 16 && skb->priority & 0xffff);
}

/*
 * Parses a frame into the CPU's scratch. Returns 0; 1 where a header lies beyond the frame's linear part; 2 where a map
 * is missing. A function of its own, with external linkage: the verifier walks it once by itself, and not once for each
 * path to what follows.
 */
__attribute__((noinline)) int ml_parse_frame(struct __sk_buff *skb, u32 link_header_bytes)
{
	u32 zero = 0;
	struct ml_scratch *scratch = bpf_map_lookup_elem(&ml_scratch, &zero);

	if (!scratch)
		return 2;
	ml_parse(skb, &scratch->packet, link_header_bytes);
	return !!scratch->packet.is_short;
}

/*
 * Draws the random numbers that the policies read. They lie in memory, where the verifier forgets whether they were
 * drawn.
 */
ML_INLINE void ml_draw(struct __sk_buff *skb, const struct ml_all_settings *all, struct ml_scratch *scratch)
{
	(void)skb, (void)all, (void)scratch;
#ifdef ML_MARKER
	if (ML_MARKER_READS_RANDOM(all))
		scratch->random[0] = ML_MARKER_RANDOM(skb);
#endif
#ifdef ML_USER
	if (ML_USER_READS_RANDOM(all))
		scratch->random[1] = ML_USER_RANDOM(skb);
#endif
#ifdef ML_DROPPER
	if (ML_DROPPER_READS_RANDOM(all))
		scratch->random[2] = ML_QUEUE_RANDOM(skb);
#endif
	ML_FORGET;
}

/* Tells the queue behind the packet's colour, and the receiver of congestion. */
ML_INLINE void ml_write_marks(struct __sk_buff *skb, const struct ml_all_settings *all, const struct ml_packet *packet,
			      const struct ml_decision *decision, u32 keeps_mark)
{
	const struct ml_action *action = &all->settings.action;
	u32 colour = (u32)mh_min(packet->view.colour, MH_RED), changed = packet->traffic_class;

	if (decision->verdict == MH_MARK)
		changed |= 3;
	if (!keeps_mark) {
		if (action->priority[colour])
			skb->priority = action->priority[colour];
		if (action->dscp[colour] != ML_KEEP_DSCP)
			changed = (u32)action->dscp[colour] << 2 | (changed & 3);
	}
	if (changed != packet->traffic_class)
		ml_write_traffic_class(skb, packet, changed);
}

ML_SECTION("tc") int mousehole(struct __sk_buff *skb)
{
	u32 zero = 0, active, keeps_mark, colour, is_seen;
	const struct ml_control *control = bpf_map_lookup_elem(&ml_control, &zero);
	const struct ml_all_settings *all;
	struct ml_counters *counters = bpf_map_lookup_elem(&ml_counters, &zero);
	struct ml_scratch *scratch = bpf_map_lookup_elem(&ml_scratch, &zero);
	struct ml_state *state = bpf_map_lookup_elem(&ml_state, &zero);
	struct ml_decision *decision;
	const struct ml_action *action;
	struct ml_packet *packet;
#ifdef ML_MARKER
	struct ml_entry *entry;
#endif
#ifdef ML_USER
	struct ml_user *user;
#endif
	const void *published = 0;
	u32 *lock;
	u64 now_ns;

	(void)published;
	if (!control || !counters || !scratch || !state)
		return ML_NEXT;
	active = control->active & 1;
	all = bpf_map_lookup_elem(&ml_settings, &active);
	if (!all)
		return ML_NEXT;
	if (ml_parse_frame(skb, all->settings.link_header_bytes) &&
	    !bpf_skb_pull_data(skb, (u32)mh_min(skb->len, ML_LOOKED_AT)))
		ml_parse_frame(skb, all->settings.link_header_bytes);
	action = &all->settings.action;
	packet = &scratch->packet;
	ml_count_kind(counters, packet);
#if ML_MARKER_READS_HINTS || ML_DROPPER_READS_HINTS
	ml_read_socket(skb, &packet->view);
#endif
	decision = &scratch->decision;
	decision->colour = MH_GREEN;
	decision->verdict = MH_PASS;
	decision->is_full = 0;
#if ML_SHAPES
	scratch->departs_ns = 0;
#endif
#ifdef ML_COUNT_ONLY
	return ML_NEXT;
#endif
	now_ns = ML_NOW(skb, all, scratch);
	ml_draw(skb, all, scratch);
	is_seen = packet->kind < ML_IS_NOT_IP;
#ifdef ML_MARKER
	entry = is_seen ? ml_find_flow(control, &packet->key, counters, now_ns) : 0;
	if (is_seen && !entry) {
		counters->without_state++;
		is_seen = 0;
	}
#endif
#ifdef ML_USER
	user = is_seen ? ml_find_user(scratch, all->settings.user_is_destination) : 0;
	if (is_seen && !user) {
		counters->without_state++;
		is_seen = 0;
	}
#endif
	if (!is_seen) {
#if ML_QUEUE
		ml_admit_unseen(all, state, scratch, counters, now_ns);
#endif
		return ML_NEXT;
	}

#if ML_MARKER_PUBLISHES
	{
		const struct ml_agent *agent = bpf_map_lookup_elem(&ml_agent, &zero);
		u32 index = agent ? agent->active & 1 : 0;

		published = bpf_map_lookup_elem(&ml_published, &index);
		if (!published)
			return ML_NEXT;
	}
#endif
#if ML_MARKER_RESTARTS
	scratch->has_ended = 0;
#endif
#if ML_SHARED
	lock = &state->lock;
#else
	lock = &entry->flow.lock;
#endif
	if (!ml_lock(lock)) {
		counters->lock_busy++;
		return ML_NEXT;
	}
#ifdef ML_MARKER
	decision->colour = ml_mark(all, state, scratch, entry, published, now_ns);
#endif
#ifdef ML_USER
	ML_FORGET;
	if (decision->colour <= MH_RED) {
		packet->view.colour = (u8)decision->colour;
		/* The policy reads the colour from memory and compares what it read. Otherwise the compiler joins its
		 * comparisons with others, and the verifier does not see that an index is in range. */
		ML_FORGET;
#if ML_SHAPES
		if (all->settings.longest_wait_ms)
			ml_shape(all, state, scratch, user, ML_FLOW_DEPARTS, now_ns);
		else
#endif
			decision->colour = ML_JOIN3(mh_, ML_USER, _packet)(&all->user, &user->policy, &state->user,
									  &packet->view, now_ns,
									  scratch->random[1]);
		user->last_seen_ns = now_ns;
	}
#endif
	packet->view.colour = (u8)mh_min(decision->colour, MH_RED);
	/* Read back from memory, the colour is any: one path for the verifier, not one for each. */
	ML_FORGET;
	colour = (u32)mh_min(packet->view.colour, MH_RED);
	scratch->keeps_mark = colour != MH_GREEN && !action->overrides && ml_is_marked(skb, packet, action->priority[colour]);
#if ML_QUEUE
	if (decision->colour <= MH_RED)
		ml_queue(all, state, scratch, now_ns);
#endif
	ML_FORGET;
	keeps_mark = scratch->keeps_mark;
#ifdef ML_MARKER
	ml_account(&entry->flow, &packet->view, decision, keeps_mark, now_ns);
#endif
	ml_unlock(lock);
#if ML_MARKER_RESTARTS
	if (scratch->has_ended)
		bpf_ringbuf_output(&ml_ended, &scratch->ended, sizeof(scratch->ended), 0);
#endif

	ML_FORGET;
	ml_count_decision(counters, &packet->view, decision, keeps_mark);
#if ML_SHAPES
	if (ml_drop_reason(decision) == ML_DROP_REASONS)
		ml_hold(skb, counters, scratch, now_ns, all->settings.shadow);
#endif
	if (all->settings.shadow)
		return ML_NEXT;
	if (ml_drop_reason(decision) < ML_DROP_REASONS)
		return ML_DROP;
	ml_write_marks(skb, all, packet, decision, keeps_mark);
	return ML_NEXT;
}

/* GPL-compatible; the sources are MIT, Apache-2.0 or GPL-2.0. */
char ml_license[] ML_SECTION("license") = "Dual MIT/GPL";
