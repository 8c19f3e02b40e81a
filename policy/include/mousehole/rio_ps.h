/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * RIO-PS at the edge: packets up to a threshold are Short, and the threshold follows the flows.
 *
 * Guo & Matta, "The War Between Mice and Elephants", BU-CS-2001-005, 2001: section III.B (meter, threshold,
 * T_u, T_c, SLR), appendix I.A (control). The queue behind it is multi_red.h, coupled, gentle, with ECN.
 *
 *   packet:   n += segments                     flow_meter.h, in packets, timeout T_u
 *             Short (green) if n <= L_t, this packet included, else Long (yellow)
 *   control:  once per T_c, over all flows in the table:
 *             cnt_s = flows with n <= L_t, cnt_l = the others
 *             L_t <- L_t - 1 if cnt_s > SLR * cnt_l, else L_t + 1, within floor .. cap
 *
 * Too many short flows lower the threshold, which makes more of them long: the feedback is negative. The
 * caller keeps the table, sweeps it, counts with mh_rio_ps_is_short and calls mh_rio_ps_control.
 *
 * The paper, Table III and section IV.A: T_u = 1 s, T_c = 10 s, SLR = 3 (2 to 6 made no difference). Ours: L_t
 * starts at 20 packets and stays within 1 .. 1000; the paper gives none of these.
 *
 * Format: SLR is Q16, 2^-16 .. 65535, right to 2^-17; whole numbers are exact. The rest is plain integers:
 * packets, ns; 1 <= floor <= initial <= cap <= 2^32 - 2. cnt_s and cnt_l up to 2^32 - 1.
 *
 * Deviations from the paper:
 * - Without any flow L_t stays; as printed, the other branch would let it drift up on an idle link.
 * - A flow is new after exactly T_u without a packet; the paper's sweep notices between T_u and 2 T_u.
 * - SYNs and packets without payload are Short and not counted: the paper's simulator has one-way
 *   connections without either. A SYN makes its flow new, if `syn_restarts`.
 * - floor and cap.
 * The paper leaves open whether a flow stays long when L_t rises beyond its count; here it is judged anew each time,
 * so that packets and counts go by the same L_t. It also leaves open what happens to ECT packets in the gentle part
 * of the line: multi_red.h marks up to max and drops by chance beyond; that paper's simulator marked there too.
 */
#ifndef MOUSEHOLE_RIO_PS_H
#define MOUSEHOLE_RIO_PS_H

#include "flow_meter.h"

struct mh_rio_ps_params {
	struct mh_flow_meter_params meter; /* timeout T_u */
	u64 period_ns;                     /* T_c; 0 takes every call */
	u32 ratio_q16;                     /* SLR */
	u32 initial;                       /* L_t at first, packets */
	u32 floor;                         /* least L_t, at least 1 */
	u32 cap;                           /* greatest L_t */
};

/* All zero is an edge that was never controlled. A flow's state is a mh_flow_meter. */
struct mh_rio_ps_state {
	u64 next_ns;   /* calls of control before this moment do nothing */
	u32 threshold; /* L_t, packets; 0 stands for `initial` */
	u32 reserved;
};

/* Active flows by length. */
struct mh_rio_ps_counts {
	u32 short_flows; /* cnt_s */
	u32 long_flows;  /* cnt_l */
};

/* L_t, packets. */
MH_FN u32 mh_rio_ps_threshold(const struct mh_rio_ps_params *params, const struct mh_rio_ps_state *state)
{
	return state->threshold ? state->threshold : params->initial;
}

/* Whether the flow counts as short now; for the caller that sweeps. */
MH_FN u32 mh_rio_ps_is_short(const struct mh_rio_ps_params *params, const struct mh_rio_ps_state *state,
			     const struct mh_flow_meter *flow)
{
	return flow->packets <= mh_rio_ps_threshold(params, state);
}

/* Whether the flow may be forgotten. */
MH_FN u32 mh_rio_ps_expired(const struct mh_rio_ps_params *params, const struct mh_flow_meter *flow, u64 now_ns)
{
	return mh_flow_meter_expired(&params->meter, flow, now_ns);
}

/* The colour of a packet of `flow`. */
MH_FN u32 mh_rio_ps_packet(const struct mh_rio_ps_params *params, struct mh_flow_meter *flow,
			   const struct mh_rio_ps_state *state, const struct mh_view *view, u64 now_ns)
{
	if (view->flags & MH_SYN && params->meter.syn_restarts) {
		flow->bytes = flow->packets = 0;
		flow->last_seen_ns = mh_max(flow->last_seen_ns, now_ns);
	}
	if (view->flags & (MH_SYN | MH_ACK))
		return MH_GREEN;
	mh_flow_meter_packet(&params->meter, flow, view, now_ns);
	return mh_rio_ps_is_short(params, state, flow) ? MH_GREEN : MH_YELLOW;
}

/* Adapts the threshold to the flows counted; earlier than T_c after the last step it does nothing. */
MH_FN void mh_rio_ps_control(const struct mh_rio_ps_params *params, struct mh_rio_ps_state *state,
			     const struct mh_rio_ps_counts *counts, u64 now_ns)
{
	u32 threshold = mh_rio_ps_threshold(params, state);

	if (now_ns < state->next_ns)
		return;
	state->next_ns = now_ns + mh_min(params->period_ns, MH_NEVER - now_ns);
	if (!counts->short_flows && !counts->long_flows)
		return;
	if ((u64)counts->short_flows << 16 > (u64)counts->long_flows * params->ratio_q16)
		state->threshold = (u32)mh_max(threshold - 1, params->floor);
	else
		state->threshold = (u32)mh_min(threshold + 1, params->cap);
}

#endif
