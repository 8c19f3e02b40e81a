/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * The structs that programs in the kernel and `mousehole-live` share: keys, entries and counters of the maps.
 * src/layout.rs has the same structs; a test compares both by the object's type information. Structs have no hidden padding.
 */
#ifndef MOUSEHOLE_LIVE_LAYOUT_H
#define MOUSEHOLE_LIVE_LAYOUT_H

#include "kernel.h"
#include "mousehole/full_buffer.h"

/* The 5-tuple of one direction. IPv4 addresses are mapped into IPv6 (::ffff:a.b.c.d); ports are in network
 * order, and 0 if there are none: fragments, ICMP, other protocols. A user's key has only one address. */
struct ml_key {
	u8 source[16];
	u8 destination[16];
	u16 source_port;
	u16 destination_port;
	u8 protocol;
	u8 reserved[3];
};

/* Why a packet was dropped. */
enum { ML_EARLY = 0, ML_FORCED = 1, ML_FULL = 2, ML_POLICED = 3, ML_DROP_REASONS = 4 };

/* A flow's counters. In an entry of the flow table they follow the key and precede the policy's state. */
struct ml_flow {
	u32 colour;         /* of its last packet */
	u32 already_marked; /* packets whose DSCP was left alone because somebody had set it */
	u64 last_seen_ns;
	u64 bytes;                      /* IP length of all its packets */
	u32 first_seen_ms;              /* the time's low 32 bits, which return after 49 days */
	u32 colour_packets[MH_COLOURS]; /* on the wire, by colour; together all its packets */
	u32 dropped[ML_DROP_REASONS];   /* packets on the wire */
	u32 ce_marked;
	u32 reserved;
	u32 begins; /* TCP: sequence number of the first byte, or the first seen */
	u32 lock; /* 1 while a CPU decides on one of its packets */
};

/* Packets and their bytes. */
struct ml_count {
	u64 packets; /* on the wire */
	u64 bytes;   /* IP length; of a frame that is not IP, its length */
};

/* Counters of one CPU, since the program was attached. */
struct ml_counters {
	struct ml_count ipv4;
	struct ml_count ipv6;
	struct ml_count not_ip;    /* passed on unseen: ARP, PPPoE's control frames, .. */
	struct ml_count malformed; /* passed on unseen: truncated, or with a length that cannot be */
	struct ml_count fragments; /* these are counted under ipv4 or ipv6 as well */
	struct ml_count super_packets;
	struct ml_count colour[MH_COLOURS];
	struct ml_count dropped[ML_DROP_REASONS];
	struct ml_count colour_dropped[MH_COLOURS];
	struct ml_count ce_marked;
	struct ml_count already_marked;
	struct ml_count held; /* packets given a later departure time */
	u64 held_ns;          /* the sum of their waits, counted once for each packet on the wire */
	u64 new_flows;
	u64 without_state; /* packets that found no room in a table; they pass unseen */
	u64 lock_busy;     /* packets that passed undecided, since a lock stayed taken */
};

/* What is done with a packet of each colour. */
struct ml_action {
	u32 priority[MH_COLOURS]; /* skb->priority: a class or tin behind the program; 0 leaves it alone */
	u8 dscp[MH_COLOURS];      /* ML_KEEP_DSCP leaves it alone */
	u8 overrides;             /* whether a DSCP that is not 0 is replaced */
};

#define ML_KEEP_DSCP 255

/* Entries in a bucket of the flow table, a power of two. */
#define ML_BUCKET 8

/* A randomised trial: nothing is done to a random share of the hosts. */
struct ml_trial {
	u64 key[5];     /* random coefficients of the hash: one for each word of an address, and a constant */
	u64 spared_q32; /* the share of hosts that is spared, in Q32; 0: there is no trial */
};

/* A flow's transfer from its SYN to its first pause; recorded in a trial only. */
struct ml_transfer {
	u32 began_ms; /* low 32 bits of the SYN's time; 0 if no SYN was seen */
	u32 ended_ms; /* of the last packet with payload */
	u64 bytes;    /* IP length of the packets with payload */
};

/* The pause that ends a transfer, ms. */
#define ML_PAUSE_MS 5000

/* Flags of the settings: a user is the packet's destination, not its source; a native queue behind the program marks
 * packets. */
enum { ML_USER_IS_DESTINATION = 1, ML_HAS_TWINS = 2 };

/* One of the two slots of settings; the policies' parameters follow. Programs of earlier builds run on, so members keep
 * their offsets. */
struct ml_settings {
	u32 shadow; /* decide and count, change nothing */
	u32 link_header_bytes; /* before the network header: 14 of Ethernet, 0 of PPP and TUN */
	u32 flags; /* ML_USER_IS_DESTINATION | ML_HAS_TWINS */
	u32 longest_wait_ms; /* for tokens, where packets wait for them; 0: they are policed */
	struct mh_limit limit; /* the queue's buffer */
	struct ml_action action;
	struct ml_trial trial;
};

/* Coefficients of the hash that spreads flows over their table. */
enum { ML_HASH_WORDS = sizeof(struct ml_key) / 4 };

/* The active slot of settings, which `tune` writes, and the hash of the flow table. */
struct ml_control {
	u32 active;              /* 0 or 1 */
	u32 buckets;             /* of the table */
	u32 hash[ML_HASH_WORDS]; /* random, so that nobody can choose flows that collide */
};

/* The active slot of the published part of a policy's state; the agent writes it. */
struct ml_agent {
	u32 active; /* 0 or 1 */
	u32 reserved;
	u64 seen_ns; /* when the agent last ran, CLOCK_MONOTONIC; 0 if never */
};

#endif
