/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * MPI's collectives with blocks of one size, with int counts and with MPI_Count ones. */
#include <regroup/collectives.h>

#include "formation/group.h"
#include "mpi/coll_check.h"
#include "mpi/intercept.h"

/* Serves the call by the library's operation on group g, or passes it on to MPI. is_intact: it may
 * be done again. */
#define SERVE(id, is_intact, is_misplaced, is_refused, ours, mpis)                                 \
  for (;;) {                                                                                       \
    int answer, error;                                                                             \
    rg_group g = rgi_intercept_group(RGI_INTERCEPT_##id, comm);                                    \
    if (!g)                                                                                        \
      return rgi_intercept_refused(RGI_INTERCEPT_##id, comm, &answer)                              \
                 ? answer                                                                          \
                 : RGI_INTERCEPT_PASS(comm, mpis);                                                 \
    if (__builtin_expect(is_misplaced, 0))                                                         \
      return rgi_intercept_misplaced(RGI_INTERCEPT_##id, comm);                                    \
    if (__builtin_expect(is_refused, 0)) {                                                         \
      rgi_intercept_count(RGI_INTERCEPT_##id, RGI_INTERCEPT_OTHER_CASE);                           \
      return RGI_INTERCEPT_PASS(comm, mpis);                                                       \
    }                                                                                              \
    error = ours;                                                                                  \
    if (rgi_intercept_is_plain(error))                                                             \
      return MPI_SUCCESS;                                                                          \
    if (!error || !rgi_intercept_again(RGI_INTERCEPT_##id, comm, g, error, is_intact))             \
      return rgi_intercept_end(RGI_INTERCEPT_##id, comm, error, &answer)                           \
                 ? answer                                                                          \
                 : RGI_INTERCEPT_PASS(comm, mpis);                                                 \
  }

/* The caller's block of what it gives or gets, at an element; has: whether it does. */
#define SIDE(has, memory, at, count, type)                                                         \
  rgi_coll_check_side_of(memory, at, (has) ? (count) : -1, type)

RG_API int MPI_Barrier(MPI_Comm comm) {
  SERVE(BARRIER, 1, 0, 0, rg_barrier(g), PMPI_Barrier(comm));
}

#define COUNT int
#define FORM(name) name
#include "mpi/coll_regular_forms.h"
#undef COUNT
#undef FORM

#if MPI_VERSION >= 4
#define COUNT MPI_Count
#define FORM(name) name##_c
#include "mpi/coll_regular_forms.h"
#endif
