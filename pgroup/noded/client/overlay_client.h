/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The overlay as a rank sees it: what it tells its node's daemon, and what it reads of what the
 * daemon has written. Runs in ranks. */
#ifndef RGI_OVERLAY_CLIENT_H
#define RGI_OVERLAY_CLIENT_H

#include "noded/wire/overlay.h"

/* Tells this file of the overlay, which runtime/daemons.h has set up. pipe: to the node daemon,
 * taken over. */
void rgi_overlay_use(rgi_overlay *overlay, int pipe);
void rgi_overlay_close(void);

/* Whether there is an overlay; the overlay, or NULL. */
int rgi_overlay_exists(void);
rgi_overlay *rgi_overlay_get(void);

/* After so many seconds it is known whether a node that does not answer is lost. */
double rgi_overlay_decision_seconds(void);

/* Sends a fact to this node's daemon. Any thread; does nothing without an overlay. */
void rgi_overlay_tell(rgi_overlay_fact_kind kind, uint64_t value);

/* Revokes a number on all nodes: waits under it end with RG_ERR_REVOKED. */
void rgi_overlay_revoke(uint64_t number);

/* Revokes a group on all nodes; is_local: all of its members are on this node. RG_ERR_LIMIT,
 * without a text: too many groups are revoked and not freed. */
int rgi_overlay_revoke_group(uint64_t context, int is_local);

/* Whether all processes of the other nodes have come to the end or died. */
int rgi_overlay_all_left(void);

#endif
