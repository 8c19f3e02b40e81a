/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* Marks on packets: the traffic class in the IP header, and skb->priority for the next queue. */
#ifndef MOUSEHOLE_LIVE_WRITE_H
#define MOUSEHOLE_LIVE_WRITE_H

#include "parse.h"

/* Returns whether the packet was marked before, by a DSCP or by a class of the next queue;
 * `priority` names that queue's class, or is 0 for none. */
ML_INLINE u32 ml_is_marked(const struct __sk_buff *skb, const struct ml_packet *packet, u32 priority)
{
	return packet->traffic_class >> 2 || (priority && skb->priority >> 16 == priority >> 16 && skb->priority & 0xffff);
}

/* Writes the traffic class (DSCP and ECN), also into the parsed packet, and updates IPv4's
 * checksum. The packet's headers must be those that were parsed. */
ML_INLINE void ml_write_traffic_class(struct __sk_buff *skb, struct ml_packet *packet, u32 traffic_class)
{
	u32 offset = packet->network_offset;
	u8 byte = (u8)traffic_class;

	if (packet->kind == ML_IS_IPV4) {
		/* The words of the header that hold the class differ in their low byte alone. */
		bpf_l3_csum_replace(skb, offset + 10, ML_BE16((u16)packet->traffic_class), ML_BE16((u16)byte), 2);
		bpf_skb_store_bytes(skb, offset + 1, &byte, 1, 0);
	} else {
		u8 first = (u8)(0x60 | byte >> 4), second = (u8)(byte << 4 | packet->flow_label_high);

		bpf_skb_store_bytes(skb, offset, &first, 1, 1);
		bpf_skb_store_bytes(skb, offset + 1, &second, 1, 1);
	}
	packet->traffic_class = byte;
}

/* Writes the marks into the packet: the colour's priority and DSCP for the next queue, unless it
 * keeps its mark; and CE for the receiver, if `is_congested`. Does nothing for what stays as it
 * is. */
ML_INLINE void ml_write_marks(struct __sk_buff *skb, const struct ml_action *action, struct ml_packet *packet,
			      u32 is_congested, u32 keeps_mark)
{
	u32 colour = (u32)mh_min(packet->view.colour, MH_RED), changed = packet->traffic_class;

	if (is_congested)
		changed |= 3;
	if (!keeps_mark) {
		if (action->priority[colour])
			skb->priority = action->priority[colour];
		if (action->dscp[colour] != ML_KEEP_DSCP)
			changed = (u32)action->dscp[colour] << 2 | (changed & 3);
	}
	if (changed != packet->traffic_class)
		ml_write_traffic_class(skb, packet, changed);
}

#endif
