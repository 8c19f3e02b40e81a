/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * A record is one call of a policy: the function, and every argument that any function takes. Mirrored in
 * src/record.rs.
 */
#ifndef MH_CHECK_RECORD_H
#define MH_CHECK_RECORD_H

#include "mousehole/policy.h"

/* Functions of a policy. For a queue MH_CHECK_PACKET is `enqueue`, and the state of flow 0 is its struct mh_waiting. */
enum {
	MH_CHECK_PACKET = 0,
	MH_CHECK_EXPIRED = 1,
	MH_CHECK_FLOW_END = 2,
	MH_CHECK_CLASSIFY = 3,
	MH_CHECK_CONTROL = 4,
	MH_CHECK_SHAPE = 5,
	MH_CHECK_DEPARTED = 6,
	MH_CHECK_RESTARTS = 7,
	MH_CHECK_DEQUEUE = 8,
	MH_CHECK_OVERFLOW = 9
};

/* How many flows share a state in a case, and how many records a case has. Both are powers of two. */
#define MH_CHECK_FLOWS 4
#define MH_CHECK_RECORDS 256

struct mh_check_record {
	struct mh_view view;
	u32 random;
	u32 call; /* MH_CHECK_PACKET, .. */
	u32 flow; /* 0 .. MH_CHECK_FLOWS - 1 */
	u32 hash;
	u64 now_ns;
	struct mh_backlog backlog;
	struct mh_counts counts;
};

#endif
