/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* Entries into full_buffer.h for src/full_buffer.rs. */
#include "mousehole/full_buffer.h"

/* Returns whether the buffer has no room for an arrival of `ip_bytes` in so many segments (mh_is_full). */
u32 mh_full_buffer_is_full(const struct mh_limit *limit, const struct mh_backlog *backlog, u32 ip_bytes, u32 segments)
{
	return mh_is_full(limit, backlog, ip_bytes, segments);
}

/* Returns whether the dropper is called for an arrival, by whether the buffer is full (mh_asks_dropper). */
u32 mh_full_buffer_asks_dropper(u32 full, u32 sees_full_buffers)
{
	return mh_asks_dropper(full, sees_full_buffers);
}

/* Returns the final verdict from the dropper's, by whether the buffer is full (mh_verdict_with_buffer). */
u32 mh_full_buffer_verdict(u32 full, u32 verdict)
{
	return mh_verdict_with_buffer(full, verdict);
}
