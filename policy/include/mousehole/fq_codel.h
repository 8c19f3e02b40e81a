/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * FQ-CoDel: deficit round robin over hashed flows, each in a band of its own under CoDel, new flows first.
 *
 * RFC 8290 (the scheduler, sections 4.1 and 4.2) and RFC 8289 (CoDel, codel_law.h). Defaults are those of RFC 8290
 * section 5.2.
 *
 *   band     = floor(hash * flows / 2^32)
 *   arrival  : a flow in neither list joins the end of the new flows, with a credit of `quantum` bytes
 *   next     : the first of the new flows, else the first of the old ones;
 *              without credit it gets `quantum` and goes to the end of the old flows;
 *              empty, it goes from the new flows to the end of the old ones, from the old ones to neither;
 *              else its head leaves and takes its size from the credit, unless CoDel drops it
 *   overflow : once more than `limit` waits after an arrival, the flow with the most bytes loses half its packets from
 *              its head, 64 at most
 *
 * Work-conserving. The limit is a parameter of its own and not the link's buffer, because people install it so.
 *
 * Format: credits in bytes, 2^63 stands for none. Lists are links of 16 bits in the flows' states.
 * Range: 1 to 1024 flows; a quantum from 128 bytes on, so that rounds over all flows reach a packet within mh_tries().
 * Worst error: codel_law.h's.
 * Deviations: no CE threshold (section 5.2.7, off by default). A flow has had its quantum when no credit is left: section
 * 4.2 says both "negative" and "at least a quantum", Linux has the latter. Sizes are IP lengths, so the default quantum is
 * 1500 bytes, not 1514 with Ethernet's header (section 5.2.4): with the 14 bytes left over a new flow's second full packet
 * would go with its first. Half the packets leave at overflow, as section 4.1 has it; Linux takes half the bytes.
 */
#ifndef MOUSEHOLE_FQ_CODEL_H
#define MOUSEHOLE_FQ_CODEL_H

#include "codel_law.h"

enum {
	MH_FQ_CODEL_BANDS = 1024,
	MH_FQ_CODEL_BATCH = 64, /* packets that leave at overflow, at most */
	MH_FQ_CODEL_STEPS = 32  /* flows that one call of `dequeue` visits, at most */
};

/* Lists a flow may be in. */
enum { MH_FQ_CODEL_NEW = 0, MH_FQ_CODEL_OLD = 1, MH_FQ_CODEL_LISTS = 2 };

#define MH_FQ_CODEL_EVEN (1ULL << 63)
/* Times 3 it is 1, modulo 2^64. */
#define MH_FQ_CODEL_THIRD 0xaaaaaaaaaaaaaaabULL

struct mh_fq_codel_params {
	struct mh_codel_law law;
	struct mh_limit limit;
	u32 flows;
	u32 quantum_bytes;
};

struct mh_fq_codel_flow {
	struct mh_codel_vars codel;
	u64 credit_bytes;
	u32 era;    /* the state's when it joined the lists */
	u16 next;   /* of its list */
	u16 joined; /* 1 + its list; 0 for neither */
};

/* Flows in their order, linked by `next`. */
struct mh_fq_codel_list {
	u32 length;
	u16 first, last;
};

/* All zero is an empty queue that never saw a packet. */
struct mh_fq_codel_state {
	struct mh_fq_codel_list list[MH_FQ_CODEL_LISTS];
	u32 era;        /* how often the link has gone idle, which empties the lists */
	u32 last;       /* the band that sent last */
	u32 has_arrived; /* whether a packet has arrived since `overflow` was last asked */
	u32 left;       /* packets that `victim` is still to lose */
	u32 victim;
	u32 reserved;
	struct mh_fq_codel_flow flow[MH_FQ_CODEL_BANDS];
};

/* Returns `band` unchanged if there is such a band; the mask shows the kernel's verifier that the index is in range. */
MH_FN u32 mh_fq_codel_index(u32 band)
{
	return band & (MH_FQ_CODEL_BANDS - 1);
}

/* Appends the flow of `band`, which is in neither list, to list `which` (MH_FQ_CODEL_NEW or MH_FQ_CODEL_OLD). */
MH_FN void mh_fq_codel_append(struct mh_fq_codel_state *state, u32 which, u32 band)
{
	struct mh_fq_codel_list *list = &state->list[which];

	if (list->length)
		state->flow[mh_fq_codel_index(list->last)].next = (u16)band;
	else
		list->first = (u16)band;
	list->last = (u16)band;
	list->length++;
	state->flow[band].joined = (u16)(which + 1);
}

/* Removes from list `which` its first flow, which is that of `band`; the flow is then in neither list. */
MH_FN void mh_fq_codel_remove_first(struct mh_fq_codel_state *state, u32 which, u32 band)
{
	state->list[which].first = state->flow[band].next;
	state->list[which].length--;
	state->flow[band].joined = 0;
}

/* Returns 0: nothing depends on chance. */
MH_FN u32 mh_fq_codel_draws(const struct mh_fq_codel_params *params)
{
	(void)params;
	return 0;
}

/*
 * Returns the band of an arrival by the hash of its flow, and adds an inactive flow to the new flows with a fresh
 * credit. If the link was idle before, both lists are emptied first. Refuses nothing.
 */
MH_FN u32 mh_fq_codel_enqueue(const struct mh_fq_codel_params *params, struct mh_fq_codel_state *state,
			      const struct mh_waiting *waiting, const struct mh_view *view, u32 hash, u64 now_ns,
			      u32 random)
{
	u32 band = mh_fq_codel_index((u32)(((u64)hash * params->flows) >> 32));
	struct mh_fq_codel_flow *flow = &state->flow[band];

	(void)view;
	(void)now_ns;
	(void)random;
	/*
	 * The link was idle: a transmitter that finds nothing goes through both lists and empties them (RFC 8290
	 * section 4.2).
	 */
	if (!waiting->all.packets && waiting->band[mh_fq_codel_index(state->last)].waiting.idle_since_ns != MH_NEVER) {
		state->era++;
		state->list[MH_FQ_CODEL_NEW].length = 0;
		state->list[MH_FQ_CODEL_OLD].length = 0;
	}
	if (flow->joined && flow->era != state->era) {
		mh_codel_reset(&flow->codel);
		flow->joined = 0;
	}
	if (!flow->joined) {
		flow->era = state->era;
		flow->credit_bytes = MH_FQ_CODEL_EVEN + params->quantum_bytes;
		mh_fq_codel_append(state, MH_FQ_CODEL_NEW, band);
	}
	state->has_arrived = 1;
	return band;
}

/*
 * Returns the band with the most bytes waiting, the first of several. It has no branch, as the kernel's verifier would
 * follow both sides of each. It therefore makes no comparison, and no mask of a sign bit, which clang turns into one.
 */
MH_FN u32 mh_fq_codel_largest_band(const struct mh_waiting *waiting)
{
	u64 most = 0, fattest = 0, bytes, is_more;
	u32 band;

	for (band = 0; band < MH_FQ_CODEL_BANDS; band++) {
		bytes = waiting->band[band].waiting.bytes;
		is_more = ((most - bytes) >> 62) * MH_FQ_CODEL_THIRD; /* 3 thirds of a negative number, else 0 */
		most += (bytes - most) * is_more;
		fattest += (band - fattest) * is_more;
	}
	return (u32)fattest;
}

/*
 * Returns the band that loses its head, with MH_HEAD, or MH_FITS. Each arrival beyond the limit begins one batch of
 * drops from the longest band (RFC 8290 section 4.1), of which each call counts one.
 */
MH_FN u32 mh_fq_codel_overflow(const struct mh_fq_codel_params *params, struct mh_fq_codel_state *state,
			       const struct mh_waiting *waiting, u64 now_ns)
{
	(void)now_ns;
	if (state->has_arrived && mh_is_full(&params->limit, &waiting->all, 0, 0)) {
		state->victim = mh_fq_codel_largest_band(waiting);
		state->left = (u32)mh_min((waiting->band[mh_fq_codel_index(state->victim)].waiting.packets + 1) / 2,
					  MH_FQ_CODEL_BATCH);
	}
	state->has_arrived = 0;
	if (!state->left || !waiting->band[mh_fq_codel_index(state->victim)].waiting.packets)
		return MH_FITS;
	state->left--;
	return mh_fq_codel_index(state->victim) | MH_HEAD;
}

/*
 * Returns the band whose head leaves, with MH_MARKED if it is to be marked, or is dropped, with
 * MH_DROPPED. Returns MH_AGAIN if no flow is listed, or MH_FQ_CODEL_STEPS flows were visited and no
 * packet can leave yet (RFC 8290 section 4.2). Moves the flows that it visits between the lists, gives them credit, and
 * takes the size of a head that leaves from its flow's.
 */
MH_FN u32 mh_fq_codel_dequeue(const struct mh_fq_codel_params *params, struct mh_fq_codel_state *state,
			      const struct mh_waiting *waiting, u64 now_ns)
{
	struct mh_fq_codel_flow *flow;
	const struct mh_band *one;
	u32 step, which, band, answer;

	for (step = 0; step < MH_FQ_CODEL_STEPS; step++) {
		which = state->list[MH_FQ_CODEL_NEW].length ? MH_FQ_CODEL_NEW : MH_FQ_CODEL_OLD;
		if (!state->list[which].length)
			return MH_AGAIN;
		band = mh_fq_codel_index(state->list[which].first);
		flow = &state->flow[band];
		one = &waiting->band[band];
		if (flow->credit_bytes <= MH_FQ_CODEL_EVEN) {
			flow->credit_bytes += params->quantum_bytes;
			mh_fq_codel_remove_first(state, which, band);
			mh_fq_codel_append(state, MH_FQ_CODEL_OLD, band);
			continue;
		}
		if (one->waiting.packets) {
			answer = mh_codel_judge_head(&params->law, &flow->codel, one, waiting->all.bytes, now_ns);
			if (answer != MH_DROPPED) {
				flow->credit_bytes -= one->head.ip_bytes;
				state->last = band;
			}
			return band | answer;
		}
		mh_codel_note_empty(&params->law, &flow->codel, now_ns);
		mh_fq_codel_remove_first(state, which, band);
		/* It cannot stay new by sending rarely. */
		if (which == MH_FQ_CODEL_NEW)
			mh_fq_codel_append(state, MH_FQ_CODEL_OLD, band);
	}
	return MH_AGAIN;
}

#ifdef MH_DESCRIBE

static const struct mh_parameter mh_fq_codel_parameters[] = {
	{ MH_FIELD(mh_fq_codel_params, flows), .kind = MH_COUNT, .name = "flows", .value = "1024", .least = 1,
	  .most = MH_FQ_CODEL_BANDS, .meaning = "queues that flows are hashed into", .source = "RFC 8290 section 5.2.5" },
	{ MH_FIELD(mh_fq_codel_params, quantum_bytes), .kind = MH_SIZE, .name = "quantum", .value = "1500B", .least = 128,
	  .most = 1e9, .meaning = "bytes a queue may send per round",
	  .source = "RFC 8290 section 5.2.4, without the 14 bytes of Ethernet's header, as sizes are here" },
	MH_CODEL_TABLE(mh_fq_codel_params),
	{ MH_FIELD(mh_fq_codel_params, limit), .kind = MH_BUFFER, .name = "limit", .value = "10240p", .least = 1,
	  .most = 1e12, .meaning = "limit over all queues; not --buffer, because people install it so",
	  .source = "RFC 8290 section 5.2.3" },
};

/* Computes the law's derived fields. Refuses nothing. */
static inline struct mh_fault mh_fq_codel_setup(struct mh_fq_codel_params *params, const struct mh_link_context *link)
{
	(void)link;
	return mh_codel_law_setup(&params->law);
}

#endif

MH_SETUP(fq_codel)
MH_DRAWS(fq_codel)
MH_OVERFLOW(fq_codel)
MH_QUEUE(fq_codel, mh_fq_codel_params, mh_fq_codel_state, MH_FQ_CODEL_BANDS,
	 .flags = MH_READS_FLOWS,
	 .install = "qdisc:fq_codel,3.5",
	 .summary = "flow queueing with CoDel, what people would install instead",
	 .source = "RFC 8290",
	 .detail = "Every flow has a queue of its own, served in turn, and a flow that sends little goes first. Short flows need "
		   "no marks and no thresholds: the bar that the papers' schemes have to clear.",
	 .unread = "limit.reserved",
	 MH_TABLE_OF(fq_codel), MH_OFFERS(fq_codel, setup), MH_OFFERS(fq_codel, draws), MH_OFFERS(fq_codel, overflow))

#endif
