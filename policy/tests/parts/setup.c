/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* Entries into the set-up functions, which only user space compiles, for the tests in tests/it; as functions.c. */
#define MH_DESCRIBE
#include "mousehole/size_history.h"
#include "mousehole/token_bucket.h"

void mh_test_token_bucket_setup(void *params, double rate, u32 burst)
{
	mh_token_bucket_setup(params, rate, burst);
}

u64 mh_test_token_bucket_scaled_at(const void *params, u64 percent_q32)
{
	return mh_token_bucket_scaled_at(params, percent_q32);
}

void mh_test_size_history_setup(void *params, u64 percent_q32, u32 flows)
{
	mh_size_history_setup(params, percent_q32, flows);
}

/* Calls mh_is_share() with a table of four parameters; a fifth one follows that is not part of the table. */
u32 mh_test_is_share(const char *name, u64 shares)
{
	static const struct mh_parameter parameters[] = {
		{ .name = "min" }, { .name = "max" }, { .name = "mi" }, { .name = "xin" }, { .name = "beyond" },
	};
	const struct mh_link_context link = { .shares = shares, .parameters = parameters, .parameter_count = 4 };

	return mh_is_share(&link, name);
}

u64 mh_test_fixed(double value, u32 bits)
{
	return mh_fixed(value, bits);
}
