/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * CoDel: one band that drops from its head when the delay has stayed above a target.
 *
 * RFC 8289; codel_law.h has the rule. Defaults are those of the RFC.
 *
 *   arrival : dropped by force when it does not fit `limit`
 *   next    : the head, unless CoDel drops it
 *
 * Work-conserving, first in, first out. The limit is a parameter of its own and not the link's buffer, because people
 * install it so.
 *
 * Format, range, worst error: codel_law.h's.
 * Deviations: the RFC sets no limit; 1000 packets are Linux' default.
 */
#ifndef MOUSEHOLE_CODEL_H
#define MOUSEHOLE_CODEL_H

#include "codel_law.h"

struct mh_codel_params {
	struct mh_codel_law law;
	struct mh_limit limit;
};

/* Returns 0: nothing depends on chance. */
MH_FN u32 mh_codel_draws(const struct mh_codel_params *params)
{
	(void)params;
	return 0;
}

/*
 * Returns band 0 for an arrival, or a refusal if it does not fit the limit. Leaves the dropping state if the link was
 * idle before.
 */
MH_FN u32 mh_codel_enqueue(const struct mh_codel_params *params, struct mh_codel_vars *state,
			   const struct mh_waiting *waiting, const struct mh_view *view, u32 hash, u64 now_ns, u32 random)
{
	u32 full = mh_is_full(&params->limit, &waiting->all, view->ip_bytes, mh_segments(view));

	(void)hash;
	(void)now_ns;
	(void)random;
	/* The link was idle before this arrival. */
	if (!waiting->all.packets && waiting->band[0].waiting.idle_since_ns != MH_NEVER)
		mh_codel_reset(state);
	return mh_into(0, mh_verdict_with_buffer(full, MH_PASS));
}

/*
 * Returns band 0 if its head leaves, with MH_MARKED if it is to be marked; with MH_DROPPED if CoDel drops it. Advances
 * CoDel's state, so it is called once for each head.
 */
MH_FN u32 mh_codel_dequeue(const struct mh_codel_params *params, struct mh_codel_vars *state,
			   const struct mh_waiting *waiting, u64 now_ns)
{
	return mh_codel_judge_head(&params->law, state, &waiting->band[0], waiting->all.bytes, now_ns);
}

#ifdef MH_DESCRIBE

static const struct mh_parameter mh_codel_parameters[] = {
	MH_CODEL_TABLE(mh_codel_params),
	{ MH_FIELD(mh_codel_params, limit), .kind = MH_BUFFER, .name = "limit", .value = "1000p", .least = 1,
	  .most = 1e12, .meaning = "limit of the queue; not --buffer, because people install it so",
	  .source = "Linux' default, which the RFC leaves open" },
};

/* Computes the law's derived fields. Refuses nothing. */
static inline struct mh_fault mh_codel_setup(struct mh_codel_params *params, const struct mh_link_context *link)
{
	(void)link;
	return mh_codel_law_setup(&params->law);
}

#endif

MH_SETUP(codel)
MH_DRAWS(codel)
MH_QUEUE(codel, mh_codel_params, mh_codel_vars, 1,
	 .install = "qdisc:codel,3.5",
	 .summary = "one FIFO that drops from its head when the delay stays above a target",
	 .source = "RFC 8289",
	 .detail = "Every packet is stamped; when the delay has stayed above target for an interval, the head is dropped, and "
		   "then ever more often until the delay falls. All flows wait in one queue, so that short ones gain by the "
		   "queue's being short, and by nothing else.",
	 .unread = "limit.reserved",
	 MH_TABLE_OF(codel), MH_OFFERS(codel, setup), MH_OFFERS(codel, draws))

#endif
