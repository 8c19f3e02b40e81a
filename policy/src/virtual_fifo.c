/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* The set-up of the virtual FIFO, for virtual_fifo.rs. */
#define MH_DESCRIBE
#include "mousehole/virtual_fifo.h"

/* Returns the size of the struct of parameters, bytes. */
u64 mh_virtual_fifo_params_bytes(void)
{
	return sizeof(struct mh_virtual_fifo_params);
}

/* Fills in the whole struct at `params`, which is aligned to 8 bytes (mh_virtual_fifo_setup). */
void mh_virtual_fifo_fill(void *params, u64 rate_bps, u32 overhead_bytes, u32 burst_bytes)
{
	mh_virtual_fifo_setup(params, rate_bps, overhead_bytes, burst_bytes);
}
