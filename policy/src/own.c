/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * Wraps the functions of a user's own header. Each wrapper records the call in its thread's record, so that a fault can
 * be reported with its call (own.rs), and reports answers that are out of range.
 *
 * It is compiled after the header itself. MH_OWN_NAME is the policy's name in C.
 */
#include "mousehole/policy.h"

#define MH_OWN_PASTE(a, b) a##b
#define MH_OWN_JOIN(a, b) MH_OWN_PASTE(a, b)

/* A header without it is refused once it is loaded. */
extern const struct mh_policy MH_OWN_JOIN(mh_policy_, MH_OWN_NAME) __attribute__((weak));

/* A thread's current or last call; mirrored in own.rs. */
struct mousehole_own_call {
	const char *volatile header;
	const char *volatile function; /* null outside of calls */
	const void *volatile view;
	volatile u64 now_ns;
	volatile unsigned long calls;
};

/* Filled in by own.rs once the library is loaded. */
struct mousehole_own {
	const char *header;
	struct mousehole_own_call *(*thread)(void); /* of the calling thread */
	void (*refuse)(const char *function, u32 answer, u32 most);
} mousehole_own;

/*
 * Returns the description. The address is hidden from the compiler, so that it cannot inline the header's function and
 * move parts of it out of the recorded call.
 */
static inline const struct mh_policy *mousehole_own_policy(void)
{
	const struct mh_policy *policy = &MH_OWN_JOIN(mh_policy_, MH_OWN_NAME);

	__asm__("" : "+r"(policy));
	return policy;
}

/*
 * Records the start of a call in this thread's record and returns the record; the caller sets `function` to 0 after the
 * call. `view` is null and `now_ns` 0 for a function without them.
 */
static inline struct mousehole_own_call *mousehole_own_begin_call(const char *function, const void *view, u64 now_ns)
{
	struct mousehole_own_call *call = mousehole_own.thread();

	call->header = mousehole_own.header;
	call->view = view;
	call->now_ns = now_ns;
	call->calls++;
	call->function = function;
	return call;
}

/* Returns a marker's or dropper's answer unchanged, and reports one beyond 255 (a hint) or 3 (a colour or verdict). */
static inline u32 mousehole_own_check_answer(u32 answer)
{
	const struct mh_policy *policy = mousehole_own_policy();
	u32 most = policy->kind == MH_MARKER_POLICY && policy->returns == MH_HINT ? 255 : 3;

	if (answer > most)
		mousehole_own.refuse("packet", answer, most);
	return answer;
}

/*
 * Returns a queue's answer unchanged, and reports one that is not allowed: it must contain a bit of `alone`, or be the
 * number of a band, or-ed with bits of `parts`.
 */
static inline u32 mousehole_own_check_band(const char *function, u32 answer, u32 alone, u32 parts)
{
	u32 bands = mousehole_own_policy()->bands;

	if (!(answer & alone) && ((answer & MH_BAND) >= bands || answer & ~(MH_BAND | parts)))
		mousehole_own.refuse(function, answer & ~parts, bands - 1);
	return answer;
}

/* Calls a function of the header as a recorded call, and defines `answer` as its result. */
#define MH_OWN_CALL(type_, name_, view_, now_ns_, call_)                         \
	struct mousehole_own_call *mousehole_own_at = mousehole_own_begin_call(name_, view_, now_ns_);     \
	type_ answer = mousehole_own_policy()->call_;                                   \
	mousehole_own_at->function = 0

/* Calls the header's set-up function as a recorded call, and returns its fault. */
struct mh_fault mousehole_own_setup(void *p, const struct mh_link_context *link)
{
	MH_OWN_CALL(struct mh_fault, "setup", 0, 0, setup(p, link));
	return answer;
}

/* Calls the header's `draws` as a recorded call, and returns its answer. */
u32 mousehole_own_draws(const void *p)
{
	MH_OWN_CALL(u32, "draws", 0, 0, draws(p));
	return answer;
}

/* Calls a marker's function for packets as a recorded call; its answer is checked and returned. */
u32 mousehole_own_mark(const void *p, void *f, void *s, const struct mh_view *view, u64 now_ns, u32 random)
{
	MH_OWN_CALL(u32, "packet", view, now_ns, mark(p, f, s, view, now_ns, random));
	return mousehole_own_check_answer(answer);
}

/* Calls a dropper's function for packets as a recorded call; its answer is checked and returned. */
u32 mousehole_own_drop(const void *p, void *s, const struct mh_view *view, const struct mh_backlog *backlog, u64 now_ns,
		u32 random)
{
	MH_OWN_CALL(u32, "packet", view, now_ns, drop(p, s, view, backlog, now_ns, random));
	return mousehole_own_check_answer(answer);
}

/* Calls the header's `expired` as a recorded call, and returns its answer. */
u32 mousehole_own_expired(const void *p, const void *f, u64 now_ns)
{
	MH_OWN_CALL(u32, "expired", 0, now_ns, expired(p, f, now_ns));
	return answer;
}

/* Calls the header's `flow_end` as a recorded call. */
void mousehole_own_flow_end(const void *p, const void *f, void *s)
{
	struct mousehole_own_call *at = mousehole_own_begin_call("flow_end", 0, 0);

	mousehole_own_policy()->flow_end(p, f, s);
	at->function = 0;
}

/* Calls the header's `period` as a recorded call, and returns its answer, ns. */
u64 mousehole_own_period(const void *p)
{
	MH_OWN_CALL(u64, "period", 0, 0, period(p));
	return answer;
}

/* Calls the header's `classify` as a recorded call, and returns the class, which the caller checks. */
u32 mousehole_own_classify(const void *p, const void *f, const void *s)
{
	MH_OWN_CALL(u32, "classify", 0, 0, classify(p, f, s));
	return answer;
}

/* Calls the header's `control` as a recorded call, and returns its answer. */
u32 mousehole_own_control(const void *p, void *s, const struct mh_counts *counts, u64 now_ns)
{
	MH_OWN_CALL(u32, "control", 0, now_ns, control(p, s, counts, now_ns));
	return answer;
}

/* Calls the header's `shape` as a recorded call, and returns the time to wait, ns. */
u64 mousehole_own_shape(const void *p, void *f, void *s, const struct mh_view *view, u64 now_ns)
{
	MH_OWN_CALL(u64, "shape", view, now_ns, shape(p, f, s, view, now_ns));
	return answer;
}

/* Calls the header's `departed` as a recorded call, without a view. */
void mousehole_own_departed(const void *p, void *s, u32 colour, const struct mh_backlog *after, u64 now_ns)
{
	struct mousehole_own_call *at = mousehole_own_begin_call("departed", 0, now_ns);

	mousehole_own_policy()->departed(p, s, colour, after, now_ns);
	at->function = 0;
}

/* Calls a queue's `enqueue` as a recorded call; its answer is checked and returned. */
u32 mousehole_own_enqueue(const void *p, void *s, const struct mh_waiting *waiting, const struct mh_view *view, u32 hash,
			  u64 now_ns, u32 random)
{
	MH_OWN_CALL(u32, "enqueue", view, now_ns, enqueue(p, s, waiting, view, hash, now_ns, random));
	return mousehole_own_check_band("enqueue", answer, MH_REFUSED, MH_MARKED);
}

/* Calls a queue's `dequeue` as a recorded call; its answer is checked and returned. */
u32 mousehole_own_dequeue(const void *p, void *s, const struct mh_waiting *waiting, u64 now_ns)
{
	MH_OWN_CALL(u32, "dequeue", 0, now_ns, dequeue(p, s, waiting, now_ns));
	return mousehole_own_check_band("dequeue", answer, MH_AGAIN, MH_MARKED | MH_DROPPED);
}

/* Calls a queue's `overflow` as a recorded call; its answer is checked and returned. */
u32 mousehole_own_overflow(const void *p, void *s, const struct mh_waiting *waiting, u64 now_ns)
{
	MH_OWN_CALL(u32, "overflow", 0, now_ns, overflow(p, s, waiting, now_ns));
	return mousehole_own_check_band("overflow", answer, MH_FITS, MH_HEAD);
}

/* Calls the header's `restarts` as a recorded call, and returns its answer. */
u32 mousehole_own_restarts(const void *p, const void *f, const struct mh_view *view, u64 now_ns)
{
	MH_OWN_CALL(u32, "restarts", view, now_ns, restarts(p, f, view, now_ns));
	return answer;
}
