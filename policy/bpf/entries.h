/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * Gives every function that a policy offers a body, for check-bpf.sh: static inline functions that nobody calls are
 * not compiled, and only code generation shows what the eBPF target refuses. The objects are never linked or loaded.
 *
 * It is included before a header, whose own macros policy.h then leaves alone. A function for eBPF takes at most five
 * arguments, so that all of them come in one struct.
 */
#include "mousehole/base.h"

struct mh_counts;

struct entry_call {
	const void *params;
	void *flow, *state;
	const struct mh_view *view;
	const struct mh_backlog *backlog;
	const struct mh_counts *counts;
	u64 now_ns;
	u32 random, colour;
};

#define ENTRY(name_, function_, result_)                                                                    \
	u64 entry_##name_##_##function_(const struct entry_call *call);                                     \
	__attribute__((noinline, used)) u64 entry_##name_##_##function_(const struct entry_call *call)      \
	{                                                                                                   \
		result_;                                                                                    \
	}

#define MH_SETUP(name_) /* of user space */
#define MH_DRAWS(name_) ENTRY(name_, draws, return mh_##name_##_draws(call->params))
#define MH_EXPIRED(name_) ENTRY(name_, expired, return mh_##name_##_expired(call->params, call->flow, call->now_ns))
#define MH_FLOW_END(name_) \
	ENTRY(name_, flow_end, mh_##name_##_flow_end(call->params, call->flow, call->state); return 0)
#define MH_PERIOD(name_) ENTRY(name_, period, return mh_##name_##_period(call->params))
#define MH_CLASSIFY(name_) \
	ENTRY(name_, classify, return mh_##name_##_classify(call->params, call->flow, call->state))
#define MH_CONTROL(name_) \
	ENTRY(name_, control, return mh_##name_##_control(call->params, call->state, call->counts, call->now_ns))
#define MH_SHAPE(name_)     \
	ENTRY(name_, shape, \
	      return mh_##name_##_shape(call->params, call->flow, call->state, call->view, call->now_ns))
#define MH_DEPARTED(name_)                                                                                        \
	ENTRY(name_, departed,                                                                                    \
	      mh_##name_##_departed(call->params, call->state, call->colour, call->backlog, call->now_ns); return 0)
#define MH_MARKER(name_, ...)                                                                                     \
	ENTRY(name_, packet,                                                                                      \
	      return mh_##name_##_packet(call->params, call->flow, call->state, call->view, call->now_ns,         \
					 call->random))
#define MH_DROPPER(name_, ...)                                                                                    \
	ENTRY(name_, packet,                                                                                      \
	      return mh_##name_##_packet(call->params, call->state, call->view, call->backlog, call->now_ns,      \
					 call->random))
