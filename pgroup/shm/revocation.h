/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What is revoked, in the node's table of processes: waits under it end with RG_ERR_REVOKED. Of
 * this node only: noded/client/overlay_client.h tells the other nodes. */
#ifndef RGI_REVOCATION_H
#define RGI_REVOCATION_H

#include "shm/process_table.h"

/* Revokes a group's context on the node of this table, until the node's members have freed the
 * group. RG_ERR_LIMIT, without a text: RGI_REVOCATIONS_MOST groups are revoked and not freed. */
int rgi_revocation_note(rgi_process_table *table, uint64_t context);

/* Revokes a number that belongs to no group of this node, or may: the last RGI_REVOCATIONS_LAST are
 * known. Also by the node daemon. */
void rgi_revocation_note_number(rgi_process_table *table, uint64_t number);

/* The calling rank frees a group that is revoked, of so many living members on this node. */
void rgi_revocation_freed(uint64_t context, int members);

/* Whether a context or number is revoked, for the calling rank. */
int rgi_revocation_has(uint64_t context);

/* Whether any is: then a call that may end without a wait calls rgi_failure_check itself. */
int rgi_revocation_any(void);

#endif
