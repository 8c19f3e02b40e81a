/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * Twins: how a native queue (native.c) sends a packet with Congestion Experienced (CE), although a queue discipline by
 * struct_ops may not write into packets.
 *
 * An ECN-capable packet enters the queue twice: first a clone of it as it is, then the packet itself with CE. The queue
 * counts both as one packet, and sends one of them. The clone passes the device's egress like any packet, so this
 * program sees it too, on the same CPU and before bpf_clone_redirect() returns.
 *
 * Behind any other queue both twins would leave, so none are made unless ml_queues (state.h) says that the queue is
 * there. Programs and filters before this one at the egress see the packet and its clone, as those behind it do.
 *
 * skb->cb, which the kernel leaves alone between the egress and the queue, says which one it is (label.h).
 */
#ifndef MOUSEHOLE_LIVE_TWIN_H
#define MOUSEHOLE_LIVE_TWIN_H

#include "label.h"
#include "state.h"
#include "write.h"

/* Writes into skb->cb what the queue is to know of the packet. */
ML_INLINE void ml_label(struct __sk_buff *skb, u32 role, u32 flags, u32 dscp, u32 cpu, u32 number)
{
	skb->cb[0] = ML_LABEL;
	skb->cb[1] = role | flags << 8 | dscp << 16;
	skb->cb[2] = cpu;
	skb->cb[3] = number;
}

/*
 * Makes twins of an ECN-capable packet, and labels it for the queue; does nothing without the queue. A packet that
 * cannot have a twin is labelled as not ECN-capable, so that the queue drops it where it would mark it. One with CE
 * needs none. Returns 0. It is not inlined, so that the verifier walks it with one state of the caller.
 */
static __attribute__((noinline, unused)) int ml_make_twins(struct __sk_buff *skb)
{
	u32 zero = 0, flags, dscp, cpu = bpf_get_smp_processor_id(), has_mark;
	struct ml_scratch *scratch = bpf_map_lookup_elem(&ml_scratch, &zero);
	const u32 *queues = bpf_map_lookup_elem(&ml_queues, &zero);
	struct ml_packet *packet;

	if (!scratch || !queues || !*queues)
		return 0;
	packet = &scratch->packet;
	flags = packet->view.flags & (MH_ECT | MH_L4S);
	dscp = packet->view.dscp;
	has_mark = (packet->traffic_class & 3) == 3;
	if (!flags || has_mark || cpu >= ML_MOST_CPUS) {
		ml_label(skb, ML_ALONE, has_mark ? flags : flags & MH_L4S, dscp, 0, 0);
		return 0;
	}
	scratch->twins++;
	scratch->cloned_flags = flags;
	if (bpf_clone_redirect(skb, skb->ifindex, 0)) {
		scratch->cloned_flags = 0;
		ml_label(skb, ML_ALONE, flags & MH_L4S, dscp, 0, 0);
		return 0;
	}
	scratch->cloned_flags = 0;
	ml_write_traffic_class(skb, packet, packet->traffic_class | 3);
	ml_label(skb, ML_MARKED_TWIN, flags, dscp, cpu, scratch->twins);
	return 0;
}

/* Labels the packet, if it is the clone that ml_make_twins() sends. Returns whether it is. */
ML_INLINE u32 ml_is_clone(const struct ml_work *work)
{
	const struct ml_scratch *scratch = work->scratch;

	if (!scratch->cloned_flags)
		return 0;
	ml_label(work->skb, ML_PLAIN_TWIN, scratch->cloned_flags, 0, bpf_get_smp_processor_id(), scratch->twins);
	return 1;
}

#endif
