/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * Parses a frame: finds its flow's key and the view that policies read.
 *
 *   Ethernet or none; up to two VLAN tags; PPPoE session frames; IPv4 with options; IPv6 with up to 8 extension
 *   headers; TCP, UDP, UDP-Lite, DCCP and SCTP by their ports.
 *
 * Flows without ports: ICMP, tunnels, ESP, and fragments. All fragments between two hosts with one protocol are one
 * flow, the first fragment too, since only that one has ports. A tunnel is one flow, by its outer addresses.
 *
 * The length on the wire comes from the context; for a super-packet it includes the headers of each segment.
 */
#ifndef MOUSEHOLE_LIVE_PARSE_H
#define MOUSEHOLE_LIVE_PARSE_H

#include "layout.h"

enum {
	ML_IPV4 = 0x0800,
	ML_IPV6 = 0x86dd,
	ML_VLAN = 0x8100,
	ML_QINQ = 0x88a8,
	ML_PPPOE = 0x8864,
	ML_PPP_IPV4 = 0x0021,
	ML_PPP_IPV6 = 0x0057
};
enum {
	ML_HOP_BY_HOP = 0,
	ML_TCP = 6,
	ML_UDP = 17,
	ML_DCCP = 33,
	ML_ROUTING = 43,
	ML_FRAGMENT = 44,
	ML_AUTHENTICATION = 51,
	ML_DESTINATION = 60,
	ML_SCTP = 132,
	ML_MOBILITY = 135,
	ML_UDP_LITE = 136,
	ML_HIP = 139,
	ML_SHIM6 = 140
};

/* The port of QUIC (RFC 9114, section 3.1.1). */
enum { ML_QUIC = 443 };

/* The most extension headers that are followed, and the offset beyond which nothing is read. */
enum { ML_EXTENSIONS = 8, ML_LOOKED_AT = 511 };

/* What a frame is. */
enum { ML_IS_IPV4 = 0, ML_IS_IPV6 = 1, ML_IS_NOT_IP = 2, ML_IS_MALFORMED = 3 };

/* A parsed packet. */
struct ml_packet {
	struct ml_key key;
	struct mh_view view;
	u32 kind;           /* ML_IS_IPV4, .. */
	u32 network_offset; /* of the IP header in the frame */
	u32 is_fragment;
	u32 is_short;        /* a header extends beyond the frame's linear part */
	u32 traffic_class;   /* DSCP and ECN */
	u32 payload;         /* of TCP, bytes */
	u32 next;            /* while IPv6 is parsed: type and offset of the next header */
	u32 offset;
	u32 flow_label_high; /* the 4 bits of IPv6's flow label that share a byte with the traffic class */
};

/* The readable part of a frame. */
struct ml_cursor {
	const u8 *data;
	const u8 *end;
};

/* Returns a pointer to `bytes` bytes at `offset`; null if the offset is too large, or if the frame's linear part is too
 * short, which sets is_short. */
ML_INLINE const u8 *ml_read_at(const struct ml_cursor *cursor, struct ml_packet *packet, u32 offset, u32 bytes)
{
	const u8 *at = cursor->data + (offset & ML_LOOKED_AT);

	if (offset > ML_LOOKED_AT)
		return 0;
	if (at + bytes > cursor->end) {
		packet->is_short = 1;
		return 0;
	}
	return at;
}

/* Returns the 16-bit number at `at`, which is in network order. */
ML_INLINE u32 ml_read_u16(const u8 *at)
{
	return (u32)at[0] << 8 | at[1];
}

/* Returns the 32-bit number at `at`, which is in network order. */
ML_INLINE u32 ml_read_u32(const u8 *at)
{
	return ml_read_u16(at) << 16 | ml_read_u16(at + 2);
}

/* Sets MH_DATAGRAM unless the transport is known to slow down when packets are lost: TCP, DCCP,
 * SCTP, QUIC. A fragment has no ports, so one of QUIC counts as a datagram. */
ML_INLINE void ml_note_transport(struct ml_packet *packet)
{
	const struct ml_key *key = &packet->key;

	switch (key->protocol) {
	case ML_TCP:
	case ML_DCCP:
	case ML_SCTP:
		return;
	case ML_UDP:
		if (ml_read_u16((const u8 *)&key->source_port) == ML_QUIC ||
		    ml_read_u16((const u8 *)&key->destination_port) == ML_QUIC)
			return;
	}
	packet->view.flags |= MH_DATAGRAM;
}

/* Reads ports and, for TCP, flags, payload and sequence number. `payload` is the bytes after the
 * network headers. Of a fragment, and of other protocols, only the protocol is set. */
ML_INLINE void ml_parse_transport(const struct ml_cursor *cursor, struct ml_packet *packet, u32 protocol, u32 offset,
				  u32 payload)
{
	const u8 *at;
	u32 header;

	packet->key.protocol = (u8)protocol;
	if (packet->is_fragment)
		return;
	switch (protocol) {
	case ML_TCP:
		at = ml_read_at(cursor, packet, offset, 20);
		if (!at)
			return;
		__builtin_memcpy(&packet->key.source_port, at, 2);
		__builtin_memcpy(&packet->key.destination_port, at + 2, 2);
		header = (u32)(at[12] >> 4) * 4;
		if (at[13] & 2)
			packet->view.flags |= MH_SYN;
		else if (payload <= header)
			packet->view.flags |= MH_ACK;
		else
			packet->payload = payload - header;
		packet->view.sequence = ml_read_u32(at + 4) + !!(at[13] & 2) + packet->payload;
		return;
	case ML_UDP:
	case ML_DCCP:
	case ML_SCTP:
	case ML_UDP_LITE:
		at = ml_read_at(cursor, packet, offset, 4);
		if (!at)
			return;
		__builtin_memcpy(&packet->key.source_port, at, 2);
		__builtin_memcpy(&packet->key.destination_port, at + 2, 2);
		return;
	default:
		return;
	}
}

/* Parses an IPv4 header at `offset` and the transport header after it. The packet's kind becomes
 * ML_IS_MALFORMED if the header is cut short or inconsistent, else ML_IS_IPV4. */
ML_INLINE void ml_parse_ipv4(const struct ml_cursor *cursor, struct ml_packet *packet, u32 offset)
{
	const u8 *at = ml_read_at(cursor, packet, offset, 20);
	u32 header, length, last = 10;

	packet->kind = ML_IS_MALFORMED;
	if (!at || at[0] >> 4 != 4)
		return;
	header = (u32)(at[0] & 15) * 4;
	length = ml_read_u16(at + 2);
	/* The length is 0 in a super-packet beyond 64 kB. */
	if (header < 20 || (length && length < header))
		return;
	packet->kind = ML_IS_IPV4;
	packet->network_offset = offset;
	packet->traffic_class = at[1];
	packet->is_fragment = !!(ml_read_u16(at + 6) & 0x3fff);
	packet->key.source[last] = packet->key.source[last + 1] = 0xff;
	packet->key.destination[last] = packet->key.destination[last + 1] = 0xff;
	__builtin_memcpy(packet->key.source + 12, at + 12, 4);
	__builtin_memcpy(packet->key.destination + 12, at + 16, 4);
	ml_parse_transport(cursor, packet, at[9], offset + header, length ? length - header : 0xffff);
}

/* Returns the bytes of an extension header; 0 for other headers. `length` is the header's second byte. */
ML_INLINE u32 ml_extension_bytes(u32 type, u32 length)
{
	switch (type) {
	case ML_FRAGMENT:
		return 8;
	case ML_AUTHENTICATION:
		return (length + 2) * 4;
	case ML_HOP_BY_HOP:
	case ML_ROUTING:
	case ML_DESTINATION:
	case ML_MOBILITY:
	case ML_HIP:
	case ML_SHIM6:
		return (length + 1) * 8;
	default:
		return 0;
	}
}

/* Parses an IPv6 header at `offset`, up to ML_EXTENSIONS extension headers and the transport
 * header after them. The packet's kind becomes ML_IS_MALFORMED if the first header is cut short,
 * else ML_IS_IPV6. */
ML_INLINE void ml_parse_ipv6(const struct ml_cursor *cursor, struct ml_packet *packet, u32 offset)
{
	const u8 *at = ml_read_at(cursor, packet, offset, 40);
	u32 length, number, first;

	packet->kind = ML_IS_MALFORMED;
	if (!at || at[0] >> 4 != 6)
		return;
	packet->kind = ML_IS_IPV6;
	packet->network_offset = offset;
	packet->traffic_class = (ml_read_u16(at) >> 4) & 0xff;
	packet->flow_label_high = at[1] & 15;
	__builtin_memcpy(packet->key.source, at + 8, 16);
	__builtin_memcpy(packet->key.destination, at + 24, 16);
	length = ml_read_u16(at + 4);
	first = offset + 40;
	packet->next = at[6];
	packet->offset = first;
	/* Type and offset of the next header are in memory, where the verifier does not track them: all rounds look alike. */
#pragma clang loop unroll(disable)
	for (number = 0; number < ML_EXTENSIONS; number++) {
		u32 size;

		__asm__ volatile("" ::: "memory");
		offset = packet->offset;
		size = ml_extension_bytes(packet->next, 0);
		if (!size)
			break;
		at = ml_read_at(cursor, packet, offset, 8);
		if (!at)
			break;
		if (packet->next == ML_FRAGMENT && ml_read_u16(at + 2) & 0xfff9)
			packet->is_fragment = 1;
		packet->offset = offset + ml_extension_bytes(packet->next, at[1]);
		packet->next = at[0];
	}
	__asm__ volatile("" ::: "memory");
	offset = packet->offset;
	ml_parse_transport(cursor, packet, packet->next, offset,
			   !length ? 0xffff : length > offset - first ? length - (offset - first) : 0);
}

/* Overwrites `packet` by what the frame has after `link_header_bytes`. is_short is set if a
 * header extends beyond the frame's linear part. The bytes of a frame that is not IP are its
 * length. */
ML_INLINE void ml_parse(struct __sk_buff *skb, struct ml_packet *packet, u32 link_header_bytes)
{
	struct ml_cursor cursor = { (const u8 *)(u64)skb->data, (const u8 *)(u64)skb->data_end };
	u32 offset = link_header_bytes, type = ML_BE16((u16)skb->protocol), number, segments;
	const u8 *at;

	__builtin_memset(packet, 0, sizeof(*packet));
	packet->kind = ML_IS_NOT_IP;
	for (number = 0; number < 2; number++) {
		if (type != ML_VLAN && type != ML_QINQ)
			break;
		at = ml_read_at(&cursor, packet, offset, 4);
		if (!at)
			goto counted;
		type = ml_read_u16(at + 2);
		offset += 4;
	}
	if (type == ML_PPPOE) {
		at = ml_read_at(&cursor, packet, offset, 8);
		if (!at)
			goto counted;
		type = ml_read_u16(at + 6) == ML_PPP_IPV4 ? ML_IPV4 : ml_read_u16(at + 6) == ML_PPP_IPV6 ? ML_IPV6 : 0;
		offset += 8;
	}
	if (type == ML_IPV4)
		ml_parse_ipv4(&cursor, packet, offset);
	else if (type == ML_IPV6)
		ml_parse_ipv6(&cursor, packet, offset);
counted:
	segments = skb->gso_segs > 1 ? skb->gso_segs : 1;
	packet->view.segments = (u16)mh_min(segments, 0xffff);
	packet->view.ip_bytes = skb->wire_len;
	if (packet->kind == ML_IS_IPV4 || packet->kind == ML_IS_IPV6) {
		u32 headers = packet->network_offset * segments;

		packet->view.ip_bytes = skb->wire_len > headers ? skb->wire_len - headers : 0;
		if (packet->traffic_class & 3)
			packet->view.flags |= MH_ECT;
		if (packet->traffic_class & 1)
			packet->view.flags |= MH_L4S;
		packet->view.dscp = packet->traffic_class >> 2;
		ml_note_transport(packet);
	}
}

#endif
