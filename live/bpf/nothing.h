/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * Policies that do nothing, for the roles without a policy. Their parameters and states have no size.
 */
#ifndef MOUSEHOLE_LIVE_NOTHING_H
#define MOUSEHOLE_LIVE_NOTHING_H

#include "mousehole/base.h"

struct ml_nothing {};

/* Defines a policy's _draws function, which says that it reads no random numbers. */

#define ML_DRAWS_NOTHING(name_)                                                                                      \
	MH_FN u32 mh_##name_##_draws(const struct ml_nothing *params)                                                \
	{                                                                                                            \
		(void)params;                                                                                        \
		return 0;                                                                                            \
	}

ML_DRAWS_NOTHING(no_marker)
ML_DRAWS_NOTHING(no_user)
ML_DRAWS_NOTHING(no_dropper)

MH_FN u32 mh_no_marker_packet(const struct ml_nothing *params, struct ml_nothing *flow, struct ml_nothing *state,
			      const struct mh_view *view, u64 now_ns, u32 random)
{
	(void)params, (void)flow, (void)state, (void)view, (void)now_ns, (void)random;
	return MH_GREEN;
}

MH_FN u32 mh_no_user_packet(const struct ml_nothing *params, struct ml_nothing *flow, struct ml_nothing *state,
			    const struct mh_view *view, u64 now_ns, u32 random)
{
	(void)params, (void)flow, (void)state, (void)now_ns, (void)random;
	return view->colour;
}

MH_FN u32 mh_no_dropper_packet(const struct ml_nothing *params, struct ml_nothing *state, const struct mh_view *view,
			       const struct mh_backlog *backlog, u64 now_ns, u32 random)
{
	(void)params, (void)state, (void)view, (void)backlog, (void)now_ns, (void)random;
	return MH_PASS;
}

typedef struct ml_nothing ml_params_no_marker, ml_flow_no_marker, ml_state_no_marker;
typedef struct ml_nothing ml_params_no_user, ml_flow_no_user, ml_state_no_user;
typedef struct ml_nothing ml_params_no_dropper, ml_state_no_dropper;

#endif
