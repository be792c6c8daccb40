/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Start and end, synchronisation, memory, and calls that need nothing here. */
#include <regroup/collectives.h>
#include <regroup/runtime.h>
#include <stdlib.h>
#include <string.h>

#include "ga/ga_group.h"
#include "ga/ga_handle.h"
#include "ga_core.h"

static int started, debug_level;

static void start(const char *call, MPI_Comm comm) {
  int has_mpi = 0;
  MPI_Initialized(&has_mpi);
  if (!has_mpi)
    rgi_ga_error_end(call, 0, "MPI_Init comes before it");
  if (started)
    return;
  rgi_ga_error_check(call, 0, rg_init(comm, NULL));
  rgi_ga_error_check(call, 0, rgi_ga_group_start());
  started = 1;
}

void rgi_ga_initialize_comm(MPI_Comm comm) {
  start(__func__, comm);
}

void rgi_ga_initialize(void) {
  start(__func__, MPI_COMM_WORLD);
}

void rgi_ga_initialize_args(int *argc, char ***argv) {
  (void)argc;
  (void)argv;
  rgi_ga_initialize();
}

void rgi_ga_initialize_ltd(size_t limit) {
  rgi_ga_handle_limit = limit;
  rgi_ga_initialize();
}

int rgi_ga_initialized(void) {
  return started;
}

void rgi_ga_terminate(void) {
  if (!started)
    return;
  for (int i = 0; i < RGI_GA_HANDLES; i++)
    if (rgi_ga_handles[i])
      rgi_ga_handle_free(__func__, RGI_GA_FIRST_HANDLE - i);
  rgi_ga_destroy_mutexes();
  rgi_ga_group_stop();
  RGI_GA_TRY(0, rg_finalize());
  rgi_ga_handle_limit = rgi_ga_handle_used = 0;
  started = 0;
}

void rgi_ga_sync(void) {
  rgi_ga_group_synchronise(__func__, 0, rgi_ga_group_of(__func__, rgi_ga_group_default));
}

void rgi_ga_pgroup_sync(int grp_id) {
  rgi_ga_group_synchronise(__func__, 0, rgi_ga_group_of(__func__, grp_id));
}

/* The barriers of calls cost less than to keep count of those that may be left out. */
void rgi_ga_mask_sync(int first, int last) {
  (void)first;
  (void)last;
}

void rgi_ga_init_fence(void) {
}

void rgi_ga_fence(void) {
  RGI_GA_TRY(0, rg_array_fence(NULL));
}

double rgi_ga_wtime(void) {
  return MPI_Wtime();
}

void rgi_ga_set_debug(int flag) {
  debug_level = flag;
}

int rgi_ga_get_debug(void) {
  return debug_level;
}

/* --- memory ------------------------------------------------------------------------------ */

void rgi_ga_set_memory_limit(size_t limit) {
  rgi_ga_handle_limit = limit;
}

int rgi_ga_memory_limited(void) {
  return rgi_ga_handle_limit != 0;
}

size_t rgi_ga_inquire_memory(void) {
  return rgi_ga_handle_used;
}

/* Without a limit as Global Arrays has it: the greatest number. */
size_t rgi_ga_memory_avail(void) {
  if (!rgi_ga_handle_limit)
    return (size_t)1 << 62;
  return rgi_ga_handle_limit > rgi_ga_handle_used ? rgi_ga_handle_limit - rgi_ga_handle_used : 0;
}

int rgi_ga_uses_ma(void) {
  return 0;
}

int rgi_ga_uses_fapi(void) {
  return 0;
}

void rgi_ga_freemem(void *ptr) {
  free(ptr);
}

void rgi_ga_register_stack_memory(void *(*ext_alloc)(size_t, int, char *),
                                  void (*ext_free)(void *)) {
  (void)ext_alloc;
  (void)ext_free;
}

void rgi_ga_alloc_gatscat_buf(int nelems) {
  (void)nelems;
}

void rgi_ga_free_gatscat_buf(void) {
}
