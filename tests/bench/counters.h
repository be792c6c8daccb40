/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * How many messages this process has sent: its own and the library's. MPICH on
 * UCX hands every message to one of four functions of UCX; the program defines
 * them itself, counts, and calls UCX's own. */
#ifndef BENCH_COUNTERS_H
#define BENCH_COUNTERS_H

#include <mpi.h>

/* Messages sent by this process so far. */
long bench_messages(void);

/* Whether messages can be counted here: sends one around the ring of comm and
 * sees whether each rank counts exactly one. Collective; the same answer on all;
 * 0 when comm has only one rank. */
int bench_messages_counted(MPI_Comm comm);

#endif
