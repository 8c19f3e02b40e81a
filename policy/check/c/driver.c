/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * Plays records to a policy in a separate process, built with the compiler's sanitizers if it has them.
 *
 *   driver IN OUT SECONDS
 *
 * IN and OUT are described in src/sandbox.rs. The first fault ends the program: one line on standard output names
 * it, as `fault KIND CASE RECORD FUNCTION VALUE`, and the exit status is 3. A sanitizer's message is on standard
 * error. SECONDS is how long one call may take.
 *
 * The command line defines MH_CHECK_HEADER and MH_CHECK_NAME as for calls.c.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MH_DESCRIBE
#include MH_CHECK_HEADER
#include "record.h"

#define PASTE(a, b) a##b
#define JOIN(a, b) PASTE(a, b)

static const struct mh_policy *const policy = &JOIN(mh_policy_, MH_CHECK_NAME);

/* Memory of an exact size; without a sanitizer, GUARD marked bytes lie on both sides. */
#if defined(__SANITIZE_ADDRESS__)
#define GUARD 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GUARD 0
#endif
#endif
#ifndef GUARD
#define GUARD 4096
#endif
#define MARKED 0xa5

struct block {
	unsigned char *all;
	void *bytes;
	size_t size;
};

struct input {
	u64 cases, records;
};

struct input_case {
	u64 set_up; /* whether the set-up function is to be called */
	double rate_bps, bottleneck_bps;
	u64 buffer_bytes, buffer_packets, shares;
};

/* The case, record and function that the program plays, for its messages. */
static volatile u64 at_case, at_record, calls;
static const char *volatile at_function = "setup";
static u64 calls_before;
static unsigned int seconds;

/* Prints a fault at the current record in the format above, and ends the process with status 3. */
static void fail(const char *kind, u64 value)
{
	printf("fault %s %llu %llu %s %llu\n", kind, at_case, at_record, at_function, value);
	fflush(stdout);
	_exit(3);
}

/* Handles SIGALRM, every `seconds`: fails if no call has begun since the last one. */
static void handle_alarm(int signal)
{
	(void)signal;
	if (calls == calls_before)
		fail("endless", 0);
	calls_before = calls;
	alarm(seconds);
}

static volatile u32 is_calling;

/* Handles the program's exit: fails if it happens within a call, as then the policy has called exit(). */
static void handle_exit(void)
{
	if (is_calling)
		fail("exit", 0);
}

/* Returns a new block of `size` bytes, all zero, with its guards; ends the process with status 2 without memory. */
static struct block allocate_block(size_t size)
{
	struct block made;

	made.size = size;
	made.all = malloc(size + 2 * GUARD ? size + 2 * GUARD : 1);
	if (!made.all)
		exit(2);
	memset(made.all, MARKED, size + 2 * GUARD);
	made.bytes = made.all + GUARD;
	memset(made.bytes, 0, size);
	return made;
}

/* Fails if a byte of the guards has changed; does nothing with a sanitizer, which needs no guards. */
static void check_guards(const struct block *block)
{
	size_t at;

	for (at = 0; at < GUARD; at++)
		if (block->all[at] != MARKED || block->all[GUARD + block->size + at] != MARKED)
			fail("outside", at);
}

/* The arguments and states of a call, each in a block. */
struct world {
	struct block params, flow, state, view, backlog, counts;
};

/* Returns blocks for the policy's structs and arguments, all zero. */
static struct world new_world(void)
{
	struct world made = { allocate_block(policy->params_bytes), allocate_block(policy->flow_bytes),
			      allocate_block(policy->state_bytes), allocate_block(sizeof(struct mh_view)),
			      allocate_block(sizeof(struct mh_backlog)), allocate_block(sizeof(struct mh_counts)) };
	return made;
}

/* Copies parameters, states and a record's arguments into the blocks, in place of what the last call has left. */
static void load_call(struct world *world, const void *params, const void *flow, const void *state,
		 const struct mh_check_record *record)
{
	memcpy(world->params.bytes, params, policy->params_bytes);
	memcpy(world->flow.bytes, flow, policy->flow_bytes);
	memcpy(world->state.bytes, state, policy->state_bytes);
	memcpy(world->view.bytes, &record->view, sizeof(record->view));
	memcpy(world->backlog.bytes, &record->backlog, sizeof(record->backlog));
	memcpy(world->counts.bytes, &record->counts, sizeof(record->counts));
}

/* Calls the function of a record on the blocks with this random number and returns its result, 0 if it has none. */
static u64 call_function(struct world *world, const struct mh_check_record *record, u32 random)
{
	const void *params = world->params.bytes;
	void *flow = world->flow.bytes, *state = world->state.bytes;
	const struct mh_view *view = world->view.bytes;

	calls++;
	switch (record->call) {
	case MH_CHECK_PACKET:
		at_function = policy->kind == MH_QUEUE_POLICY ? "enqueue" : "packet";
		if (policy->kind == MH_QUEUE_POLICY)
			return mh_queue_enqueue(policy, params, state, flow, view, record->hash, record->now_ns, random);
		if (policy->kind == MH_MARKER_POLICY)
			return policy->mark(params, flow, state, view, record->now_ns, random);
		return policy->drop(params, state, view, world->backlog.bytes, record->now_ns, random);
	case MH_CHECK_EXPIRED:
		at_function = "expired";
		return policy->expired(params, flow, record->now_ns);
	case MH_CHECK_FLOW_END:
		at_function = "flow_end";
		policy->flow_end(params, flow, state);
		return 0;
	case MH_CHECK_CLASSIFY:
		at_function = "classify";
		return policy->classify(params, flow, state);
	case MH_CHECK_CONTROL:
		at_function = "control";
		return policy->control(params, state, world->counts.bytes, record->now_ns);
	case MH_CHECK_SHAPE:
		at_function = "shape";
		return policy->shape(params, flow, state, view, record->now_ns);
	case MH_CHECK_RESTARTS:
		at_function = "restarts";
		return policy->restarts(params, flow, view, record->now_ns);
	case MH_CHECK_DEQUEUE:
		at_function = "dequeue";
		return mh_queue_remove(policy, 0, params, state, flow, view, record->now_ns, record->random);
	case MH_CHECK_OVERFLOW:
		at_function = "overflow";
		return mh_queue_remove(policy, 1, params, state, flow, view, record->now_ns, record->random);
	default:
		at_function = "departed";
		policy->departed(params, state, view->colour, world->backlog.bytes, record->now_ns);
		return 0;
	}
}

/* Does the same as call_function(), and records that a call is running, for handle_exit(). */
static u64 make_call(struct world *world, const struct mh_check_record *record, u32 random)
{
	u64 outcome;

	is_calling = 1;
	outcome = call_function(world, record, random);
	is_calling = 0;
	return outcome;
}

/* Fails if a call has written outside its structs, to its parameters or to its arguments. */
static void check_arguments(const struct world *world, const void *params, const struct mh_check_record *record)
{
	check_guards(&world->params);
	check_guards(&world->flow);
	check_guards(&world->state);
	if (memcmp(world->params.bytes, params, policy->params_bytes))
		fail("parameters", 0);
	if (memcmp(world->view.bytes, &record->view, sizeof(record->view)) ||
	    memcmp(world->backlog.bytes, &record->backlog, sizeof(record->backlog)) ||
	    memcmp(world->counts.bytes, &record->counts, sizeof(record->counts)))
		fail("arguments", 0);
}

/* Returns whether the flow's and the shared states are equal. */
static u32 has_same_states(const struct world *a, const struct world *b)
{
	return !memcmp(a->flow.bytes, b->flow.bytes, policy->flow_bytes) &&
	       !memcmp(a->state.bytes, b->state.bytes, policy->state_bytes);
}

/* Inverts the bytes `from` .. `to` - 1 of a state. */
static void invert_bytes(unsigned char *state, size_t from, size_t to)
{
	for (; from < to; from++)
		state[from] ^= 0xff;
}

/*
 * Fails if a call touches a part of the state that it does not own (policy.h): a packet's call may not use the part after
 * `published`, nor write `published`; a slow step may not use the part before it. `before` is the state before the call,
 * `one` holds what the call has left; `other` is overwritten. `restarts` and `expired` do not get the state.
 */
static void check_owned_parts(const struct world *one, struct world *other, const void *params, const void *flow,
			const unsigned char *before, const struct mh_check_record *record, u64 outcome)
{
	u32 is_packet = record->call == MH_CHECK_PACKET || record->call == MH_CHECK_SHAPE;
	size_t from = policy->published_offset, end = from + policy->published_bytes, all = policy->state_bytes;
	size_t others_from = is_packet ? end : 0, others_end = is_packet ? all : from;
	size_t kept_from = is_packet ? from : 0, kept_end = is_packet ? all : from;
	const unsigned char *after = one->state.bytes;
	unsigned char *state = other->state.bytes;

	if (memcmp(after + kept_from, before + kept_from, kept_end - kept_from))
		fail("writes_part", 0);
	load_call(other, params, flow, before, record);
	invert_bytes(state, others_from, others_end);
	if (make_call(other, record, record->random) != outcome)
		fail("reads_part", 0);
	invert_bytes(state, others_from, others_end);
	if (!has_same_states(one, other))
		fail("reads_part", 0);
}

/* Returns whether the function `called` (MH_CHECK_PACKET, ..) may return this. */
static u32 is_allowed(u32 called, u64 outcome)
{
	u32 alone = called == MH_CHECK_PACKET ? MH_REFUSED : called == MH_CHECK_DEQUEUE ? MH_AGAIN : MH_FITS;

	if (policy->kind == MH_QUEUE_POLICY)
		return outcome & alone || (outcome & MH_BAND) < policy->bands;
	return called != MH_CHECK_PACKET || outcome <= (policy->returns == MH_HINT ? 255 : 3);
}

/*
 * Plays a record and stores the states that it leaves in `flow` and `state`; returns its result. Plays it again on a copy
 * and fails if result or states differ; if `draws` is 0, with another random number.
 */
static u64 play_record(struct world *one, struct world *other, const void *params, void *flow, void *state,
		const struct mh_check_record *record, u32 draws)
{
	u64 outcome, again;
	u32 random = draws ? record->random : ~record->random;

	load_call(one, params, flow, state, record);
	outcome = make_call(one, record, record->random);
	check_arguments(one, params, record);
	if (!is_allowed(record->call, outcome))
		fail("range", outcome);
	load_call(other, params, flow, state, record);
	again = make_call(other, record, random);
	if (again != outcome || !has_same_states(one, other))
		fail(draws ? "differs" : "draws", again);
	if (policy->flags & MH_LEAST_IS_STRICTEST && policy->kind == MH_DROPPER_POLICY && record->call == MH_CHECK_PACKET) {
		load_call(other, params, flow, state, record);
		again = make_call(other, record, 0);
		if ((outcome >= MH_DROP_EARLY && again < MH_DROP_EARLY) ||
		    (again == MH_PASS && (outcome != MH_PASS || !has_same_states(one, other))))
			fail("strictest", record->random);
	}
	if (policy->published_bytes)
		check_owned_parts(one, other, params, flow, state, record, outcome);
	memcpy(flow, one->flow.bytes, policy->flow_bytes);
	memcpy(state, one->state.bytes, policy->state_bytes);
	return outcome;
}

/* Computes every reading of a state, and fails if one writes outside of the state. */
static void check_readings(const struct world *world, const void *params, const void *state)
{
	u32 index;

	memcpy(world->params.bytes, params, policy->params_bytes);
	memcpy(world->state.bytes, state, policy->state_bytes);
	for (index = 0; index < policy->reading_count; index++) {
		calls++;
		at_function = policy->readings[index].name;
		is_calling = 1;
		policy->readings[index].value(world->params.bytes, world->state.bytes);
		is_calling = 0;
		check_guards(&world->state);
	}
}

/*
 * Calls the set-up function on `params`, if the case asks for it. Returns 0 if it refuses them, else 1. Fails if `period`
 * then returns 0.
 */
static u32 set_up(struct world *world, const struct input_case *given, unsigned char *params)
{
	struct mh_link_context link = { given->rate_bps, given->bottleneck_bps, given->buffer_bytes, given->buffer_packets,
				  given->shares, policy->parameters, policy->parameter_count };
	struct mh_fault fault;

	if (given->set_up && policy->setup) {
		calls++;
		at_function = "setup";
		memcpy(world->params.bytes, params, policy->params_bytes);
		is_calling = 1;
		fault = policy->setup(world->params.bytes, &link);
		is_calling = 0;
		if (fault.parameter)
			return 0;
		check_guards(&world->params);
		memcpy(params, world->params.bytes, policy->params_bytes);
	}
	at_function = "period";
	if (policy->period && !policy->period(params))
		fail("period", 0);
	return 1;
}

/* Returns how many words of 8 bytes hold so many bytes. */
static size_t count_words(size_t bytes)
{
	return (bytes + 7) / 8;
}

/* Returns the content of a file in new memory; ends the process with status 2 if it cannot be read. */
static void *read_all(const char *path)
{
	FILE *file = fopen(path, "rb");
	long size;
	void *all;

	if (!file || fseek(file, 0, SEEK_END) || (size = ftell(file)) < 0 || !(all = malloc((size_t)size + 1)))
		exit(2);
	rewind(file);
	if (fread(all, 1, (size_t)size, file) != (size_t)size)
		exit(2);
	fclose(file);
	return all;
}

/*
 * Plays all cases of IN and writes their results to OUT. Returns 0; 2 for wrong arguments, or a file that cannot be
 * read or written. A fault ends the program before (fail()).
 */
int main(int argc, char **argv)
{
	struct world one = new_world(), other = new_world();
	struct input *input;
	u64 *next;
	FILE *out;

	if (argc != 4)
		return 2;
	atexit(handle_exit);
	input = read_all(argv[1]);
	out = fopen(argv[2], "wb");
	seconds = (unsigned int)atoi(argv[3]);
	if (!out || !seconds)
		return 2;
	signal(SIGALRM, handle_alarm);
	alarm(seconds);
	next = (u64 *)(input + 1);
	for (at_case = 0; at_case < input->cases; at_case++) {
		const struct input_case *given = (const struct input_case *)next;
		u64 *params = next + sizeof(*given) / 8, *flow = params + count_words(policy->params_bytes);
		size_t flow_words = count_words(policy->flow_bytes), state_words = count_words(policy->state_bytes);
		u64 *state = flow + MH_CHECK_FLOWS * flow_words, allowed;
		const struct mh_check_record *record = (const struct mh_check_record *)(state + state_words);
		u64 *outcome = calloc(input->records, 8);

		at_record = 0;
		allowed = set_up(&one, given, (unsigned char *)params);
		for (at_record = 0; allowed && at_record < input->records; at_record++)
			outcome[at_record] =
				play_record(&one, &other, params, flow + record[at_record].flow * flow_words, state,
				     &record[at_record], !policy->draws || policy->draws(params));
		if (allowed)
			check_readings(&one, params, state);
		fwrite(&allowed, 8, 1, out);
		fwrite(outcome, 8, input->records, out);
		fwrite(flow, 8, MH_CHECK_FLOWS * flow_words + state_words, out);
		free(outcome);
		next = (u64 *)(record + input->records);
	}
	return fclose(out) ? 2 : 0;
}
