/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Agreement among the members before, and after, a communicator is made. It needs no ballots
 * (noded/consensus/voting.h): a member that is lost is an error of all, and nobody goes on without
 * it. */
#ifndef RGI_COMM_AGREE_H
#define RGI_COMM_AGREE_H

#include <stdint.h>

#include "formation/comm_creation.h"

/* The members of a creation (creation->comm, n, me, ranks and tag) agree along a binomial
 * tree whether they mean the same (what: a hash of it) and whether each can go on
 * (error: RG_SUCCESS or its own error). Returns the same on all
 * members: RG_SUCCESS, the error of one of them, RG_ERR_MISMATCH; or
 * RG_ERR_TIMEOUT where a member is missing. Messages: 2 (n - 1).
 *
 * The n-th call with a tag matches the n-th call of the other members with it, also
 * after errors. One exception: lists that name different sets of members can leave
 * messages and receives behind, which a later call with the same tag meets. Different sets are
 * noticed when RG_TIMEOUT ends the wait for a member, different orders at once. */
int rgi_comm_agree(const rgi_comm_creation *creation, uint64_t what, int error);

/* At the library's end, when all processes have come to it: ends the receives, and takes the
 * messages, that agreements without some member have left behind. MPI would warn of them. mpi = 0:
 * does nothing. */
void rgi_comm_agree_close(int mpi);

#endif
