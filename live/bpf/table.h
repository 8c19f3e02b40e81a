/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * The table of flows: an array of buckets of ML_BUCKET entries. A flow is in one of two buckets that hashes of its key
 * choose. A new flow takes a free entry there, else the one that was silent for longest.
 *
 * With two buckets to choose from, one new flow in 10,000 finds all its entries taken when half of the table is, and one
 * in 200 at 70 %. The second bucket is used only when the first one is taken, so that most flows are found at the first
 * or second look. The kernel's own LRU table costs three calls and a longer hash, and its entries cannot hold a lock.
 *
 * The hash is NH of UMAC (RFC 4418, section 5.2.2): of keys that were chosen without knowing its random words, two have
 * the same sum with probability 2^-32. Two multiplications make two hashes of the sum.
 *
 * Two CPUs that meet a new flow at once may make two entries of it; only one of them is found again.
 *
 * program.c includes it behind its maps and locks.
 */
#ifndef MOUSEHOLE_LIVE_TABLE_H
#define MOUSEHOLE_LIVE_TABLE_H

/* Where a flow may be: two buckets, and the entry in them that is looked at first. */
struct ml_places {
	u32 first, second; /* numbers of their first entries */
	u32 begin;
};

ML_INLINE struct ml_places ml_places_of(const struct ml_control *control, const struct ml_key *key)
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
	places.first = (u32)((one >> 32) * control->buckets >> 32) * ML_BUCKET;
	places.second = (u32)((other >> 32) * control->buckets >> 32) * ML_BUCKET;
	places.begin = (u32)other & (ML_BUCKET - 1);
	return places;
}

/* Returns the number of the entry that is looked at after so many others, below 2 * ML_BUCKET. */
ML_INLINE u32 ml_place(const struct ml_places *places, u32 number)
{
	u32 in_second = 0 - (number / ML_BUCKET); /* a mask, since the verifier allows no such arithmetic on addresses */

	return (places->first ^ ((places->first ^ places->second) & in_second)) +
	       (places->begin ^ (number & (ML_BUCKET - 1)));
}

ML_INLINE u32 ml_is_same(const struct ml_key *one, const struct ml_key *other)
{
	const u64 *a = (const u64 *)one, *b = (const u64 *)other;

	return !((a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2]) | (a[3] ^ b[3]) | (a[4] ^ b[4]));
}

/*
 * Has the processor fetch all of an entry at once. Nothing behind a lock is read before the lock is taken, so that
 * account and state would else be waited for one after the other.
 */
ML_INLINE void ml_fetch(const struct ml_entry *entry)
{
	const volatile u8 *account = (const volatile u8 *)&entry->flow, *state = (const volatile u8 *)&entry->policy;

	(void)account[0];
	(void)account[sizeof(entry->flow) / 2];
	(void)state[0];
	(void)state[sizeof(entry->policy) - 1];
}

/* Makes the entry of a new flow. Returns its number. A function of its own, off the path of most packets. */
static __attribute__((noinline)) u32 ml_new_flow(const struct ml_places *places, const struct ml_key *key, u64 now_ns)
{
	u64 oldest_ns = ~0ULL >> 1, seen_ns, is_older;
	u32 oldest = 0, number, index;
	struct ml_entry *entry;

	for (number = 0; number < 2 * ML_BUCKET; number++) {
		index = ml_place(places, number);
		entry = bpf_map_lookup_elem(&ml_flows, &index);
		if (!entry)
			return 0;
		/* A free entry was never seen. Chosen without a branch, for the verifier's sake; times are below 2^63. */
		seen_ns = entry->flow.last_seen_ns;
		is_older = (seen_ns - oldest_ns) >> 63;
		oldest ^= (oldest ^ index) & (0 - (u32)is_older);
		oldest_ns ^= (oldest_ns ^ seen_ns) & (0 - is_older);
	}
	entry = bpf_map_lookup_elem(&ml_flows, &oldest);
	if (!entry)
		return 0;
	ml_lock(&entry->flow.lock);
	entry->key = *key;
	__builtin_memset(&entry->flow, 0, sizeof(entry->flow) - sizeof(entry->flow.lock));
	__builtin_memset(&entry->policy, 0, sizeof(entry->policy));
	entry->flow.last_seen_ns = now_ns;
	ml_unlock(&entry->flow.lock);
	return oldest;
}

/* Returns the flow's entry, a fresh one for a new flow. Null would mean that the table is shorter than control says. */
ML_INLINE struct ml_entry *ml_find_flow(const struct ml_control *control, const struct ml_key *key,
					struct ml_counters *counters, u64 now_ns)
{
	struct ml_places places = ml_places_of(control, key);
	struct ml_entry *entry;
	u32 number, index;

	for (number = 0; number < 2 * ML_BUCKET; number++) {
		index = ml_place(&places, number);
		entry = bpf_map_lookup_elem(&ml_flows, &index);
		if (!entry)
			return 0;
		ml_fetch(entry);
		if (ml_is_same(&entry->key, key))
			return entry;
	}
	counters->new_flows++;
	index = ml_new_flow(&places, key, now_ns);
	return bpf_map_lookup_elem(&ml_flows, &index);
}

#endif
