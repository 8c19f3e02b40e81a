/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * The part of the kernel's stable interface that a tc program needs. No system header is included, so that clang alone
 * can compile the programs. The numbers are those of include/uapi/linux/{bpf,pkt_cls,if_ether,in}.h. The types u8 .. u64
 * are base.h's.
 */
#ifndef MOUSEHOLE_LIVE_KERNEL_H
#define MOUSEHOLE_LIVE_KERNEL_H

#include "mousehole/base.h"

#define ML_SECTION(name_) __attribute__((section(name_), used))
/* Marks a function that is inlined into its callers, if the program has any. */
#define ML_INLINE static inline __attribute__((always_inline, unused))

/* Converts 16 bits from the machine's byte order to the network's. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ML_BE16(value_) __builtin_bswap16(value_)
#else
#define ML_BE16(value_) (value_)
#endif

/* A packet's context in a tc program. */
struct __sk_buff {
	u32 len;
	u32 pkt_type;
	u32 mark;
	u32 queue_mapping;
	u32 protocol; /* ethertype, in the network's order */
	u32 vlan_present;
	u32 vlan_tci;
	u32 vlan_proto;
	u32 priority;
	u32 ingress_ifindex;
	u32 ifindex;
	u32 tc_index;
	u32 cb[5];
	u32 hash;
	u32 tc_classid;
	u32 data;
	u32 data_end;
	u32 napi_id;
	u32 family;
	u32 remote_ip4;
	u32 local_ip4;
	u32 remote_ip6[4];
	u32 local_ip6[4];
	u32 remote_port;
	u32 local_port;
	u32 data_meta;
	u64 flow_keys;
	u64 tstamp;
	u32 wire_len; /* bytes on the wire, the headers of each segment included */
	u32 gso_segs; /* segments of a super-packet; 0 or 1 of any other */
	__attribute__((aligned(8))) struct bpf_sock *sk;
	u32 gso_size;
	u32 tstamp_type;
	u64 hwtstamp;
};

/* A socket; nothing of it is read here. */
struct bpf_sock {
	u32 bound_dev_if;
};

/* A TCP socket; members after the last one that is read are left out. */
struct bpf_tcp_sock {
	u32 snd_cwnd; /* segments */
	u32 srtt_us;
	u32 rtt_min;
	u32 snd_ssthresh;
	u32 rcv_nxt;
	u32 snd_nxt;
	u32 snd_una;
	u32 mss_cache;
	u32 ecn_flags;
	u32 rate_delivered;
	u32 rate_interval_us;
	u32 packets_out;
	u32 retrans_out; /* segments retransmitted and not acknowledged yet */
	u32 total_retrans;
	u32 segs_in;
	u32 data_segs_in;
	u32 segs_out;
	u32 data_segs_out;
	u32 lost_out; /* segments believed lost and not retransmitted yet */
	u32 sacked_out;
};

/* A program's return values: continue with the next program, which sends the packet in the end; or drop it. */
enum { ML_NEXT = -1, ML_DROP = 2 };

/* Types of maps. */
enum { ML_ARRAY = 2, ML_PERCPU_ARRAY = 6, ML_LRU_HASH = 9, ML_RINGBUF = 27 };

/* Flag of an update: create only. Flag of a map: its values are page-aligned. */
enum { ML_NOEXIST = 1, ML_MMAPABLE = 1 << 10 };

static void *(*const bpf_map_lookup_elem)(void *map, const void *key) = (void *)1;
static long (*const bpf_map_update_elem)(void *map, const void *key, const void *value, u64 flags) = (void *)2;
static u64 (*const bpf_ktime_get_ns)(void) = (void *)5;
static u32 (*const bpf_get_prandom_u32)(void) = (void *)7;
static u32 (*const bpf_get_smp_processor_id)(void) = (void *)8;
static long (*const bpf_skb_store_bytes)(struct __sk_buff *skb, u32 offset, const void *from, u32 bytes,
					 u64 flags) = (void *)9;
static long (*const bpf_l3_csum_replace)(struct __sk_buff *skb, u32 offset, u64 from, u64 to,
					 u64 flags) = (void *)10;
static long (*const bpf_clone_redirect)(struct __sk_buff *skb, u32 device, u64 flags) = (void *)13;
static long (*const bpf_skb_pull_data)(struct __sk_buff *skb, u32 bytes) = (void *)39;
static struct bpf_tcp_sock *(*const bpf_tcp_sock)(struct bpf_sock *socket) = (void *)96;
static u64 (*const bpf_jiffies64)(void) = (void *)118;
static long (*const bpf_ringbuf_output)(void *ring, const void *data, u64 bytes, u64 flags) = (void *)130;
static u64 (*const bpf_ktime_get_coarse_ns)(void) = (void *)160;

#endif
