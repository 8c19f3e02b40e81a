/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * The interface of a queue: the backlog that a policy of the third kind sees, and the answers that it may give.
 *
 * A queue has bands, each in order of arrival. Its policy chooses the band that an arrival waits in, the band whose head
 * leaves next, and the band that loses a packet when the buffer is full. The caller holds the packets, counts them here,
 * and sends: the simulator's bands.rs, or a queue discipline in the kernel, whose maps hold the same structs.
 *
 *   enqueue    a band, perhaps with MH_MARKED; or MH_REFUSED with a verdict that drops. mh_into() makes either of a
 *              dropper's verdict, so that any dropper may guard a band: a band's `waiting` is what it would see.
 *   overflow   MH_FITS; or a band, whose newest packet is dropped, or whose head is with MH_HEAD. The caller asks after
 *              each arrival that was taken, until the answer is MH_FITS.
 *   dequeue    a band, whose head leaves, perhaps with MH_MARKED; a band with MH_DROPPED, whose head is dropped; or
 *              MH_AGAIN. The caller asks again after the last two. It asks only while packets wait. A queue works while
 *              packets wait: one that answers MH_AGAIN, or an empty band, mh_tries() times in a row is at fault.
 *
 * The packet in transmission does not wait. A band is idle from the moment at which its last packet was sent.
 *
 * Format: plain integers. No rounding.
 */
#ifndef MOUSEHOLE_QUEUE_H
#define MOUSEHOLE_QUEUE_H

#include "base.h"
#include "full_buffer.h"

/* Most bands of a queue: in the kernel each is an element of a map. */
#define MH_MOST_BANDS 1024

/* Parts of an answer. The band is in the bits of MH_BAND, a verdict in those of a refusal. */
enum {
	MH_BAND = 0xffff,
	MH_MARKED = 0x10000,  /* set Congestion Experienced on a packet that is ECN-capable */
	MH_DROPPED = 0x20000, /* dequeue: the head is dropped */
	MH_HEAD = 0x40000,    /* overflow: the head is dropped, not the newest packet */
	MH_REFUSED = 0x80000, /* enqueue: the arrival is dropped */
	MH_AGAIN = 0x100000,  /* dequeue: nothing leaves yet */
	MH_FITS = 0x200000    /* overflow: nobody has to go */
};

/* A band. */
struct mh_band {
	struct mh_backlog waiting; /* idle_since_ns: when its last packet was sent, MH_NEVER while it is busy */
	u64 head_since_ns;         /* when its head arrived; means nothing while nothing waits, as `head` */
	struct mh_view head;       /* without its application */
};

/* All packets that wait. There are as many bands as the policy says. */
struct mh_waiting {
	struct mh_backlog all; /* its idle_since_ns has no meaning */
	struct mh_band band[];
};

/* Returns how many answers in a row without a packet that leaves a queue of so many bands may give; more is a fault. */
MH_FN u32 mh_tries(u32 bands)
{
	return 64 + 4 * bands;
}

/* Returns the answer of `enqueue` for a packet of `band` on which a dropper has given `verdict` (MH_PASS, ..). */
MH_FN u32 mh_into(u32 band, u32 verdict)
{
	if (verdict >= MH_DROP_EARLY)
		return MH_REFUSED | verdict;
	return verdict == MH_MARK ? band | MH_MARKED : band;
}

/*
 * Adds bytes and packets of a colour, at most MH_RED, to a backlog. The sums wrap, so that negative numbers subtract.
 */
MH_FN void mh_backlog_add(struct mh_backlog *backlog, u32 colour, u64 bytes, u32 packets)
{
	backlog->packets += packets;
	backlog->bytes += bytes;
	backlog->colour_packets[colour] += packets;
	backlog->colour_bytes[colour] += bytes;
}

/* Adds a packet, which becomes the head if its band was empty, to the counts of its band and of all bands. */
MH_FN void mh_waiting_add(struct mh_waiting *waiting, u32 band, const struct mh_view *view, u64 now_ns)
{
	struct mh_band *one = &waiting->band[band];
	u32 colour = (u32)mh_min(view->colour, MH_RED), packets = mh_segments(view);

	if (!one->waiting.packets) {
		one->head = *view;
		one->head_since_ns = now_ns;
	}
	mh_backlog_add(&one->waiting, colour, view->ip_bytes, packets);
	mh_backlog_add(&waiting->all, colour, view->ip_bytes, packets);
}

/*
 * Counts an arrival in the band that an answer of `enqueue` names; nothing if the answer refuses the packet or names no
 * band. For checks of policies, which hold no packets.
 */
MH_FN void mh_waiting_after_enqueue(struct mh_waiting *waiting, u32 bands, u32 answer, const struct mh_view *view,
				    u64 now_ns)
{
	u32 band = answer & MH_BAND;

	if (!(answer & MH_REFUSED) && band < bands && band < MH_MOST_BANDS)
		mh_waiting_add(waiting, band, view, now_ns);
}

/*
 * Removes a packet from the counts of the band that an answer of `dequeue` or `overflow` names; nothing if it names none,
 * or an empty one. For checks of policies, which hold no packets: the packet removed is like `view`, as far as so much
 * waits, and the next head is `view`, which arrived at most `random` ns before now.
 */
MH_FN void mh_waiting_after_departure(struct mh_waiting *waiting, u32 bands, u32 answer, const struct mh_view *view,
				      u64 now_ns, u32 random)
{
	u32 band = answer & MH_BAND, colour = (u32)mh_min(view->colour, MH_RED), packets;
	u64 bytes;
	struct mh_band *one;

	if (answer & (MH_AGAIN | MH_FITS) || band >= bands || band >= MH_MOST_BANDS)
		return;
	one = &waiting->band[band];
	if (!one->waiting.packets)
		return;
	if (!one->waiting.colour_packets[colour])
		colour = one->waiting.colour_packets[MH_GREEN] ? MH_GREEN :
			 one->waiting.colour_packets[MH_YELLOW] ? MH_YELLOW : MH_RED;
	packets = (u32)mh_min(mh_segments(view), one->waiting.colour_packets[colour]);
	bytes = mh_min(view->ip_bytes, one->waiting.colour_bytes[colour]);
	if (packets == one->waiting.colour_packets[colour])
		bytes = one->waiting.colour_bytes[colour];
	mh_backlog_add(&one->waiting, colour, 0ULL - bytes, 0u - packets);
	mh_backlog_add(&waiting->all, colour, 0ULL - bytes, 0u - packets);
	one->waiting.idle_since_ns = one->waiting.packets ? MH_NEVER : now_ns;
	one->head = *view;
	one->head_since_ns = mh_max(one->head_since_ns, now_ns - mh_min(now_ns, random));
}

#endif
