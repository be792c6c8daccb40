/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Revoked contexts, in the node's table of processes: waits under one of them end with
 * RG_ERR_REVOKED. Of this node only: noded/overlay_client.h tells the other nodes. */
#ifndef RGI_REVOCATION_H
#define RGI_REVOCATION_H

#include "shm/process_table.h"

/* Revokes a context on the node of this table. RG_ERR_LIMIT, without a text: there is no room for
 * another one. */
int rgi_revocation_note(rgi_process_table *t, uint64_t context);

/* Whether a context is revoked, for the calling rank. */
int rgi_revocation_has(uint64_t context);

/* Whether any context has been revoked: then a call that may end without a wait calls
 * rgi_failure_check itself. */
int rgi_revocation_any(void);

#endif
