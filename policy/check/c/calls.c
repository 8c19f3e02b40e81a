/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * Calls the functions of one policy as records say. Compiled for eBPF it is the program that the kernel check loads;
 * compiled natively it is an object whose symbols show which functions the policy calls and which variables it has.
 *
 * The compiler's command line defines:
 *   MH_CHECK_HEADER                    the header, as in #include
 *   MH_CHECK_NAME                      the policy's name in C
 *   MH_CHECK_DROPPER                   1 for a dropper, 0 for a marker
 *   MH_CHECK_QUEUE                     1 for a queue, 0 for the other kinds
 *   MH_CHECK_HAS_EXPIRED, ..           for each function that the policy offers
 *   MH_CHECK_FLOW_WORDS, .._STATE_..   sizes of both states in words of 8 bytes
 * No header of the system is needed.
 */

/* Define the type of the parameters in place of a description. policy.h does not redefine these three. */
#define MH_MARKER(name_, params_t, ...) typedef struct params_t mh_check_params_##name_;
#define MH_DROPPER(name_, params_t, ...) typedef struct params_t mh_check_params_##name_;
#define MH_QUEUE(name_, params_t, state_t, bands_, ...) \
	typedef struct params_t mh_check_params_##name_;   \
	enum { mh_check_bands_##name_ = (bands_) };

#include MH_CHECK_HEADER
#include "record.h"

#define MH_CHECK_PASTE3(a, b, c) a##b##c
#define MH_CHECK_JOIN3(a, b, c) MH_CHECK_PASTE3(a, b, c)
#define MH_CHECK_FUNCTION(function_) MH_CHECK_JOIN3(mh_, MH_CHECK_NAME, function_)

typedef MH_CHECK_JOIN3(mh_check_params_, MH_CHECK_NAME, ) mh_check_params;
#define MH_CHECK_BANDS MH_CHECK_JOIN3(mh_check_bands_, MH_CHECK_NAME, )

/*
 * Calls the function of a record and returns its result; 0 if it has none or the policy does not offer it. For a queue,
 * `flow` is its struct mh_waiting, which changes as the answer says.
 */
static inline __attribute__((always_inline)) u64 mh_check_call(const mh_check_params *params, void *flow, void *state,
							       const struct mh_check_record *record)
{
#if MH_CHECK_QUEUE
	u32 answer;
#endif

	switch (record->call) {
	case MH_CHECK_PACKET:
#if MH_CHECK_QUEUE
		answer = MH_CHECK_FUNCTION(_enqueue)(params, state, flow, &record->view, record->hash, record->now_ns,
						     record->random);
		mh_waiting_after_enqueue(flow, MH_CHECK_BANDS, answer, &record->view, record->now_ns);
		return answer;
#elif MH_CHECK_DROPPER
		return MH_CHECK_FUNCTION(_packet)(params, state, &record->view, &record->backlog, record->now_ns,
						  record->random);
#else
		return MH_CHECK_FUNCTION(_packet)(params, flow, state, &record->view, record->now_ns, record->random);
#endif
#ifdef MH_CHECK_HAS_EXPIRED
	case MH_CHECK_EXPIRED:
		return MH_CHECK_FUNCTION(_expired)(params, flow, record->now_ns);
#endif
#ifdef MH_CHECK_HAS_FLOW_END
	case MH_CHECK_FLOW_END:
		MH_CHECK_FUNCTION(_flow_end)(params, flow, state);
		return 0;
#endif
#ifdef MH_CHECK_HAS_CLASSIFY
	case MH_CHECK_CLASSIFY:
		return MH_CHECK_FUNCTION(_classify)(params, flow, state);
#endif
#ifdef MH_CHECK_HAS_CONTROL
	case MH_CHECK_CONTROL:
		return MH_CHECK_FUNCTION(_control)(params, state, &record->counts, record->now_ns);
#endif
#ifdef MH_CHECK_HAS_SHAPE
	case MH_CHECK_SHAPE:
		return MH_CHECK_FUNCTION(_shape)(params, flow, state, &record->view, record->now_ns);
#endif
#ifdef MH_CHECK_HAS_RESTARTS
	case MH_CHECK_RESTARTS:
		return MH_CHECK_FUNCTION(_restarts)(params, flow, &record->view, record->now_ns);
#endif
#ifdef MH_CHECK_HAS_DEPARTED
	case MH_CHECK_DEPARTED:
		MH_CHECK_FUNCTION(_departed)(params, state, record->view.colour, &record->backlog, record->now_ns);
		return 0;
#endif
#if MH_CHECK_QUEUE
	case MH_CHECK_DEQUEUE:
		if (!((const struct mh_waiting *)flow)->all.packets)
			return MH_AGAIN;
		answer = MH_CHECK_FUNCTION(_dequeue)(params, state, flow, record->now_ns);
		mh_waiting_after_departure(flow, MH_CHECK_BANDS, answer, &record->view, record->now_ns, record->random);
		return answer;
#endif
#ifdef MH_CHECK_HAS_OVERFLOW
	case MH_CHECK_OVERFLOW:
		answer = MH_CHECK_FUNCTION(_overflow)(params, state, flow, record->now_ns);
		mh_waiting_after_departure(flow, MH_CHECK_BANDS, answer, &record->view, record->now_ns, record->random);
		return answer;
#endif
	default:
		return 0;
	}
}

#ifdef __bpf__

#define MH_CHECK_SECTION(name_) __attribute__((section(name_), used))

/* Map values. A policy without a flow's or a shared state gets one word for it, which it must not touch. */
struct mh_check_input {
	union {
		mh_check_params params;
		u64 words[(sizeof(mh_check_params) + 7) / 8];
	};
	struct mh_check_record record[MH_CHECK_RECORDS];
};

struct mh_check_output {
	u64 next; /* the record that the next run of the program plays */
	u64 flow[MH_CHECK_FLOWS][MH_CHECK_FLOW_WORDS];
	u64 state[MH_CHECK_STATE_WORDS];
	u64 outcome[MH_CHECK_RECORDS];
};

/* Arrays of one element. 2 is BPF_MAP_TYPE_ARRAY. */
struct {
	int (*type)[2];
	int (*max_entries)[1];
	u32 *key;
	struct mh_check_input *value;
} mh_check_input MH_CHECK_SECTION(".maps");

struct {
	int (*type)[2];
	int (*max_entries)[1];
	u32 *key;
	struct mh_check_output *value;
} mh_check_output MH_CHECK_SECTION(".maps");

/* The kernel's helper of this number. */
static void *(*const mh_check_lookup)(void *map, const void *key) = (void *)1;

/*
 * Plays the next record on the states in the output map, which change, and writes its outcome there. Returns 0 if it
 * played one, 1 if a map is missing, 2 if no record is left. The caller runs the program once per record.
 */
MH_CHECK_SECTION("classifier") int mh_check(void *packet)
{
	u32 zero = 0;
	struct mh_check_input *in = mh_check_lookup(&mh_check_input, &zero);
	struct mh_check_output *out = mh_check_lookup(&mh_check_output, &zero);
	const struct mh_check_record *record;
	u64 index;

	(void)packet;
	if (!in || !out)
		return 1;
	index = out->next++;
	if (index >= MH_CHECK_RECORDS)
		return 2;
	record = &in->record[index];
	out->outcome[index] = mh_check_call(&in->params, out->flow[record->flow & (MH_CHECK_FLOWS - 1)], out->state, record);
	return 0;
}

/* GPL-compatible; the sources are MIT, Apache-2.0 or GPL-2.0. */
char mh_check_license[] MH_CHECK_SECTION("license") = "Dual MIT/GPL";

#else

/* Has the compiler emit all code that a program would contain. */
u64 mh_check_entry(const mh_check_params *params, void *flow, void *state, const struct mh_check_record *record);
u64 mh_check_entry(const mh_check_params *params, void *flow, void *state, const struct mh_check_record *record)
{
	return mh_check_call(params, flow, state, record);
}

#endif
