/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What mpich.h declares, for a build without this room (scons MPICH=no): MPI gives nothing beyond
 * its standard, and no launcher speaks. Without UCX's headers the first part alone is needed. */
#include <mpi.h>
#include <stddef.h>

#include "mpich/mpich.h"

#if defined RG_NO_MPICH || !__has_include(<ucp/api/ucp.h>)

void rgi_mpich_interrupt_open(int survives) {
  (void)survives;
}

void rgi_mpich_interrupt_tolerate(void) {
}

void rgi_mpich_freeze_collectives(MPI_Comm comm) {
  (void)comm;
}

int rgi_mpich_interrupt_possible(void) {
  return 0;
}

void rgi_mpich_interrupt_begin(rgi_mpich_interrupt_kind kind) {
  (void)kind;
}

int rgi_mpich_interrupt_end(int error, const char *call) {
  (void)call;
  return error;
}

#endif

#ifdef RG_NO_MPICH

#include <regroup/polite.h>

#include "base/error.h"

void (*rgi_mpich_waits)(double since, double now);
_Thread_local void (*rgi_mpich_polled)(void);
_Thread_local double rgi_mpich_own_wait;
_Thread_local unsigned rgi_mpich_served;
_Thread_local int rgi_mpich_still;

const rgi_mpich_table *rgi_mpich_gives(void) {
  static const rgi_mpich_table nothing;
  return &nothing;
}

int rg_polite_active(int *active) {
  RGI_REQUIRE(active);
  *active = 0;
  return RG_SUCCESS;
}

int rg_polite_polling(int polling) {
  (void)polling;
  return RG_SUCCESS;
}

int rg_polite_counts(int64_t *polls, int64_t *yields, int64_t *sleeps) {
  int64_t *all[] = {polls, yields, sleeps};
  for (int i = 0; i < 3; i++)
    if (all[i])
      *all[i] = 0;
  return RG_SUCCESS;
}

const char *rgi_mpich_pmi_rank(void) {
  return "?";
}

void rgi_mpich_pmi_abort(int has_begun, int status) {
  (void)has_begun, (void)status;
}

int rgi_mpich_pmi_has_marked(int rank) {
  (void)rank;
  return 0;
}

void rgi_mpich_algorithms_use(int found) {
  (void)found;
}

int rgi_mpich_algorithm_begin(rgi_mpich_algorithm algorithm) {
  (void)algorithm;
  return 0;
}

void rgi_mpich_algorithm_end(rgi_mpich_algorithm algorithm) {
  (void)algorithm;
}

unsigned long rgi_mpich_moves(void) {
  return 0;
}

#define NOTHING(name)                                                                              \
  void name(void) {                                                                                \
  }
NOTHING(rgi_mpich_end_row)
NOTHING(rgi_mpich_start_begin)
NOTHING(rgi_mpich_start_end)
NOTHING(rgi_mpich_finalize_alone)
NOTHING(rgi_mpich_pmi_finalize)
NOTHING(rgi_mpich_calm_transport)

#define NO(name)                                                                                   \
  int name(void) {                                                                                 \
    return 0;                                                                                      \
  }
NO(rgi_mpich_yields_only)
NO(rgi_mpich_has_finalized)
NO(rgi_mpich_pmi_speaks)
NO(rgi_mpich_pmi_is_slurm)
NO(rgi_mpich_pmi_has_finalized)
NO(rgi_mpich_pmi_mark)
NO(rgi_mpich_siblings_live)
NO(rgi_mpich_siblings_are_all)
NO(rgi_mpich_algorithms_find)

int rgi_mpich_siblings_unstarted(void) {
  return RGI_MPICH_NO_SIBLING;
}

int rgi_mpich_siblings_ended_node(void) {
  return -1;
}

int rgi_mpich_has_begun(void) {
  int begun = 0;
  PMPI_Initialized(&begun);
  return begun;
}

#endif
