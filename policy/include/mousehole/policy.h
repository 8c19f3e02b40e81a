/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * How a policy header describes itself: its functions, its parameters and how they are set up.
 *
 * A policy is one header. Its structs and functions serve the simulator and the kernel alike. Below them, under
 * `#ifdef MH_DESCRIBE`, stand a table of parameters and a set-up function, which only user space compiles and
 * which may use floating point. At the end, macros name the functions that the policy offers. From this
 * description come the command line's parser and its errors, the documentation, the JSON manifest, the random
 * parameters of the tests and the test programs for the kernel. Nothing about a policy is written elsewhere.
 *
 * A policy is of one of three kinds. The policy's name begins the names of its functions; `name` stands for it below.
 *
 *   marker   gives a packet a colour, before it reaches a queue:
 *     u32 mh_name_packet(const params *, flow *, state *, const struct mh_view *, u64 now_ns, u32 random)
 *       Returns MH_GREEN, MH_YELLOW, MH_RED, or MH_DISCARD to drop the packet. With `.returns = MH_HINT`
 *       it returns the window hint to write into the packet instead, 0 to 255.
 *
 *   dropper  decides whether a queue takes a packet:
 *     u32 mh_name_packet(const params *, state *, const struct mh_view *, const struct mh_backlog *,
 *                        u64 now_ns, u32 random)
 *       Returns MH_PASS, MH_MARK, MH_DROP_EARLY or MH_DROP_FORCED.
 *
 *   queue    chooses the band that a packet waits in and the band that sends next; queue.h says what it answers:
 *     u32 mh_name_enqueue(const params *, state *, const struct mh_waiting *, const struct mh_view *, u32 hash,
 *                         u64 now_ns, u32 random)
 *       Returns the band of an arrival, or refuses it. `hash` are 32 uniform bits of the packet's flow.
 *     u32 mh_name_dequeue(const params *, state *, const struct mh_waiting *, u64 now_ns)
 *       Returns the band whose head leaves or is dropped. Called only while packets wait.
 *
 * All may offer, each named by its macro:
 *   MH_SETUP(name)     struct mh_fault mh_name_setup(params *, const struct mh_link_context *)
 *     Computes what depends on other parameters, on the link's rate or on its buffer. User space calls it once,
 *     after the table has been applied. Returns MH_NO_FAULT, or the parameter at fault and what is allowed.
 *   MH_DRAWS(name)     u32 mh_name_draws(const params *)
 *     Returns whether `packet`, or `enqueue`, reads `random` with these parameters. Without it the caller always draws.
 *   A marker may offer:
 *   MH_EXPIRED(name)   u32 mh_name_expired(const params *, const flow *, u64 now_ns)
 *     Returns whether the flow's state may be forgotten. The caller sweeps its table.
 *   MH_FLOW_END(name)  void mh_name_flow_end(const params *, const flow *, state *)
 *     Notes the end of a flow. The caller calls it for each expired flow before it forgets the flow.
 *   MH_RESTARTS(name)  u32 mh_name_restarts(const params *, const flow *, const struct mh_view *, u64 now_ns)
 *     Returns whether `packet` with this view will start the flow anew. Its former life has then ended: the caller
 *     calls `flow_end` before `packet`.
 *   MH_PERIOD(name)    u64 mh_name_period(const params *)
 *     Returns how often the caller sweeps its table and calls `control`, ns. Without it the table is never swept.
 *   MH_CLASSIFY(name)  u32 mh_name_classify(const params *, const flow *, const state *)
 *     Returns the class in which `control` wants this flow counted, 0 .. MH_CLASSES - 1, or more for none.
 *   MH_CONTROL(name)   u32 mh_name_control(const params *, state *, const struct mh_counts *, u64 now_ns)
 *     Adapts the state to the flows in the table; called after each sweep, and once at the start, at time 0.
 *     Returns 1 if it took a step, 0 if it was called before the step was due.
 *   MH_SHAPE(name)     u64 mh_name_shape(const params *, flow *, state *, const struct mh_view *, u64 now_ns)
 *     Takes the tokens of a packet and returns 0 if it may leave now; else returns the ns to wait, or MH_NEVER.
 *     The program in the kernel also calls `u32 mh_name_is_free(const params *, const struct mh_view *)`, which returns
 *     whether the packet leaves without tokens.
 *   A dropper may offer:
 *   MH_DEPARTED(name)  void mh_name_departed(const params *, state *, u32 colour, const struct mh_backlog *after,
 *                                            u64 now_ns)
 *     Notes that packets of this colour started transmission, the last of them at `now_ns`, and left `after`
 *     waiting. The caller may call it for each departure, or once for each colour of which packets departed since the
 *     last arrival, in the order of these times, with what waits after all of them; where `after` holds packets of
 *     the colour, `now_ns` may then be later, up to the arrival. The policy's decisions must be the same.
 *   A queue may offer:
 *   MH_OVERFLOW(name)  u32 mh_name_overflow(const params *, state *, const struct mh_waiting *, u64 now_ns)
 *     Returns MH_FITS, or the band that loses a packet. Without it a packet that was taken stays.
 *
 * Packets and slow steps. `packet`, `shape` and `departed` run for every packet, in the kernel. `expired`, `flow_end`,
 * `classify` and `control` are slow steps, which an agent in user space takes on its own copy of the state while the
 * kernel handles packets. So a marker with slow steps that write declares by MH_PUBLISHES(state_t) that its state has
 * a member `published`, and keeps to this:
 *   - what stands before `published` in the state is the packets': slow steps neither read nor write it;
 *   - `published` is written by slow steps, and packets only read it; it is at most 64 bytes long;
 *   - what stands after it is the slow steps': packets neither read nor write it.
 * The kernel then holds the state up to the end of `published`, and the agent writes nothing but `published`. The agent
 * learns of an ended flow from a copy of its state, which the program sends when `restarts` says so; `published` may
 * follow later. A marker without that member runs in simulators only. A simulator that calls all functions on one state at once sees the same policy without that delay.
 *
 * An all-zero flow or state is a fresh one. Structs have no hidden padding. Words named `reserved` are 0 and are
 * not read. A member `settings` holds values that only the set-up function reads.
 *
 * A program in C that wants a policy without any of Mousehole's code fills the parameters' struct with values in
 * the units given by their comments, defines MH_DESCRIBE, and calls mh_name_setup() itself.
 */
#ifndef MOUSEHOLE_POLICY_H
#define MOUSEHOLE_POLICY_H

#include "base.h"
#include "queue.h"

/* A marker's answer in addition to the colours: the packet is dropped. */
enum { MH_DISCARD = 3 };

/* Flows counted by class, for `control`. */
enum { MH_CLASSES = 4 };
struct mh_counts {
	u32 flows[MH_CLASSES];
};

#ifdef MH_DESCRIBE

#include <stddef.h>

/* Changes with the layout of the structs below, and with the meaning of what packets bring. */
#define MH_POLICY_ABI 7

/* What a parameter's text may be, and the format of the field that it sets. */
enum mh_kind {
	MH_TIME = 0,      /* 5ms, 1s           u64: ns */
	MH_SIZE = 1,      /* 1500B, 15kB       u32 or u64: bytes */
	MH_THRESHOLD = 2, /* 15kB or 15p       struct mh_threshold */
	MH_FRACTION = 3,  /* 0.02              u64: Q32 */
	MH_LENGTH = 4,    /* 30p or 15%        u64: packets in Q32; u32: whole packets. % is of the link's buffer. A
			   * buffer in bytes holds packets of the parameter `mean`, or of 1000 B without one. */
	MH_RATE = 5,      /* 250kbit or 5%     u64: bit/s. % is of the bottleneck's rate. */
	MH_COUNT = 6,     /* 4                 u32 or u64 */
	MH_NUMBER = 7,    /* 0.5               u32 or u64: fixed point with `bits` bits after the point */
	MH_PERCENT = 8,   /* 95 or 95%         u64: percent in Q32 */
	MH_FLAG = 9,      /* true or false     u32: the bits of `mask` */
	MH_CHOICE = 10,   /* one word          u32: its position in `choices`, times the lowest bit of `mask`; a `-` in
			   * `choices` is a position without a word */
	MH_TIMEOUT = 11,  /* 5s or never       u64: ns, MH_NEVER */
	MH_BUFFER = 12    /* 50p or 64kB       struct mh_limit */
};

/* One parameter of a policy. Times are in s, sizes in bytes, rates in bit/s wherever they are numbers here. */
struct mh_parameter {
	const char *name;    /* as written in `policy(name=value)` */
	const char *value;   /* default, as text */
	const char *meaning; /* one sentence without a full stop */
	const char *source;  /* where the default comes from */
	const char *choices; /* of MH_CHOICE: the texts allowed, separated by spaces; else null */
	double least, most;  /* allowed range, both ends included */
	u32 kind;            /* enum mh_kind */
	u32 bits;            /* of MH_NUMBER */
	u32 mask;            /* of MH_FLAG and MH_CHOICE */
	u32 offset, bytes;   /* of the field in the parameters' struct */
	u32 count, stride;   /* the value is written `count` times, `stride` bytes apart */
};

/* What the parameters of a policy may depend on: its link. */
struct mh_link_context {
	double rate_bps;       /* of the link */
	double bottleneck_bps; /* of the slowest link in the data direction */
	u64 buffer_bytes;      /* of the link, if its limit is in bytes; else 0 */
	u64 buffer_packets;    /* of the link, if its limit is in packets; else 0 */
	u64 shares;            /* bit i: the i-th parameter was given in % of the buffer or rate */
	const struct mh_parameter *parameters;
	u64 parameter_count;
};

/* The parameter that set-up refuses. */
struct mh_fault {
	const char *parameter; /* null if nothing is wrong */
	const char *allowed;   /* completes "it must be …", such as "more than min" */
};

/* A number that a policy shows of its state, for traces and plots. NaN stands for none yet. */
struct mh_reading {
	const char *name;
	double (*value)(const void *params, const void *state);
};

enum mh_policy_kind { MH_MARKER_POLICY = 1, MH_DROPPER_POLICY = 2, MH_QUEUE_POLICY = 3 };

/* Whose state a marker's `flow` is. */
enum mh_key {
	MH_PER_FLOW = 0,       /* the 5-tuple of one direction */
	MH_PER_CONNECTION = 1, /* both directions of a connection; the marker sees the packets of both */
	MH_PER_USER = 2        /* all connections of one client host */
};

enum mh_returns { MH_COLOUR = 0, MH_HINT = 1 };

/* Bits of `mh_policy.flags`. */
enum {
	MH_LEAST_IS_STRICTEST = 1, /* dropper: `random` 0 drops whatever any value drops, and a packet that passes
				    * with 0 leaves the same state with any value */
	MH_SEES_FULL_BUFFERS = 2,  /* dropper: it is asked, and its average moves, also when the buffer is full */
	MH_AT_EDGE_ONLY = 4,       /* marker: it acts at the network's edge, not in hosts, even where hosts mark */
	MH_READS_COLOURS = 8,      /* dropper, queue: its answer depends on the packet's colour */
	MH_READS_HINTS = 16,       /* its colour or verdict depends on the packet's window hint */
	MH_READS_FLOWS = 32,       /* queue: `enqueue` reads the hash of the packet's flow */
	MH_READS_APPLICATIONS = 64, /* queue: its answer depends on the packet's application */
	MH_MARKS = 128,            /* queue: it marks packets whatever its parameters */
	MH_READS_POSITIONS = 256   /* it reads `view->sequence`, which is 0 in the simulator where no policy does; a
				    * header of one's own need not say so */
};

/* A policy as user space sees it. Functions are null where the policy does not offer them. */
struct mh_policy {
	u32 abi;  /* MH_POLICY_ABI */
	u32 kind; /* enum mh_policy_kind */
	u32 key;  /* enum mh_key, of a marker */
	u32 returns;
	u32 flags;
	u32 params_bytes, flow_bytes, state_bytes; /* of a queue, `flow_bytes` is that of struct mh_waiting and its bands */
	u32 parameter_count, reading_count;
	const char *name;    /* of the header, with `_` in place of hyphens */
	const char *summary; /* one line for lists */
	const char *source;  /* paper or RFC */
	const char *detail;  /* how it works, who gains and who pays: a few sentences for its page */
	const char *unread;  /* fields of the parameters that the functions do not read, separated by spaces */
	const struct mh_parameter *parameters;
	const struct mh_reading *readings;
	struct mh_fault (*setup)(void *params, const struct mh_link_context *link);
	u32 (*draws)(const void *params);
	u32 (*mark)(const void *params, void *flow, void *state, const struct mh_view *view, u64 now_ns, u32 random);
	u32 (*drop)(const void *params, void *state, const struct mh_view *view, const struct mh_backlog *backlog,
		    u64 now_ns, u32 random);
	u32 (*expired)(const void *params, const void *flow, u64 now_ns);
	void (*flow_end)(const void *params, const void *flow, void *state);
	u64 (*period)(const void *params);
	u32 (*classify)(const void *params, const void *flow, const void *state);
	u32 (*control)(const void *params, void *state, const struct mh_counts *counts, u64 now_ns);
	u64 (*shape)(const void *params, void *flow, void *state, const struct mh_view *view, u64 now_ns);
	void (*departed)(const void *params, void *state, u32 colour, const struct mh_backlog *after, u64 now_ns);
	u32 (*restarts)(const void *params, const void *flow, const struct mh_view *view, u64 now_ns);
	u32 published_offset, published_bytes; /* of a marker's state; 0 bytes if slow steps write none */
	u32 colours;         /* how many colours a marker gives, from the best on; 0 is all three */
	const char *install; /* what else than our own program does the same: `WHAT name=value …`, where each parameter
			      * named must have that value. WHAT is `qdisc:KIND,KERNEL`, a queue discipline of Linux and
			      * the oldest kernel that has it; `wred`, which a router has for each DSCP; `firewall:NAME`, a rule that counts the bytes of a
			      * connection up to the parameter NAME; `classes`, one for each band, each with a buffer of its
			      * own. Null for nothing. */
	u32 bands;           /* of a queue */
	u32 (*enqueue)(const void *params, void *state, const struct mh_waiting *waiting, const struct mh_view *view,
		       u32 hash, u64 now_ns, u32 random);
	u32 (*dequeue)(const void *params, void *state, const struct mh_waiting *waiting, u64 now_ns);
	u32 (*overflow)(const void *params, void *state, const struct mh_waiting *waiting, u64 now_ns);
};

#define MH_NO_FAULT ((struct mh_fault){ 0, 0 })
#define MH_FAULT(parameter_, allowed_) ((struct mh_fault){ parameter_, allowed_ })

/* The field of a parameter: where it is and how wide. A field that does not exist does not compile. */
#define MH_FIELD(params_t, field_) \
	.offset = offsetof(struct params_t, field_), .bytes = sizeof(((struct params_t *)0)->field_), .count = 1
/* The same field in each of `count_` elements of an array that begins the struct. */
#define MH_FIELDS(params_t, array_, field_, count_)                            \
	.offset = offsetof(struct params_t, array_[0].field_),                 \
	.bytes = sizeof(((struct params_t *)0)->array_[0].field_), .count = count_, \
	.stride = sizeof(((struct params_t *)0)->array_[0])

#define MH_TABLE_OF(name_) .parameters = mh_##name_##_parameters, \
	.parameter_count = sizeof(mh_##name_##_parameters) / sizeof(mh_##name_##_parameters[0])
#define MH_READINGS_OF(name_) .readings = mh_##name_##_readings, \
	.reading_count = sizeof(mh_##name_##_readings) / sizeof(mh_##name_##_readings[0])

/* The member `published` of a marker's state: what slow steps tell the packets. */
#define MH_PUBLISHES(state_t_) .published_offset = offsetof(struct state_t_, published), \
	.published_bytes = sizeof(((struct state_t_ *)0)->published)

/* A struct's bytes in the caller's tables; mh_none takes none. */
#define MH_STATE_BYTES(type_) (sizeof(struct type_) == sizeof(struct mh_none) ? 0 : sizeof(struct type_))

/* Returns round(value * 2^bits), at most 2^64 - 1; the value must not be negative. */
static inline u64 mh_fixed(double value, u32 bits)
{
	double scaled = value;

	while (bits--)
		scaled *= 2;
	if (scaled >= 18446744073709551615.0)
		return ~0ULL;
	return (u64)scaled + (scaled - (double)(u64)scaled >= 0.5);
}

/* Returns the number that a value in Q32 stands for. */
static inline double mh_from_q32(u64 value_q32)
{
	return (double)value_q32 / 4294967296.0;
}

/* Returns whether the parameter of this name was given in % of the buffer or rate; 0 if there is no such parameter. */
static inline u32 mh_is_share(const struct mh_link_context *link, const char *name)
{
	u64 index;
	u32 at;

	for (index = 0; index < link->parameter_count; index++) {
		for (at = 0; name[at] && name[at] == link->parameters[index].name[at]; at++)
			;
		if (name[at] == link->parameters[index].name[at])
			return link->shares >> index & 1;
	}
	return 0;
}

/* Returns the limit of the link's buffer, in packets if the link counts packets, else in bytes. */
static inline struct mh_limit mh_link_limit(const struct mh_link_context *link)
{
	struct mh_limit limit = { link->buffer_bytes, MH_BYTES, 0 };

	if (link->buffer_packets) {
		limit.count = link->buffer_packets;
		limit.unit = MH_PACKETS;
	}
	return limit;
}

/*
 * Calls a queue's `enqueue` and returns its answer. For checks, which hold no packets: it counts in `waiting` the packet
 * that the answer takes (queue.h).
 */
static inline u32 mh_queue_enqueue(const struct mh_policy *policy, const void *params, void *state,
				   struct mh_waiting *waiting, const struct mh_view *view, u32 hash, u64 now_ns, u32 random)
{
	u32 answer = policy->enqueue(params, state, waiting, view, hash, now_ns, random);

	mh_waiting_after_enqueue(waiting, policy->bands, answer, view, now_ns);
	return answer;
}

/*
 * Calls a queue's `overflow`, or its `dequeue` if `overflows` is 0, and returns the answer; MH_AGAIN without a call if
 * nothing waits for `dequeue`. For checks, as above: it removes from `waiting` a packet like `view` that the answer
 * sends or drops.
 */
static inline u32 mh_queue_remove(const struct mh_policy *policy, u32 overflows, const void *params, void *state,
				 struct mh_waiting *waiting, const struct mh_view *view, u64 now_ns, u32 random)
{
	u32 answer;

	if (!overflows && !waiting->all.packets)
		return MH_AGAIN;
	answer = overflows ? policy->overflow(params, state, waiting, now_ns) :
			     policy->dequeue(params, state, waiting, now_ns);
	mh_waiting_after_departure(waiting, policy->bands, answer, view, now_ns, random);
	return answer;
}

#define MH_SETUP(name_) \
	static struct mh_fault mh_##name_##_setup_entry(void *p, const struct mh_link_context *link) \
	{ return mh_##name_##_setup(p, link); }
#define MH_DRAWS(name_) \
	static u32 mh_##name_##_draws_entry(const void *p) { return mh_##name_##_draws(p); }
#define MH_EXPIRED(name_) \
	static u32 mh_##name_##_expired_entry(const void *p, const void *f, u64 now_ns) \
	{ return mh_##name_##_expired(p, f, now_ns); }
#define MH_FLOW_END(name_) \
	static void mh_##name_##_flow_end_entry(const void *p, const void *f, void *s) \
	{ mh_##name_##_flow_end(p, f, s); }
#define MH_RESTARTS(name_) \
	static u32 mh_##name_##_restarts_entry(const void *p, const void *f, const struct mh_view *view, u64 now_ns) \
	{ return mh_##name_##_restarts(p, f, view, now_ns); }
#define MH_PERIOD(name_) \
	static u64 mh_##name_##_period_entry(const void *p) { return mh_##name_##_period(p); }
#define MH_CLASSIFY(name_) \
	static u32 mh_##name_##_classify_entry(const void *p, const void *f, const void *s) \
	{ return mh_##name_##_classify(p, f, s); }
#define MH_CONTROL(name_) \
	static u32 mh_##name_##_control_entry(const void *p, void *s, const struct mh_counts *counts, u64 now_ns) \
	{ return mh_##name_##_control(p, s, counts, now_ns); }
#define MH_SHAPE(name_) \
	static u64 mh_##name_##_shape_entry(const void *p, void *f, void *s, const struct mh_view *view, u64 now_ns) \
	{ return mh_##name_##_shape(p, f, s, view, now_ns); }
#define MH_DEPARTED(name_) \
	static void mh_##name_##_departed_entry(const void *p, void *s, u32 colour, \
						const struct mh_backlog *after, u64 now_ns) \
	{ mh_##name_##_departed(p, s, colour, after, now_ns); }

#define MH_OVERFLOW(name_) \
	static u32 mh_##name_##_overflow_entry(const void *p, void *s, const struct mh_waiting *waiting, u64 now_ns) \
	{ return mh_##name_##_overflow(p, s, waiting, now_ns); }

/* Names an optional function in a description: `MH_OFFERS(sfd, expired)`. */
#define MH_OFFERS(name_, function_) .function_ = mh_##name_##_##function_##_entry

/* Describes a marker; what follows the structs are fields of struct mh_policy. */
#define MH_MARKER(name_, params_t, flow_t, state_t, ...)                                                     \
	static u32 mh_##name_##_entry(const void *p, void *f, void *s, const struct mh_view *view, u64 now_ns, \
				      u32 random)                                                            \
	{                                                                                                    \
		return mh_##name_##_packet(p, f, s, view, now_ns, random);                                   \
	}                                                                                                    \
	const struct mh_policy mh_policy_##name_ = {                                                         \
		.abi = MH_POLICY_ABI, .kind = MH_MARKER_POLICY, .name = #name_,                              \
		.params_bytes = sizeof(struct params_t), .flow_bytes = MH_STATE_BYTES(flow_t),               \
		.state_bytes = MH_STATE_BYTES(state_t), .mark = mh_##name_##_entry, __VA_ARGS__              \
	};

/* Describes a dropper. */
#define MH_DROPPER(name_, params_t, state_t, ...)                                                            \
	static u32 mh_##name_##_entry(const void *p, void *s, const struct mh_view *view,                    \
				      const struct mh_backlog *backlog, u64 now_ns, u32 random)              \
	{                                                                                                    \
		return mh_##name_##_packet(p, s, view, backlog, now_ns, random);                             \
	}                                                                                                    \
	const struct mh_policy mh_policy_##name_ = {                                                         \
		.abi = MH_POLICY_ABI, .kind = MH_DROPPER_POLICY, .name = #name_,                             \
		.params_bytes = sizeof(struct params_t), .state_bytes = MH_STATE_BYTES(state_t),             \
		.drop = mh_##name_##_entry, __VA_ARGS__                                                      \
	};

/* Describes a queue of so many bands. */
#define MH_QUEUE(name_, params_t, state_t, bands_, ...)                                                      \
	static u32 mh_##name_##_entry(const void *p, void *s, const struct mh_waiting *waiting,              \
				      const struct mh_view *view, u32 hash, u64 now_ns, u32 random)          \
	{                                                                                                    \
		return mh_##name_##_enqueue(p, s, waiting, view, hash, now_ns, random);                      \
	}                                                                                                    \
	static u32 mh_##name_##_dequeue_entry(const void *p, void *s, const struct mh_waiting *waiting,      \
					      u64 now_ns)                                                    \
	{                                                                                                    \
		return mh_##name_##_dequeue(p, s, waiting, now_ns);                                          \
	}                                                                                                    \
	const struct mh_policy mh_policy_##name_ = {                                                         \
		.abi = MH_POLICY_ABI, .kind = MH_QUEUE_POLICY, .name = #name_,                               \
		.params_bytes = sizeof(struct params_t), .bands = (bands_),                                  \
		.flow_bytes = sizeof(struct mh_waiting) + (bands_) * sizeof(struct mh_band),                 \
		.state_bytes = MH_STATE_BYTES(state_t), .enqueue = mh_##name_##_entry,                       \
		.dequeue = mh_##name_##_dequeue_entry, __VA_ARGS__                                           \
	};

#else

#define MH_SETUP(name_)
#define MH_DRAWS(name_)
#define MH_EXPIRED(name_)
#define MH_FLOW_END(name_)
#define MH_RESTARTS(name_)
#define MH_PERIOD(name_)
#define MH_CLASSIFY(name_)
#define MH_CONTROL(name_)
#define MH_SHAPE(name_)
#define MH_DEPARTED(name_)
#define MH_OVERFLOW(name_)
#ifndef MH_MARKER /* the programs of the kernel check take the type of the parameters from these */
#define MH_MARKER(name_, params_t, flow_t, state_t, ...)
#define MH_DROPPER(name_, params_t, state_t, ...)
#define MH_QUEUE(name_, params_t, state_t, bands_, ...)
#endif

#endif
#endif
