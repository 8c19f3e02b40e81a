/*
 * placeholder-policy: a queue that serves green before yellow before red, but nobody waits longer than with its patience.
 *
 * This header is a policy as it stands: check it, compare with it, then make it your own.
 *
 *   mousehole policy check placeholder-policy.h
 *   mousehole compare web:sfd --policy placeholder-policy.h --schemes 'droptail,sfd|placeholder-policy'
 *
 * What a queue may do. Packets wait in bands, each in order of arrival. For each arrival it chooses a band or refuses
 * it, for each departure the band whose head leaves, and while too much waits the band that loses a packet. It sees
 * what waits in each band and the view of the packet, the time and 32 random bits. It calls no functions but those of
 * this header and of mousehole's, reads no clock, keeps no variables of its own, has no floating point and no loop
 * without a constant bound. A queue works while packets wait: it may not answer with an empty band for ever.
 *
 * Say here where the idea comes from, give the formula, the ranges, and what deviates from the paper. Here:
 *
 *   band  = that of the colour
 *   next  = the worst band whose head has waited longer than `patience`; if there is none, the best that is not empty
 *   full  : the arrival pushes out the newest packets of worse bands; without any, it is dropped
 */
#ifndef PLACEHOLDER_POLICY_H
#define PLACEHOLDER_POLICY_H

#include "mousehole/policy.h"

/* How many bands there are, at most MH_MOST_BANDS. */
enum { MH_PLACEHOLDER_POLICY_BANDS = 3 };

/*
 * The parameters. The table below fills them from text. Suffixes name units: _ns, _bytes; _q32 is a number times 2^32,
 * as whole numbers are all that the kernel has. A struct has no hidden padding: put wide fields first, and fill up
 * with a field named `reserved`.
 */
struct mh_placeholder_policy_params {
	struct mh_limit limit; /* the link's buffer; computed by set-up */
	u64 patience_ns;       /* nobody waits longer behind better colours */
};

/* What the queue keeps, for all bands and for each of them. All zero is a queue that never saw a packet. */
struct mh_placeholder_policy_state {
	u64 served[MH_PLACEHOLDER_POLICY_BANDS]; /* packets sent, by band */
	u64 impatient;                           /* packets sent since they had waited too long */
};

/* Returns 0: no answer depends on chance. Leave it out, and MH_DRAWS below, if one does. */
MH_FN u32 mh_placeholder_policy_draws(const struct mh_placeholder_policy_params *params)
{
	(void)params;
	return 0;
}

/* Returns whether so many more packets and bytes do not fit in addition to the backlog of the bands up to `band`. */
MH_FN u32 mh_placeholder_policy_is_full(const struct mh_placeholder_policy_params *params,
					const struct mh_waiting *waiting, u32 band, u32 ip_bytes, u32 packets)
{
	struct mh_backlog kept = { 0, MH_NEVER, { 0, 0, 0 }, 0, { 0, 0, 0 } };
	u32 better;

	for (better = 0; better < MH_PLACEHOLDER_POLICY_BANDS && better <= band; better++) {
		kept.packets += waiting->band[better].waiting.packets;
		kept.bytes += waiting->band[better].waiting.bytes;
	}
	return mh_is_full(&params->limit, &kept, ip_bytes, packets);
}

/*
 * Returns the band of an arrival, with MH_MARKED to set Congestion Experienced; or MH_REFUSED with a verdict, MH_DROP_EARLY
 * (by chance) or MH_DROP_FORCED. `view` tells colour, size, flags and more of the packet, `waiting` what waits: base.h and
 * queue.h list both. `hash` are 32 bits of the packet's flow, for queues with `.flags = MH_READS_FLOWS`.
 */
MH_FN u32 mh_placeholder_policy_enqueue(const struct mh_placeholder_policy_params *params,
					struct mh_placeholder_policy_state *state, const struct mh_waiting *waiting,
					const struct mh_view *view, u32 hash, u64 now_ns, u32 random)
{
	u32 band = (u32)mh_min(view->colour, MH_PLACEHOLDER_POLICY_BANDS - 1);

	(void)state;
	(void)hash;
	(void)now_ns;
	(void)random;
	if (mh_placeholder_policy_is_full(params, waiting, band, view->ip_bytes, mh_segments(view)))
		return MH_REFUSED | MH_DROP_FORCED;
	return band;
}

/*
 * Returns the band whose newest packet is dropped, or whose head is with MH_HEAD; MH_FITS once there is room. Leave it
 * out, and MH_OVERFLOW below, if what was taken stays.
 */
MH_FN u32 mh_placeholder_policy_overflow(const struct mh_placeholder_policy_params *params,
					 struct mh_placeholder_policy_state *state, const struct mh_waiting *waiting,
					 u64 now_ns)
{
	u32 band = MH_PLACEHOLDER_POLICY_BANDS - 1;

	(void)state;
	(void)now_ns;
	if (!mh_placeholder_policy_is_full(params, waiting, band, 0, 0))
		return MH_FITS;
	while (band && !waiting->band[band].waiting.packets)
		band--;
	return band;
}

/*
 * Returns the band whose head leaves, with MH_MARKED to set Congestion Experienced; or with MH_DROPPED, to drop the head; or
 * MH_AGAIN, to be asked again. It is asked only while packets wait.
 */
MH_FN u32 mh_placeholder_policy_dequeue(const struct mh_placeholder_policy_params *params,
					struct mh_placeholder_policy_state *state, const struct mh_waiting *waiting,
					u64 now_ns)
{
	u32 band, next = MH_PLACEHOLDER_POLICY_BANDS, is_impatient = 0;

	for (band = 0; band < MH_PLACEHOLDER_POLICY_BANDS; band++) {
		if (!waiting->band[band].waiting.packets)
			continue;
		if (next == MH_PLACEHOLDER_POLICY_BANDS) {
			next = band;
		} else if (now_ns > waiting->band[band].head_since_ns &&
			   now_ns - waiting->band[band].head_since_ns > params->patience_ns) {
			next = band;
			is_impatient = 1;
		}
	}
	if (next >= MH_PLACEHOLDER_POLICY_BANDS)
		return MH_AGAIN;
	state->served[next]++;
	state->impatient += is_impatient;
	return next;
}

/* Only user space compiles what follows: it may use floating point and the headers of the system. */
#ifdef MH_DESCRIBE

/*
 * The parameters as users write them: placeholder-policy(patience=50ms). policy.h lists the kinds. A default is text as a
 * user would write it; `least` and `most` are in s, bytes, bit/s, packets or as they are.
 */
static const struct mh_parameter mh_placeholder_policy_parameters[] = {
	{ MH_FIELD(mh_placeholder_policy_params, patience_ns), .kind = MH_TIME, .name = "patience", .value = "100ms",
	  .least = 1e-6, .most = 1e6, .meaning = "nobody waits longer behind better colours", .source = "ours" },
};

/*
 * Checks parameters against each other and computes fields that depend on them or on the link (`link`), such as the
 * limit of its buffer.
 */
static inline struct mh_fault mh_placeholder_policy_setup(struct mh_placeholder_policy_params *params,
							  const struct mh_link_context *link)
{
	params->limit = mh_link_limit(link);
	return MH_NO_FAULT;
}

/* Numbers that traces and plots show of the state. */
static inline double mh_placeholder_policy_impatient_packets(const void *params, const void *state)
{
	(void)params;
	return (double)((const struct mh_placeholder_policy_state *)state)->impatient;
}

static const struct mh_reading mh_placeholder_policy_readings[] = {
	{ "impatient_packets", mh_placeholder_policy_impatient_packets },
};

#endif

/* Names the functions that this policy offers, and describes it. The flag says that colours matter. */
MH_SETUP(placeholder_policy)
MH_DRAWS(placeholder_policy)
MH_OVERFLOW(placeholder_policy)
MH_QUEUE(placeholder_policy, mh_placeholder_policy_params, mh_placeholder_policy_state, MH_PLACEHOLDER_POLICY_BANDS,
	 .flags = MH_READS_COLOURS,
	 .summary = "serves green before yellow before red, but nobody waits longer than with its patience",
	 .source = "ours",
	 .detail = "A band for each colour, the best first. A packet that has waited longer than `patience` goes before better "
		   "ones. A full buffer drops the newest packet of the worst colour.",
	 .unread = "limit.reserved",
	 MH_TABLE_OF(placeholder_policy), MH_READINGS_OF(placeholder_policy), MH_OFFERS(placeholder_policy, setup),
	 MH_OFFERS(placeholder_policy, draws), MH_OFFERS(placeholder_policy, overflow))

#endif
