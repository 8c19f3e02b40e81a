/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* Entries into full_buffer.h for src/full_buffer.rs. */
#include "mousehole/full_buffer.h"

u32 mh_full_buffer_is_full(const struct mh_limit *limit, const struct mh_backlog *backlog, u32 ip_bytes, u32 segments)
{
	return mh_is_full(limit, backlog, ip_bytes, segments);
}

u32 mh_full_buffer_asks_dropper(u32 full, u32 sees_full_buffers)
{
	return mh_asks_dropper(full, sees_full_buffers);
}

u32 mh_full_buffer_verdict(u32 full, u32 verdict)
{
	return mh_verdict_with_buffer(full, verdict);
}
