/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * Entries into the headers, for the tests in tests/it alone.
 *
 * A description offers a policy's functions. These entries offer the arithmetic beneath them, the parts that are no
 * policies themselves, and the offsets of fields. Structs pass as bytes, so that no test mirrors one.
 */
#include <stddef.h>

#include "mousehole/aggregate_marker.h"
#include "mousehole/codel_law.h"
#include "mousehole/lfp.h"
#include "mousehole/multi_red.h"
#include "mousehole/rio_ps.h"
#include "mousehole/sfd.h"
#include "mousehole/shred.h"
#include "mousehole/virtual_fifo.h"

u64 mh_test_mul_q32(u64 a, u64 f_q32)
{
	return mh_mul_q32(a, f_q32);
}

u64 mh_test_mul_q64(u64 a, u64 f_q64)
{
	return mh_mul_q64(a, f_q64);
}

u64 mh_test_pow_q64(u64 base_q64, u64 exponent)
{
	return mh_pow_q64(base_q64, exponent);
}

u64 mh_test_codel_gap_ns(u64 interval_ns, u32 shift, u32 count)
{
	struct mh_codel_law law = { 0, interval_ns, shift, 0 };

	return mh_codel_gap_ns(&law, count);
}

u64 mh_test_red_average(const void *params, u64 avg_q32, u64 queue_q32, u64 idle_ns)
{
	return mh_red_average(params, avg_q32, queue_q32, idle_ns);
}

u64 mh_test_red_probability(const void *params, u64 avg_q32)
{
	return mh_red_probability(params, avg_q32);
}

u64 mh_test_shred_probability(const void *params, u64 avg_q32, u64 hint, u64 hint_avg_q32)
{
	return mh_shred_probability(params, avg_q32, hint, hint_avg_q32);
}

void mh_test_token_bucket_refill(const void *params, void *bucket, u64 now_ns)
{
	mh_token_bucket_refill(params, bucket, now_ns);
}

u32 mh_test_token_bucket_conforms(const void *params, const void *bucket, u32 tokens)
{
	return mh_token_bucket_conforms(params, bucket, tokens);
}

void mh_test_token_bucket_take(const void *params, void *bucket, u32 tokens)
{
	mh_token_bucket_take(params, bucket, tokens);
}

void mh_test_token_bucket_take_clipped(const void *params, void *bucket, u32 tokens)
{
	mh_token_bucket_take_clipped(params, bucket, tokens);
}

u32 mh_test_token_bucket_packet(const void *params, void *bucket, u32 tokens, u64 now_ns)
{
	return mh_token_bucket_packet(params, bucket, tokens, now_ns);
}

u64 mh_test_token_bucket_wait_ns(const void *params, const void *bucket, u32 tokens)
{
	return mh_token_bucket_wait_ns(params, bucket, tokens);
}

u64 mh_test_token_bucket_percent_q16(const void *params, const void *bucket)
{
	return mh_token_bucket_percent_q16(params, bucket);
}

void mh_test_size_history_flow_end(const void *params, void *history, u32 size)
{
	mh_size_history_flow_end(params, history, size);
}

u32 mh_test_size_history_quantile(const void *history)
{
	return mh_size_history_quantile(history);
}

u32 mh_test_flow_meter_packet(const void *params, void *meter, const struct mh_view *view, u64 now_ns)
{
	return mh_flow_meter_packet(params, meter, view, now_ns);
}

u32 mh_test_flow_meter_expired(const void *params, const void *meter, u64 now_ns)
{
	return mh_flow_meter_expired(params, meter, now_ns);
}

u32 mh_test_flow_meter_count(const void *meter, u32 unit)
{
	return mh_flow_meter_count(meter, unit);
}

/* A struct, or a field of one. The list ends with a null name. */
struct mh_test_place {
	const char *name;
	u32 offset, bytes;
};

#define STRUCT(type_) { #type_, 0, sizeof(struct type_) }
#define FIELD(type_, field_) \
	{ #type_ "." #field_, offsetof(struct type_, field_), sizeof(((struct type_ *)0)->field_) }

const struct mh_test_place mh_test_places[] = {
	FIELD(mh_red_params, min_q32),
	FIELD(mh_red_params, max_q32),
	FIELD(mh_red_params, forced_q32),
	FIELD(mh_red_params, w_q32),
	FIELD(mh_red_params, max_p_q32),
	FIELD(mh_red_params, slope_q64),
	FIELD(mh_red_params, gentle_slope_q64),
	FIELD(mh_red_params, slot_q16),
	FIELD(mh_red_params, longest_bytes),
	FIELD(mh_red_params, per_byte_q43),
	FIELD(mh_red_params, options),
	FIELD(mh_red_params, spare_below_packets),
	FIELD(mh_red_state, since_drop_q24),
	FIELD(mh_multi_red_params, level),
	FIELD(mh_multi_red_params, level[0]),
	FIELD(mh_multi_red_params, level[1]),
	FIELD(mh_multi_red_params, level[2]),
	FIELD(mh_multi_red_params, colours),
	FIELD(mh_multi_red_params, mode),
	FIELD(mh_shred_params, red),
	FIELD(mh_shred_params, floor_q32),
	FIELD(mh_shred_params, per_max_q64),
	FIELD(mh_shred_params, w_hint_q32),
	STRUCT(mh_flow_meter_params),
	FIELD(mh_flow_meter_params, timeout_ns),
	FIELD(mh_flow_meter_params, syn_restarts),
	STRUCT(mh_flow_meter),
	FIELD(mh_flow_meter, packets),
	STRUCT(mh_token_bucket_params),
	FIELD(mh_token_bucket_params, rate_scaled),
	FIELD(mh_token_bucket_params, burst_scaled),
	FIELD(mh_token_bucket_params, token_scaled),
	FIELD(mh_token_bucket_params, most_tokens),
	STRUCT(mh_token_bucket),
	FIELD(mh_token_bucket, missing_scaled),
	FIELD(mh_aggregate_marker_params, bucket[0]),
	FIELD(mh_aggregate_marker_params, bucket[1]),
	STRUCT(mh_size_history_params),
	FIELD(mh_size_history_params, u_q32),
	FIELD(mh_size_history_params, length),
	STRUCT(mh_size_history),
	FIELD(mh_size_history, count),
	FIELD(mh_size_history, ring),
	FIELD(mh_lfp_params, meter),
	FIELD(mh_lfp_params, bucket),
	FIELD(mh_lfp_params, history),
	FIELD(mh_lfp_params, open_scaled),
	FIELD(mh_lfp_params, close_scaled),
	FIELD(mh_lfp_flow, meter),
	FIELD(mh_lfp_flow, elephant),
	FIELD(mh_lfp_state, bucket),
	FIELD(mh_lfp_state, open),
	FIELD(mh_rio_ps_params, ratio_q16),
	FIELD(mh_rio_ps_params, period_ns),
	FIELD(mh_sfd_params, marker.within),
	FIELD(mh_sfd_params, marker.beyond),
	{ 0, 0, 0 },
};

u32 mh_test_virtual_fifo_bytes(void)
{
	return sizeof(struct mh_virtual_fifo);
}

u64 mh_test_virtual_fifo_tx_ns(const void *params, u64 wire_bytes)
{
	return mh_virtual_fifo_tx_ns(params, wire_bytes);
}

void mh_test_virtual_fifo_settle(void *fifo, u64 now_ns, struct mh_virtual_fifo_departures *departures)
{
	mh_virtual_fifo_settle(fifo, now_ns, departures);
}

void mh_test_virtual_fifo_backlog(const void *params, const void *fifo, const struct mh_view *view,
				  struct mh_backlog *backlog)
{
	mh_virtual_fifo_backlog(params, fifo, view, backlog);
}

u64 mh_test_virtual_fifo_admit(const void *params, void *fifo, const struct mh_view *view)
{
	return mh_virtual_fifo_admit(params, fifo, view);
}
