/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * What programs in the kernel and `mousehole-live` share: keys, entries and counters of the maps. src/layout.rs has
 * the same structs; a test compares both by the object's type information. Structs have no hidden padding.
 */
#ifndef MOUSEHOLE_LIVE_LAYOUT_H
#define MOUSEHOLE_LIVE_LAYOUT_H

#include "kernel.h"
#include "mousehole/full_buffer.h"

/* The 5-tuple of one direction. IPv4 addresses are mapped into IPv6 (::ffff:a.b.c.d); ports are in the network's
 * order, and 0 where there are none: fragments, ICMP, other protocols. A user's key has only one address. */
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

/* A flow's account. In the table's entry it follows the key, and the policy's own state follows it. */
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
	u32 begins; /* of TCP: number of the first byte, or of the first seen */
	u32 lock; /* 1 while a CPU decides on one of its packets */
};

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
	struct ml_count held; /* given a later departure time */
	u64 held_ns;          /* how long these wait together, by packets on the wire */
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

/* Entries of a bucket of the table of flows, a power of two. */
#define ML_BUCKET 8

/* A trial, in which nothing is done to a random part of the hosts. */
struct ml_trial {
	u64 key[5];     /* random, by which hosts are drawn: four words for an address, and one */
	u64 spared_q32; /* the part of the hosts that is spared, in Q32; 0: there is no trial */
};

/* What a flow sent from its SYN to its first pause; kept in a trial only. */
struct ml_transfer {
	u32 began_ms; /* low 32 bits of the time of the SYN; 0 of a flow that was met in its midst */
	u32 ended_ms; /* of the last packet with payload */
	u64 bytes;    /* IP length of the packets with payload */
};

/* A pause that ends a transfer. */
#define ML_PAUSE_MS 5000

/* One of the two sets of settings; the policies' parameters follow. */
struct ml_settings {
	u32 shadow; /* decide and count, change nothing */
	u32 link_header_bytes; /* before the network header: 14 of Ethernet, 0 of PPP and TUN */
	u32 user_is_destination; /* whose address keys the table of users */
	u32 longest_wait_ms; /* for tokens, where packets wait for them; 0: they are policed */
	struct mh_limit limit; /* the queue's buffer */
	struct ml_action action;
	struct ml_trial trial;
};

/* Words of the key by which flows are spread over their table. */
enum { ML_HASH_WORDS = sizeof(struct ml_key) / 4 };

/* Which settings are in force, written by `tune`, and how the table of flows is searched. */
struct ml_control {
	u32 active;              /* 0 or 1 */
	u32 buckets;             /* of the table */
	u32 hash[ML_HASH_WORDS]; /* random, so that nobody can choose flows that meet at one place */
};

/* Which published part of a policy's state is in force: written by the agent. */
struct ml_agent {
	u32 active; /* 0 or 1 */
	u32 reserved;
	u64 seen_ns; /* when the agent was last at work, CLOCK_MONOTONIC; 0 never */
};

#endif
