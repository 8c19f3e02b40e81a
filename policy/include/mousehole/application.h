/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * Application marker (APPL): chooses the colour by the application of a connection.
 *
 * Noureddine & Tobagi, "Improving the Performance of Interactive TCP Applications Using Service
 * Differentiation", section V.
 *
 *   interactive: HIGH (green)     web: MED (yellow)     bulk: LOW (red)     unknown: MED
 *
 * The caller determines the application: a host from the socket, an edge from the server's port.
 *
 * Format: no arithmetic. Deviations from the paper: none. It does not mention unknown applications.
 */
#ifndef MOUSEHOLE_APPLICATION_H
#define MOUSEHOLE_APPLICATION_H

#include "policy.h"

struct mh_application_params {
	u32 unknown; /* colour of connections whose application is not known */
	u32 reserved;
};

/* Returns 0: no colour depends on chance. */
MH_FN u32 mh_application_draws(const struct mh_application_params *params)
{
	(void)params;
	return 0;
}

/* Returns the colour of a packet by its connection's application. */
MH_FN u32 mh_application_packet(const struct mh_application_params *params, struct mh_none *flow,
				struct mh_none *state, const struct mh_view *view, u64 now_ns, u32 random)
{
	(void)flow;
	(void)state;
	(void)now_ns;
	(void)random;
	switch (view->application) {
	case MH_INTERACTIVE:
		return MH_GREEN;
	case MH_WEB:
		return MH_YELLOW;
	case MH_BULK:
		return MH_RED;
	default:
		return params->unknown;
	}
}

#ifdef MH_DESCRIBE

static const struct mh_parameter mh_application_parameters[] = {
	{ MH_FIELD(mh_application_params, unknown), .kind = MH_CHOICE, .mask = 3, .name = "unknown",
	  .choices = "green yellow red", .value = "yellow",
	  .meaning = "colour of connections whose application is not known", .source = "ours" },
};

#endif

MH_DRAWS(application)
MH_MARKER(application, mh_application_params, mh_none, mh_none,
	  .summary = "interactive connections are green, the web yellow, file transfer red",
	  .source = "Noureddine & Tobagi, section V",
	  .detail = "A colour by what each connection is for. In traffic files the server's port gives the application.",
	  MH_TABLE_OF(application), MH_OFFERS(application, draws))

#endif
