/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What the members of the application's communicator tell one another by MPI's own collectives,
 * before they have a group. The waits report a stall, and end after RG_TIMEOUT. With Open MPI, and
 * without polite waiting, they do not report it unless RG_TIMEOUT is set. */
#ifndef RGI_WORD_EXCHANGE_H
#define RGI_WORD_EXCHANGE_H

#include <mpi.h>
#include <stdint.h>

/* Whether a process has a time limit, the same on all of them: before the first exchange. */
void rgi_word_exchange_limit(int limited);
int rgi_word_exchange_has_limit(void);

/* Both: collective over comm; call: for reports. RG_ERR_TIMEOUT: a member has not come; then
 * nothing more can be exchanged on comm. RG_ERR_NOMEM, RG_ERR_MPI. */

/* Rank 0's word to all members. */
int rgi_word_exchange_give(const char *call, MPI_Comm comm, int64_t *word);

/* The least (MPI_MIN) or greatest (MPI_MAX) of all members' words. */
int rgi_word_exchange_combine(const char *call, MPI_Comm comm, MPI_Op op, int64_t *word);

#endif
