/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* What the program at the egress writes about a packet into skb->cb for a native queue. twin.h says why. */
#ifndef MOUSEHOLE_LIVE_LABEL_H
#define MOUSEHOLE_LIVE_LABEL_H

#include "mousehole/base.h"

/* Word 0 of a packet that has a label. */
#define ML_LABEL 0x6d6f7573u

/* The low byte of word 1; its next byte has MH_ECT and MH_L4S of the packet, and the one after that its DSCP. */
enum { ML_ALONE = 0, ML_PLAIN_TWIN = 1, ML_MARKED_TWIN = 2 };

/* Word 2 is the CPU of a twin, and word 3 the number of the pair on that CPU. CPUs beyond these make no twins. */
#define ML_MOST_CPUS 1024

#endif
