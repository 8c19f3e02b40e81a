/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * The program at a device's egress, in six steps: parse, find, decide, queue, account, write.
 *
 * Every decision is a policy's; roles.h says which policies a program has.
 *
 * One lock guards a decision: that of the flow's entry, or, where packets of several flows share a state or a queue,
 * that of the shared state. Clock and random numbers are read before.
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
#include "users.h"
#include "write.h"

/* Looks up what every packet needs. Returns whether all is there. */
ML_INLINE u32 ml_begin(struct ml_work *work)
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
 * Parses a frame into the CPU's scratch. Returns 0; 1 where a header lies beyond the frame's linear part; 2 where a map
 * is missing. A function of its own, so that what follows is walked once and not once for each path through it. Its
 * linkage is internal: of a global function the verifier takes the context for what it is only where the kernel has type
 * information (BTF), which those of routers lack.
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

/* 1. Parses the packet and counts what it is. Nothing is decided of it yet. */
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
	ml_begin_shape(scratch);
}

/* 2. Finds or makes the entries of the packet's flow and user. Returns whether the packet is one to decide on. */
ML_INLINE u32 ml_find(struct ml_work *work)
{
	struct ml_packet *packet = &work->scratch->packet;

	if (packet->kind >= ML_IS_NOT_IP)
		return 0;
	ml_begin_trial(work);
	if (ML_HAS_MARKER) {
		work->entry = ml_find_flow(work->control, &packet->key, work->counters, work->now_ns, &work->index);
		if (!work->entry) {
			work->counters->without_state++;
			return 0;
		}
	}
	if (ML_HAS_USER) {
		work->user = ml_find_user(work->scratch, work->all->settings.user_is_destination);
		if (!work->user) {
			work->counters->without_state++;
			return 0;
		}
	}
	return 1;
}

/* Has the marker of flows colour the packet, or discard it. */
ML_INLINE void ml_mark_flow(const struct ml_work *work)
{
	struct ml_scratch *scratch = work->scratch;
	ml_marker_state *state = ML_HAS(ML_MARKER_SHARES) ? (void *)&work->state->marker : (void *)&scratch->marker;

	if (!ML_HAS_MARKER)
		return;
	ml_take_published(work, state);
	ml_note_end(work);
	scratch->decision.colour = ml_marker_packet(&work->all->marker, &work->entry->policy, state,
						    &scratch->packet.view, work->now_ns, scratch->random[0]);
}

/* Has the marker of users look at what the first has coloured. */
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
		ml_shape(work);
	else
		decision->colour = ml_user_packet(&all->user, &user->policy, &work->state->user, view, work->now_ns,
						  scratch->random[1]);
	user->last_seen_ns = work->now_ns;
}

/* Counts the packet's position from its flow's first byte: TCP begins at a random number. Needs the flow's lock. */
ML_INLINE void ml_place(const struct ml_work *work)
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

/* 3. Decides on the packet's colour, and whether it keeps the mark that somebody gave it before. */
ML_INLINE void ml_decide(const struct ml_work *work)
{
	const struct ml_action *action = &work->all->settings.action;
	struct ml_scratch *scratch = work->scratch;
	struct ml_packet *packet = &scratch->packet;
	u32 colour;

	ml_place(work);
	ml_mark_flow(work);
	ml_mark_user(work);
	packet->view.colour = (u8)mh_min(scratch->decision.colour, MH_RED);
	/* Read back from memory, the colour is any: one path for the verifier, not one for each. */
	ML_FORGET;
	colour = (u32)mh_min(packet->view.colour, MH_RED);
	scratch->keeps_mark = colour != MH_GREEN && !action->overrides &&
			      ml_is_marked(work->skb, packet, action->priority[colour]);
}

/* 5. Notes what was decided: in the flow's account, which the lock guards, and then in the CPU's. */
ML_INLINE void ml_account(const struct ml_work *work)
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
	ml_send_end(scratch);
	ML_FORGET;
	ml_count_decision(work->counters, view, &scratch->decision, keeps_mark);
}

/* 6. Does what was decided, unless in shadow. Returns what becomes of the packet. */
ML_INLINE int ml_write(const struct ml_work *work)
{
	const struct ml_settings *settings = &work->all->settings;
	struct ml_scratch *scratch = work->scratch;
	u32 is_dropped = ml_drop_reason(&scratch->decision) < ML_DROP_REASONS;

	if (!is_dropped)
		ml_hold(work);
	if (settings->shadow || scratch->is_spared)
		return ML_NEXT;
	if (is_dropped)
		return ML_DROP;
	ml_write_marks(work->skb, &settings->action, &scratch->packet, scratch->decision.verdict == MH_MARK,
		       scratch->keeps_mark);
	return ML_NEXT;
}

ML_SECTION("classifier") int mousehole(struct __sk_buff *skb)
{
	struct ml_work work = { .skb = skb };

	if (!ml_begin(&work))
		return ML_NEXT;
	ml_parse_packet(&work);
	if (ML_HAS(ML_COUNT_ONLY))
		return ML_NEXT;
	work.now_ns = ml_now(&work);
	ml_draw(&work);
	if (!ml_find(&work)) {
		ml_admit_unseen(&work);
		return ML_NEXT;
	}
	if (!ml_find_published(&work))
		return ML_NEXT;
	work.lock = ML_SHARED ? &work.state->lock : &work.entry->flow.lock;
	if (!ml_lock(work.lock)) {
		work.counters->lock_busy++;
		return ML_NEXT;
	}
	ml_decide(&work);
	ml_queue(&work);
	ml_account(&work);
	return ml_write(&work);
}

/* GPL-compatible; the sources are MIT, Apache-2.0 or GPL-2.0. */
char ml_license[] ML_SECTION("license") = "Dual MIT/GPL";
