/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * Virtual FIFO: computes the backlog of a FIFO whose queue the program cannot read.
 *
 * A program at a tc hook decides whether a packet may enter the FIFO behind it, but does not see what waits there. The
 * FIFO sends at a known rate and in order. So the start of each packet's transmission is known at its arrival, and
 * with these times the backlog at any later moment. It equals the simulator's FIFO (sim/src/queue/fifo.rs), but its
 * caller sees arrivals only; a test in sim compares both.
 *
 *   tx      = round((size + overhead * segments) * 8 / rate)               to a nanosecond
 *   slack   = max(0, burst - tx), burst as a time
 *   ready   = max(start of the packet before, full - slack)
 *   start   = max(arrival, ready)
 *   full    = max(full, start) + tx
 *   waiting = packets admitted whose start lies after now
 *
 * Without a burst, `full` is the end of the last transmission: a transmitter that sends bit by bit. With one, it is
 * when the token bucket will be full again, and a packet leaves whole as soon as the bucket holds its tokens. That is
 * Linux's token bucket filter (tbf) with the same rate, burst and overhead, and a limit that it never reaches. Its
 * packets leave up to burst / rate earlier than those of a transmitter. A packet that takes longer than the burst
 * leaves when the bucket is full; tbf drops it, or sends the segments of a super-packet one by one.
 *
 * A ring holds the start of each of the last packets, and how many packets and bytes of each colour had been admitted
 * up to and including it. Starts rise, so a binary search finds the last packet that has started, in as many steps as
 * the ring's length has bits: there is nothing to drain, and every call takes constant time. The steps have no
 * branches, so that the kernel's verifier walks one path. Each arrival follows about one departure, so that first a few
 * packets are looked at, from the oldest that waited on, and all are searched only where these have all started.
 *
 * For an arrival, the caller
 *   1. settles the FIFO at the present time and learns which colours have departed since the last time,
 *   2. asks for the backlog, tells a dropper that wants it of the departures, colour by colour in their order, and has
 *      it decide,
 *   3. admits the packet if it enters the FIFO, else does nothing.
 * A super-packet of several segments is one admission: it starts, waits and departs as a whole.
 *
 * Capacity: MH_VIRTUAL_FIFO_ENTRIES - 1 admissions wait at most. The next arrival must be dropped as at a full buffer;
 * mh_virtual_fifo_is_full() says so, and mh_virtual_fifo_admit() refuses it. Choose a buffer below that.
 *
 * Time: settling at an earlier time than before is settling at the time before (clocks of two CPUs).
 * `settled_ns` is the time that the policies behind should be given.
 *
 * Format: plain integers; ns, bytes of IP length. Counters wrap; their differences do not, as packets count as at most
 * 2^20 - 1 bytes.
 * Range: rate 1 kbit/s .. 1 Tbit/s; times below 2^63 ns; packets with their overhead count as at most
 * 2^21 - 1 bytes; burst up to 2^30 bytes.
 * Worst error: none. The time of a packet is the exact quotient, rounded to the nearest ns, halves up.
 */
#ifndef MOUSEHOLE_VIRTUAL_FIFO_H
#define MOUSEHOLE_VIRTUAL_FIFO_H

#include "base.h"

/* How many admissions the ring holds: a power of two. A program may define another number of bits, 1 .. 16. */
#ifndef MH_VIRTUAL_FIFO_BITS
#define MH_VIRTUAL_FIFO_BITS 12
#endif
#define MH_VIRTUAL_FIFO_ENTRIES (1U << MH_VIRTUAL_FIFO_BITS)

/* How many of the oldest waiting packets are compared with the time before a binary search. */
#define MH_VIRTUAL_FIFO_FEW 4

#define MH_VIRTUAL_FIFO_MOST_BYTES ((1U << 20) - 1)      /* of a packet's IP length */
#define MH_VIRTUAL_FIFO_MOST_WIRE_BYTES ((1U << 21) - 1) /* of a packet with its overhead */

/* Filled by mh_virtual_fifo_setup(). */
struct mh_virtual_fifo_params {
	u64 rate_bps;
	u64 half_bps;       /* rate / 2, rounded down */
	u64 byte_ns;        /* time of a byte, whole ns */
	u64 rest;           /* remainder of 8e9 / rate: the fraction of a ns that `byte_ns` omits, times the rate */
	u64 rest_ns_q43;    /* that fraction in ns, rounded down */
	u64 burst_ns;       /* depth of the token bucket as a time; 0 without one */
	u32 overhead_bytes; /* added to the IP length of every segment, as tbf's `overhead` */
	u32 reserved;
};

/* Packets and bytes by colour, since the beginning; both wrap. */
struct mh_virtual_fifo_counts {
	u32 packets[MH_COLOURS];
	u32 bytes[MH_COLOURS];
};

/* All zero is an empty FIFO that is idle since time 0. Made for a map's value, under a lock of the caller's. */
struct mh_virtual_fifo {
	u64 settled_ns;                         /* the time up to which departures are known */
	u64 full_ns;                            /* end of the last transmission, or when the bucket is full again */
	u64 last_start_ns;                      /* of the packet admitted last */
	u64 colour_start_ns[MH_COLOURS];        /* of the last packet of each colour */
	struct mh_virtual_fifo_counts admitted; /* all so far */
	struct mh_virtual_fifo_counts started;  /* up to settled_ns */
	u32 next;                               /* number of the next admission; wraps */
	u32 waiting;                            /* admissions that wait at settled_ns */
	u64 start_ns[MH_VIRTUAL_FIFO_ENTRIES];
	struct mh_virtual_fifo_counts up_to[MH_VIRTUAL_FIFO_ENTRIES];
};

/* Departures between two calls of mh_virtual_fifo_settle(). */
struct mh_virtual_fifo_departures {
	u32 packets[MH_COLOURS]; /* how many of each colour started transmission */
	u8 order[4];             /* the colours in the order of last_ns; the last entry is not used */
	u64 last_ns[MH_COLOURS]; /* when the last one of the colour did, if none of it waits any more; else the
				  * settled time */
};

/* Returns the bytes of a packet on the wire, all segments together: IP length and overhead, clamped (see Range). */
MH_FN u64 mh_virtual_fifo_wire_bytes(const struct mh_virtual_fifo_params *params, const struct mh_view *view)
{
	u64 bytes = view->ip_bytes + (u64)params->overhead_bytes * mh_segments(view);

	return mh_min(bytes, MH_VIRTUAL_FIFO_MOST_WIRE_BYTES);
}

/* Returns round(wire_bytes * 8e9 / rate), ns, for at most MH_VIRTUAL_FIFO_MOST_WIRE_BYTES. */
MH_FN u64 mh_virtual_fifo_tx_ns(const struct mh_virtual_fifo_params *params, u64 wire_bytes)
{
	/* The estimate is the quotient or one less; what it leaves tells which. */
	u64 estimate = (wire_bytes * params->rest_ns_q43 + (1ULL << 42)) >> 43;
	u64 left = wire_bytes * params->rest + params->half_bps - estimate * params->rate_bps;

	return wire_bytes * params->byte_ns + estimate + ((params->rate_bps - 1 - left) >> 63);
}

/* Returns the earliest time at which the next packet, whose transmission takes `tx_ns`, can start. */
MH_FN u64 mh_virtual_fifo_ready_ns(const struct mh_virtual_fifo_params *params, const struct mh_virtual_fifo *fifo,
				   u64 tx_ns)
{
	u64 slack_ns = params->burst_ns - mh_min(params->burst_ns, tx_ns);

	return mh_max(fifo->last_start_ns, fifo->full_ns - mh_min(fifo->full_ns, slack_ns));
}

/* Returns 1 if the last departure of colour `a` was later than that of colour `b`, else 0; without a branch. */
MH_FN u32 mh_virtual_fifo_is_later(const struct mh_virtual_fifo_departures *departures, u32 a, u32 b)
{
	return (u32)((departures->last_ns[b] - departures->last_ns[a]) >> 63);
}

/* Fills in `order`, the colours by `last_ns`, from the ranks: the rank of a colour is how many others precede it. */
MH_FN void mh_virtual_fifo_sort_colours(struct mh_virtual_fifo_departures *departures)
{
	u32 green_yellow = mh_virtual_fifo_is_later(departures, MH_GREEN, MH_YELLOW);
	u32 green_red = mh_virtual_fifo_is_later(departures, MH_GREEN, MH_RED);
	u32 yellow_red = mh_virtual_fifo_is_later(departures, MH_YELLOW, MH_RED);

	departures->order[3] = 0;
	departures->order[(green_yellow + green_red) & 3] = MH_GREEN;
	departures->order[((green_yellow ^ 1) + yellow_red) & 3] = MH_YELLOW;
	departures->order[((green_red ^ 1) + (yellow_red ^ 1)) & 3] = MH_RED;
}

/*
 * Returns how many entries after the oldest one, which has started, have started by `now_ns`. A binary search: it finds
 * the bits of the number from the highest one on.
 */
MH_FN u32 mh_virtual_fifo_count_started(const struct mh_virtual_fifo *fifo, u64 now_ns)
{
	u32 started = 0, bit, at;

	for (bit = MH_VIRTUAL_FIFO_BITS; bit--;) {
		at = (fifo->next + started + (1U << bit)) & (MH_VIRTUAL_FIFO_ENTRIES - 1);
		started += (u32)((fifo->start_ns[at] - now_ns - 1) >> 63) << bit; /* 1 where start_ns <= now_ns */
	}
	return started;
}

/*
 * Advances the FIFO to `now_ns` and fills in the packets that started transmission since the last call. The caller does
 * so first at each arrival; an earlier time than before counts as the time before.
 */
MH_FN void mh_virtual_fifo_settle(struct mh_virtual_fifo *fifo, u64 now_ns,
				  struct mh_virtual_fifo_departures *departures)
{
	const struct mh_virtual_fifo_counts *counts;
	u32 oldest = fifo->next, few = 0, started, rank, at, colour;

	now_ns = mh_max(now_ns, fifo->settled_ns);
	fifo->settled_ns = now_ns;
	/* Most often few packets have started since the last call, so the oldest that waited then come first. */
	for (rank = 0; rank < MH_VIRTUAL_FIFO_FEW; rank++) {
		at = (oldest - fifo->waiting + rank) & (MH_VIRTUAL_FIFO_ENTRIES - 1);
		/* 1 where it waited and start_ns <= now_ns */
		few += (u32)(((fifo->start_ns[at] - now_ns - 1) & ((u64)rank - fifo->waiting)) >> 63);
	}
	started = MH_VIRTUAL_FIFO_ENTRIES - 1 - fifo->waiting + few;
	if (few == MH_VIRTUAL_FIFO_FEW)
		started = mh_virtual_fifo_count_started(fifo, now_ns);
	at = (oldest + started) & (MH_VIRTUAL_FIFO_ENTRIES - 1);
	counts = &fifo->up_to[at];
	fifo->waiting = MH_VIRTUAL_FIFO_ENTRIES - 1 - started;
	for (colour = 0; colour < MH_COLOURS; colour++) {
		departures->packets[colour] = counts->packets[colour] - fifo->started.packets[colour];
		departures->last_ns[colour] = mh_min(fifo->colour_start_ns[colour], now_ns);
		fifo->started.packets[colour] = counts->packets[colour];
		fifo->started.bytes[colour] = counts->bytes[colour];
	}
	mh_virtual_fifo_sort_colours(departures);
}

/*
 * Fills in the backlog that the arrival of this packet finds; the caller has just settled the FIFO. The queue counts as
 * idle if the packet can start at once, since the moment from which it could have.
 */
MH_FN void mh_virtual_fifo_backlog(const struct mh_virtual_fifo_params *params, const struct mh_virtual_fifo *fifo,
				   const struct mh_view *view, struct mh_backlog *backlog)
{
	u64 tx_ns = mh_virtual_fifo_tx_ns(params, mh_virtual_fifo_wire_bytes(params, view));
	u64 ready_ns = mh_virtual_fifo_ready_ns(params, fifo, tx_ns);
	u32 colour;

	backlog->bytes = 0;
	backlog->packets = 0;
	backlog->idle_since_ns = ready_ns <= fifo->settled_ns ? ready_ns : MH_NEVER;
	for (colour = 0; colour < MH_COLOURS; colour++) {
		backlog->colour_packets[colour] = fifo->admitted.packets[colour] - fifo->started.packets[colour];
		backlog->colour_bytes[colour] = fifo->admitted.bytes[colour] - fifo->started.bytes[colour];
		backlog->packets += backlog->colour_packets[colour];
		backlog->bytes += backlog->colour_bytes[colour];
	}
}

/* Returns whether the ring has no room for an arrival; the caller must then drop it as at a full buffer. */
MH_FN u32 mh_virtual_fifo_is_full(const struct mh_virtual_fifo *fifo)
{
	return fifo->waiting >= MH_VIRTUAL_FIFO_ENTRIES - 1;
}

/*
 * Admits a packet that arrives at the last settled time and enters the FIFO. Returns when its transmission starts, ns,
 * which is that time if the FIFO is idle. Returns MH_NEVER, and changes nothing, if the ring has no room for it.
 */
MH_FN u64 mh_virtual_fifo_admit(const struct mh_virtual_fifo_params *params, struct mh_virtual_fifo *fifo,
				const struct mh_view *view)
{
	u64 tx_ns = mh_virtual_fifo_tx_ns(params, mh_virtual_fifo_wire_bytes(params, view));
	u64 start_ns = mh_max(fifo->settled_ns, mh_virtual_fifo_ready_ns(params, fifo, tx_ns));
	u32 colour = (u32)mh_min(view->colour, MH_COLOURS - 1);
	u32 at = fifo->next & (MH_VIRTUAL_FIFO_ENTRIES - 1);

	if (mh_virtual_fifo_is_full(fifo))
		return MH_NEVER;
	fifo->full_ns = mh_max(fifo->full_ns, start_ns) + tx_ns;
	fifo->last_start_ns = start_ns;
	fifo->colour_start_ns[colour] = start_ns;
	fifo->admitted.packets[colour] += mh_segments(view);
	fifo->admitted.bytes[colour] += (u32)mh_min(view->ip_bytes, MH_VIRTUAL_FIFO_MOST_BYTES);
	fifo->start_ns[at] = start_ns;
	fifo->up_to[at] = fifo->admitted;
	fifo->next++;
	fifo->waiting += start_ns > fifo->settled_ns;
	return start_ns;
}

#ifdef MH_DESCRIBE

/* Fills the parameters: a rate of 10^3 .. 10^12 bit/s; overhead per segment; depth of the token bucket, 0 for none. */
static inline void mh_virtual_fifo_setup(struct mh_virtual_fifo_params *params, u64 rate_bps, u32 overhead_bytes,
					 u32 burst_bytes)
{
	u64 rest = 8000000000ULL % rate_bps, burst = burst_bytes;
	u32 bit;

	params->rate_bps = rate_bps;
	params->half_bps = rate_bps / 2;
	params->byte_ns = 8000000000ULL / rate_bps;
	params->rest = rest;
	params->rest_ns_q43 = 0;
	for (bit = 0; bit < 43; bit++) { /* rest * 2^43 / rate, digit by digit */
		rest <<= 1;
		params->rest_ns_q43 = params->rest_ns_q43 << 1 | (rest >= rate_bps);
		rest -= rest >= rate_bps ? rate_bps : 0;
	}
	/*
	 * A burst may be larger than any packet. Whole ns and the rest are added separately, so that no product
	 * passes 64 bits.
	 */
	params->burst_ns = burst * params->byte_ns + (burst * params->rest + params->half_bps) / rate_bps;
	params->overhead_bytes = overhead_bytes;
	params->reserved = 0;
}

#endif

#endif
