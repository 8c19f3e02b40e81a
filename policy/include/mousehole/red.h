/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * RED, Random Early Detection.
 *
 * Floyd & Jacobson, "Random Early Detection Gateways for Congestion Avoidance", IEEE/ACM Transactions on
 * Networking 1(4), 1993: Fig. 2 (algorithm), section 4 (average, idle time), section 7 (spacing, bytes).
 * Gentle: Floyd, "Recommendation on using the gentle_ variant of RED", 2000. The defaults are what RED's author came to
 * recommend: gentle, max three times min, max_p 0.1 (Floyd, "RED: Discussions of Setting Parameters", 1997), a weight
 * by the link's rate (Floyd, Gummadi & Shenker, "Adaptive RED", 2001), drops spaced as in her simulator (wait). Her
 * thresholds are packets for a given delay; here they are shares of the buffer, so that one setting fits any link.
 *
 * On each arrival, q = queue found (the arrival not counted), in mean packets:
 *
 *   idle:     avg <- avg * (1 - w_q)^m,          m = floor(idle time / transmission time of a mean packet)
 *   average:  avg <- avg + w_q * (q - avg),      w_q = 1 - e^(-1/C) if it is given as 0, C mean packets per second
 *   base:     p_b = 0                                          avg < min
 *                 = max_p * (avg - min) / (max - min)          min <= avg < max
 *         gentle: = max_p + (1 - max_p) * (avg - max) / max    max <= avg < 2 max
 *                 = 1                                          avg >= max, gentle: avg >= 2 max
 *   spacing, c = packets (byte mode: bytes / mean) since the last drop, this one included, 0 at first:
 *         p_a = p_b / (1 - c p_b), 1 once c p_b >= 1           gaps uniform on 1 .. 1/p_b - 1
 *   wait: p_a = 0 if c p_b < 1, p_b / (2 - c p_b) if < 2, 1    gaps uniform on 1/p_b .. 2/p_b - 1
 *   byte mode: p_a <- p_a * size / mean
 *   U < p_a: mark if ECN is on, the packet is ECT and avg < max (`mark_gentle`: and avg < 2 max); else drop.
 *   p_b = 1: forced drop, ECT or not (RFC 3168 section 7: beyond the upper threshold, drop).
 *
 * Format: lengths and averages are mean packets in Q32, at most 2^20 of them (longer queues count as
 * 2^20); w_q is Q32; slopes are Q64; the count since the last drop is Q24, at most 2^31 packets.
 * Rounding favours whole numbers: 15 mean packets in bytes are not below 15, and 3 transmission times hold 3 slots.
 *
 * Ranges: w_q 1e-6 .. 1; 0 <= min; max - min >= 1 packet; max <= 2^20 packets; max_p 0 < .. <= 1;
 * mean packet 1 .. 65535 B; rate 1 kbit/s .. 1 Tbit/s; idle times count up to 2^47 ns (39 h).
 *
 * Worst error against floats: average 2^-33 / w_q from rounding and |q - avg| * 2^-33 / w_q from the format
 * of w_q (6e-8 packets and 6e-8 of the distance at w_q = 0.002); p_b 2^-31; p_a the same carried through its
 * formula, and in byte mode 3e-8 mean packets in the size; lengths in bytes: mean packet * 2^-43 of themselves.
 * One arrival below min costs two multiplications and no division; an arrival after idle time one division.
 *
 * Deviations from the paper:
 * - Byte mode scales p_a, after spacing, by the mean packet; the paper scales p_b by the maximum packet.
 * - `wait` and `gentle` are later additions of RED's author and her simulator; both can be off.
 * - An arrival that is dropped while the queue is idle consumes the idle time, which is then not counted
 *   a second time by the next arrival.
 * - `mark_gentle` (off: RFC 3168): the gentle part marks too, as ns-2 of 2001 did.
 * - `spare_below_packets` (0 = off, as in the paper): arrivals that find fewer packets waiting are passed.
 * - A super-packet of n segments counts n towards spacing but updates the average once.
 */
#ifndef MOUSEHOLE_RED_H
#define MOUSEHOLE_RED_H

#include "policy.h"

/* Bits of `mh_red_params.options`. Gentle has none: `forced_q32` says it. */
enum { MH_RED_WAIT = 1, MH_RED_BYTE_MODE = 2, MH_RED_QUEUE_IN_BYTES = 4, MH_RED_ECN = 8, MH_RED_MARK_GENTLE = 32 };

#define MH_RED_MAX_PACKETS (1ULL << 20)
#define MH_RED_MAX_COUNT_Q24 (1ULL << 55)
#define MH_RED_MAX_IDLE_NS (1ULL << 47)

struct mh_red_settings {
	u32 mean_packet_bytes; /* a typical packet, for idle time and for lengths counted in bytes */
	u32 gentle;            /* whether the probability rises to 1 between max and 2 max, not at max */
};

struct mh_red_params {
	u64 min_q32;           /* min, mean packets */
	u64 max_q32;           /* max, mean packets */
	u64 forced_q32;        /* from here every packet is dropped: max, or 2 max when gentle */
	u64 w_q32;             /* weight of the new length */
	u64 max_p_q32;         /* base probability at max */
	u64 slope_q64;         /* max_p / (max - min), per mean packet */
	u64 gentle_slope_q64;  /* (1 - max_p) / max, per mean packet */
	u64 slot_q16;          /* transmission time of a mean packet, ns; rounded down */
	u64 longest_bytes;     /* 2^20 mean packets in bytes */
	u64 per_byte_q43;      /* 1 / mean packet, per byte; rounded up */
	u32 options;           /* MH_RED_WAIT | .. */
	u32 spare_below_packets;
	struct mh_red_settings settings;
};

/* All zero is a queue that never saw a packet. */
struct mh_red_state {
	u64 avg_q32;        /* average length, mean packets */
	u64 idle_from_ns;   /* idle time before this moment is in the average already */
	u64 since_drop_q24; /* mean packets since the last drop, meaningful while above_min */
	u32 above_min;      /* whether the last average reached min */
	u32 reserved;
};

/* Returns a length in bytes as mean packets, Q32, at most 2^20 packets. */
MH_FN u64 mh_red_mean_packets(const struct mh_red_params *params, u64 bytes)
{
	return (mh_min(bytes, params->longest_bytes) * params->per_byte_q43 + (1ULL << 10)) >> 11;
}

/* Returns the queue's length in mean packets, Q32: from `bytes` with MH_RED_QUEUE_IN_BYTES, else from `packets`. */
MH_FN u64 mh_red_length(const struct mh_red_params *params, u64 packets, u64 bytes)
{
	if (params->options & MH_RED_QUEUE_IN_BYTES)
		return mh_red_mean_packets(params, bytes);
	return mh_min(packets, MH_RED_MAX_PACKETS) << 32;
}

/* Returns the average after an idle time: avg * (1 - w_q)^m, as if m packets had found the queue empty. */
MH_FN u64 mh_red_decay(const struct mh_red_params *params, u64 avg_q32, u64 idle_ns)
{
	u64 slots = (mh_min(idle_ns, MH_RED_MAX_IDLE_NS) << 16) / params->slot_q16;

	if (slots >> MH_POW_BITS) /* even (1 - 1e-6)^(2^26) of 2^20 packets is less than half a unit */
		return 0;
	return mh_mul_q64(avg_q32, mh_pow_q64(0 - (params->w_q32 << 32), slots)); /* 2^64 - w: 1 - w in Q64 */
}

/* Returns the average, an EWMA, after an arrival that finds `queue_q32` mean packets after `idle_ns` of idle time. */
MH_FN u64 mh_red_average(const struct mh_red_params *params, u64 avg_q32, u64 queue_q32, u64 idle_ns)
{
	if (idle_ns && avg_q32)
		avg_q32 = mh_red_decay(params, avg_q32, idle_ns);
	return mh_average(avg_q32, queue_q32, params->w_q32);
}

/*
 * Returns the idle time, ns, not yet included in the average; `idle_since_ns` is when the queue went idle, or
 * MH_NEVER.
 */
MH_FN u64 mh_red_uncounted_idle_ns(const struct mh_red_state *state, u64 idle_since_ns, u64 now_ns)
{
	u64 from_ns = mh_max(idle_since_ns, state->idle_from_ns);

	return now_ns > from_ns ? now_ns - from_ns : 0;
}

/* Returns the base probability p_b at an average, Q32. */
MH_FN u64 mh_red_probability(const struct mh_red_params *params, u64 avg_q32)
{
	if (avg_q32 < params->min_q32)
		return 0;
	if (avg_q32 >= params->forced_q32)
		return MH_ONE_Q32;
	if (avg_q32 < params->max_q32)
		return mh_mul_q64(avg_q32 - params->min_q32, params->slope_q64);
	return params->max_p_q32 + mh_mul_q64(avg_q32 - params->max_q32, params->gentle_slope_q64);
}

/*
 * Returns the denominator of p_a, Q32 in 0 .. 1: p_a = p_b / spacing, and 1 when spacing is 0. Returns MH_NEVER when
 * `wait` forbids a drop so soon after the last one.
 */
MH_FN u64 mh_red_spacing(const struct mh_red_params *params, u64 base_q32, u64 since_drop_q24)
{
	u64 expected_q32 = (since_drop_q24 >> 24) * base_q32 + (((since_drop_q24 & 0xffffff) * base_q32) >> 24);
	u64 end_q32 = MH_ONE_Q32;

	if (params->options & MH_RED_WAIT) {
		if (expected_q32 < MH_ONE_Q32)
			return MH_NEVER;
		end_q32 = 2 * MH_ONE_Q32;
	}
	return expected_q32 < end_q32 ? end_q32 - expected_q32 : 0;
}

/*
 * Returns a packet's weight in the count since the last drop, Q24: mean packets in byte mode (below 2^8), else
 * segments.
 */
MH_FN u64 mh_red_spacing_weight(const struct mh_red_params *params, const struct mh_view *view)
{
	if (params->options & MH_RED_BYTE_MODE)
		return mh_min((mh_red_mean_packets(params, view->ip_bytes) + 0x80) >> 8, 0xffffffffULL);
	return (u64)mh_segments(view) << 24;
}

/* Returns whether U < p_a, where U = random / 2^32; multiplied out so that nothing is divided. */
MH_FN u32 mh_red_drops_by_chance(const struct mh_red_params *params, u64 base_q32, u64 since_drop_q24, u64 weight_q24,
		     u32 random)
{
	u64 spacing_q32 = mh_red_spacing(params, base_q32, since_drop_q24);
	u64 chance_q32 = mh_min(base_q32, MH_ONE_Q32 - 1);

	if (spacing_q32 == MH_NEVER || base_q32 == 0)
		return 0;
	if (params->options & MH_RED_BYTE_MODE && spacing_q32)
		chance_q32 = (chance_q32 * weight_q24) >> 24;
	if (chance_q32 >= spacing_q32)
		return 1;
	return (u64)random * spacing_q32 < chance_q32 << 32;
}

/* Adds an arrival at an average of min or more to the count since the last drop. The first such arrival counts 0. */
MH_FN void mh_red_count_arrival(struct mh_red_state *state, u64 weight_q24)
{
	if (state->above_min)
		state->since_drop_q24 = mh_min(state->since_drop_q24 + weight_q24, MH_RED_MAX_COUNT_Q24);
	else
		state->since_drop_q24 = 0;
	state->above_min = 1;
}

/*
 * Returns the verdict on a packet at the average `avg_q32`, and updates the count since the last drop: 0 after a drop
 * or a mark, and counted anew once the average was below min.
 */
MH_FN u32 mh_red_decide(const struct mh_red_params *params, struct mh_red_state *state, u64 avg_q32,
		       const struct mh_view *view, u32 random)
{
	u64 weight_q24;

	if (avg_q32 < params->min_q32) {
		state->above_min = 0;
		return MH_PASS;
	}
	weight_q24 = mh_red_spacing_weight(params, view);
	mh_red_count_arrival(state, weight_q24);
	if (avg_q32 >= params->forced_q32) {
		state->since_drop_q24 = 0;
		return MH_DROP_FORCED;
	}
	if (!mh_red_drops_by_chance(params, mh_red_probability(params, avg_q32), state->since_drop_q24, weight_q24,
				    random))
		return MH_PASS;
	state->since_drop_q24 = 0;
	if (params->options & MH_RED_ECN && view->flags & MH_ECT &&
	    (avg_q32 < params->max_q32 || params->options & MH_RED_MARK_GENTLE))
		return MH_MARK;
	return MH_DROP_EARLY;
}

/* Updates the average for an arrival that finds `backlog`, whose `idle_since_ns` says when idle time started. */
MH_FN void mh_red_update_average(const struct mh_red_params *params, struct mh_red_state *state,
			 const struct mh_backlog *backlog, u64 now_ns)
{
	u64 length_q32 = mh_red_length(params, backlog->packets, backlog->bytes);
	u64 idle_ns = 0;

	if (!backlog->packets) {
		idle_ns = mh_red_uncounted_idle_ns(state, backlog->idle_since_ns, now_ns);
		state->idle_from_ns = mh_max(state->idle_from_ns, now_ns);
	}
	state->avg_q32 = mh_red_average(params, state->avg_q32, length_q32, idle_ns);
}

/*
 * Returns the verdict on an arrival after mh_red_update_average(), as mh_red_decide() does; MH_PASS below
 * `spare_below_packets`.
 */
MH_FN u32 mh_red_admit(const struct mh_red_params *params, struct mh_red_state *state,
			 const struct mh_view *view, const struct mh_backlog *backlog, u32 random)
{
	if (backlog->packets < params->spare_below_packets) {
		state->above_min = 0;
		return MH_PASS;
	}
	return mh_red_decide(params, state, state->avg_q32, view, random);
}

/* Updates the average and the count since the last drop for an arrival, and returns the verdict on it. */
MH_FN u32 mh_red_packet(const struct mh_red_params *params, struct mh_red_state *state,
			const struct mh_view *view, const struct mh_backlog *backlog, u64 now_ns, u32 random)
{
	mh_red_update_average(params, state, backlog, now_ns);
	return mh_red_admit(params, state, view, backlog, random);
}

#ifdef MH_DESCRIBE

#define MH_RED_LEAST_MAX_P 1e-9

/* How the parameters min and max of a line are named, and what is allowed of max, for faults. */
struct mh_red_names {
	const char *min, *max;
	const char *more, *packet_more;
};

/* The names of a line whose parameters begin with `prefix_`. */
#define MH_RED_NAMES(prefix_) \
	{ prefix_ "min", prefix_ "max", "more than " prefix_ "min", "at least one packet more than " prefix_ "min" }

/*
 * Returns 1 - e^(-1/C), the weight with which an average over C packets per second has a time constant of one second
 * (Floyd, Gummadi & Shenker 2001). C is above 0. Computed by a Taylor series at 1/C / 4096, then 12 doublings of the
 * time.
 */
static inline double mh_red_weight_of_rate(double packets_per_s)
{
	double x = 1 / packets_per_s / 4096, weight = x * (1 - x / 2 * (1 - x / 3 * (1 - x / 4)));
	u32 doublings;

	for (doublings = 0; doublings < 12; doublings++)
		weight *= 2 - weight;
	return weight;
}

#define MH_RED_LEAST_WEIGHT 1e-6

/*
 * Computes the derived fields of one RED from min_q32, max_q32, max_p_q32, w_q32, options and settings. If a threshold is
 * a share of a small buffer, max becomes at least min plus one packet. Returns MH_NO_FAULT, or a fault that names a
 * parameter by `names`.
 */
static inline struct mh_fault mh_red_setup_line(struct mh_red_params *params, const struct mh_link_context *link,
						const struct mh_red_names *names)
{
	const struct mh_red_settings *settings = &params->settings;
	u32 min_share = mh_is_share(link, names->min), max_share = mh_is_share(link, names->max);
	double mean = settings->mean_packet_bytes, max_p = mh_from_q32(params->max_p_q32), min, max, weight;

	if (min_share && max_share && params->max_q32 <= params->min_q32 && params->min_q32)
		return MH_FAULT(names->max, names->more);
	if (min_share || max_share)
		params->max_q32 = mh_max(params->max_q32, params->min_q32 + MH_ONE_Q32);
	if (params->max_q32 < params->min_q32 + MH_ONE_Q32)
		return MH_FAULT(names->max, names->packet_more);
	if (params->max_q32 > MH_RED_MAX_PACKETS << 32)
		return MH_FAULT(names->max, "at most 1048576 packets");
	if (link->rate_bps < 1e3 || link->rate_bps > 1e12)
		return MH_FAULT("rate", "a link of 1kbit to 1000gbit");
	if (!params->w_q32) {
		weight = mh_red_weight_of_rate(link->rate_bps / 8 / mean);
		params->w_q32 = mh_fixed(weight > MH_RED_LEAST_WEIGHT ? weight : MH_RED_LEAST_WEIGHT, 32);
	}
	if (params->w_q32 < mh_fixed(MH_RED_LEAST_WEIGHT, 32))
		return MH_FAULT("wq", "0, which sets it by the link's rate, or 1e-6 to 1");
	min = mh_from_q32(params->min_q32);
	max = mh_from_q32(params->max_q32);
	params->forced_q32 = settings->gentle ? 2 * params->max_q32 : params->max_q32;
	params->slope_q64 = mh_fixed(max_p / (max - min), 64);
	params->gentle_slope_q64 = mh_fixed((1 - max_p) / max, 64);
	params->slot_q16 = (u64)(mean * 8e9 / link->rate_bps * 65536);
	params->longest_bytes = (u64)(1048576.0 * mean);
	params->per_byte_q43 = (u64)(8796093022208.0 / mean);
	params->per_byte_q43 += (double)params->per_byte_q43 < 8796093022208.0 / mean;
	return MH_NO_FAULT;
}

/*
 * The parameters that all lines of a RED share: FIELD(field) locates a field of struct mh_red_params, in one line or
 * in several.
 */
#define MH_RED_COMMON(FIELD, w_q_, gentle_, wait_, unit_, mean_, source_)                                            \
	{ FIELD(w_q32), .kind = MH_FRACTION, .name = "wq", .value = w_q_, .least = MH_RED_LEAST_WEIGHT, .most = 1,   \
	  .meaning = "weight of the newest queue length in the average", .source = source_ },                        \
	MH_RED_OPTIONS(FIELD, gentle_, wait_, "Floyd & Jacobson 1993, section 7", unit_, source_),                   \
	{ FIELD(settings.mean_packet_bytes), .kind = MH_SIZE, .name = "mean", .value = mean_, .least = 1,            \
	  .most = 65535, .meaning = "mean packet, for idle time and byte counts", .source = "ns-2's packet" },       \
	MH_RED_ECN_OPTION(FIELD)
#define MH_RED_OPTIONS(FIELD, gentle_, wait_, wait_source_, unit_, source_)                                          \
	{ FIELD(settings.gentle), .kind = MH_FLAG, .mask = 1, .name = "gentle", .value = gentle_,                    \
	  .meaning = "rise to certain drop between max and 2 max instead of at max", .source = source_ },            \
	{ FIELD(options), .kind = MH_FLAG, .mask = MH_RED_WAIT, .name = "wait", .value = wait_,                      \
	  .meaning = "space early drops between 1/p and 2/p packets apart instead of 1 and 1/p",                     \
	  .source = wait_source_ },                                                                                  \
	{ FIELD(options), .kind = MH_FLAG, .mask = MH_RED_BYTE_MODE, .name = "byte", .value = "false",               \
	  .meaning = "scale the drop probability with packet size", .source = "Floyd & Jacobson 1993, section 7" },  \
	{ FIELD(options), .kind = MH_CHOICE, .mask = MH_RED_QUEUE_IN_BYTES, .name = "unit",                          \
	  .choices = "packets bytes", .value = unit_,                                                                \
	  .meaning = "measure the queue in packets, or in bytes over the mean packet", .source = source_ }
#define MH_RED_ECN_OPTION(FIELD)                                                                                     \
	{ FIELD(options), .kind = MH_FLAG, .mask = MH_RED_ECN, .name = "ecn", .value = "false",                      \
	  .meaning = "mark ECN-capable packets instead of dropping them early", .source = "RFC 3168 section 7" },    \
	{ FIELD(options), .kind = MH_FLAG, .mask = MH_RED_MARK_GENTLE, .name = "mark_gentle", .value = "false",      \
	  .meaning = "with ecn, mark in the gentle part too, as ns-2 of 2001 did", .source = "RFC 3168 section 7" }

#define MH_RED_FIELD(field_) MH_FIELD(mh_red_params, field_)

static const struct mh_parameter mh_red_parameters[] = {
	{ MH_FIELD(mh_red_params, min_q32), .kind = MH_LENGTH, .name = "min", .value = "15%", .least = 0,
	  .most = 1048575, .meaning = "average queue where early drops begin",
	  .source = "ours: a share of the buffer fits any link" },
	{ MH_FIELD(mh_red_params, max_q32), .kind = MH_LENGTH, .name = "max", .value = "45%", .least = 0,
	  .most = 1048576, .meaning = "average queue where every packet is dropped, or where the gentle part begins",
	  .source = "three times min: Floyd 1997" },
	{ MH_FIELD(mh_red_params, max_p_q32), .kind = MH_FRACTION, .name = "maxp", .value = "0.1",
	  .least = MH_RED_LEAST_MAX_P, .most = 1, .meaning = "drop probability just below max",
	  .source = "Floyd 1997" },
	{ MH_FIELD(mh_red_params, spare_below_packets), .kind = MH_LENGTH, .name = "guard", .value = "0",
	  .least = 0, .most = 4294967295.0,
	  .meaning = "an arrival that finds fewer packets waiting is not dropped early (ns-2: 2)",
	  .source = "off, as in Floyd & Jacobson 1993" },
	{ MH_RED_FIELD(w_q32), .kind = MH_FRACTION, .name = "wq", .value = "0", .least = 0, .most = 1,
	  .meaning = "weight of the newest queue length in the average; 0 sets 1 - exp(-1/C), C the link's rate in mean "
		     "packets per second",
	  .source = "Floyd, Gummadi & Shenker 2001" },
	MH_RED_OPTIONS(MH_RED_FIELD, "true", "true", "Floyd's simulator, ns-2", "packets", "Floyd 2000"),
	{ MH_RED_FIELD(settings.mean_packet_bytes), .kind = MH_SIZE, .name = "mean", .value = "1500B", .least = 1,
	  .most = 65535, .meaning = "mean packet, for the weight, idle time and byte counts",
	  .source = "ours: a full packet" },
	MH_RED_ECN_OPTION(MH_RED_FIELD),
};

/* Computes the derived fields. Refuses thresholds, a weight or a link's rate out of range. */
static inline struct mh_fault mh_red_setup(struct mh_red_params *params, const struct mh_link_context *link)
{
	static const struct mh_red_names names = MH_RED_NAMES("");

	return mh_red_setup_line(params, link, &names);
}

/* Returns the reading `average_packets`, mean packets. */
static inline double mh_red_average_packets(const void *params, const void *state)
{
	(void)params;
	return mh_from_q32(((const struct mh_red_state *)state)->avg_q32);
}

static const struct mh_reading mh_red_readings[] = { { "average_packets", mh_red_average_packets } };

#endif

MH_SETUP(red)
MH_DROPPER(red, mh_red_params, mh_red_state, .flags = MH_LEAST_IS_STRICTEST | MH_SEES_FULL_BUFFERS,
	   .install = "qdisc:red,2.2",
	   .summary = "Random Early Detection, without colours",
	   .source = "Floyd & Jacobson 1993",
	   .detail = "Drops at random as the average queue rises from min to max, so that flows back off before the buffer "
		     "is full. It knows nothing of short and long: a short flow's first packet is dropped as readily as "
		     "any.",
	   MH_TABLE_OF(red), MH_READINGS_OF(red), MH_OFFERS(red, setup))

#endif
