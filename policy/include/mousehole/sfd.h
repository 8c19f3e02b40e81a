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
 * paper (5 s timeout checked lazily, one promoted after every five); that variant is not here.
 */
#ifndef MOUSEHOLE_SFD_H
#define MOUSEHOLE_SFD_H

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

/* Whether the flow may be forgotten. */
MH_FN u32 mh_sfd_expired(const struct mh_sfd_params *params, const struct mh_sfd_flow *flow, u64 now_ns)
{
	return mh_flow_meter_expired(&params->meter, &flow->meter, now_ns);
}

/* The colour of a packet of `flow`. */
MH_FN u32 mh_sfd_packet(const struct mh_sfd_params *params, struct mh_sfd_flow *flow,
			const struct mh_view *view, u64 now_ns, u32 random)
{
	u32 count, colour;

	if (mh_flow_meter_packet(&params->meter, &flow->meter, view, now_ns))
		flow->promotion.out_count = 0;
	colour = mh_threshold_marker_colour(&params->marker, &flow->meter);
	if (colour == params->marker.within)
		return colour;
	count = mh_flow_meter_count(&flow->meter, params->marker.unit);
	if (mh_promotion_packet(&params->promotion, &flow->promotion, params->marker.threshold, count, random))
		return params->marker.within;
	return colour;
}

#endif
