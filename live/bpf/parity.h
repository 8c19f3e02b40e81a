/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * What goes into and comes out of the parity programs; mirrored in src/parity/record.rs.
 */
#ifndef MOUSEHOLE_PARITY_H
#define MOUSEHOLE_PARITY_H

#include "mousehole/base.h"

#define PARITY_RECORDS 256 /* per run; a power of two */
#define PARITY_PARAMS 40   /* words of 8 bytes, enough for every params struct */
#define PARITY_STATE 1536  /* the same for every state struct */

/* One call of a policy: every argument that any of them takes. */
struct parity_record {
	struct mh_view view;
	u32 random;
	u32 call; /* PARITY_PACKET, .. */
	u64 now_ns;
	struct mh_backlog backlog;
	struct mh_colour_backlog colours;
	u32 threshold;
	u32 count;
};

enum { PARITY_PACKET = 0, PARITY_DEPARTED = 1, PARITY_EXPIRED = 2, PARITY_CONTROL = 3 };

enum { PARITY_FLOW_END = 16, PARITY_TAKE = 17, PARITY_TAKE_CLIPPED = 18, PARITY_WAIT = 19, PARITY_FILL = 20 };

struct parity_input {
	u64 params[PARITY_PARAMS];
	u32 records;
	u32 reserved;
	struct parity_record record[PARITY_RECORDS];
};

/* The state goes in here too. */
struct parity_output {
	u64 state[PARITY_STATE];
	u32 outcome[PARITY_RECORDS];
};

#endif
