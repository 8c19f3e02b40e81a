/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * Full buffer: whether a buffer has room for an arrival, and whether the arrival or a waiting packet is dropped if not.
 *
 *   full    = packets waiting + segments > limit      of a limit in packets
 *           = bytes waiting + size > limit            of a limit in bytes
 *   asked   = not full, or the dropper sees full buffers (MH_SEES_FULL_BUFFERS)
 *   verdict = the dropper's if it was asked, else pass
 *   full:     a packet that the dropper drops is dropped for the dropper's reason, any other one by force
 *
 * Push-out: bands, best first, share a buffer. A packet waits in the band of its colour.
 *
 *   kept    = what waits in the arrival's band and in better ones
 *   full    = kept + arrival > limit                  the arrival meets a full buffer, as above
 *   victim  = the newest packet of the worst band that is not empty, as long as there is no room otherwise;
 *             dropped by force once the arrival's dropper has let the arrival pass
 *
 * So nobody is dropped for a packet that is dropped itself, and no band loses a packet to an equal or worse one.
 * Without push-out, packets of a worse band that nobody serves fill the buffer and lock out better ones.
 *
 * The packet in transmission takes no room. A super-packet needs room for all of its segments. Whether a dropper is
 * asked at a full buffer decides whether its average then moves; plain RED's does and multi-RED's does not (ns-2).
 *
 * Format: plain integers. No rounding.
 */
#ifndef MOUSEHOLE_FULL_BUFFER_H
#define MOUSEHOLE_FULL_BUFFER_H

#include "base.h"

/* The capacity of a buffer. */
struct mh_limit {
	u64 count;
	u32 unit; /* MH_BYTES, of IP length, or MH_PACKETS */
	u32 reserved;
};

/* Returns whether there is no room for a packet of `ip_bytes` in so many segments. */
MH_FN u32 mh_is_full(const struct mh_limit *limit, const struct mh_backlog *backlog, u32 ip_bytes, u32 segments)
{
	if (limit->unit == MH_PACKETS)
		return (u64)backlog->packets + segments > limit->count;
	return backlog->bytes + ip_bytes > limit->count;
}

/* Returns whether the dropper is called for a packet: the buffer has room, or the dropper has MH_SEES_FULL_BUFFERS. */
MH_FN u32 mh_asks_dropper(u32 full, u32 sees_full_buffers)
{
	return !full || sees_full_buffers;
}

/* Returns the final verdict on a packet from the dropper's, which is MH_PASS if the dropper was not called. */
MH_FN u32 mh_verdict_with_buffer(u32 full, u32 verdict)
{
	return full && verdict < MH_DROP_EARLY ? MH_DROP_FORCED : verdict;
}

/*
 * Returns the backlog that an arrival of `band` cannot push out: the packets that wait in this band and in better ones.
 * The colours of `bands` are the bands that share the buffer, best first.
 */
MH_FN struct mh_backlog mh_protected_backlog(const struct mh_backlog *bands, u32 band)
{
	struct mh_backlog kept = *bands;
	u32 worse;

	for (worse = MH_COLOURS - 1; worse > band; worse--) {
		kept.packets -= kept.colour_packets[worse];
		kept.bytes -= kept.colour_bytes[worse];
		kept.colour_packets[worse] = 0;
		kept.colour_bytes[worse] = 0;
	}
	return kept;
}

/* Returns the band whose newest packet is pushed out first: the worst one that is not empty; 0 if all are empty. */
MH_FN u32 mh_victim_band(const struct mh_backlog *bands)
{
	u32 band = MH_COLOURS - 1;

	while (band && !bands->colour_packets[band])
		band--;
	return band;
}

#endif
