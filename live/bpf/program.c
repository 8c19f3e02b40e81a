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
 *   ML_DROPPER_TRACKS               1: the drop policy wants to know of departures
 *   ML_DROPPER_SEES_FULL            1: it is asked also when the buffer is full
 *
 * A packet's view and backlog lie in a map of the CPU and not on the stack: the verifier forgets what lies in a map,
 * so that paths through the program meet again, and it walks a tenth of the instructions.
 *
 * Each policy gets a random number of its own, so that what one draws tells nothing of what another does.
 *
 * Two more definitions are for tests and measurements. ML_REPLAY: time and random numbers are those that the packet's
 * context brings (tstamp, mark, cb[0], cb[1]). ML_COUNT_ONLY: parse and count, nothing else.
 *
 * One lock guards a decision: one of many that flows are spread over, or, where packets of several flows share a
 * state or a queue, that of the shared state. (An entry of an LRU table cannot hold a lock.) Clock and random numbers
 * are read before.
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

/* Where time and random numbers come from. A queue needs ns. Elsewhere a tick of the kernel is fine enough, for idle
 * times, at a third of the cost. */
#ifdef ML_REPLAY
#define ML_NOW(skb_) ((skb_)->tstamp)
#define ML_MARKER_RANDOM(skb_) ((skb_)->mark)
#define ML_USER_RANDOM(skb_) ((skb_)->cb[1])
#define ML_QUEUE_RANDOM(skb_) ((skb_)->cb[0])
#else
#if ML_QUEUE
#define ML_NOW(skb_) bpf_ktime_get_ns()
#else
#define ML_NOW(skb_) bpf_ktime_get_coarse_ns()
#endif
#define ML_MARKER_RANDOM(skb_) bpf_get_prandom_u32()
#define ML_USER_RANDOM(skb_) bpf_get_prandom_u32()
#define ML_QUEUE_RANDOM(skb_) bpf_get_prandom_u32()
#endif

#ifndef ML_DROPPER_SEES_FULL
#define ML_DROPPER_SEES_FULL 0
#endif

/* Whether packets of several flows share a state or a queue. */
#if ML_QUEUE || ML_MARKER_SHARES || defined(ML_USER)
#define ML_SHARED 1
#else
#define ML_SHARED 0
#endif

/* An entry of the table of flows, and of that of users. */
struct ml_entry {
	struct ml_flow flow;
#ifdef ML_MARKER
	ML_JOIN3(ml_flow_, ML_MARKER, ) policy __attribute__((aligned(8)));
#endif
};

struct ml_user {
#ifdef ML_USER
	ML_JOIN3(ml_flow_, ML_USER, ) policy __attribute__((aligned(8)));
#endif
	u64 last_seen_ns;
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
	struct bpf_spin_lock lock;
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

/* What belongs to the packet in hand. */
struct ml_scratch {
	struct ml_packet packet;
	struct ml_decision decision;
	u32 keeps_mark; /* whether the marks of others are respected */
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
	u64 zero[(sizeof(struct ml_entry) + sizeof(struct ml_user)) / 8]; /* a fresh entry of either table */
};

/* Locks that flows are spread over. */
#define ML_LOCKS 256

struct ml_lock {
	struct bpf_spin_lock lock;
	u32 reserved[15]; /* a cache line each */
};

#define ML_MAP(name_, type_, key_t, value_t, entries_)                                                               \
	struct {                                                                                                     \
		int (*type)[type_];                                                                                  \
		int (*max_entries)[entries_];                                                                        \
		key_t *key;                                                                                          \
		value_t *value;                                                                                      \
	} name_ ML_SECTION(".maps")

/* User space sets the sizes of both tables. */
ML_MAP(ml_flows, ML_LRU_HASH, struct ml_key, struct ml_entry, 1024);
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
ML_MAP(ml_locks, ML_ARRAY, u32, struct ml_lock, ML_LOCKS);
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

#ifdef ML_MARKER
/* Returns the flow's entry, a fresh one for a new flow, or null where there is no room. */
ML_INLINE struct ml_entry *ml_find_flow(struct ml_scratch *scratch, struct ml_counters *counters)
{
	const struct ml_key *key = &scratch->packet.key;
	struct ml_entry *entry = bpf_map_lookup_elem(&ml_flows, key);

	if (entry)
		return entry;
	if (!bpf_map_update_elem(&ml_flows, key, scratch->zero, ML_NOEXIST))
		counters->new_flows++;
	return bpf_map_lookup_elem(&ml_flows, key);
}
#endif

/* Returns the lock that guards a decision. */
ML_INLINE struct bpf_spin_lock *ml_lock_of(struct ml_state *state, const struct ml_key *key)
{
	const u32 *word = (const u32 *)key;
	u32 sum = word[3] ^ word[7] * 31 ^ word[8], index = (sum ^ sum >> 8 ^ sum >> 16 ^ sum >> 24) & (ML_LOCKS - 1);
	struct ml_lock *found;

	if (ML_SHARED)
		return &state->lock;
	found = bpf_map_lookup_elem(&ml_locks, &index);
	return found ? &found->lock : 0;
}

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
	bpf_map_update_elem(&ml_users, key, scratch->zero, ML_NOEXIST);
	return bpf_map_lookup_elem(&ml_users, key);
}
#endif

#ifdef ML_MARKER
/* Returns the marker's colour of a packet, or MH_DISCARD. `published` is what the agent told last. */
ML_INLINE u32 ml_mark(const struct ml_all_settings *all, struct ml_state *state, struct ml_scratch *scratch,
		      struct ml_entry *entry, const void *published, u64 now_ns, u32 random)
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
	return ML_JOIN3(mh_, ML_MARKER, _packet)(&all->marker, &entry->policy, own, view, now_ns, random);
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
	socket = bpf_sk_fullsock(socket);
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

	if (!flow->packets)
		flow->first_seen_ns = now_ns;
	flow->last_seen_ns = now_ns;
	flow->bytes += view->ip_bytes;
	flow->packets += view->segments;
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
		if (scratch->departures.packets[colour])
			ML_JOIN3(mh_, ML_DROPPER, _departed)(&all->dropper, &state->dropper, colour, backlog,
							     scratch->departures.last_ns[colour]);
		ML_FORGET;
	}
#endif
}

/* Admits a packet that nothing is decided on: it takes its place in the queue. */
ML_INLINE void ml_admit_unseen(const struct ml_all_settings *all, struct ml_state *state, struct ml_scratch *scratch,
			       u64 now_ns)
{
	bpf_spin_lock(&state->lock);
	ml_settle(all, state, scratch, now_ns);
	mh_virtual_fifo_admit(&all->fifo, &state->fifo, &scratch->packet.view);
	bpf_spin_unlock(&state->lock);
}

/* Decides whether the queue behind takes the packet. */
ML_INLINE void ml_queue(const struct ml_all_settings *all, struct ml_state *state, struct ml_scratch *scratch,
			u64 now_ns, u32 random)
{
	const struct mh_view *view = &scratch->packet.view;
	struct mh_backlog *backlog = &scratch->backlog;
	struct ml_decision *decision = &scratch->decision;
	u32 verdict;

	(void)random;
	ml_settle(all, state, scratch, now_ns);
	decision->is_full = mh_is_full(&all->settings.limit, backlog, view->ip_bytes, view->segments) |
			    mh_virtual_fifo_is_full(&state->fifo);
	ML_FORGET;
#ifdef ML_DROPPER
	if (mh_is_asked(decision->is_full, ML_DROPPER_SEES_FULL))
		decision->verdict = ML_JOIN3(mh_, ML_DROPPER, _packet)(&all->dropper, &state->dropper, view, backlog,
								       state->fifo.settled_ns, random);
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

/* Returns the settings in force; null where there are none. */
ML_INLINE const struct ml_all_settings *ml_settings_in_force(void)
{
	u32 zero = 0, active;
	struct ml_control *control = bpf_map_lookup_elem(&ml_control, &zero);

	if (!control)
		return 0;
	active = control->active & 1;
	return bpf_map_lookup_elem(&ml_settings, &active);
}

/*
 * Parses a frame into the CPU's scratch. Returns 0; 1 where a header lies beyond the frame's linear part; 2 where a map
 * is missing. A function of its own, with external linkage: the verifier walks it once by itself, and not once for each
 * path to what follows.
 */
__attribute__((noinline)) int ml_parse_frame(struct __sk_buff *skb)
{
	u32 zero = 0;
	const struct ml_all_settings *all = ml_settings_in_force();
	struct ml_scratch *scratch = bpf_map_lookup_elem(&ml_scratch, &zero);

	if (!all || !scratch)
		return 2;
	ml_parse(skb, &scratch->packet, all->settings.link_header_bytes);
	return !!scratch->packet.is_short;
}

ML_SECTION("tc") int mousehole(struct __sk_buff *skb)
{
	u32 zero = 0, keeps_mark, marker_random = 0, user_random = 0, queue_random = 0, colour, changed, is_seen;
	const struct ml_all_settings *all = ml_settings_in_force();
	struct ml_counters *counters = bpf_map_lookup_elem(&ml_counters, &zero);
	struct ml_scratch *scratch = bpf_map_lookup_elem(&ml_scratch, &zero);
	struct ml_state *state = bpf_map_lookup_elem(&ml_state, &zero);
	struct ml_decision *decision;
	const struct ml_action *action;
	struct bpf_spin_lock *lock;
	struct ml_packet *packet;
#ifdef ML_MARKER
	struct ml_entry *entry;
#endif
#ifdef ML_USER
	struct ml_user *user;
#endif
	const void *published = 0;
	u64 now_ns;

	(void)published;
	(void)marker_random;
	(void)user_random;
	(void)queue_random;
	if (!all || !counters || !scratch || !state)
		return ML_NEXT;
	if (ml_parse_frame(skb) && !bpf_skb_pull_data(skb, (u32)mh_min(skb->len, ML_LOOKED_AT)))
		ml_parse_frame(skb);
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
#ifdef ML_COUNT_ONLY
	return ML_NEXT;
#endif
	now_ns = ML_NOW(skb);
	is_seen = packet->kind < ML_IS_NOT_IP;
#ifdef ML_MARKER
	marker_random = ML_MARKER_RANDOM(skb);
	entry = is_seen ? ml_find_flow(scratch, counters) : 0;
	if (is_seen && !entry) {
		counters->without_state++;
		is_seen = 0;
	}
#endif
#ifdef ML_USER
	user_random = ML_USER_RANDOM(skb);
	user = is_seen ? ml_find_user(scratch, all->settings.user_is_destination) : 0;
	if (is_seen && !user) {
		counters->without_state++;
		is_seen = 0;
	}
#endif
#ifdef ML_DROPPER
	queue_random = ML_QUEUE_RANDOM(skb);
#endif
	if (!is_seen) {
#if ML_QUEUE
		ml_admit_unseen(all, state, scratch, now_ns);
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
	lock = ml_lock_of(state, &packet->key);
	if (!lock)
		return ML_NEXT;
	bpf_spin_lock(lock);
#ifdef ML_MARKER
	decision->colour = ml_mark(all, state, scratch, entry, published, now_ns, marker_random);
#endif
#ifdef ML_USER
	ML_FORGET;
	if (decision->colour <= MH_RED) {
		packet->view.colour = (u8)decision->colour;
		/* The policy reads the colour from memory and compares what it read. Otherwise the compiler joins its
		 * comparisons with others, and the verifier does not see that an index is in range. */
		ML_FORGET;
		decision->colour = ML_JOIN3(mh_, ML_USER, _packet)(&all->user, &user->policy, &state->user,
								  &packet->view, now_ns, user_random);
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
		ml_queue(all, state, scratch, now_ns, queue_random);
#endif
	ML_FORGET;
	colour = (u32)mh_min(packet->view.colour, MH_RED);
	keeps_mark = scratch->keeps_mark;
#ifdef ML_MARKER
	ml_account(&entry->flow, &packet->view, decision, keeps_mark, now_ns);
#endif
	bpf_spin_unlock(lock);
#if ML_MARKER_RESTARTS
	if (scratch->has_ended)
		bpf_ringbuf_output(&ml_ended, &scratch->ended, sizeof(scratch->ended), 0);
#endif

	ML_FORGET;
	ml_count_decision(counters, &packet->view, decision, keeps_mark);
	if (all->settings.shadow)
		return ML_NEXT;
	if (ml_drop_reason(decision) < ML_DROP_REASONS)
		return ML_DROP;
	changed = packet->traffic_class;
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
	return ML_NEXT;
}

/* GPL-compatible; the sources are MIT, Apache-2.0 or GPL-2.0. */
char ml_license[] ML_SECTION("license") = "Dual MIT/GPL";
