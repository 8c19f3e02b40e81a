/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * A program's entries, settings and states with the policies' parts, and the maps that hold them. Maps of only some
 * programs are defined next to the functions that use them.
 *
 * A packet's view and backlog are stored in a per-CPU map and not on the stack. The verifier does not track values in a
 * map, so that paths through the program merge again, and it processes a tenth of the instructions.
 */
#ifndef MOUSEHOLE_LIVE_STATE_H
#define MOUSEHOLE_LIVE_STATE_H

#include "layout.h"
#include "parse.h"
#include "roles.h"

/* An entry of the flow table. */
struct ml_entry {
	struct ml_key key;
	struct ml_flow flow;
	ml_marker_flow policy __attribute__((aligned(8)));
	ML_IF(ML_SHAPES, u64) departs_ns; /* when its last packet leaves, ns */
} __attribute__((aligned(64)));

/* An entry of the user table. */
struct ml_user {
	ml_user_flow policy __attribute__((aligned(8)));
	u64 last_seen_ns;
	ML_IF(ML_SHAPES, u64[MH_COLOURS]) departs_ns; /* when the last packet of each colour that needed tokens leaves, ns */
};

/* The settings with the parameters of the policies, in the order in which user space writes them. */
struct ml_all_settings {
	struct ml_settings settings;
	ml_marker_params marker __attribute__((aligned(8)));
	ml_user_params user __attribute__((aligned(8)));
	ml_dropper_params dropper __attribute__((aligned(8)));
	ML_IF(ML_HAS(ML_QUEUE), struct mh_virtual_fifo_params) fifo __attribute__((aligned(8)));
};

/* The state that all packets share. */
struct ml_state {
	u32 lock; /* 1 while a CPU decides */
	u32 reserved;
	ML_IF(ML_HAS(ML_MARKER_SHARES), ml_marker_state) marker __attribute__((aligned(8)));
	ml_user_state user __attribute__((aligned(8)));
	ml_dropper_state dropper __attribute__((aligned(8)));
	ML_IF(ML_HAS(ML_QUEUE), struct mh_virtual_fifo) fifo __attribute__((aligned(8)));
};

/* The decision on a packet. */
struct ml_decision {
	u32 colour;  /* MH_GREEN, .. or MH_DISCARD */
	u32 verdict; /* MH_PASS, .. */
	u32 is_full; /* 1 if it is dropped because the buffer is full */
};

/* The data of the current packet, one for each CPU. */
struct ml_scratch {
	struct ml_packet packet;
	struct ml_decision decision;
	u32 keeps_mark; /* whether the marks of others are respected */
	u32 random[3];  /* of the marker, the marker of users, and the dropper */
	u32 is_spared;  /* whether nothing is done to the packet's host; see trial.h */
	u64 tick;       /* the tick in which the clock was last read */
	u64 now_ns;     /* the time that was read then */
	u64 generator;  /* state of the random number generator; 0 before the first number */
	u32 twins;        /* how many pairs of twins were made; wraps */
	u32 cloned_flags; /* flags of the packet whose clone is on its way; 0 if there is none */
	ML_IF(ML_SHAPES, u64) departs_ns; /* when the packet leaves; 0 if it does not wait */
	ML_IF(ML_HAS_MARKER && !ML_HAS(ML_MARKER_SHARES), ml_marker_state) marker __attribute__((aligned(8)));
	ML_IF(ML_HAS(ML_MARKER_RESTARTS), u64) has_ended;
	ML_IF(ML_HAS(ML_MARKER_RESTARTS), ml_marker_flow) ended __attribute__((aligned(8)));
	ML_IF(ML_HAS(ML_QUEUE), struct mh_backlog) backlog;
	ML_IF(ML_HAS(ML_QUEUE), struct mh_virtual_fifo_departures) departures;
	ML_IF(ML_HAS_USER, struct ml_user) fresh_user;
};

/* Defines a map. */
#define ML_MAP(name_, type_, key_t, value_t, entries_)                                                               \
	struct {                                                                                                     \
		int (*type)[type_];                                                                                  \
		int (*max_entries)[entries_];                                                                        \
		key_t *key;                                                                                          \
		value_t *value;                                                                                      \
	} name_ ML_SECTION(".maps")

/* User space sets the sizes of the tables. The flow table is page-aligned. */
struct {
	int (*type)[ML_ARRAY];
	int (*max_entries)[1024];
	int (*map_flags)[ML_MMAPABLE];
	u32 *key;
	struct ml_entry *value;
} ml_flows ML_SECTION(".maps");
ML_MAP(ml_tags, ML_ARRAY, u32, u64, 128); /* the tags of each bucket of ml_flows */
ML_MAP(ml_settings, ML_ARRAY, u32, struct ml_all_settings, 2);
ML_MAP(ml_control, ML_ARRAY, u32, struct ml_control, 1);
ML_MAP(ml_agent, ML_ARRAY, u32, struct ml_agent, 1);
ML_MAP(ml_state, ML_ARRAY, u32, struct ml_state, 1);
ML_MAP(ml_queues, ML_ARRAY, u32, u32, 1); /* native.c writes whether it is the device's queue discipline: 0 or 1 */
ML_MAP(ml_counters, ML_PERCPU_ARRAY, u32, struct ml_counters, 1);
ML_MAP(ml_scratch, ML_PERCPU_ARRAY, u32, struct ml_scratch, 1);

/* A packet and the map values that are looked up for it. */
struct ml_work {
	struct __sk_buff *skb;
	const struct ml_control *control;
	const struct ml_all_settings *all;
	struct ml_counters *counters;
	struct ml_scratch *scratch;
	struct ml_state *state;
	struct ml_entry *entry;
	struct ml_user *user;
	const void *published; /* the values that the agent published last */
	u32 *lock;             /* the lock that guards the decision */
	u64 now_ns;
	u32 index; /* the entry's index in the flow table */
};

/* Makes the compiler reload values from memory, where the verifier does not track them, so that paths merge. */
#define ML_FORGET __asm__ volatile("" ::: "memory")

/* Hides a variable's range from the compiler, so that it keeps the comparison from which the verifier learns the range. */
#define ML_HIDE(variable_) __asm__ volatile("" : "+r"(variable_))

#endif
