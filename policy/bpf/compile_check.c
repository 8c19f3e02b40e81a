/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * Gives every policy function a body for check-bpf.sh: static inlines that nobody calls are not compiled, and
 * only code generation shows what the eBPF target refuses. Never linked or loaded.
 */
#define EMIT __attribute__((noinline, used))

#include "mousehole/base.h"

EMIT u64 check_pow(u64 base_q64, u64 exponent)
{
	return mh_pow_q64(base_q64, exponent);
}

#ifdef CHECK_red
#include "mousehole/red.h"

EMIT u32 check_red(const struct mh_red_params *params, struct mh_red_state *state, const struct mh_view *view,
		   const struct mh_backlog *backlog, u64 now_random)
{
	return mh_red_packet(params, state, view, backlog, now_random, (u32)now_random);
}
#endif

#ifdef CHECK_multi_red
#include "mousehole/multi_red.h"

EMIT u32 check_multi_red(const struct mh_multi_red_params *params, struct mh_multi_red_state *state,
			 const struct mh_view *view, const struct mh_colour_backlog *backlog, u64 now_random)
{
	return mh_multi_red_packet(params, state, view, backlog, now_random, (u32)now_random);
}

EMIT u64 check_multi_red_departed(const struct mh_multi_red_params *params, struct mh_multi_red_state *state,
				  u32 colour, const struct mh_colour_backlog *after, u64 now_ns)
{
	mh_multi_red_departed(params, state, colour, after, now_ns);
	return mh_multi_red_average(params, state, colour);
}
#endif

#ifdef CHECK_flow_meter
#include "mousehole/flow_meter.h"

EMIT u32 check_flow_meter(const struct mh_flow_meter_params *params, struct mh_flow_meter *meter,
			  const struct mh_view *view, u64 now_ns)
{
	return mh_flow_meter_packet(params, meter, view, now_ns) + mh_flow_meter_expired(params, meter, now_ns);
}
#endif

#ifdef CHECK_threshold_marker
#include "mousehole/threshold_marker.h"

EMIT u32 check_threshold_marker(const struct mh_threshold_marker_params *params,
				const struct mh_flow_meter *meter)
{
	return mh_threshold_marker_colour(params, meter);
}
#endif

#ifdef CHECK_promotion
#include "mousehole/promotion.h"

EMIT u32 check_promotion(const struct mh_promotion_params *params, struct mh_promotion *promotion,
			 u32 threshold, u32 count, u32 random)
{
	return mh_promotion_packet(params, promotion, threshold, count, random);
}
#endif

#ifdef CHECK_sfd
#include "mousehole/sfd.h"

EMIT u32 check_sfd(const struct mh_sfd_params *params, struct mh_sfd_flow *flow, const struct mh_view *view,
		   u64 now_ns, u32 random)
{
	return mh_sfd_packet(params, flow, view, now_ns, random) + mh_sfd_expired(params, flow, now_ns);
}
#endif

#ifdef CHECK_token_bucket
#include "mousehole/token_bucket.h"

EMIT u64 check_token_bucket(const struct mh_token_bucket_params *params, struct mh_token_bucket *bucket,
			    u32 tokens, u64 now_ns)
{
	if (mh_token_bucket_packet(params, bucket, tokens, now_ns))
		return mh_token_bucket_percent_q16(params, bucket);
	mh_token_bucket_take_clipped(params, bucket, tokens);
	return mh_token_bucket_wait_ns(params, bucket, tokens);
}
#endif

#ifdef CHECK_policer
#include "mousehole/policer.h"

EMIT u32 check_policer(const struct mh_policer_params *params, struct mh_policer *policer,
		       const struct mh_view *view, u64 now_ns)
{
	return mh_policer_packet(params, policer, view, now_ns);
}
#endif

#ifdef CHECK_aggregate_marker
#include "mousehole/aggregate_marker.h"

EMIT u32 check_aggregate_marker(const struct mh_aggregate_marker_params *params,
				struct mh_aggregate_marker *marker, const struct mh_view *view, u64 now_ns)
{
	return mh_aggregate_marker_packet(params, marker, view, now_ns);
}
#endif

#ifdef CHECK_size_history
#include "mousehole/size_history.h"

EMIT u32 check_size_history(const struct mh_size_history_params *params, struct mh_size_history *history,
			    u32 size)
{
	mh_size_history_flow_end(params, history, size);
	return mh_size_history_quantile(history);
}
#endif

#ifdef CHECK_lfp
#include "mousehole/lfp.h"

EMIT u32 check_lfp(const struct mh_lfp_params *params, struct mh_lfp_flow *flow, struct mh_lfp_state *state,
		   const struct mh_view *view, u64 now_ns)
{
	if (mh_lfp_expired(params, flow, now_ns))
		mh_lfp_flow_end(params, state, flow->meter.packets);
	return mh_lfp_packet(params, flow, state, view, now_ns);
}
#endif

#ifdef CHECK_rio_ps
#include "mousehole/rio_ps.h"

EMIT u32 check_rio_ps(const struct mh_rio_ps_params *params, struct mh_flow_meter *flow,
		      const struct mh_rio_ps_state *state, const struct mh_view *view, u64 now_ns)
{
	return mh_rio_ps_packet(params, flow, state, view, now_ns) + mh_rio_ps_expired(params, flow, now_ns);
}

EMIT u32 check_rio_ps_control(const struct mh_rio_ps_params *params, struct mh_rio_ps_state *state,
			      const struct mh_rio_ps_counts *counts, u64 now_ns)
{
	mh_rio_ps_control(params, state, counts, now_ns);
	return mh_rio_ps_threshold(params, state);
}
#endif

#ifdef CHECK_shred
#include "mousehole/shred.h"

EMIT u32 check_shred(const struct mh_shred_params *params, struct mh_shred_state *state,
		     const struct mh_view *view, const struct mh_backlog *backlog, u64 now_random)
{
	return mh_shred_packet(params, state, view, backlog, now_random, (u32)now_random);
}

EMIT u64 check_shred_probability(const struct mh_shred_params *params, u64 avg_q32, u64 hint, u64 hint_avg_q32)
{
	return mh_shred_probability(params, avg_q32, hint, hint_avg_q32);
}
#endif

#ifdef CHECK_shred_edge
#include "mousehole/shred_edge.h"

EMIT u32 check_shred_edge(const struct mh_shred_edge_params *params, struct mh_shred_edge *flow,
			  const struct mh_view *view)
{
	return mh_shred_edge_packet(params, flow, view);
}
#endif

#ifdef CHECK_window_marker
#include "mousehole/window_marker.h"

EMIT u32 check_window_marker(const struct mh_window_marker_params *params, const struct mh_view *view,
			     u32 random)
{
	return mh_window_marker_packet(params, view, random);
}
#endif

#ifdef CHECK_demotion
#include "mousehole/demotion.h"

EMIT u32 check_demotion(const struct mh_demotion_params *params, struct mh_flow_meter *flow,
			const struct mh_view *view, u64 now_ns)
{
	return mh_demotion_packet(params, flow, view, now_ns) + mh_demotion_expired(params, flow, now_ns);
}
#endif
