/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * Threshold marker: gives the first part of every flow the better colour.
 *
 * Chen & Heidemann, ISI-TR-2001-548, section 3.2 (bytes, 15 KB); Guo & Matta, BU-CS-2001-005, section III
 * (packets, L_t).
 *
 *   colour = within  if count <= threshold, the current packet included
 *          = beyond  otherwise
 *
 * With 15,000 bytes, 15 packets of 1000 bytes are within, but only 14 of 1040. A super-packet is judged as
 * a whole by the count that includes all of it.
 *
 * Format: plain integers, no error. Range: threshold 0 .. 2^32 - 2 of the unit.
 * Deviations from the papers: none. "Until bytes_sent exceeds th" does not say on which side the packet that
 * crosses the threshold falls. The authors' own code counts the packet before it compares, and so does this.
 */
#ifndef MOUSEHOLE_THRESHOLD_MARKER_H
#define MOUSEHOLE_THRESHOLD_MARKER_H

#include "flow_meter.h"

struct mh_threshold_marker_params {
	struct mh_threshold threshold;
	u32 within; /* colour up to the threshold */
	u32 beyond; /* colour after it */
};

/* Returns `within` or `beyond`, the colour of a packet that the meter has counted already. */
MH_FN u32 mh_threshold_marker_colour(const struct mh_threshold_marker_params *params,
				     const struct mh_flow_meter *meter)
{
	return mh_flow_meter_count(meter, params->threshold.unit) <= params->threshold.count ? params->within : params->beyond;
}

#endif
