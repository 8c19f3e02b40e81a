/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * SFD's marker, Short-Flow Differentiating: meter, threshold, promotion.
 *
 * Chen & Heidemann, "Preferential Treatment for Short Flows to Reduce Web Latency", ISI-TR-2001-548, 2001
 * (revised 2002): section 3.2 (SFD), section 3.3 (P-SFD, S-SFD).
 *
 *   meter the packet (flow_meter.h)
 *   colour = IN (green) if count <= th (threshold_marker.h)
 *          = IN         if beyond th and promoted (promotion.h)
 *          = OUT (yellow) otherwise
 *
 * The paper: th = 15 KB, timeout p = 1 s, K = 4. The queue behind it is multi_red.h or a pair of priorities.
 *
 * Format: plain integers; errors and ranges are those of the three parts.
 * Deviations from the paper: those of the three parts. The authors' simulator code differs from the
 * paper (5 s timeout checked lazily, one promoted after every five). This header does not have that variant.
 */
#ifndef MOUSEHOLE_SFD_H
#define MOUSEHOLE_SFD_H

#include "policy.h"
#include "promotion.h"
#include "threshold_marker.h"

struct mh_sfd_params {
	struct mh_flow_meter_params meter;
	struct mh_threshold_marker_params marker;
	struct mh_promotion_params promotion;
};

/* All zero is a new flow. */
struct mh_sfd_flow {
	struct mh_flow_meter meter;
	struct mh_promotion promotion;
	u32 reserved;
};

/* Returns whether the flow has been silent for longer than the timeout, so that its state may be forgotten. */
MH_FN u32 mh_sfd_expired(const struct mh_sfd_params *params, const struct mh_sfd_flow *flow, u64 now_ns)
{
	return mh_flow_meter_expired(&params->meter, &flow->meter, now_ns);
}

/* Returns whether the colour depends on `random`. */
MH_FN u32 mh_sfd_draws(const struct mh_sfd_params *params)
{
	return params->promotion.kind == MH_PROMOTE_PROBABILISTIC;
}

/*
 * Meters a packet of `flow` and returns its colour: green (IN) or yellow (OUT). A packet beyond the threshold counts
 * for the flow's promotion, which starts anew with the flow.
 */
MH_FN u32 mh_sfd_packet(const struct mh_sfd_params *params, struct mh_sfd_flow *flow, struct mh_none *state,
			const struct mh_view *view, u64 now_ns, u32 random)
{
	const struct mh_threshold *threshold = &params->marker.threshold;
	u32 count, colour;

	(void)state;
	if (mh_flow_meter_packet(&params->meter, &flow->meter, view, now_ns))
		flow->promotion.out_count = 0;
	colour = mh_threshold_marker_colour(&params->marker, &flow->meter);
	if (colour == params->marker.within)
		return colour;
	count = mh_flow_meter_count(&flow->meter, threshold->unit);
	if (mh_promotion_packet(&params->promotion, &flow->promotion, threshold->count, count, random))
		return params->marker.within;
	return colour;
}

#ifdef MH_DESCRIBE

static const struct mh_parameter mh_sfd_parameters[] = {
	{ MH_FIELD(mh_sfd_params, marker.threshold), .kind = MH_THRESHOLD, .name = "th", .value = "15kB",
	  .least = 0, .most = 4294967294.0,
	  .meaning = "a flow's packets are IN up to this count, in bytes of IP length or packets",
	  .source = "SFD section 4" },
	{ MH_FIELD(mh_sfd_params, meter.timeout_ns), .kind = MH_TIMEOUT, .name = "timeout", .value = "1s",
	  .least = 1e-9, .most = 1e9, .meaning = "a flow that was silent for longer starts again at zero",
	  .source = "SFD section 3.2" },
	{ MH_FIELD(mh_sfd_params, promotion.kind), .kind = MH_CHOICE, .mask = 3, .name = "promotion",
	  .choices = "none probabilistic one-of-k", .value = "none",
	  .meaning = "which OUT packets are IN after all: none (SFD), each with probability th / bytes sent (P-SFD), "
		     "or one of every k (S-SFD)",
	  .source = "SFD section 3.3" },
	{ MH_FIELD(mh_sfd_params, promotion.every), .kind = MH_COUNT, .name = "k", .value = "4", .least = 1,
	  .most = 4294967295.0, .meaning = "with promotion=one-of-k, every k-th OUT packet of a flow is IN",
	  .source = "SFD section 4.3" },
	{ MH_FIELD(mh_sfd_params, meter.syn_restarts), .kind = MH_FLAG, .mask = 1, .name = "syn", .value = "true",
	  .meaning = "a SYN makes its flow new, so that a reused port does not inherit an old count",
	  .source = "ours: the paper's simulator has no SYNs" },
};

/* Sets the colours within and beyond the threshold. Refuses nothing. */
static inline struct mh_fault mh_sfd_setup(struct mh_sfd_params *params, const struct mh_link_context *link)
{
	(void)link;
	params->marker.within = MH_GREEN;
	params->marker.beyond = MH_YELLOW;
	return MH_NO_FAULT;
}

#endif

MH_SETUP(sfd)
MH_DRAWS(sfd)
MH_EXPIRED(sfd)
MH_MARKER(sfd, mh_sfd_params, mh_sfd_flow, mh_none,
	  .colours = 2, .install = "firewall:th promotion=none timeout=never",
	  .summary = "the first bytes of a flow are green (IN), the rest yellow (OUT)",
	  .source = "Chen & Heidemann, ISI-TR-2001-548, sections 3.2 and 3.3",
	  .detail = "The edge counts each flow's bytes. Packets up to the threshold are green, packets beyond it yellow. "
		    "Promotion makes some packets of long flows green as well.",
	  MH_TABLE_OF(sfd), MH_OFFERS(sfd, setup), MH_OFFERS(sfd, draws), MH_OFFERS(sfd, expired))

#endif
