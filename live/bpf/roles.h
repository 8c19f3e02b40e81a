/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * The three roles in a program, each filled by a policy (policy/include/mousehole). The compiler's command line names
 * the policies:
 *
 *   ML_MARKER, ML_MARKER_HEADER     the marker of flows; without it every packet is green
 *   ML_USER, ML_USER_HEADER         a second marker that keeps a state for each user (one address), such as `policer`
 *   ML_QUEUE                        1: decide what a queue of the configured rate behind this program takes
 *   ML_DROPPER, ML_DROPPER_HEADER   that queue's drop policy; without it only its buffer decides
 *   ML_MARKER_SHARES                1: packets of several flows share a part of the marker's state
 *   ML_MARKER_PUBLISHES             1: the agent writes a part of it that packets read
 *   ML_MARKER_RESTARTS              1: the agent receives the states of flows that restart
 *   ML_MARKER_DRAWS, ML_USER_DRAWS, ML_DROPPER_DRAWS    1: the policy says whether it reads random numbers
 *   ML_MARKER_READS_HINTS, ML_DROPPER_READS_HINTS       1: the policy reads the state of the sending socket
 *   ML_USER_SHAPES                  1: that marker computes how long a packet waits for tokens; see shape.h
 *   ML_DROPPER_TRACKS               1: departures are reported to the drop policy
 *   ML_DROPPER_SEES_FULL            1: the drop policy is called also when the buffer is full
 *
 * Two more definitions are for tests and measurements. ML_REPLAY: time and random numbers come from the packet's context
 * (tstamp, mark, cb[0], cb[1]). ML_COUNT_ONLY: parse and count, nothing else.
 *
 * A role without a policy gets one of nothing.h, which has no state and does nothing. The steps of the program therefore
 * call roles, whatever their policies are, and the compiler removes empty ones.
 */
#ifndef MOUSEHOLE_LIVE_ROLES_H
#define MOUSEHOLE_LIVE_ROLES_H

#include "kernel.h"

/* Defines the types of the policies instead of their descriptions; policy.h keeps these two definitions. */
#define MH_MARKER(name_, params_t, flow_t, state_t, ...)                                                             \
	typedef struct params_t ml_params_##name_;                                                                   \
	typedef struct flow_t ml_flow_##name_;                                                                       \
	typedef struct state_t ml_state_##name_;
#define MH_DROPPER(name_, params_t, state_t, ...)                                                                    \
	typedef struct params_t ml_params_##name_;                                                                   \
	typedef struct state_t ml_state_##name_;

#include "mousehole/policy.h"
#include "mousehole/virtual_fifo.h"
#include "nothing.h"

#ifdef ML_MARKER
#include ML_MARKER_HEADER
#else
#define ML_MARKER no_marker
#define ML_MARKER_DRAWS 1
#endif
#ifdef ML_USER
#include ML_USER_HEADER
#else
#define ML_USER no_user
#define ML_USER_DRAWS 1
#endif
#ifdef ML_DROPPER
#include ML_DROPPER_HEADER
#else
#define ML_DROPPER no_dropper
#define ML_DROPPER_DRAWS 1
#endif

/* Is 1 if the command line defines the name as 1, else 0; as in `#if`, but for expressions. */
#define ML_HAS(definition_) ML_HAS_VALUE(definition_)
#define ML_HAS_VALUE(value_) ML_HAS_PAIR(ML_PAIR_##value_)
#define ML_HAS_PAIR(pair_) ML_SECOND(pair_ 1, 0, 0)
#define ML_SECOND(first_, second_, ...) second_
#define ML_PAIR_1 0,

/* Is the type if the constant condition holds, else a type without size. */
#define ML_IF(condition_, type_)                                                                                     \
	__typeof__(*__builtin_choose_expr(condition_, (__typeof__(type_) *)0, (struct ml_nothing *)0))

#define ML_PASTE3(a, b, c) a##b##c
#define ML_JOIN3(a, b, c) ML_PASTE3(a, b, c)

typedef ML_JOIN3(ml_params_, ML_MARKER, ) ml_marker_params;
typedef ML_JOIN3(ml_flow_, ML_MARKER, ) ml_marker_flow;
typedef ML_JOIN3(ml_state_, ML_MARKER, ) ml_marker_state;
typedef ML_JOIN3(ml_params_, ML_USER, ) ml_user_params;
typedef ML_JOIN3(ml_flow_, ML_USER, ) ml_user_flow;
typedef ML_JOIN3(ml_state_, ML_USER, ) ml_user_state;
typedef ML_JOIN3(ml_params_, ML_DROPPER, ) ml_dropper_params;
typedef ML_JOIN3(ml_state_, ML_DROPPER, ) ml_dropper_state;

#define ml_marker_packet ML_JOIN3(mh_, ML_MARKER, _packet)
#define ml_user_packet ML_JOIN3(mh_, ML_USER, _packet)
#define ml_dropper_packet ML_JOIN3(mh_, ML_DROPPER, _packet)

/* Optional functions of policies. A policy without _draws may always read its random number. */
#if ML_MARKER_DRAWS
#define ml_marker_draws ML_JOIN3(mh_, ML_MARKER, _draws)
#else
#define ml_marker_draws(params_) 1
#endif
#if ML_USER_DRAWS
#define ml_user_draws ML_JOIN3(mh_, ML_USER, _draws)
#else
#define ml_user_draws(params_) 1
#endif
#if ML_DROPPER_DRAWS
#define ml_dropper_draws ML_JOIN3(mh_, ML_DROPPER, _draws)
#else
#define ml_dropper_draws(params_) 1
#endif
#if ML_MARKER_RESTARTS
#define ml_marker_restarts ML_JOIN3(mh_, ML_MARKER, _restarts)
#else
#define ml_marker_restarts(params_, flow_, view_, now_ns_) 0
#endif
#if ML_DROPPER_TRACKS
#define ml_dropper_departed ML_JOIN3(mh_, ML_DROPPER, _departed)
#else
#define ml_dropper_departed(params_, state_, colour_, backlog_, now_ns_) ((void)(colour_))
#endif

enum {
	ML_HAS_MARKER = sizeof(ml_marker_params) > 0,
	ML_HAS_USER = sizeof(ml_user_params) > 0,
	ML_HAS_DROPPER = sizeof(ml_dropper_params) > 0,
	/* Whether packets can be held until a departure time. With a virtual queue they are not, since it counts
	 * packets when they arrive. */
	ML_SHAPES = ML_HAS(ML_USER_SHAPES) && !ML_HAS(ML_QUEUE),
	/* Whether one lock serves all packets: flows share a state or a queue, or have no entries with locks. */
	ML_SHARED = ML_HAS(ML_QUEUE) || ML_HAS(ML_MARKER_SHARES) || ML_HAS_USER || !ML_HAS_MARKER,
	ML_READS_HINTS = ML_HAS(ML_MARKER_READS_HINTS) || ML_HAS(ML_DROPPER_READS_HINTS)
};

#endif
