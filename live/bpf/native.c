/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * A queue header as a queue discipline of the kernel (struct_ops): it holds the packets, tracks the backlog, calls the
 * header, and sends at a rate. Linux 6.16 and later load it if built with NET_SCH_BPF. The compiler's command line names
 * the header:
 *
 *   ML_NATIVE, ML_NATIVE_HEADER   the queue
 *   ML_NATIVE_DRAWS               1: the header says whether it reads random numbers
 *   ML_NATIVE_OVERFLOWS           1: the header names the packet that a full buffer drops
 *   ML_NATIVE_READS_FLOWS         1: the header reads the hash of the packet's flow
 *   ML_REPLAY                     for tests, how many departures are recorded: the time is ml_replay's, random numbers and
 *                                 hashes are derived from the packet's number, skb->mark, and packets without one are not
 *                                 taken
 *
 * The marker is another program, at the device's egress (program.c). It gives a packet's colour in skb->priority, as it
 * does for HTB's classes.
 *
 * An object serves one queue of one device: its maps are that queue's, and its name that device's. The kernel calls all
 * functions under the queue discipline's lock; the lock below satisfies the verifier only.
 *
 * Packets that it may mark arrive as twins (twin.h). They wait as one, and one of them is sent.
 *
 * The link: a packet occupies it for its bytes on the wire / rate. The transmitter is free at `free_ns`,
 * and a timer asks for the next packet then. A late timer does not delay the departures after it, unless it is later
 * than ML_LATE_NS: then the device was not asking for packets.
 */
#include "label.h"
#include "mousehole/base.h"

/* Defines the types of the queue instead of descriptions; policy.h keeps these three definitions. */
#define MH_MARKER(name_, ...)
#define MH_DROPPER(name_, ...)
#define MH_QUEUE(name_, params_t, state_t, bands_, ...)                                                              \
	typedef struct params_t ml_params_##name_;                                                                   \
	typedef struct state_t ml_state_##name_;                                                                     \
	enum { ml_bands_##name_ = (bands_) };

#include "mousehole/policy.h"
#include ML_NATIVE_HEADER

#define ML_PASTE3(a, b, c) a##b##c
#define ML_JOIN3(a, b, c) ML_PASTE3(a, b, c)
#define ML_ASK(function_) ML_JOIN3(mh_, ML_NATIVE, function_)
enum { ML_BANDS = ML_JOIN3(ml_bands_, ML_NATIVE, ) };

#define ML_SECTION(name_) __attribute__((section(name_), used))
#define ML_INLINE static inline __attribute__((always_inline, unused))
/* Hides a number's range from the compiler, so that it keeps the comparison that the verifier needs. */
#define ML_HIDE(value_) __asm__ volatile("" : "+r"(value_))
/* Makes the compiler pass arguments that a header does not read, since the verifier checks all of them. */
#define ML_PASS(a_, b_, c_, d_) __asm__ volatile("" : : "r"(a_), "r"(b_), "r"(c_), "r"(d_))
#define ML_UNUSED __attribute__((unused))
#define ML_KERNEL __attribute__((preserve_access_index))
#define ML_KSYM ML_SECTION(".ksyms")
#define ML_KPTR __attribute__((btf_type_tag("kptr")))
#define ML_THERE __attribute__((btf_decl_tag("arg:nonnull"))) /* the verifier then checks each call for null */
#define ML_CONTAINS(type_, node_) __attribute__((btf_decl_tag("contains:" #type_ ":" #node_)))

/* The members of the kernel's structs that are read. The loader finds them by name. */
struct sk_buff {
	unsigned int len;
	u32 priority;
	u32 mark;
	char cb[48];
	unsigned int end;
	unsigned char *head;
} ML_KERNEL;
struct skb_shared_info {
	unsigned short gso_segs;
} ML_KERNEL;
struct qdisc_skb_cb {
	unsigned int pkt_len;
	unsigned char data[20];
} ML_KERNEL;
struct qdisc_skb_head {
	u32 qlen;
} ML_KERNEL;
struct gnet_stats_queue {
	u32 qlen;
	u32 backlog;
	u32 drops;
	u32 requeues;
	u32 overlimits;
} ML_KERNEL;
struct Qdisc {
	u32 limit;
	u32 parent;
	struct qdisc_skb_head q;
	struct gnet_stats_queue qstats;
} ML_KERNEL;
struct nlattr;
struct netlink_ext_ack;
struct bpf_sk_buff_ptr {
	struct sk_buff *skb;
};
struct bpf_spin_lock {
	u32 val;
};
struct bpf_list_head {
	u64 opaque[2];
} __attribute__((aligned(8)));
struct bpf_list_node {
	u64 opaque[3];
} __attribute__((aligned(8)));
struct Qdisc_ops {
	char id[16];
	int (*enqueue)(struct sk_buff *skb, struct Qdisc *queue, struct sk_buff **to_free);
	struct sk_buff *(*dequeue)(struct Qdisc *queue);
	int (*init)(struct Qdisc *queue, struct nlattr *options, struct netlink_ext_ack *extack);
	void (*reset)(struct Qdisc *queue);
	void (*destroy)(struct Qdisc *queue);
};

static void *(*const bpf_map_lookup_elem)(void *map, const void *key) = (void *)1;
static u64 (*const bpf_ktime_get_ns)(void) ML_UNUSED = (void *)5;
static u32 (*const bpf_get_prandom_u32)(void) ML_UNUSED = (void *)7;
static long (*const bpf_spin_lock)(struct bpf_spin_lock *lock) = (void *)93;
static long (*const bpf_spin_unlock)(struct bpf_spin_lock *lock) = (void *)94;
static long (*const bpf_loop)(u32 count, void *step, void *context, u64 flags) = (void *)181;
static void *(*const bpf_kptr_xchg)(void *place, void *value) = (void *)194;
extern void *bpf_obj_new_impl(u64 type, void *meta) ML_KSYM;
extern void bpf_obj_drop_impl(void *object, void *meta) ML_KSYM;
extern int bpf_list_push_back_impl(struct bpf_list_head *head, struct bpf_list_node *node, void *meta, u64 offset) ML_KSYM;
extern struct bpf_list_node *bpf_list_pop_front(struct bpf_list_head *head) ML_KSYM;
extern struct bpf_list_node *bpf_list_pop_back(struct bpf_list_head *head) ML_KSYM;
extern struct bpf_list_node *bpf_list_front(struct bpf_list_head *head) ML_KSYM;
extern void *bpf_rdonly_cast(const void *object, u32 type) ML_KSYM;
extern void bpf_qdisc_skb_drop(struct sk_buff *skb, struct bpf_sk_buff_ptr *to_free) ML_KSYM;
extern void bpf_kfree_skb(struct sk_buff *skb) ML_KSYM;
extern u32 bpf_skb_get_hash(struct sk_buff *skb) ML_KSYM;
extern void bpf_qdisc_watchdog_schedule(struct Qdisc *queue, u64 expire_ns, u64 delta_ns) ML_KSYM;
extern void bpf_qdisc_bstats_update(struct Qdisc *queue, const struct sk_buff *skb) ML_KSYM;

/* How late a timer may be. If it is later, the device was not asking for packets. */
#define ML_LATE_NS 5000000
/* How often one call asks the header at most: more than mh_tries() for the most bands. Then the timer continues. */
#define ML_ASKED 10000
/* The parent of a queue discipline at a device's root: TC_H_ROOT. */
#define ML_AT_ROOT 0xffffffffu
/* The most packets that can wait. */
#define ML_MOST_WAITING 1000000

/* Settings, written by live/src/native.rs; the header's parameters follow. */
struct ml_native_settings {
	u32 priority[MH_COLOURS]; /* skb->priority of each colour; any other is green */
	u32 link_header_bytes;
	u32 overhead; /* bytes of each packet on the wire beyond its IP length */
	u32 has_twins; /* whether the program at the egress labels packets for this queue */
	u64 rate_bps;
};

typedef ML_JOIN3(ml_params_, ML_NATIVE, ) ml_params;
typedef ML_JOIN3(ml_state_, ML_NATIVE, ) ml_state;

/* All settings of a queue. */
struct ml_native_all {
	struct ml_native_settings settings;
	ml_params params __attribute__((aligned(8)));
};

/* The active slot, written by live/src/native.rs. */
struct ml_native_control {
	u32 active; /* the active slot of settings */
	u32 reserved;
};

/* Counters, read by live/src/native.rs. */
struct ml_native_counters {
	u64 sent[MH_COLOURS];    /* packets on the wire, by colour */
	u64 sent_bytes;          /* IP length */
	u64 dropped_early;       /* packets on the wire */
	u64 dropped_forced;
	u64 without_memory;      /* arrivals dropped because the kernel had no memory for their list node, or lost a twin */
	u64 faults;              /* answers that name no band with a packet, after all retries */
	u64 late;                /* departures that the device asked for more than ML_LATE_NS late */
	u64 marked;              /* packets on the wire that left with CE by the header's will */
};

/* The state of the queue. */
struct ml_native {
	u64 free_ns;   /* when the transmitter is free */
	u32 last;      /* 1 + the band of the last packet; 0 for none, or if the end of its transmission is recorded */
	u32 reserved;
	ml_state state __attribute__((aligned(8)));
};

/* The backlog: of the whole queue and of each band. */
struct ml_native_waiting {
	struct mh_backlog all;
	struct mh_band band[ML_BANDS];
};

/* A waiting packet as a node of its band's list. */
struct ml_place {
	struct sk_buff ML_KPTR *skb;
	struct sk_buff ML_KPTR *twin; /* the same packet with CE; null if there is none */
	struct bpf_list_node node;
	u64 view[2]; /* a struct mh_view as words, since the verifier forbids reading two members of an object at once */
	u64 since_ns;
	u64 is_marked; /* whether `enqueue` marked it */
};

/* The plain one of two twins, until the other arrives. */
struct ml_plain {
	struct sk_buff ML_KPTR *skb;
	u32 number;
	u32 reserved;
};

/* A view, and the words that hold it in a list node. */
union ml_seen {
	struct mh_view view;
	u64 words[2];
};

/* The waiting packets of a band, oldest first. */
struct ml_list {
	struct bpf_spin_lock lock;
	struct bpf_list_head head ML_CONTAINS(ml_place, node);
};

#define ML_MAP(name_, type_, entries_, value_)                                                                       \
	struct {                                                                                                     \
		int (*type)[type_];                                                                                  \
		int (*max_entries)[entries_];                                                                        \
		u32 *key;                                                                                            \
		value_ *value;                                                                                       \
	} name_ ML_SECTION(".maps")

ML_MAP(ml_native_settings, 2, 2, struct ml_native_all);
ML_MAP(ml_native_control, 2, 1, struct ml_native_control);
ML_MAP(ml_native, 2, 1, struct ml_native);
ML_MAP(ml_native_waiting, 2, 1, struct ml_native_waiting);
ML_MAP(ml_native_counters, 2, 1, struct ml_native_counters);
ML_MAP(ml_native_lists, 2, ML_BANDS, struct ml_list);
ML_MAP(ml_queues, 2, 1, u32); /* of state.h */
ML_MAP(ml_native_plain, 2, ML_MOST_CPUS, struct ml_plain); /* by CPU */
#ifdef ML_REPLAY
/* A map that user space maps into its memory. */
#define ML_SHOWN_MAP(name_, entries_, value_)                                                                        \
	struct {                                                                                                     \
		int (*type)[2];                                                                                      \
		int (*max_entries)[entries_];                                                                        \
		int (*map_flags)[1 << 10];                                                                           \
		u32 *key;                                                                                            \
		value_ *value;                                                                                       \
	} name_ ML_SECTION(".maps")

/* The replay's time, and how many departures were recorded. */
struct ml_replay {
	u64 now_ns;
	u64 departed;
};
/* A packet that left or was dropped; the map has them in their order. */
struct ml_departure {
	u64 time_ns;
	u32 mark;
	u32 end; /* ML_SENT, .. */
};
ML_SHOWN_MAP(ml_replay, 1, struct ml_replay);
ML_SHOWN_MAP(ml_departures, ML_REPLAY, struct ml_departure);
#endif

/* How a packet ended, for tests. */
enum { ML_SENT = 0, ML_LOST = 1, ML_SENT_WITH_CE = 2 };

/* The data of a call. */
struct ml_queue {
	struct ml_native *native;
	struct ml_native_counters *counters;
	struct ml_native_waiting *waiting;
	const struct ml_native_all *all;
	struct Qdisc *sch;
	u64 now_ns;
	u32 answer; /* the header's final answer: a band, or ML_BANDS */
	u32 failed; /* answers in a row that name no band with a packet; in the upper half of a word, where the verifier does
		     * not track it: else it would walk each number */
	u32 marked; /* whether the final answer marks the packet */
	u32 reserved;
};

/* Returns the time, ns. */
ML_INLINE u64 ml_read_clock(void)
{
#ifdef ML_REPLAY
	u32 zero = 0;
	struct ml_replay *replay = bpf_map_lookup_elem(&ml_replay, &zero);

	return replay ? replay->now_ns : 0;
#else
	return bpf_ktime_get_ns();
#endif
}

/* Makes the timer ask for the next packet at `time_ns`, in place of the time it was set to. In a
 * replay the test asks. */
ML_INLINE void ml_schedule_timer(struct Qdisc *sch, u64 time_ns)
{
#ifdef ML_REPLAY
	(void)sch;
	(void)time_ns;
#else
	bpf_qdisc_watchdog_schedule(sch, time_ns, 0);
#endif
}

/* Records that a packet left or was dropped, for tests. Does nothing unless in a replay, or if
 * the record is full. */
ML_INLINE void ml_record_end(u32 mark, u64 now_ns, u32 end)
{
#ifdef ML_REPLAY
	u32 zero = 0, index;
	struct ml_replay *replay = bpf_map_lookup_elem(&ml_replay, &zero);
	struct ml_departure *departure;

	if (!replay)
		return;
	index = (u32)replay->departed++;
	departure = bpf_map_lookup_elem(&ml_departures, &index);
	if (departure)
		*departure = (struct ml_departure){ now_ns, mark, end };
#else
	(void)mark;
	(void)now_ns;
	(void)end;
#endif
}

/* Points the queue's members to the map values that every call needs, the active settings among
 * them. Returns whether all are there. The caller sets the other members. */
ML_INLINE u32 ml_look_up_maps(struct ml_queue *queue)
{
	u32 zero = 0, active;
	const struct ml_native_control *control = bpf_map_lookup_elem(&ml_native_control, &zero);

	queue->native = bpf_map_lookup_elem(&ml_native, &zero);
	queue->counters = bpf_map_lookup_elem(&ml_native_counters, &zero);
	queue->waiting = bpf_map_lookup_elem(&ml_native_waiting, &zero);
	if (!control || !queue->native || !queue->counters || !queue->waiting)
		return 0;
	active = control->active & 1;
	queue->all = bpf_map_lookup_elem(&ml_native_settings, &active);
	return !!queue->all;
}

/* Returns the backlog of a band; null if there is no such band. */
ML_INLINE struct mh_band *ml_find_band(const struct ml_queue *queue, u32 band)
{
	ML_HIDE(band);
	return band < ML_BANDS ? &queue->waiting->band[band] : 0;
}

/* Returns the list of a band; null if there is no such band. */
ML_INLINE struct ml_list *ml_find_list(u32 band)
{
	return bpf_map_lookup_elem(&ml_native_lists, &band);
}

/* Subtracts a packet from the backlogs of its band and of the whole queue. */
ML_INLINE void ml_uncount(struct ml_native_waiting *waiting, struct mh_band *band, const struct mh_view *view)
{
	u32 colour = (u32)mh_min(view->colour, MH_RED), packets = mh_segments(view);

	mh_backlog_add(&band->waiting, colour, 0ULL - view->ip_bytes, 0u - packets);
	mh_backlog_add(&waiting->all, colour, 0ULL - view->ip_bytes, 0u - packets);
}

/* Records the start of idle time: a band is idle from the end of its last packet's transmission.
 * Does nothing while the link is busy, or if that end is recorded already. */
ML_INLINE void ml_note_idle(const struct ml_queue *queue)
{
	struct ml_native *native = queue->native;
	struct mh_band *band = native->last ? ml_find_band(queue, native->last - 1) : 0;

	if (queue->now_ns < native->free_ns || !band)
		return;
	if (!band->waiting.packets)
		band->waiting.idle_since_ns = native->free_ns;
	native->last = 0;
}

/* Returns the waiting packet that contains a list node. */
ML_INLINE struct ml_place *ml_container_of(struct bpf_list_node *node)
{
	return (void *)node - __builtin_offsetof(struct ml_place, node);
}

/* Asks the header which band sends, which may change its state. Returns the header's answer. It
 * has external linkage, so that the verifier checks it once by itself. */
__attribute__((noinline)) int ml_ask_dequeue(const ml_params *params ML_THERE, ml_state *state ML_THERE,
					     const struct ml_native_waiting *waiting ML_THERE, u64 now_ns)
{
	ML_PASS(params, state, waiting, now_ns);
	return (int)ML_ASK(_dequeue)(params, state, (const void *)waiting, now_ns);
}

#if ML_NATIVE_OVERFLOWS
/* Asks the header whether the backlog fits, and else which packet is dropped; its state may
 * change. Returns the header's answer. */
__attribute__((noinline)) int ml_ask_overflow(const ml_params *params ML_THERE, ml_state *state ML_THERE,
					      const struct ml_native_waiting *waiting ML_THERE, u64 now_ns)
{
	ML_PASS(params, state, waiting, now_ns);
	return (int)ML_ASK(_overflow)(params, state, (const void *)waiting, now_ns);
}
#endif

#define ML_ASK_FOR(ask_, queue_)                                                                                     \
	ask_(&(queue_)->all->params, &(queue_)->native->state, (queue_)->waiting, (queue_)->now_ns)

/* Returns the first band with a packet, for a header that names none; ML_BANDS if nothing waits
 * or a map is missing. */
__attribute__((noinline)) int ml_first_band(void)
{
	struct ml_queue queue;
	u32 band;

	if (!ml_look_up_maps(&queue))
		return ML_BANDS;
	for (band = 0; band < ML_BANDS; band++)
		if (queue.waiting->band[band].waiting.packets)
			return (int)band;
	return ML_BANDS;
}

/* Returns a word, from 0 to 3, of what the program at the egress says of the packet (label.h); 0 if it says nothing. A
 * label for another device's queue may still be there, where this one gets none. In a replay no program labels packets: a
 * quarter of them is not ECN-capable, and a quarter is of L4S. */
ML_INLINE u32 ml_read_label(const struct ml_queue *queue, const struct sk_buff *skb, u32 word)
{
#ifdef ML_REPLAY
	(void)queue;
	u32 flags = skb->mark & 3 ? (skb->mark & 3) == 3 ? MH_ECT | MH_L4S : MH_ECT : 0;

	return word == 1 ? flags << 8 : 0;
#else
	const u32 *words = (void *)((struct qdisc_skb_cb *)skb->cb)->data;

	return queue->all->settings.has_twins && words[0] == ML_LABEL ? words[word] : 0;
#endif
}

/* Fills in what the header reads of a packet: sizes, where a super-packet counts as its segments,
 * and bytes are those from the IP header on; colour; and what the label says of ECN and DSCP. */
ML_INLINE void ml_fill_view(const struct ml_queue *queue, struct sk_buff *skb, struct mh_view *view)
{
	const struct ml_native_settings *settings = &queue->all->settings;
	const struct qdisc_skb_cb *control = (void *)skb->cb;
	const struct skb_shared_info *shared = 0;
	u32 priority = skb->priority, label = ml_read_label(queue, skb, 1), segments, headers;

	shared = bpf_rdonly_cast(skb->head + skb->end, __builtin_btf_type_id(*shared, 1));
	segments = shared->gso_segs;
	view->segments = (u16)(segments ? segments : 1);
	headers = settings->link_header_bytes * view->segments;
	view->ip_bytes = control->pkt_len > headers ? control->pkt_len - headers : control->pkt_len;
	view->flags = (u8)(label >> 8);
	view->dscp = (u8)(label >> 16);
	view->colour = priority == settings->priority[MH_RED]    ? MH_RED :
		       priority == settings->priority[MH_YELLOW] ? MH_YELLOW : MH_GREEN;
}

/* Returns how long a packet occupies the link, ns, rounded as the simulator rounds; 0 without a
 * rate. */
ML_INLINE u64 ml_transmission_ns(const struct ml_native_settings *settings, const struct mh_view *view)
{
	u64 bytes = view->ip_bytes + (u64)settings->overhead * view->segments, rate = settings->rate_bps;

	return rate ? (bytes * 8000000000ULL + rate / 2) / rate : 0;
}

/* Removes a band's head, or its newest packet, from the list and the backlogs, and fills in its view. Returns null if
 * the band is empty. */
ML_INLINE struct ml_place *ml_remove_packet(const struct ml_queue *queue, u32 band, u32 is_newest, union ml_seen *seen)
{
	struct ml_list *list = ml_find_list(band);
	struct mh_band *one = ml_find_band(queue, band);
	struct bpf_list_node *node, *next;
	struct ml_place *place;
	union ml_seen head = {};
	u64 since_ns = 0;
	u32 has_next = 0;

	if (!list || !one)
		return 0;
	bpf_spin_lock(&list->lock);
	node = is_newest ? bpf_list_pop_back(&list->head) : bpf_list_pop_front(&list->head);
	next = bpf_list_front(&list->head);
	if (next) {
		place = ml_container_of(next);
		head.words[0] = place->view[0];
		head.words[1] = place->view[1];
		since_ns = place->since_ns;
		has_next = 1;
	}
	bpf_spin_unlock(&list->lock);
	if (!node)
		return 0;
	place = ml_container_of(node);
	if (has_next) {
		one->head = head.view;
		one->head_since_ns = since_ns;
	}
	seen->words[0] = place->view[0];
	seen->words[1] = place->view[1];
	ml_uncount(queue->waiting, one, &seen->view);
	return place;
}

/* Counts a packet that was dropped, in the queue discipline's statistics and by its reason. */
ML_INLINE void ml_count_drop(const struct ml_queue *queue, const struct mh_view *view, u32 is_early)
{
	queue->sch->qstats.drops += mh_segments(view);
	if (is_early)
		queue->counters->dropped_early += mh_segments(view);
	else
		queue->counters->dropped_forced += mh_segments(view);
}

/* Removes a band's head, or its newest packet, from the queue and its length, and fills in its
 * view. Sets *marked if `enqueue` marked the packet; with *marked it is the twin with CE, if there
 * is one. The other twin is freed. Returns null if the band is empty. The caller sends or frees the
 * packet. */
ML_INLINE struct sk_buff *ml_take_packet(const struct ml_queue *queue, u32 band, u32 is_newest, u32 *marked,
					 struct mh_view *view)
{
	union ml_seen seen = {};
	struct ml_place *place = ml_remove_packet(queue, band, is_newest, &seen);
	struct sk_buff *skb, *twin;
	u32 is_marked = *marked;

	if (!place)
		return 0;
	if (place->is_marked)
		*marked = 1;
	skb = bpf_kptr_xchg(&place->skb, 0);
	twin = bpf_kptr_xchg(&place->twin, 0);
	bpf_obj_drop_impl(place, 0);
	if (twin && is_marked) {
		if (skb)
			bpf_kfree_skb(skb);
		skb = twin;
	} else if (twin) {
		bpf_kfree_skb(twin);
	}
	if (!skb)
		return 0;
	queue->sch->q.qlen--;
	queue->sch->qstats.backlog -= ((struct qdisc_skb_cb *)skb->cb)->pkt_len;
	*view = seen.view;
	return skb;
}

/* Drops a band's head, or its newest packet: frees, counts and records it. Returns whether there
 * was one. */
ML_INLINE u32 ml_drop_packet(const struct ml_queue *queue, u32 band, u32 is_newest, u32 is_early)
{
	struct mh_view view = {};
	u32 marked = 0;
	struct sk_buff *skb = ml_take_packet(queue, band, is_newest, &marked, &view);

	if (!skb)
		return 0;
	ml_record_end(skb->mark, queue->now_ns, ML_LOST);
	bpf_kfree_skb(skb);
	ml_count_drop(queue, &view, is_early);
	return 1;
}

#if ML_NATIVE_OVERFLOWS
/* Drops the packet that the header names, unless the backlog fits. Returns 1 to end the loop: it
 * fits, or the header names no packet, which counts as a fault. */
static long ml_overflow_once(u32 step, struct ml_queue *queue)
{
	u32 answer = (u32)ML_ASK_FOR(ml_ask_overflow, queue), band = answer & MH_BAND;
	struct mh_band *one = ml_find_band(queue, band);

	(void)step;
	if (answer & MH_FITS)
		return 1;
	if (!ml_drop_packet(queue, band, !(answer & MH_HEAD), 0)) {
		queue->counters->faults++;
		return 1;
	}
	if (one && queue->native->last != band + 1 && !one->waiting.packets)
		one->waiting.idle_since_ns = queue->now_ns;
	return 0;
}
#endif

enum { ML_QUEUED = 0, ML_DROPPED = 1 };

/* Keeps the plain one of two twins until the other arrives, and drops one whose twin never came. */
ML_INLINE void ml_keep_plain(const struct ml_queue *queue, struct sk_buff *skb, struct bpf_sk_buff_ptr *to_free)
{
	u32 cpu = ml_read_label(queue, skb, 2), number = ml_read_label(queue, skb, 3);
	struct ml_plain *plain = bpf_map_lookup_elem(&ml_native_plain, &cpu);

	if (plain) {
		plain->number = number;
		skb = bpf_kptr_xchg(&plain->skb, skb);
	}
	if (skb)
		bpf_qdisc_skb_drop(skb, to_free);
}

/* Returns the plain twin of a packet with CE; null if it got lost on the way. */
ML_INLINE struct sk_buff *ml_find_plain(const struct ml_queue *queue, const struct sk_buff *skb)
{
	u32 cpu = ml_read_label(queue, skb, 2);
	struct ml_plain *plain = bpf_map_lookup_elem(&ml_native_plain, &cpu);

	return plain && plain->number == ml_read_label(queue, skb, 3) ? bpf_kptr_xchg(&plain->skb, 0) : 0;
}

/* Qdisc_ops.enqueue: queues or drops an arriving packet, and drops others if the header says
 * that the backlog does not fit. Drops it as well if a map or memory is missing. Of twins the
 * first waits for the second, and a second without the first is dropped. Returns ML_QUEUED or
 * ML_DROPPED. */
ML_SECTION("struct_ops/ml_enqueue") int ml_enqueue(u64 *context)
{
	struct sk_buff *skb = (void *)context[0], *plain = 0, *none;
	struct Qdisc *sch = (void *)context[1];
	struct bpf_sk_buff_ptr *to_free = (void *)context[2];
	struct ml_queue queue;
	struct ml_place *place = 0;
	struct ml_list *list;
	union ml_seen seen = {};
	struct mh_view *const view = &seen.view;
	u32 answer = MH_REFUSED, band, hash = 0, random = 0, role, bytes = ((struct qdisc_skb_cb *)skb->cb)->pkt_len;

#ifdef ML_REPLAY
	if (!skb->mark) {
		bpf_qdisc_skb_drop(skb, to_free);
		return ML_DROPPED;
	}
#endif
	if (!ml_look_up_maps(&queue))
		goto drop;
	queue.sch = sch;
	role = ml_read_label(&queue, skb, 1) & 0xff;
	if (role == ML_PLAIN_TWIN) {
		ml_keep_plain(&queue, skb, to_free);
		return ML_QUEUED;
	}
	if (role == ML_MARKED_TWIN) {
		plain = ml_find_plain(&queue, skb);
		if (!plain) {
			queue.counters->without_memory++;
			goto drop;
		}
	}
	queue.now_ns = ml_read_clock();
	ml_note_idle(&queue);
	ml_fill_view(&queue, skb, view);
#if ML_NATIVE_READS_FLOWS
#ifdef ML_REPLAY
	hash = (skb->mark * 2654435761u >> 27) * 0x9e3779b9u; /* one of 32 flows */
#else
	hash = bpf_skb_get_hash(skb);
#endif
#endif
#if ML_NATIVE_DRAWS
	if (ML_ASK(_draws)(&queue.all->params))
#endif
#ifdef ML_REPLAY
		random = skb->mark * 2654435761u;
#else
		random = bpf_get_prandom_u32();
#endif
	answer = ML_ASK(_enqueue)(&queue.all->params, &queue.native->state, (void *)queue.waiting, view, hash,
				  queue.now_ns, random);
	band = answer & MH_BAND;
	if (answer & MH_REFUSED || band >= ML_BANDS) {
		ml_count_drop(&queue, view, (answer & 3) == MH_DROP_EARLY && answer & MH_REFUSED);
		goto drop;
	}
	list = ml_find_list(band);
	place = list ? bpf_obj_new_impl(__builtin_btf_type_id(*place, 0), 0) : 0;
	if (!place || !list) {
		if (place)
			bpf_obj_drop_impl(place, 0);
		queue.counters->without_memory++;
		goto drop;
	}
	place->view[0] = seen.words[0];
	place->view[1] = seen.words[1];
	place->since_ns = queue.now_ns;
	place->is_marked = !!(answer & MH_MARKED);
	if (!sch->q.qlen)
		queue.native->free_ns = mh_max(queue.native->free_ns, queue.now_ns);
	ML_HIDE(band);
	if (band < ML_BANDS)
		mh_waiting_add((void *)queue.waiting, band, view, queue.now_ns);
	if (plain && answer & MH_MARKED) {
		bpf_qdisc_skb_drop(plain, to_free);
	} else if (plain) {
		none = bpf_kptr_xchg(&place->twin, skb);
		if (none)
			bpf_qdisc_skb_drop(none, to_free);
		skb = plain;
	}
	none = bpf_kptr_xchg(&place->skb, skb);
	if (none)
		bpf_qdisc_skb_drop(none, to_free);
	bpf_spin_lock(&list->lock);
	bpf_list_push_back_impl(&list->head, &place->node, 0, 0);
	bpf_spin_unlock(&list->lock);
	sch->q.qlen++;
	sch->qstats.backlog += bytes;
#if ML_NATIVE_OVERFLOWS
	bpf_loop(ML_ASKED, ml_overflow_once, &queue, 0);
#endif
	return ML_QUEUED;
drop:
	ml_record_end(skb->mark, ml_read_clock(), ML_LOST);
	if (plain)
		bpf_qdisc_skb_drop(plain, to_free);
	bpf_qdisc_skb_drop(skb, to_free);
	return ML_DROPPED;
}

/* Counts a departure, and sets when the link is free again. A departure more than ML_LATE_NS
 * late starts now, not when the link was free. */
ML_INLINE void ml_occupy_link(const struct ml_queue *queue, u32 band, const struct mh_view *view)
{
	const struct ml_native_settings *settings = &queue->all->settings;
	struct ml_native *native = queue->native;
	struct mh_band *one = ml_find_band(queue, band);
	u64 start_ns = native->free_ns;

	if (queue->now_ns - start_ns > ML_LATE_NS) {
		start_ns = queue->now_ns;
		queue->counters->late++;
	}
	native->free_ns = start_ns + ml_transmission_ns(settings, view);
	native->last = band + 1;
	if (one)
		one->waiting.idle_since_ns = MH_NEVER;
	queue->counters->sent[mh_min(view->colour, MH_RED)] += mh_segments(view);
	queue->counters->sent_bytes += view->ip_bytes;
}

/* Asks the header which band sends, into queue->answer, and drops the heads that it names for
 * dropping. Returns 1 to end the loop. After mh_tries() answers without a packet, which count as
 * a fault, the first band with one sends. */
static long ml_dequeue_once(u32 step, struct ml_queue *queue)
{
	u32 answer = (u32)ML_ASK_FOR(ml_ask_dequeue, queue), band = answer & MH_BAND;
	struct mh_band *one = ml_find_band(queue, band);

	(void)step;
	if (answer & MH_AGAIN || !one || !one->waiting.packets) {
		if (++queue->failed < mh_tries(ML_BANDS))
			return 0;
		queue->counters->faults++;
		queue->answer = (u32)ml_first_band();
		queue->marked = 0;
		return 1;
	}
	queue->answer = band;
	queue->marked = !!(answer & MH_MARKED);
	if (!(answer & MH_DROPPED))
		return 1;
	queue->failed = 0;
	queue->answer = ML_BANDS;
	queue->marked = 0;
	return !ml_drop_packet(queue, band, 0, 1) || !queue->sch->q.qlen;
}

/* Qdisc_ops.dequeue: returns the next packet to send; 0 if the link is busy, in which case the
 * timer is set, or nothing waits. */
ML_SECTION("struct_ops/ml_dequeue") u64 ml_dequeue(u64 *context)
{
	struct Qdisc *sch = (void *)context[0];
	struct ml_queue queue;
	struct sk_buff *skb;
	struct mh_view view = {};
	u32 marked;

	if (!sch->q.qlen || !ml_look_up_maps(&queue))
		return 0;
	queue.sch = sch;
	queue.now_ns = ml_read_clock();
	queue.answer = ML_BANDS;
	queue.marked = 0;
	queue.failed = 0;
	if (queue.now_ns < queue.native->free_ns) {
		ml_schedule_timer(sch, queue.native->free_ns);
		return 0;
	}
	ml_note_idle(&queue);
	bpf_loop(ML_ASKED, ml_dequeue_once, &queue, 0);
	marked = queue.marked;
	skb = ml_take_packet(&queue, queue.answer, 0, &marked, &view);
	if (!skb) {
		if (sch->q.qlen)
			ml_schedule_timer(sch, queue.now_ns);
		return 0;
	}
	ml_occupy_link(&queue, queue.answer, &view);
	marked = marked && view.flags & MH_ECT;
	if (marked)
		queue.counters->marked += mh_segments(&view);
	ml_record_end(skb->mark, queue.now_ns, marked ? ML_SENT_WITH_CE : ML_SENT);
	bpf_qdisc_bstats_update(sch, skb);
	return (u64)skb;
}

/* Qdisc_ops.init: accepts one queue discipline at a time, at a device's root. Returns 0, -ENOMEM
 * without the map, -EINVAL elsewhere than at a root, or -EBUSY for a second one. The accepted one
 * is told by its limit, which nothing else uses: the kernel calls `destroy` also of one that was
 * refused. */
ML_SECTION("struct_ops/ml_init") int ml_init(u64 *context)
{
	struct Qdisc *sch = (void *)context[0];
	u32 zero = 0, *queues = bpf_map_lookup_elem(&ml_queues, &zero);

	if (!queues)
		return -12; /* ENOMEM */
	if (sch->parent != ML_AT_ROOT)
		return -22; /* EINVAL: the rate is that of the whole device */
	if (*queues)
		return -16; /* EBUSY: the maps are those of one queue */
	*queues = 1;
	sch->limit = 1;
	return 0;
}

/* A step of a reset: frees a packet of a band, or advances to the next band. Returns 1 after the last band. */
static long ml_free_one(u32 step, u32 *band)
{
	struct ml_list *list = ml_find_list(*band);
	struct bpf_list_node *node;
	struct ml_place *place;
	struct sk_buff *skb;

	(void)step;
	if (!list)
		return 1;
	bpf_spin_lock(&list->lock);
	node = bpf_list_pop_front(&list->head);
	bpf_spin_unlock(&list->lock);
	if (!node) {
		++*band;
		return 0;
	}
	place = ml_container_of(node);
	skb = bpf_kptr_xchg(&place->skb, 0);
	if (skb)
		bpf_kfree_skb(skb);
	skb = bpf_kptr_xchg(&place->twin, 0);
	if (skb)
		bpf_kfree_skb(skb);
	bpf_obj_drop_impl(place, 0);
	return 0;
}

/* A step of a reset: frees the plain twin of a CPU that still waits for the other. Returns 0. */
static long ml_free_plain(u32 cpu, void *unused)
{
	struct ml_plain *plain = bpf_map_lookup_elem(&ml_native_plain, &cpu);
	struct sk_buff *skb = plain ? bpf_kptr_xchg(&plain->skb, 0) : 0;

	(void)unused;
	if (skb)
		bpf_kfree_skb(skb);
	return 0;
}

/* Clears memory, eight words in a round, since the verifier accepts no loop of more than 8,192 rounds. */
ML_INLINE void ml_clear(void *place, u32 bytes)
{
	volatile u64 *words = place;
	u32 at, word, count = (bytes + 7) / 8;

	for (at = 0; at + 8 <= count; at += 8)
		for (word = 0; word < 8; word++)
			words[at + word] = 0;
	for (; at < count; at++)
		words[at] = 0;
}

/* Qdisc_ops.reset: frees all packets without counting them as drops, and clears the state.
 * Counters stay. */
ML_SECTION("struct_ops/ml_reset") void ml_reset(u64 *context)
{
	struct Qdisc *sch = (void *)context[0];
	struct ml_queue queue;
	u32 band = 0;

	if (!ml_look_up_maps(&queue))
		return;
	bpf_loop(ML_MOST_WAITING + ML_BANDS, ml_free_one, &band, 0);
	bpf_loop(ML_MOST_CPUS, ml_free_plain, &band, 0);
	ml_clear(queue.waiting, sizeof(*queue.waiting));
	ml_clear(&queue.native->state, sizeof(queue.native->state));
	queue.native->free_ns = 0;
	queue.native->last = 0;
	sch->q.qlen = 0;
	sch->qstats.backlog = 0;
}

/* Qdisc_ops.destroy: lets the maps serve another queue discipline, if this one was accepted. */
ML_SECTION("struct_ops/ml_destroy") void ml_destroy(u64 *context)
{
	const struct Qdisc *sch = (void *)context[0];
	u32 zero = 0, *queues = bpf_map_lookup_elem(&ml_queues, &zero);

	if (queues && sch->limit)
		*queues = 0;
}

/* The loader overwrites the id with the device's kind. */
ML_SECTION(".struct_ops.link") struct Qdisc_ops ml_queue_ops = {
	.id = "mousehole",
	.enqueue = (void *)ml_enqueue,
	.dequeue = (void *)ml_dequeue,
	.init = (void *)ml_init,
	.reset = (void *)ml_reset,
	.destroy = (void *)ml_destroy,
};

char ml_license[] ML_SECTION("license") = "Dual MIT/GPL";
