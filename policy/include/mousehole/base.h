/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * Shared by all policy headers: types, colours, verdicts, the view of a packet, fixed point.
 *
 * The headers compile unchanged natively and for the eBPF target. Hence: no libc, no floating point,
 * no signed division, no 128-bit integers, no loop without a constant bound, everything inlined, and an
 * index into an array bounded by a comparison (the kernel's verifier learns nothing from a remainder).
 * A policy reads no clock and draws no random number: `now_ns` and `random` are arguments. The caller owns
 * all state. policy.h lists the functions that a policy may offer and describes its parameters.
 *
 * Fixed point: a value x in Qn is stored as round(x * 2^n). Suffixes name unit and format
 * (`_ns`, `_bytes`, `_q32`). Probabilities are Q32 in a u64, so that 1 is exactly 2^32; `random` is 32
 * uniform bits, read as U = random / 2^32 in [0, 1), and an event of probability p happens when U < p.
 */
#ifndef MOUSEHOLE_BASE_H
#define MOUSEHOLE_BASE_H

/* The same types as the kernel's, so that both may be included. */
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

#ifndef MH_FN /* check-bpf.sh defines it so that functions nobody calls are compiled too */
#define MH_FN static inline __attribute__((always_inline))
#endif

/* "Has not happened": an idle start while the transmitter is busy, a timeout that never comes. */
#define MH_NEVER (~0ULL)

/* Colours, best first. Schemes with two colours (IN/OUT, Short/Long) use green and yellow. */
enum { MH_GREEN = 0, MH_YELLOW = 1, MH_RED = 2, MH_COLOURS = 3 };

/* Verdicts of a drop policy. Early: by chance below the upper threshold. Forced: the average is beyond it. */
enum { MH_PASS = 0, MH_MARK = 1, MH_DROP_EARLY = 2, MH_DROP_FORCED = 3 };

/* Bits of `mh_view.flags`. */
enum {
	MH_ECT = 1,            /* ECN-capable transport, ECT(0) or ECT(1) */
	MH_SYN = 2,            /* a SYN or SYN-ACK */
	MH_RETRANSMISSION = 4, /* known to carry data sent before */
	MH_IN_RECOVERY = 8,    /* its sender is in loss recovery */
	MH_REVERSE = 16,       /* travels against the direction being shaped */
	MH_ACK = 32,           /* carries no payload */
	MH_DATAGRAM = 64,      /* of a transport that is not known to slow down when packets are lost: neither TCP, DCCP,
				* SCTP nor QUIC, which is UDP with port 443 at either end */
	MH_L4S = 128           /* of a sender of L4S by its identifier, ECT(1) or CE (RFC 9331 section 5.1) */
};

/* The code point of non-queue-building flows, which send little and evenly (RFC 9956). */
enum { MH_DSCP_NQB = 45 };

/* Units in which flows are counted. */
enum { MH_BYTES = 0, MH_PACKETS = 1 };

/*
 * The application a connection belongs to, where the caller knows it: a host from its socket, an edge
 * from the server's port. 0 stands for unknown.
 */
enum { MH_UNKNOWN_APPLICATION = 0, MH_INTERACTIVE = 1, MH_WEB = 2, MH_BULK = 3 };

/* A count of bytes or of packets. */
struct mh_threshold {
	u32 count;
	u32 unit; /* MH_BYTES or MH_PACKETS */
};

/* The flow or state of a policy that has none: it takes no bytes in the caller's tables (policy.h). */
struct mh_none {
	u8 unused;
};

/* All that a policy may know of a packet. A GSO super-packet is one packet of several segments. */
struct mh_view {
	u32 ip_bytes;    /* IP length, all segments together */
	u16 segments;    /* packets this will be on the wire; 0 counts as 1 */
	u16 window_hint; /* sender's congestion window in packets, 0 = unknown */
	u8 colour;       /* MH_GREEN.., set by a marker */
	u8 flags;        /* MH_ECT | MH_SYN | .. */
	u8 application;  /* MH_INTERACTIVE, .. */
	u8 dscp;         /* Differentiated Services code point. 0 where the caller does not know it: simulator and
	                  * link program know MH_DSCP_NQB, of packets without TCP */
	u32 sequence;    /* bytes of the shaped direction's data from its first byte, or the first seen, wrapping: to
	                  * where this packet's data ends (0 of a SYN); with MH_REVERSE: up to where it acknowledges.
	                  * 0 where no flow is kept: a kernel's drop policy or queue without a marker before it */
};

/* A queue as an arrival finds it. The packet in transmission is not counted. */
struct mh_backlog {
	u64 bytes;                    /* IP length of the packets waiting */
	u64 idle_since_ns;            /* when the queue went idle, MH_NEVER while it is not */
	u64 colour_bytes[MH_COLOURS]; /* the same bytes by colour */
	u32 packets;                  /* packets waiting */
	u32 colour_packets[MH_COLOURS];
};

#define MH_ONE_Q32 (1ULL << 32)

/* Returns the lesser of two numbers. */
MH_FN u64 mh_min(u64 a, u64 b)
{
	return a < b ? a : b;
}

/* Returns the greater of two numbers. */
MH_FN u64 mh_max(u64 a, u64 b)
{
	return a > b ? a : b;
}

/* Returns a + b, at most 2^32 - 1, for counters that stop there instead of wrapping. */
MH_FN u32 mh_saturating_add(u32 a, u32 b)
{
	return (u32)mh_min((u64)a + b, 0xffffffffULL);
}

/* Returns how many packets on the wire a view stands for, at least 1. */
MH_FN u32 mh_segments(const struct mh_view *view)
{
	return view->segments ? view->segments : 1;
}

/* Returns round(a * f), f in Q32 and at most 1; exact to half a unit of a. */
MH_FN u64 mh_mul_q32(u64 a, u64 f_q32)
{
	return (a >> 32) * f_q32 + (((a & 0xffffffffULL) * f_q32 + (1ULL << 31)) >> 32);
}

/*
 * Returns the exponentially weighted moving average (EWMA) after a sample: average + weight * (sample - average). Both
 * have one format; the weight is at most 1.
 */
MH_FN u64 mh_average(u64 average, u64 sample, u64 weight_q32)
{
	if (sample >= average)
		return average + mh_mul_q32(sample - average, weight_q32);
	return average - mh_mul_q32(average - sample, weight_q32);
}

/* Returns round(a * f), f in Q64, from four products of 32-bit halves; exact to half a unit of a. */
MH_FN u64 mh_mul_q64(u64 a, u64 f_q64)
{
	u64 a_low = a & 0xffffffffULL, a_high = a >> 32;
	u64 f_low = f_q64 & 0xffffffffULL, f_high = f_q64 >> 32;
	u64 middle = a_high * f_low + ((a_low * f_low) >> 32);
	u64 cross = a_low * f_high + (middle & 0xffffffffULL);

	return a_high * f_high + (middle >> 32) + (cross >> 32) + ((cross >> 31) & 1);
}

#define MH_POW_BITS 26

/*
 * Returns base^exponent by repeated squaring; base < 1 in Q64, exponent below 2^MH_POW_BITS, result in Q64.
 * Relative error below exponent * 2^-63, so below 2^-37, plus half a unit of Q64 per step.
 */
MH_FN u64 mh_pow_q64(u64 base_q64, u64 exponent)
{
	u64 result = ~0ULL, product;
	u32 bit;

	for (bit = 0; bit < MH_POW_BITS && exponent; bit++) {
		product = mh_mul_q64(result, base_q64);
		result ^= (result ^ product) & (0 - (exponent & 1)); /* the product where the bit is 1, without a branch */
		base_q64 = mh_mul_q64(base_q64, base_q64);
		exponent >>= 1;
	}
	return result;
}

#endif
