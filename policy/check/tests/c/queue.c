/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * A dropper before a virtual FIFO, as in a program at a tc hook: one map value under a spin lock. The test loads it and
 * plays arrivals, each by its record in a map. The compiler's command line defines MH_QUEUE_HEADER, MH_QUEUE_NAME and
 * MH_QUEUE_TRACKS (whether the dropper has `departed`). No header of the system is needed.
 */
#define MH_MARKER(name_, params_t, flow_t, state_t, ...)
#define MH_DROPPER(name_, params_t, state_t, ...)         \
	typedef struct params_t mh_queue_params_##name_; \
	typedef struct state_t mh_queue_state_##name_;

#include MH_QUEUE_HEADER
#include "mousehole/virtual_fifo.h"

#define MH_QUEUE_PASTE3(a, b, c) a##b##c
#define MH_QUEUE_JOIN3(a, b, c) MH_QUEUE_PASTE3(a, b, c)
#define MH_QUEUE_FUNCTION(function_) MH_QUEUE_JOIN3(mh_, MH_QUEUE_NAME, function_)
#define MH_QUEUE_SECTION(name_) __attribute__((section(name_), used))

struct bpf_spin_lock {
	u32 val;
};

struct mh_queue_arrival {
	struct mh_view view;
	u32 random;
	u32 reserved;
	u64 now_ns;
};

/* One arrival, and the answer. Mirrored in ../queue.rs, as words. */
struct mh_queue_input {
	MH_QUEUE_JOIN3(mh_queue_params_, MH_QUEUE_NAME, ) params;
	struct mh_virtual_fifo_params fifo;
	struct mh_queue_arrival arrival;
	u64 verdict;
	u64 start_ns; /* MH_NEVER if it was dropped */
};

struct mh_queue {
	struct bpf_spin_lock lock;
	u32 reserved;
	struct mh_virtual_fifo fifo;
	MH_QUEUE_JOIN3(mh_queue_state_, MH_QUEUE_NAME, ) state;
};

/* Structs that do not fit on the stack, and values that the verifier would lose track of. */
struct mh_queue_scratch {
	struct mh_view view;
	struct mh_backlog backlog;
	struct mh_virtual_fifo_departures departures;
};

/* 2 is BPF_MAP_TYPE_ARRAY, 6 is BPF_MAP_TYPE_PERCPU_ARRAY. */
#define MH_QUEUE_MAP(name_, type_, value_) \
	struct {                           \
		int (*type)[type_];        \
		int (*max_entries)[1];     \
		u32 *key;                  \
		value_ *value;             \
	} name_ MH_QUEUE_SECTION(".maps")

MH_QUEUE_MAP(mh_queue_input, 2, struct mh_queue_input);
MH_QUEUE_MAP(mh_queue_state, 2, struct mh_queue);
MH_QUEUE_MAP(mh_queue_scratch, 6, struct mh_queue_scratch);

/* The kernel's helpers of these numbers. */
static void *(*const mh_queue_lookup)(void *map, const void *key) = (void *)1;
static long (*const mh_queue_lock)(struct bpf_spin_lock *lock) = (void *)93;
static long (*const mh_queue_unlock)(struct bpf_spin_lock *lock) = (void *)94;

/* Plays the arrival in the input map and writes its verdict and start there. Returns 0; 1 without the maps. */
MH_QUEUE_SECTION("classifier") int mh_queue(void *packet)
{
	u32 zero = 0, verdict, colour, rank;
	struct mh_queue_input *in = mh_queue_lookup(&mh_queue_input, &zero);
	struct mh_queue *queue = mh_queue_lookup(&mh_queue_state, &zero);
	struct mh_queue_scratch *scratch = mh_queue_lookup(&mh_queue_scratch, &zero);
	u64 start_ns = MH_NEVER;

	(void)packet;
	if (!in || !queue || !scratch)
		return 1;
	scratch->view = in->arrival.view;
	mh_queue_lock(&queue->lock);
	mh_virtual_fifo_settle(&queue->fifo, in->arrival.now_ns, &scratch->departures);
	mh_virtual_fifo_backlog(&in->fifo, &queue->fifo, &scratch->view, &scratch->backlog);
#if MH_QUEUE_TRACKS
	for (rank = 0; rank < MH_COLOURS; rank++) {
		colour = (u32)mh_min(scratch->departures.order[rank], MH_COLOURS - 1);
		if (scratch->departures.packets[colour])
			MH_QUEUE_FUNCTION(_departed)(&in->params, &queue->state, colour, &scratch->backlog,
						     scratch->departures.last_ns[colour]);
	}
#else
	(void)colour, (void)rank;
#endif
	verdict = MH_QUEUE_FUNCTION(_packet)(&in->params, &queue->state, &scratch->view, &scratch->backlog,
					     queue->fifo.settled_ns, in->arrival.random);
	if (verdict < MH_DROP_EARLY)
		start_ns = mh_virtual_fifo_admit(&in->fifo, &queue->fifo, &scratch->view);
	mh_queue_unlock(&queue->lock);
	in->start_ns = start_ns;
	in->verdict = verdict;
	return 0;
}

char mh_queue_license[] MH_QUEUE_SECTION("license") = "Dual MIT/GPL";
