/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * RIO-PS at the edge: packets up to a threshold are Short; the threshold adapts to the numbers of flows.
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
 * caller keeps the table, sweeps it, counts flows by mh_rio_ps_classify and calls mh_rio_ps_control.
 *
 * The paper, Table III and section IV.A: T_u = 1 s, T_c = 10 s, SLR = 3 (2 to 6 made no difference). Ours: L_t
 * starts at 20 packets and stays within 1 .. 1000; the paper gives none of these.
 *
 * Format: SLR is Q16, 2^-16 .. 65535, right to 2^-17; whole numbers are exact. The rest is plain integers:
 * packets, ns; 1 <= floor <= initial <= cap <= 2^32 - 2. cnt_s and cnt_l up to 2^32 - 1.
 *
 * Deviations from the paper:
 * - Without any flow L_t stays. By the printed rule, the other branch would raise it on an idle link.
 * - A flow is new after exactly T_u without a packet; the paper's sweep notices between T_u and 2 T_u.
 * - SYNs and packets without payload are Short and not counted: the paper's simulator has one-way
 *   connections without either. A SYN makes its flow new, if `syn_restarts`.
 * - floor and cap.
 * The paper leaves open whether a flow stays long when L_t rises beyond its count. Here each packet is judged anew,
 * so that packets and counts use the same L_t. It also leaves open what happens to ECT packets in the gentle part
 * of the line. multi_red.h marks them up to max and drops them by chance beyond; the paper's simulator marked there
 * too, as `mark_gentle` does.
 */
#ifndef MOUSEHOLE_RIO_PS_H
#define MOUSEHOLE_RIO_PS_H

#include "flow_meter.h"
#include "policy.h"

struct mh_rio_ps_params {
	struct mh_flow_meter_params meter; /* timeout T_u */
	u64 period_ns;                     /* T_c; 0 takes every call */
	u32 ratio_q16;                     /* SLR */
	u32 initial;                       /* L_t at first, packets */
	u32 floor;                         /* least L_t, at least 1 */
	u32 cap;                           /* greatest L_t */
};

/* Written by `control` and read for each packet. */
struct mh_rio_ps_published {
	u32 threshold; /* L_t, packets; 0 stands for `initial` */
	u32 reserved;
};

/* All zero is an edge that was never controlled. A flow's state is a mh_flow_meter. */
struct mh_rio_ps_state {
	struct mh_rio_ps_published published;
	u64 next_ns; /* calls of control before this moment do nothing */
};

/* Classes in which active flows are counted. */
enum { MH_RIO_PS_SHORT = 0, MH_RIO_PS_LONG = 1 };

/* Returns the threshold L_t, packets. */
MH_FN u32 mh_rio_ps_threshold(const struct mh_rio_ps_params *params, const struct mh_rio_ps_state *state)
{
	return state->published.threshold ? state->published.threshold : params->initial;
}

/* Returns whether the flow has sent at most L_t packets. */
MH_FN u32 mh_rio_ps_is_short(const struct mh_rio_ps_params *params, const struct mh_rio_ps_state *state,
			     const struct mh_flow_meter *flow)
{
	return flow->packets <= mh_rio_ps_threshold(params, state);
}

/*
 * Returns the class in which `control` counts the flow, MH_RIO_PS_SHORT or MH_RIO_PS_LONG; MH_CLASSES, which is none, for
 * a flow without a counted packet.
 */
MH_FN u32 mh_rio_ps_classify(const struct mh_rio_ps_params *params, const struct mh_flow_meter *flow,
			     const struct mh_rio_ps_state *state)
{
	if (!flow->packets)
		return MH_CLASSES;
	return mh_rio_ps_is_short(params, state, flow) ? MH_RIO_PS_SHORT : MH_RIO_PS_LONG;
}

/* Returns the time between two sweeps of the caller's table: T_u, ns. */
MH_FN u64 mh_rio_ps_period(const struct mh_rio_ps_params *params)
{
	return params->meter.timeout_ns;
}

/* Returns whether the flow has been silent for longer than T_u, so that its state may be forgotten. */
MH_FN u32 mh_rio_ps_expired(const struct mh_rio_ps_params *params, const struct mh_flow_meter *flow, u64 now_ns)
{
	return mh_flow_meter_expired(&params->meter, flow, now_ns);
}

/* Returns 0: no colour depends on chance. */
MH_FN u32 mh_rio_ps_draws(const struct mh_rio_ps_params *params)
{
	(void)params;
	return 0;
}

/*
 * Meters a packet of `flow` and returns its colour: green (Short) or yellow (Long). A SYN or a pure
 * acknowledgement is green and not metered; a SYN resets the flow's counts if `syn_restarts` is
 * set.
 */
MH_FN u32 mh_rio_ps_packet(const struct mh_rio_ps_params *params, struct mh_flow_meter *flow,
			   struct mh_rio_ps_state *state, const struct mh_view *view, u64 now_ns, u32 random)
{
	(void)random;
	if (view->flags & MH_SYN && params->meter.syn_restarts) {
		flow->bytes = flow->packets = 0;
		flow->last_seen_ns = mh_max(flow->last_seen_ns, now_ns);
	}
	if (view->flags & (MH_SYN | MH_ACK))
		return MH_GREEN;
	mh_flow_meter_packet(&params->meter, flow, view, now_ns);
	return mh_rio_ps_is_short(params, state, flow) ? MH_GREEN : MH_YELLOW;
}

/*
 * Adapts the threshold L_t to the numbers of short and long flows (appendix I.A). Returns 1 if it took a step; 0, and
 * changes nothing, if T_c has not passed since the last one.
 */
MH_FN u32 mh_rio_ps_control(const struct mh_rio_ps_params *params, struct mh_rio_ps_state *state,
			    const struct mh_counts *counts, u64 now_ns)
{
	u32 threshold = mh_rio_ps_threshold(params, state);
	u32 short_flows = counts->flows[MH_RIO_PS_SHORT], long_flows = counts->flows[MH_RIO_PS_LONG];

	if (now_ns < state->next_ns)
		return 0;
	state->next_ns = now_ns + mh_min(params->period_ns, MH_NEVER - now_ns);
	if (!short_flows && !long_flows)
		return 1;
	if ((u64)short_flows << 16 > (u64)long_flows * params->ratio_q16)
		state->published.threshold = (u32)mh_max(threshold - 1, params->floor);
	else
		state->published.threshold = (u32)mh_min(threshold + 1, params->cap);
	return 1;
}

#ifdef MH_DESCRIBE

static const struct mh_parameter mh_rio_ps_parameters[] = {
	{ MH_FIELD(mh_rio_ps_params, ratio_q16), .kind = MH_NUMBER, .bits = 16, .name = "slr", .value = "3",
	  .least = 1.0 / 65536, .most = 65535, .meaning = "short flows to be had for each long one",
	  .source = "RIO-PS Table III" },
	{ MH_FIELD(mh_rio_ps_params, period_ns), .kind = MH_TIME, .name = "t_c", .value = "10s", .least = 1e-3,
	  .most = 1e9, .meaning = "time between two steps of the threshold", .source = "RIO-PS section III.B" },
	{ MH_FIELD(mh_rio_ps_params, meter.timeout_ns), .kind = MH_TIME, .name = "t_u", .value = "1s",
	  .least = 1e-3, .most = 1e9,
	  .meaning = "a flow that was silent for longer is forgotten; the table is swept this often",
	  .source = "RIO-PS section III.B" },
	{ MH_FIELD(mh_rio_ps_params, initial), .kind = MH_COUNT, .name = "l_t", .value = "20", .least = 1,
	  .most = 4294967294.0, .meaning = "first threshold, packets", .source = "ours: the paper does not say" },
	{ MH_FIELD(mh_rio_ps_params, floor), .kind = MH_COUNT, .name = "floor", .value = "1", .least = 1,
	  .most = 4294967294.0, .meaning = "least threshold, packets", .source = "ours: the paper does not say" },
	{ MH_FIELD(mh_rio_ps_params, cap), .kind = MH_COUNT, .name = "cap", .value = "1000", .least = 1,
	  .most = 4294967294.0, .meaning = "greatest threshold, packets", .source = "ours: the paper does not say" },
	{ MH_FIELD(mh_rio_ps_params, meter.syn_restarts), .kind = MH_FLAG, .mask = 1, .name = "syn",
	  .value = "true", .meaning = "a SYN makes its flow new, so that a reused port does not inherit an old count",
	  .source = "ours: the paper's simulator has no SYNs" },
};

/* Refuses an initial threshold outside floor .. cap, or a cap below floor. */
static inline struct mh_fault mh_rio_ps_setup(struct mh_rio_ps_params *params, const struct mh_link_context *link)
{
	(void)link;
	if (params->cap < params->floor)
		return MH_FAULT("cap", "at least floor");
	if (params->initial < params->floor || params->initial > params->cap)
		return MH_FAULT("l_t", "from floor to cap");
	return MH_NO_FAULT;
}

/* Returns the reading `threshold_packets`: L_t. */
static inline double mh_rio_ps_threshold_packets(const void *params, const void *state)
{
	return mh_rio_ps_threshold(params, state);
}

static const struct mh_reading mh_rio_ps_readings[] = { { "threshold_packets", mh_rio_ps_threshold_packets } };

#endif

MH_SETUP(rio_ps)
MH_DRAWS(rio_ps)
MH_EXPIRED(rio_ps)
MH_PERIOD(rio_ps)
MH_CLASSIFY(rio_ps)
MH_CONTROL(rio_ps)
MH_MARKER(rio_ps, mh_rio_ps_params, mh_flow_meter, mh_rio_ps_state, .colours = 2,
	  .summary = "the first packets of a flow are green (Short), by a threshold that follows the flows",
	  .source = "Guo & Matta, BU-CS-2001-005, section III.B, appendix I.A",
	  .detail = "The edge counts each flow's packets. Packets up to a threshold are green, packets beyond it yellow. "
		    "Every t_c it moves the threshold by one packet, so that short flows stay about slr times as many as "
		    "long ones.",
	  MH_TABLE_OF(rio_ps), MH_READINGS_OF(rio_ps), MH_OFFERS(rio_ps, setup), MH_OFFERS(rio_ps, draws),
	  MH_OFFERS(rio_ps, expired), MH_OFFERS(rio_ps, period), MH_OFFERS(rio_ps, classify),
	  MH_OFFERS(rio_ps, control), MH_PUBLISHES(mh_rio_ps_state))

#endif
