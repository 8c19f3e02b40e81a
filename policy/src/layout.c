/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * The layout of the structs that every policy is called with, for the checks in src/ffi.rs.
 */
#define MH_DESCRIBE
#include "mousehole/full_buffer.h"
#include "mousehole/policy.h"

/* Size and offsets of each struct's members, in their order; a struct begins with its size. */
const unsigned int mh_layout[] = {
	sizeof(struct mh_view), offsetof(struct mh_view, ip_bytes), offsetof(struct mh_view, segments),
	offsetof(struct mh_view, window_hint), offsetof(struct mh_view, colour), offsetof(struct mh_view, flags),
	offsetof(struct mh_view, application), offsetof(struct mh_view, dscp), offsetof(struct mh_view, sequence),

	sizeof(struct mh_backlog), offsetof(struct mh_backlog, bytes), offsetof(struct mh_backlog, idle_since_ns),
	offsetof(struct mh_backlog, colour_bytes), offsetof(struct mh_backlog, packets),
	offsetof(struct mh_backlog, colour_packets),

	sizeof(struct mh_limit), offsetof(struct mh_limit, count), offsetof(struct mh_limit, unit),

	sizeof(struct mh_waiting), offsetof(struct mh_waiting, all), offsetof(struct mh_waiting, band),
	sizeof(struct mh_band), offsetof(struct mh_band, waiting), offsetof(struct mh_band, head_since_ns),
	offsetof(struct mh_band, head),

	sizeof(struct mh_link_context), offsetof(struct mh_link_context, rate_bps), offsetof(struct mh_link_context, bottleneck_bps),
	offsetof(struct mh_link_context, buffer_bytes), offsetof(struct mh_link_context, buffer_packets),
	offsetof(struct mh_link_context, shares), offsetof(struct mh_link_context, parameters),
	offsetof(struct mh_link_context, parameter_count),

	sizeof(struct mh_parameter), offsetof(struct mh_parameter, name), offsetof(struct mh_parameter, value),
	offsetof(struct mh_parameter, meaning), offsetof(struct mh_parameter, source),
	offsetof(struct mh_parameter, choices), offsetof(struct mh_parameter, least),
	offsetof(struct mh_parameter, most), offsetof(struct mh_parameter, kind),
	offsetof(struct mh_parameter, bits), offsetof(struct mh_parameter, mask),
	offsetof(struct mh_parameter, offset), offsetof(struct mh_parameter, bytes),
	offsetof(struct mh_parameter, count), offsetof(struct mh_parameter, stride),

	sizeof(struct mh_policy), offsetof(struct mh_policy, abi), offsetof(struct mh_policy, kind),
	offsetof(struct mh_policy, key), offsetof(struct mh_policy, returns), offsetof(struct mh_policy, flags),
	offsetof(struct mh_policy, params_bytes), offsetof(struct mh_policy, flow_bytes),
	offsetof(struct mh_policy, state_bytes), offsetof(struct mh_policy, parameter_count),
	offsetof(struct mh_policy, reading_count), offsetof(struct mh_policy, name),
	offsetof(struct mh_policy, summary), offsetof(struct mh_policy, source), offsetof(struct mh_policy, detail),
	offsetof(struct mh_policy, unread), offsetof(struct mh_policy, parameters),
	offsetof(struct mh_policy, readings), offsetof(struct mh_policy, setup), offsetof(struct mh_policy, draws),
	offsetof(struct mh_policy, mark), offsetof(struct mh_policy, drop), offsetof(struct mh_policy, expired),
	offsetof(struct mh_policy, flow_end), offsetof(struct mh_policy, period),
	offsetof(struct mh_policy, classify), offsetof(struct mh_policy, control), offsetof(struct mh_policy, shape),
	offsetof(struct mh_policy, departed), offsetof(struct mh_policy, restarts),
	offsetof(struct mh_policy, published_offset), offsetof(struct mh_policy, published_bytes),
	offsetof(struct mh_policy, colours), offsetof(struct mh_policy, install),
	offsetof(struct mh_policy, bands), offsetof(struct mh_policy, enqueue), offsetof(struct mh_policy, dequeue),
	offsetof(struct mh_policy, overflow),
};
const unsigned int mh_layout_length = sizeof(mh_layout) / sizeof(mh_layout[0]);

/* Values of the constants that Rust mirrors, in the order of the test in src/ffi.rs. */
const unsigned int mh_constants[] = {
	MH_POLICY_ABI, MH_GREEN, MH_YELLOW, MH_RED, MH_DISCARD, MH_PASS, MH_MARK, MH_DROP_EARLY, MH_DROP_FORCED,
	MH_ECT, MH_SYN, MH_RETRANSMISSION, MH_IN_RECOVERY, MH_REVERSE, MH_ACK, MH_DATAGRAM, MH_L4S, MH_DSCP_NQB, MH_BYTES, MH_PACKETS,
	MH_UNKNOWN_APPLICATION, MH_INTERACTIVE, MH_WEB, MH_BULK, MH_TIME, MH_SIZE, MH_THRESHOLD, MH_FRACTION,
	MH_LENGTH, MH_RATE, MH_COUNT, MH_NUMBER, MH_PERCENT, MH_FLAG, MH_CHOICE, MH_TIMEOUT, MH_BUFFER, MH_MARKER_POLICY,
	MH_DROPPER_POLICY, MH_QUEUE_POLICY, MH_PER_FLOW, MH_PER_CONNECTION, MH_PER_USER, MH_COLOUR, MH_HINT, MH_LEAST_IS_STRICTEST,
	MH_SEES_FULL_BUFFERS, MH_AT_EDGE_ONLY, MH_READS_COLOURS, MH_READS_HINTS, MH_READS_FLOWS,
	MH_READS_APPLICATIONS, MH_MARKS, MH_READS_POSITIONS, MH_CLASSES, MH_MOST_BANDS, MH_BAND, MH_MARKED,
	MH_DROPPED, MH_HEAD, MH_REFUSED, MH_AGAIN, MH_FITS,
};
const unsigned int mh_constants_length = sizeof(mh_constants) / sizeof(mh_constants[0]);
