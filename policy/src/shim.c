/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* Plain functions over the inlined headers, for Rust to call. */
#include "mousehole/multi_red.h"
#include "mousehole/sfd.h"
#include "mousehole/demotion.h"
#include "mousehole/rio_ps.h"
#include "mousehole/shred.h"
#include "mousehole/shred_edge.h"
#include "mousehole/window_marker.h"

#include "mousehole/aggregate_marker.h"
#include "mousehole/lfp.h"
#include "mousehole/policer.h"

u64 mh_shim_red_average(const struct mh_red_params *params, u64 avg_q32, u64 queue_q32, u64 idle_ns)
{
	return mh_red_average(params, avg_q32, queue_q32, idle_ns);
}

u64 mh_shim_red_probability(const struct mh_red_params *params, u64 avg_q32)
{
	return mh_red_probability(params, avg_q32);
}

u32 mh_shim_red_packet(const struct mh_red_params *params, struct mh_red_state *state,
		       const struct mh_view *view, const struct mh_backlog *backlog, u64 now_ns, u32 random)
{
	return mh_red_packet(params, state, view, backlog, now_ns, random);
}

u64 mh_shim_multi_red_average(const struct mh_multi_red_params *params, const struct mh_multi_red_state *state,
			      u32 colour)
{
	return mh_multi_red_average(params, state, colour);
}

u32 mh_shim_multi_red_packet(const struct mh_multi_red_params *params, struct mh_multi_red_state *state,
			     const struct mh_view *view, const struct mh_colour_backlog *backlog, u64 now_ns,
			     u32 random)
{
	return mh_multi_red_packet(params, state, view, backlog, now_ns, random);
}

void mh_shim_multi_red_departed(const struct mh_multi_red_params *params, struct mh_multi_red_state *state,
				u32 colour, const struct mh_colour_backlog *after, u64 now_ns)
{
	mh_multi_red_departed(params, state, colour, after, now_ns);
}

u32 mh_shim_flow_meter_expired(const struct mh_flow_meter_params *params, const struct mh_flow_meter *meter,
			       u64 now_ns)
{
	return mh_flow_meter_expired(params, meter, now_ns);
}

u32 mh_shim_flow_meter_packet(const struct mh_flow_meter_params *params, struct mh_flow_meter *meter,
			      const struct mh_view *view, u64 now_ns)
{
	return mh_flow_meter_packet(params, meter, view, now_ns);
}

u32 mh_shim_threshold_marker_colour(const struct mh_threshold_marker_params *params,
				    const struct mh_flow_meter *meter)
{
	return mh_threshold_marker_colour(params, meter);
}

u32 mh_shim_promotion_packet(const struct mh_promotion_params *params, struct mh_promotion *promotion,
			     u32 threshold, u32 count, u32 random)
{
	return mh_promotion_packet(params, promotion, threshold, count, random);
}

u32 mh_shim_sfd_expired(const struct mh_sfd_params *params, const struct mh_sfd_flow *flow, u64 now_ns)
{
	return mh_sfd_expired(params, flow, now_ns);
}

u32 mh_shim_sfd_packet(const struct mh_sfd_params *params, struct mh_sfd_flow *flow, const struct mh_view *view,
		       u64 now_ns, u32 random)
{
	return mh_sfd_packet(params, flow, view, now_ns, random);
}

u32 mh_shim_rio_ps_threshold(const struct mh_rio_ps_params *params, const struct mh_rio_ps_state *state)
{
	return mh_rio_ps_threshold(params, state);
}

u32 mh_shim_rio_ps_is_short(const struct mh_rio_ps_params *params, const struct mh_rio_ps_state *state,
			    const struct mh_flow_meter *flow)
{
	return mh_rio_ps_is_short(params, state, flow);
}

u32 mh_shim_rio_ps_expired(const struct mh_rio_ps_params *params, const struct mh_flow_meter *flow, u64 now_ns)
{
	return mh_rio_ps_expired(params, flow, now_ns);
}

u32 mh_shim_rio_ps_packet(const struct mh_rio_ps_params *params, struct mh_flow_meter *flow,
			  const struct mh_rio_ps_state *state, const struct mh_view *view, u64 now_ns)
{
	return mh_rio_ps_packet(params, flow, state, view, now_ns);
}

void mh_shim_rio_ps_control(const struct mh_rio_ps_params *params, struct mh_rio_ps_state *state,
			    const struct mh_rio_ps_counts *counts, u64 now_ns)
{
	mh_rio_ps_control(params, state, counts, now_ns);
}

u64 mh_shim_shred_probability(const struct mh_shred_params *params, u64 avg_q32, u64 hint, u64 hint_avg_q32)
{
	return mh_shred_probability(params, avg_q32, hint, hint_avg_q32);
}

u32 mh_shim_shred_packet(const struct mh_shred_params *params, struct mh_shred_state *state,
			 const struct mh_view *view, const struct mh_backlog *backlog, u64 now_ns, u32 random)
{
	return mh_shred_packet(params, state, view, backlog, now_ns, random);
}

u32 mh_shim_shred_edge_packet(const struct mh_shred_edge_params *params, struct mh_shred_edge *flow,
			      const struct mh_view *view)
{
	return mh_shred_edge_packet(params, flow, view);
}

u32 mh_shim_window_marker_packet(const struct mh_window_marker_params *params, const struct mh_view *view,
				 u32 random)
{
	return mh_window_marker_packet(params, view, random);
}

u32 mh_shim_demotion_expired(const struct mh_demotion_params *params, const struct mh_flow_meter *flow,
			     u64 now_ns)
{
	return mh_demotion_expired(params, flow, now_ns);
}

u32 mh_shim_demotion_packet(const struct mh_demotion_params *params, struct mh_flow_meter *flow,
			    const struct mh_view *view, u64 now_ns)
{
	return mh_demotion_packet(params, flow, view, now_ns);
}

u64 mh_shim_mul_q64(u64 a, u64 f_q64)
{
	return mh_mul_q64(a, f_q64);
}

u64 mh_shim_mul_q32(u64 a, u64 f_q32)
{
	return mh_mul_q32(a, f_q32);
}

u64 mh_shim_pow_q64(u64 base_q64, u64 exponent)
{
	return mh_pow_q64(base_q64, exponent);
}

void mh_shim_token_bucket_refill(const struct mh_token_bucket_params *params, struct mh_token_bucket *bucket,
				 u64 now_ns)
{
	mh_token_bucket_refill(params, bucket, now_ns);
}

u32 mh_shim_token_bucket_conforms(const struct mh_token_bucket_params *params,
				  const struct mh_token_bucket *bucket, u32 tokens)
{
	return mh_token_bucket_conforms(params, bucket, tokens);
}

void mh_shim_token_bucket_take(const struct mh_token_bucket_params *params, struct mh_token_bucket *bucket,
			       u32 tokens)
{
	mh_token_bucket_take(params, bucket, tokens);
}

void mh_shim_token_bucket_take_clipped(const struct mh_token_bucket_params *params,
				       struct mh_token_bucket *bucket, u32 tokens)
{
	mh_token_bucket_take_clipped(params, bucket, tokens);
}

u32 mh_shim_token_bucket_packet(const struct mh_token_bucket_params *params, struct mh_token_bucket *bucket,
				u32 tokens, u64 now_ns)
{
	return mh_token_bucket_packet(params, bucket, tokens, now_ns);
}

u64 mh_shim_token_bucket_wait_ns(const struct mh_token_bucket_params *params,
				 const struct mh_token_bucket *bucket, u32 tokens)
{
	return mh_token_bucket_wait_ns(params, bucket, tokens);
}

u64 mh_shim_token_bucket_percent_q16(const struct mh_token_bucket_params *params,
				     const struct mh_token_bucket *bucket)
{
	return mh_token_bucket_percent_q16(params, bucket);
}

u32 mh_shim_policer_packet(const struct mh_policer_params *params, struct mh_policer *policer,
			   const struct mh_view *view, u64 now_ns)
{
	return mh_policer_packet(params, policer, view, now_ns);
}

u32 mh_shim_aggregate_marker_packet(const struct mh_aggregate_marker_params *params,
				    struct mh_aggregate_marker *marker, const struct mh_view *view, u64 now_ns)
{
	return mh_aggregate_marker_packet(params, marker, view, now_ns);
}

void mh_shim_size_history_flow_end(const struct mh_size_history_params *params, struct mh_size_history *history,
				   u32 size)
{
	mh_size_history_flow_end(params, history, size);
}

u32 mh_shim_lfp_packet(const struct mh_lfp_params *params, struct mh_lfp_flow *flow, struct mh_lfp_state *state,
		       const struct mh_view *view, u64 now_ns)
{
	return mh_lfp_packet(params, flow, state, view, now_ns);
}

void mh_shim_lfp_flow_end(const struct mh_lfp_params *params, struct mh_lfp_state *state, u32 packets)
{
	mh_lfp_flow_end(params, state, packets);
}

u32 mh_shim_lfp_expired(const struct mh_lfp_params *params, const struct mh_lfp_flow *flow, u64 now_ns)
{
	return mh_lfp_expired(params, flow, now_ns);
}
