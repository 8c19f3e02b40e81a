/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * The flow table: a hash table of buckets with ML_BUCKET entries. A flow is in one of two buckets, which hashes of its
 * key choose. A new flow takes an entry of the bucket that has more free ones (Azar, Broder, Karlin & Upfal, Balanced
 * allocations, STOC 1994); if both are full, it replaces the flow in them that was silent for longest.
 *
 * A bucket has a word of tags: for each entry one byte of its key's hash, or 0 while the entry is free. All tags fit
 * into a CPU's caches although the entries do not, so a packet of a flow that was silent for long waits for memory only
 * once: for the entry that its tag selects. Tags are hints; an entry belongs to a flow only if the keys are equal.
 *
 * The table thus evicts hardly any flow until it is four fifths full (live/tests/table.rs). The kernel's LRU table
 * costs three calls and a longer hash, and its entries cannot hold a lock.
 *
 * The hash is NH of UMAC (RFC 4418, section 5.2.2): two keys that were chosen without
 * knowledge of its random words have the same sum with probability 2^-32. Two multiplications make two hashes of the sum.
 *
 * Two CPUs that meet a new flow at once may make two entries of it; only one of them is found again.
 */
#ifndef MOUSEHOLE_LIVE_TABLE_H
#define MOUSEHOLE_LIVE_TABLE_H

#include "lock.h"
#include "state.h"

/* An index beyond every table, for no entry. */
#define ML_NO_ENTRY (~0u)

/* The buckets in which a flow may be, and its tag. */
struct ml_places {
	u32 bucket[2];
	u64 tag; /* the flow's tag in each byte */
};

/* A word with 1, or 128, in each byte. */
#define ML_EACH_BYTE 0x0101010101010101ULL
#define ML_EACH_TOP (ML_EACH_BYTE << 7)

/* Returns the two buckets and the tag of a key, which is not 0. The buckets may be the same. */
ML_INLINE struct ml_places ml_hash_places(const struct ml_control *control, const struct ml_key *key)
{
	const u64 *pair = (const u64 *)key;
	struct ml_places places;
	u64 sum = 0, one, other;
	u32 at;

	_Static_assert(sizeof(*key) == 8 * (ML_HASH_WORDS / 2), "a key is pairs of words");
#pragma clang loop unroll(full)
	for (at = 0; at < ML_HASH_WORDS / 2; at++)
		sum += (u64)((u32)pair[at] + control->hash[2 * at]) * ((u32)(pair[at] >> 32) + control->hash[2 * at + 1]);
	sum ^= sum >> 32;
	one = sum * 0x9e3779b97f4a7c15ULL;
	other = sum * 0xd6e8feb86659fd93ULL;
	places.bucket[0] = (u32)((one >> 32) * control->buckets >> 32);
	places.bucket[1] = (u32)((other >> 32) * control->buckets >> 32);
	places.tag = ((u8)other | !(u8)other) * ML_EACH_BYTE;
	return places;
}

/* Returns a word with the top bit of each byte set in which `tags` equals `wanted`. */
ML_INLINE u64 ml_match_tags(u64 tags, u64 wanted)
{
	u64 differ = tags ^ wanted;

	return ~(((differ & ~ML_EACH_TOP) + ~ML_EACH_TOP) | differ) & ML_EACH_TOP;
}

/* Returns the number of matches. */
ML_INLINE u32 ml_count_matches(u64 matches)
{
	return (u32)((matches >> 7) * ML_EACH_BYTE >> 56);
}

/* Returns the number of the byte with the lowest match, 0 to 7. There must be one. */
ML_INLINE u32 ml_lowest_match(u64 matches)
{
	return (u32)(((matches & (0 - matches)) >> 7) * 0x0001020304050607ULL >> 56);
}

/* Returns whether two keys are equal. */
ML_INLINE u32 ml_is_same_key(const struct ml_key *one, const struct ml_key *other)
{
	const u64 *a = (const u64 *)one, *b = (const u64 *)other;

	return !((a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2]) | (a[3] ^ b[3]) | (a[4] ^ b[4]));
}

/*
 * Prefetches an entry into the CPU's caches. Data behind a lock is not read before the lock is taken, so without this
 * the CPU would wait for the counters and then for the state.
 */
ML_INLINE void ml_prefetch(const struct ml_entry *entry)
{
	const volatile u8 *account = (const volatile u8 *)&entry->flow, *state = (const volatile u8 *)&entry->policy;

	(void)account[0];
	(void)account[sizeof(entry->flow) / 2];
	(void)state[0];
	(void)state[sizeof(entry->policy) - 1];
}

/* Returns the index of the entry that a new flow takes: a free one of the emptier bucket, or
 * else that of the flow which was silent for longest. ML_NO_ENTRY if a map is shorter than
 * ml_control says. */
ML_INLINE u32 ml_choose_entry(const struct ml_places *places)
{
	u64 oldest_ns = ~0ULL >> 1, seen_ns, is_older, free[2];
	u32 oldest = 0, side, number, index;
	struct ml_entry *entry;
	u64 *tags;

	for (side = 0; side < 2; side++) {
		index = places->bucket[side];
		tags = bpf_map_lookup_elem(&ml_tags, &index);
		if (!tags)
			return ML_NO_ENTRY;
		free[side] = ml_match_tags(*tags, 0);
	}
	if (ml_count_matches(free[1]) > ml_count_matches(free[0]))
		return places->bucket[1] * ML_BUCKET + ml_lowest_match(free[1]);
	if (free[0])
		return places->bucket[0] * ML_BUCKET + ml_lowest_match(free[0]);
	for (number = 0; number < 2 * ML_BUCKET; number++) {
		index = places->bucket[number / ML_BUCKET] * ML_BUCKET + number % ML_BUCKET;
		entry = bpf_map_lookup_elem(&ml_flows, &index);
		if (!entry)
			return ML_NO_ENTRY;
		/* Chosen without a branch, for the verifier's sake; times are below 2^63. */
		seen_ns = entry->flow.last_seen_ns;
		is_older = (seen_ns - oldest_ns) >> 63;
		oldest ^= (oldest ^ index) & (0 - (u32)is_older);
		oldest_ns ^= (oldest_ns ^ seen_ns) & (0 - is_older);
	}
	return oldest;
}

/* Creates the entry of a new flow, with zeros in its counters and state, and sets its tag; a
 * flow that had the entry is forgotten. Returns its index; ML_NO_ENTRY if another CPU holds the
 * lock of the entry to replace. It is not inlined, since most packets do not need it. */
static __attribute__((noinline)) u32 ml_make_entry(const struct ml_places *places, const struct ml_key *key, u64 now_ns)
{
	u32 index = ml_choose_entry(places), bucket = index / ML_BUCKET;
	struct ml_entry *entry = bpf_map_lookup_elem(&ml_flows, &index);
	u8 *tags = bpf_map_lookup_elem(&ml_tags, &bucket);

	if (!entry || !tags || !ml_lock(&entry->flow.lock))
		return ML_NO_ENTRY;
	entry->key = *key;
	__builtin_memset(&entry->flow, 0, sizeof(entry->flow) - sizeof(entry->flow.lock));
	__builtin_memset(&entry->policy, 0, sizeof(entry->policy));
	__builtin_memset(&entry->departs_ns, 0, sizeof(entry->departs_ns));
	entry->flow.last_seen_ns = now_ns;
	tags[index % ML_BUCKET] = (u8)places->tag;
	ml_unlock(&entry->flow.lock);
	return index;
}

/* Returns a flow's entry, and its index in `number_of`; null if none could be created. A new
 * flow is counted in new_flows and gets a new entry, which may replace that of another flow. */
ML_INLINE struct ml_entry *ml_find_flow(const struct ml_control *control, const struct ml_key *key,
					struct ml_counters *counters, u64 now_ns, u32 *number_of)
{
	struct ml_places places = ml_hash_places(control, key);
	struct ml_entry *entry;
	u32 side, number, index;
	u64 *tags, matches;

	for (side = 0; side < 2; side++) {
		index = places.bucket[side];
		tags = bpf_map_lookup_elem(&ml_tags, &index);
		if (!tags)
			return 0;
		matches = ml_match_tags(*tags, places.tag);
		for (number = 0; number < ML_BUCKET && matches; number++) {
			index = places.bucket[side] * ML_BUCKET + ml_lowest_match(matches);
			entry = bpf_map_lookup_elem(&ml_flows, &index);
			if (!entry)
				return 0;
			ml_prefetch(entry);
			if (ml_is_same_key(&entry->key, key)) {
				*number_of = index;
				return entry;
			}
			matches &= matches - 1;
		}
	}
	counters->new_flows++;
	index = ml_make_entry(&places, key, now_ns);
	*number_of = index;
	return bpf_map_lookup_elem(&ml_flows, &index);
}

#endif
