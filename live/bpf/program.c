/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * The program at a device's egress, in six steps: parse, find, decide, queue, account, write. Before a native queue that
 * marks, a seventh makes twins.
 *
 * Policies make every decision; roles.h says which policies a program has.
 *
 * One lock guards a decision: that of the flow's entry or, if packets of several flows share a state or a queue, that of
 * the shared state. Clock and random numbers are read before the lock is taken.
 */
#include "account.h"
#include "agent.h"
#include "inputs.h"
#include "lock.h"
#include "queue.h"
#include "shape.h"
#include "state.h"
#include "table.h"
#include "trial.h"
#include "twin.h"
#include "users.h"
#include "write.h"

/* Points the work's members to the map values that every packet needs, the active settings among
 * them. Returns whether all are there. */
ML_INLINE u32 ml_look_up_maps(struct ml_work *work)
{
	u32 zero = 0, active;

	work->control = bpf_map_lookup_elem(&ml_control, &zero);
	work->counters = bpf_map_lookup_elem(&ml_counters, &zero);
	work->scratch = bpf_map_lookup_elem(&ml_scratch, &zero);
	work->state = bpf_map_lookup_elem(&ml_state, &zero);
	if (!work->control || !work->counters || !work->scratch || !work->state)
		return 0;
	active = work->control->active & 1;
	work->all = bpf_map_lookup_elem(&ml_settings, &active);
	return !!work->all;
}

/*
 * Parses a frame into the CPU's scratch. Returns 0; 1 if a header extends beyond the frame's linear part; 2 if a map is
 * missing. It is not inlined, so that the verifier walks what follows once, and not once for each path through it. Its
 * linkage is internal: the verifier accepts the context as argument of a global function only where the kernel has type
 * information (BTF), which kernels of routers lack.
 */
static __attribute__((noinline)) int ml_parse_frame(struct __sk_buff *skb, u32 link_header_bytes)
{
	u32 zero = 0;
	struct ml_scratch *scratch = bpf_map_lookup_elem(&ml_scratch, &zero);

	if (!scratch)
		return 2;
	ml_parse(skb, &scratch->packet, link_header_bytes);
	return !!scratch->packet.is_short;
}

/* 1. Parses the packet into the CPU's scratch, counts its kind, and resets the decision. If a
 * header extends beyond the frame's linear part, it pulls the start of the frame in and parses
 * once more. */
ML_INLINE void ml_parse_packet(const struct ml_work *work)
{
	struct __sk_buff *skb = work->skb;
	struct ml_scratch *scratch = work->scratch;
	struct ml_decision *decision = &scratch->decision;
	u32 link_header_bytes = work->all->settings.link_header_bytes;

	if (ml_parse_frame(skb, link_header_bytes) && !bpf_skb_pull_data(skb, (u32)mh_min(skb->len, ML_LOOKED_AT)))
		ml_parse_frame(skb, link_header_bytes);
	ml_count_kind(work->counters, &scratch->packet);
	if (ML_READS_HINTS)
		ml_read_socket(skb, &scratch->packet.view);
	decision->colour = MH_GREEN;
	decision->verdict = MH_PASS;
	decision->is_full = 0;
	ml_clear_departure(scratch);
}

/* 2. Finds or creates the entries of the packet's flow and user, and decides whether its host is
 * spared. Returns whether the packet is to be decided on: it is IP, and has its entries. One
 * without an entry is counted in without_state. */
ML_INLINE u32 ml_find_entries(struct ml_work *work)
{
	struct ml_packet *packet = &work->scratch->packet;

	if (packet->kind >= ML_IS_NOT_IP)
		return 0;
	ml_decide_spared(work);
	if (ML_HAS_MARKER) {
		work->entry = ml_find_flow(work->control, &packet->key, work->counters, work->now_ns, &work->index);
		if (!work->entry) {
			work->counters->without_state++;
			return 0;
		}
	}
	if (ML_HAS_USER) {
		work->user = ml_find_user(work->scratch, work->all->settings.flags & ML_USER_IS_DESTINATION);
		if (!work->user) {
			work->counters->without_state++;
			return 0;
		}
	}
	return 1;
}

/* Lets the marker of flows colour the packet, or discard it; without a marker the packet stays
 * green. The flow's and the shared state change. */
ML_INLINE void ml_mark_flow(const struct ml_work *work)
{
	struct ml_scratch *scratch = work->scratch;
	ml_marker_state *state = ML_HAS(ML_MARKER_SHARES) ? (void *)&work->state->marker : (void *)&scratch->marker;

	if (!ML_HAS_MARKER)
		return;
	ml_copy_published(work, state);
	ml_save_ended(work);
	scratch->decision.colour = ml_marker_packet(&work->all->marker, &work->entry->policy, state,
						    &scratch->packet.view, work->now_ns, scratch->random[0]);
}

/* Lets the marker of users change the colour that the first marker gave, or hold or discard the
 * packet. Does nothing without such a marker, or for a packet that is discarded already. */
ML_INLINE void ml_mark_user(const struct ml_work *work)
{
	const struct ml_all_settings *all = work->all;
	struct ml_scratch *scratch = work->scratch;
	struct ml_decision *decision = &scratch->decision;
	struct mh_view *view = &scratch->packet.view;
	struct ml_user *user = work->user;

	if (!ML_HAS_USER)
		return;
	ML_FORGET;
	if (decision->colour > MH_RED)
		return;
	view->colour = (u8)decision->colour;
	/* The policy reads the colour from memory and compares what it read. Otherwise the compiler joins its
	 * comparisons with others, and the verifier does not see that an index is in range. */
	ML_FORGET;
	if (ML_SHAPES && all->settings.longest_wait_ms)
		ml_decide_departure(work);
	else
		decision->colour = ml_user_packet(&all->user, &user->policy, &work->state->user, view, work->now_ns,
						  scratch->random[1]);
	user->last_seen_ns = work->now_ns;
}

/* Makes the packet's sequence number relative to its flow's first byte, which a SYN or the first
 * packet sets; 0 without a marker. To be called with the flow's lock. */
ML_INLINE void ml_set_position(const struct ml_work *work)
{
	struct ml_packet *packet = &work->scratch->packet;
	struct ml_flow *flow;

	if (!ML_HAS_MARKER) {
		packet->view.sequence = 0;
		return;
	}
	flow = &work->entry->flow;
	if (!flow->bytes || packet->view.flags & MH_SYN)
		flow->begins = packet->view.sequence - packet->payload;
	packet->view.sequence -= flow->begins;
}

/* 3. Decides the packet's colour, and whether it keeps a mark that it already has. To be called with the lock. */
ML_INLINE void ml_decide(const struct ml_work *work)
{
	const struct ml_action *action = &work->all->settings.action;
	struct ml_scratch *scratch = work->scratch;
	struct ml_packet *packet = &scratch->packet;
	u32 colour;

	ml_set_position(work);
	ml_mark_flow(work);
	ml_mark_user(work);
	packet->view.colour = (u8)mh_min(scratch->decision.colour, MH_RED);
	/* After a reload from memory the verifier does not know the colour, so it follows one path and not one for each. */
	ML_FORGET;
	colour = (u32)mh_min(packet->view.colour, MH_RED);
	scratch->keeps_mark = colour != MH_GREEN && !action->overrides &&
			      ml_is_marked(work->skb, packet, action->priority[colour]);
}

/* 5. Adds the decision to the flow's counters, releases the lock, and adds it to the CPU's counters. */
ML_INLINE void ml_account_packet(const struct ml_work *work)
{
	struct ml_scratch *scratch = work->scratch;
	const struct mh_view *view = &scratch->packet.view;
	u32 keeps_mark;

	ML_FORGET;
	keeps_mark = scratch->keeps_mark;
	if (ML_HAS_MARKER) {
		ml_note_transfer(work);
		ml_account_flow(&work->entry->flow, view, &scratch->decision, keeps_mark, work->now_ns);
	}
	ml_unlock(work->lock);
	ml_send_ended(scratch);
	ML_FORGET;
	ml_count_decision(work->counters, view, &scratch->decision, keeps_mark);
}

/* 6. Carries out the decision, unless in shadow or for a spared host, and counts a packet that
 * is held. Returns the verdict for the kernel: ML_NEXT or ML_DROP. */
ML_INLINE int ml_act(const struct ml_work *work)
{
	const struct ml_settings *settings = &work->all->settings;
	struct ml_scratch *scratch = work->scratch;
	u32 is_dropped = ml_find_drop_reason(&scratch->decision) < ML_DROP_REASONS;

	if (!is_dropped)
		ml_hold_packet(work);
	if (settings->shadow || scratch->is_spared)
		return ML_NEXT;
	if (is_dropped)
		return ML_DROP;
	ml_write_marks(work->skb, &settings->action, &scratch->packet, scratch->decision.verdict == MH_MARK,
		       scratch->keeps_mark);
	return ML_NEXT;
}

/* Does steps 1 to 6. Returns the verdict for the kernel. A packet that cannot be decided on, for
 * want of an entry or the lock, passes unchanged. */
ML_INLINE int ml_handle_packet(struct ml_work *work)
{
	ml_parse_packet(work);
	if (ML_HAS(ML_COUNT_ONLY))
		return ML_NEXT;
	work->now_ns = ml_read_clock(work);
	ml_draw_numbers(work);
	if (!ml_find_entries(work)) {
		ml_admit_unseen(work);
		return ML_NEXT;
	}
	if (!ml_find_published(work))
		return ML_NEXT;
	work->lock = ML_SHARED ? &work->state->lock : &work->entry->flow.lock;
	if (!ml_lock(work->lock)) {
		work->counters->lock_busy++;
		return ML_NEXT;
	}
	ml_decide(work);
	ml_decide_queue(work);
	ml_account_packet(work);
	return ml_act(work);
}

/* The program: the kernel calls it for each outgoing packet. Without its maps the packet passes
 * unchanged. */
ML_SECTION("classifier") int mousehole(struct __sk_buff *skb)
{
	struct ml_work work = { .skb = skb };

	if (!ml_look_up_maps(&work) || ml_is_clone(&work))
		return ML_NEXT;
	if (ml_handle_packet(&work) == ML_DROP)
		return ML_DROP;
	ML_FORGET;
	if (work.all->settings.flags & ML_HAS_TWINS)
		ml_make_twins(skb);
	return ML_NEXT;
}

/* GPL-compatible; the sources are MIT, Apache-2.0 or GPL-2.0. */
char ml_license[] ML_SECTION("license") = "Dual MIT/GPL";
