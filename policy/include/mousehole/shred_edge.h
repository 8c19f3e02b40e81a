/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * SHRED's hint, reconstructed at an edge for senders that write none into their packets.
 *
 * Hartling, Claypool & Kinicki, WPI, 2002: section 6 names it (a classifier at an edge router that keeps TCP
 * state per flow and writes the window into each packet) and says no more; the rule is ours:
 *
 *   data:          hint = ceil((sequence - acknowledged) / packet), within 1 .. 255
 *   reverse:       acknowledged <- what the packet acknowledges, if that is further
 *   forward SYN:   acknowledged <- where data will begin
 *   all but data:  hint = 1
 *
 * where `sequence` is where the packet's data ends (base.h): the hint is the data outstanding with this packet, up
 * to it. A sender that fills its window thus reveals it with the last packet that the window allows. After a
 * timeout the hint starts at 1, as the window does, because data that was sent beyond it earlier does not count.
 *
 * A flow is both directions of a connection, which must both pass this edge. If its SYN was not seen, a flow begins
 * with the first packet seen: if that is data, it is the only packet outstanding. The caller decides when to forget
 * flows.
 *
 * Format: plain integers in bytes of payload, modulo 2^32 as TCP's; data 2^31 or more ahead counts as old.
 * Range: packet 1 .. 2^32 - 1 bytes. No error.
 *
 * The hint differs from the sender's window. It is less for a sender that has nothing to send, and for the first
 * packets of a burst. It is more, by what the receiver holds beyond a gap, while new data is sent during recovery.
 * It is 1 for a fast retransmission.
 */
#ifndef MOUSEHOLE_SHRED_EDGE_H
#define MOUSEHOLE_SHRED_EDGE_H

#include "policy.h"

#define MH_SHRED_EDGE_MAX_HINT 255

struct mh_shred_edge_params {
	u32 packet; /* payload of a full packet, bytes */
	u32 reserved;
};

/* All zero is a flow that was never seen. */
struct mh_shred_edge {
	u32 acknowledged; /* position up to which data is acknowledged */
	u32 known;        /* whether `acknowledged` is known */
};

/* Returns whether position `a` comes after `b`, modulo 2^32: less than 2^31 bytes ahead of it. */
MH_FN u32 mh_shred_edge_is_after(u32 a, u32 b)
{
	return a != b && a - b < 1U << 31;
}

/* Advances the acknowledged position to `to`, unless it is there or further already; sets it if it was not known. */
MH_FN void mh_shred_edge_acknowledge(struct mh_shred_edge *flow, u32 to)
{
	if (!flow->known || mh_shred_edge_is_after(to, flow->acknowledged))
		flow->acknowledged = to;
	flow->known = 1;
}

/* Returns 0: no hint depends on chance. */
MH_FN u32 mh_shred_edge_draws(const struct mh_shred_edge_params *params)
{
	(void)params;
	return 0;
}

/* Updates the acknowledged position from a packet of either direction. Returns the packet's hint, 1 to 255 packets. */
MH_FN u32 mh_shred_edge_packet(const struct mh_shred_edge_params *params, struct mh_shred_edge *flow,
			       struct mh_none *state, const struct mh_view *view, u64 now_ns, u32 random)
{
	u32 ahead;

	(void)state;
	(void)now_ns;
	(void)random;
	if (view->flags & MH_REVERSE) {
		if (!(view->flags & MH_SYN))
			mh_shred_edge_acknowledge(flow, view->sequence);
		return 1;
	}
	if (view->flags & MH_SYN) {
		flow->acknowledged = view->sequence;
		flow->known = 1;
		return 1;
	}
	if (view->flags & MH_ACK)
		return 1;
	if (!flow->known)
		mh_shred_edge_acknowledge(flow, view->sequence - params->packet * mh_segments(view));
	if (!mh_shred_edge_is_after(view->sequence, flow->acknowledged))
		return 1;
	ahead = view->sequence - flow->acknowledged;
	return (u32)mh_min((ahead - 1) / params->packet + 1, MH_SHRED_EDGE_MAX_HINT);
}

#ifdef MH_DESCRIBE

static const struct mh_parameter mh_shred_edge_parameters[] = {
	{ MH_FIELD(mh_shred_edge_params, packet), .kind = MH_COUNT, .name = "packet", .value = "1460", .least = 1,
	  .most = 4294967295.0,
	  .meaning = "payload of a full packet, bytes",
	  .source = "TCP on Ethernet" },
};

#endif

MH_DRAWS(shred_edge)
MH_MARKER(shred_edge, mh_shred_edge_params, mh_shred_edge, mh_none, .key = MH_PER_CONNECTION, .returns = MH_HINT,
	  .flags = MH_READS_POSITIONS,
	  .summary = "writes into each packet how much data its flow has outstanding, as a window for SHRED",
	  .source = "Hartling, Claypool & Kinicki 2002, section 6; the rule is ours",
	  .detail = "An edge that sees both directions of a connection reconstructs the sender's window from the "
		    "acknowledgements, for senders that do not write it into their packets.",
	  MH_TABLE_OF(shred_edge), MH_OFFERS(shred_edge, draws))

#endif
