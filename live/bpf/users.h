/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* The user table: one state for each address, for policies that have a state for each user. */
#ifndef MOUSEHOLE_LIVE_USERS_H
#define MOUSEHOLE_LIVE_USERS_H

#include "state.h"

#ifdef ML_USER_HEADER
ML_MAP(ml_users, ML_LRU_HASH, struct ml_key, struct ml_user, 1024);

/* Returns the entry of the packet's user, a new one for a new user, which may evict the one that
 * was used least recently; null if none could be created. Reduces the packet's key to the user's
 * address. */
ML_INLINE struct ml_user *ml_find_user(struct ml_scratch *scratch, u32 is_destination)
{
	struct ml_key *key = &scratch->packet.key;
	struct ml_user *user;

	if (is_destination)
		__builtin_memcpy(key->source, key->destination, 16);
	__builtin_memset(key->destination, 0, sizeof(*key) - 16);
	user = bpf_map_lookup_elem(&ml_users, key);
	if (user)
		return user;
	bpf_map_update_elem(&ml_users, key, &scratch->fresh_user, ML_NOEXIST);
	return bpf_map_lookup_elem(&ml_users, key);
}
#else
ML_INLINE struct ml_user *ml_find_user(struct ml_scratch *scratch, u32 is_destination)
{
	(void)scratch, (void)is_destination;
	return 0;
}
#endif

#endif
