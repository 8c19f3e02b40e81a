/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * What a program keeps: entries, settings and states with the policies' parts, and the maps that hold them. Maps that
 * only some programs have stand with the functions that use them.
 *
 * A packet's view and backlog lie in a map of the CPU and not on the stack: the verifier forgets what lies in a map,
 * so that paths through the program meet again, and it walks a tenth of the instructions.
 */
#ifndef MOUSEHOLE_LIVE_STATE_H
#define MOUSEHOLE_LIVE_STATE_H

#include "layout.h"
#include "parse.h"
#include "roles.h"

/* An entry of the table of flows, and of that of users. */
struct ml_entry {
	struct ml_key key;
	struct ml_flow flow;
	ml_marker_flow policy __attribute__((aligned(8)));
	ML_IF(ML_SHAPES, u64) departs_ns; /* its last packet */
} __attribute__((aligned(64)));

struct ml_user {
	ml_user_flow policy __attribute__((aligned(8)));
	u64 last_seen_ns;
	ML_IF(ML_SHAPES, u64[MH_COLOURS]) departs_ns; /* the last packet of each colour that needed tokens */
};

/* The settings with the parameters of the policies, in the order in which user space writes them. */
struct ml_all_settings {
	struct ml_settings settings;
	ml_marker_params marker __attribute__((aligned(8)));
	ml_user_params user __attribute__((aligned(8)));
	ml_dropper_params dropper __attribute__((aligned(8)));
	ML_IF(ML_HAS(ML_QUEUE), struct mh_virtual_fifo_params) fifo __attribute__((aligned(8)));
};

/* What all packets share. */
struct ml_state {
	u32 lock; /* 1 while a CPU decides */
	u32 reserved;
	ML_IF(ML_HAS(ML_MARKER_SHARES), ml_marker_state) marker __attribute__((aligned(8)));
	ml_user_state user __attribute__((aligned(8)));
	ml_dropper_state dropper __attribute__((aligned(8)));
	ML_IF(ML_HAS(ML_QUEUE), struct mh_virtual_fifo) fifo __attribute__((aligned(8)));
};

/* What was decided of a packet. */
struct ml_decision {
	u32 colour;  /* MH_GREEN, .. or MH_DISCARD */
	u32 verdict; /* MH_PASS, .. */
	u32 is_full; /* dropped because the buffer was full */
};

/* What belongs to the packet in hand. */
struct ml_scratch {
	struct ml_packet packet;
	struct ml_decision decision;
	u32 keeps_mark; /* whether the marks of others are respected */
	u32 random[3];  /* of the marker, the marker of users, and the dropper */
	u32 is_spared;  /* whether nothing is done to the packet's host; see trial.h */
	u64 tick;       /* in which the clock was last read */
	u64 now_ns;     /* what it said */
	u64 generator;  /* of random numbers; 0 before the first */
	ML_IF(ML_SHAPES, u64) departs_ns; /* the packet */
	ML_IF(ML_HAS_MARKER && !ML_HAS(ML_MARKER_SHARES), ml_marker_state) marker __attribute__((aligned(8)));
	ML_IF(ML_HAS(ML_MARKER_RESTARTS), u64) has_ended;
	ML_IF(ML_HAS(ML_MARKER_RESTARTS), ml_marker_flow) ended __attribute__((aligned(8)));
	ML_IF(ML_HAS(ML_QUEUE), struct mh_backlog) backlog;
	ML_IF(ML_HAS(ML_QUEUE), struct mh_virtual_fifo_departures) departures;
	ML_IF(ML_HAS_USER, struct ml_user) fresh_user;
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
ML_MAP(ml_settings, ML_ARRAY, u32, struct ml_all_settings, 2);
ML_MAP(ml_control, ML_ARRAY, u32, struct ml_control, 1);
ML_MAP(ml_agent, ML_ARRAY, u32, struct ml_agent, 1);
ML_MAP(ml_state, ML_ARRAY, u32, struct ml_state, 1);
ML_MAP(ml_counters, ML_PERCPU_ARRAY, u32, struct ml_counters, 1);
ML_MAP(ml_scratch, ML_PERCPU_ARRAY, u32, struct ml_scratch, 1);

/* A packet and what is looked up for it. */
struct ml_work {
	struct __sk_buff *skb;
	const struct ml_control *control;
	const struct ml_all_settings *all;
	struct ml_counters *counters;
	struct ml_scratch *scratch;
	struct ml_state *state;
	struct ml_entry *entry;
	struct ml_user *user;
	const void *published; /* what the agent wrote last */
	u32 *lock;             /* of the decision */
	u64 now_ns;
	u32 index; /* of the entry in the table of flows */
};

/* Has the compiler read values back from memory, where the verifier forgets them: paths meet again. */
#define ML_FORGET __asm__ volatile("" ::: "memory")

/* Hides a variable's range from the compiler, so that it leaves out no comparison by which the verifier would learn it. */
#define ML_HIDE(variable_) __asm__ volatile("" : "+r"(variable_))

#endif
