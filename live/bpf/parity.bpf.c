/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * The policies in the kernel, one program each, run by BPF_PROG_TEST_RUN only and never attached.
 *
 * A program plays the records of `input` against the state in `output` and leaves each outcome and the last state
 * there. Glue only: what is decided stands in policy/include.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "mousehole/multi_red.h"
#include "mousehole/sfd.h"

#include "mousehole/aggregate_marker.h"
#include "mousehole/lfp.h"
#include "mousehole/policer.h"

#include "mousehole/demotion.h"
#include "mousehole/rio_ps.h"
#include "mousehole/shred.h"
#include "mousehole/shred_edge.h"
#include "mousehole/window_marker.h"
#include "parity.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct parity_input);
} input SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct parity_output);
} output SEC(".maps");

/*
 * POLICY(name, params struct, state struct, call): the program `name`, whose outcome for each record is the value
 * of `call`, an expression of `params`, `state` and `record`. The structs are declared once more as variables
 * so that their layout is in the object's BTF, where the tests read it.
 *
 * bpf_loop makes the verifier walk the body once; unrolled, or in a bounded loop, it would walk it per record.
 */
#define POLICY(name, params_t, state_t, call)                                                             \
	_Static_assert(sizeof(struct params_t) <= 8 * PARITY_PARAMS, "PARITY_PARAMS is too small");       \
	_Static_assert(sizeof(struct state_t) <= 8 * PARITY_STATE, "PARITY_STATE is too small");          \
	struct params_t name##_params_layout;                                                             \
	struct state_t name##_state_layout;                                                               \
                                                                                                          \
	static long name##_record(u32 index, void *unused)                                                \
	{                                                                                                 \
		u32 zero = 0;                                                                             \
		struct parity_input *in = bpf_map_lookup_elem(&input, &zero);                             \
		struct parity_output *out = bpf_map_lookup_elem(&output, &zero);                          \
		const struct parity_record *record;                                                       \
		const struct params_t *params;                                                            \
		struct state_t *state;                                                                    \
                                                                                                          \
		if (!in || !out)                                                                          \
			return 1;                                                                         \
		index &= PARITY_RECORDS - 1;                                                              \
		record = &in->record[index];                                                              \
		params = (const struct params_t *)in->params;                                             \
		state = (struct state_t *)out->state;                                                     \
		out->outcome[index] = call;                                                               \
		return 0;                                                                                 \
	}                                                                                                 \
                                                                                                          \
	SEC("tc") int name(struct __sk_buff *skb)                                                         \
	{                                                                                                 \
		u32 zero = 0;                                                                             \
		struct parity_input *in = bpf_map_lookup_elem(&input, &zero);                             \
                                                                                                          \
		if (!in)                                                                                  \
			return -1;                                                                        \
		return bpf_loop(in->records, name##_record, 0, 0);                                        \
	}

static __always_inline u32 multi_red_call(const struct mh_multi_red_params *params,
					  struct mh_multi_red_state *state, const struct parity_record *record)
{
	if (record->call == PARITY_PACKET)
		return mh_multi_red_packet(params, state, &record->view, &record->colours, record->now_ns,
					   record->random);
	mh_multi_red_departed(params, state, record->view.colour, &record->colours, record->now_ns);
	return 0;
}

/* The flow has sent what the record says. */
static __always_inline u32 threshold_marker_call(const struct mh_threshold_marker_params *params,
						 struct mh_flow_meter *meter,
						 const struct parity_record *record)
{
	meter->bytes = record->count;
	meter->packets = record->threshold;
	return mh_threshold_marker_colour(params, meter);
}

POLICY(red, mh_red_params, mh_red_state,
       mh_red_packet(params, state, &record->view, &record->backlog, record->now_ns, record->random))

POLICY(multi_red, mh_multi_red_params, mh_multi_red_state, multi_red_call(params, state, record))

POLICY(flow_meter, mh_flow_meter_params, mh_flow_meter,
       record->call == PARITY_EXPIRED ? mh_flow_meter_expired(params, state, record->now_ns) :
					mh_flow_meter_packet(params, state, &record->view, record->now_ns))

POLICY(threshold_marker, mh_threshold_marker_params, mh_flow_meter,
       threshold_marker_call(params, state, record))

POLICY(promotion, mh_promotion_params, mh_promotion,
       mh_promotion_packet(params, state, record->threshold, record->count, record->random))

POLICY(sfd, mh_sfd_params, mh_sfd_flow,
       record->call == PARITY_EXPIRED ?
	       mh_sfd_expired(params, state, record->now_ns) :
	       mh_sfd_packet(params, state, &record->view, record->now_ns, record->random))

/* A wait and a level are told by whether they are beyond what the record says. */
static __always_inline u32 token_bucket_call(const struct mh_token_bucket_params *params,
					     struct mh_token_bucket *bucket, const struct parity_record *record)
{
	if (record->call == PARITY_PACKET)
		return mh_token_bucket_packet(params, bucket, record->count, record->now_ns);
	mh_token_bucket_refill(params, bucket, record->now_ns);
	if (record->call == PARITY_WAIT)
		return mh_token_bucket_wait_ns(params, bucket, record->count) > record->backlog.bytes;
	if (record->call == PARITY_TAKE)
		mh_token_bucket_take(params, bucket, record->count);
	else if (record->call == PARITY_TAKE_CLIPPED)
		mh_token_bucket_take_clipped(params, bucket, record->count);
	return mh_token_bucket_percent_q16(params, bucket) > record->threshold;
}

static __always_inline u32 size_history_call(const struct mh_size_history_params *params,
					     struct mh_size_history *history,
					     const struct parity_record *record)
{
	mh_size_history_flow_end(params, history, record->count);
	return mh_size_history_quantile(history) > record->threshold;
}

/* What all flows share, and four of them. */
struct parity_lfp {
	struct mh_lfp_state shared;
	struct mh_lfp_flow flow[4];
};

/* The record's threshold says which flow. */
static __always_inline u32 lfp_call(const struct mh_lfp_params *params, struct parity_lfp *state,
				    const struct parity_record *record)
{
	struct mh_lfp_flow *flow = &state->flow[record->threshold & 3];

	if (record->call == PARITY_EXPIRED)
		return mh_lfp_expired(params, flow, record->now_ns);
	if (record->call == PARITY_PACKET)
		return mh_lfp_packet(params, flow, &state->shared, &record->view, record->now_ns);
	mh_lfp_flow_end(params, &state->shared, record->count);
	return 0;
}

POLICY(token_bucket, mh_token_bucket_params, mh_token_bucket, token_bucket_call(params, state, record))

POLICY(policer, mh_policer_params, mh_policer,
       mh_policer_packet(params, state, &record->view, record->now_ns))

POLICY(aggregate_marker, mh_aggregate_marker_params, mh_aggregate_marker,
       mh_aggregate_marker_packet(params, state, &record->view, record->now_ns))

POLICY(size_history, mh_size_history_params, mh_size_history, size_history_call(params, state, record))

POLICY(lfp, mh_lfp_params, parity_lfp, lfp_call(params, state, record))
/* The edge's threshold and one flow. */
struct parity_rio_ps {
	struct mh_rio_ps_state edge;
	struct mh_flow_meter flow;
};

static __always_inline u32 rio_ps_call(const struct mh_rio_ps_params *params, struct parity_rio_ps *state,
				       const struct parity_record *record)
{
	struct mh_rio_ps_counts counts = { record->count, record->threshold };

	if (record->call == PARITY_PACKET)
		return mh_rio_ps_packet(params, &state->flow, &state->edge, &record->view, record->now_ns);
	if (record->call == PARITY_EXPIRED)
		return mh_rio_ps_expired(params, &state->flow, record->now_ns);
	mh_rio_ps_control(params, &state->edge, &counts, record->now_ns);
	return mh_rio_ps_is_short(params, &state->edge, &state->flow);
}

POLICY(rio_ps, mh_rio_ps_params, parity_rio_ps, rio_ps_call(params, state, record))

POLICY(shred, mh_shred_params, mh_shred_state,
       mh_shred_packet(params, state, &record->view, &record->backlog, record->now_ns, record->random))

/* A flow, and a sum in which every hint counts: outcomes tell least, between and greatest apart. */
struct parity_shred_edge {
	struct mh_shred_edge flow;
	u64 hints;
};

static __always_inline u32 shred_edge_call(const struct mh_shred_edge_params *params,
					   struct parity_shred_edge *state, const struct parity_record *record)
{
	u32 hint = mh_shred_edge_packet(params, &state->flow, &record->view);

	state->hints = state->hints * 257 + hint;
	return (hint > 1) + (hint >= MH_SHRED_EDGE_MAX_HINT);
}

POLICY(shred_edge, mh_shred_edge_params, parity_shred_edge, shred_edge_call(params, state, record))

/* For a policy without state. */
struct parity_nothing {
	u64 unused;
};

POLICY(window_marker, mh_window_marker_params, parity_nothing,
       ((void)state, mh_window_marker_packet(params, &record->view, record->random)))

POLICY(demotion, mh_demotion_params, mh_flow_meter,
       record->call == PARITY_EXPIRED ? mh_demotion_expired(params, state, record->now_ns) :
					mh_demotion_packet(params, state, &record->view, record->now_ns))

/* Accepted as GPL-compatible; the sources are MIT, Apache-2.0 or GPL-2.0. */
char LICENSE[] SEC("license") = "Dual MIT/GPL";
