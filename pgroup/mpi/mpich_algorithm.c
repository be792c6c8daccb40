/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * MPICH's control variables by name, and their values for one call. */
#include "mpi/mpich_algorithm.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"

enum { MOST_TEXT = 4096, MOST_NAME = 128, AUTOMATIC = 0 };

static const struct {
  const char *collective, *name, *radix_variable;
  int radix;
} list[RGI_MPICH_ALGORITHMS] = {
#define RGI_ROW(id, collective, algorithm, variable, radix)                                        \
  {collective, algorithm, variable, radix},
    RGI_MPICH_ALGORITHM_LIST(RGI_ROW)
#undef RGI_ROW
};

static struct {
  MPI_T_cvar_handle handle;
  int value; /* of the algorithm; AUTOMATIC: not to be chosen */
} algorithms[RGI_MPICH_ALGORITHMS];

/* MPICH numbers a collective's algorithms in the order in which the variable's description lists
 * them, each as "NAME - what it is", and does not tell the numbers otherwise. */
static int number_in(const char *text, const char *name) {
  int number = AUTOMATIC;
  for (const char *at = strstr(text, " - "); at; at = strstr(at + 1, " - "), number++) {
    const char *end = at;
    size_t length = strlen(name);
    while (end > text && end[-1] == ' ')
      end--;
    if ((size_t)(end - text) >= length && !strncmp(end - length, name, length))
      return number;
  }
  return AUTOMATIC;
}

/* A handle for the variable of type int, and its value and description. */
static int find(const char *name, const char *kind, MPI_T_cvar_handle *handle, int *value,
                char *text) {
  char full[MOST_NAME], ignored[MOST_NAME];
  int index, verbosity, bind, scope, count, length = sizeof ignored, text_length = MOST_TEXT;
  MPI_Datatype type;
  MPI_T_enum values;
  snprintf(full, sizeof full, "MPIR_CVAR_%s%s", name, kind);
  return PMPI_T_cvar_get_index(full, &index) == MPI_SUCCESS &&
         PMPI_T_cvar_get_info(index, ignored, &length, &verbosity, &type, &values, text,
                              &text_length, &bind, &scope) == MPI_SUCCESS &&
         type == MPI_INT && PMPI_T_cvar_handle_alloc(index, NULL, handle, &count) == MPI_SUCCESS &&
         count == 1 && PMPI_T_cvar_read(*handle, value) == MPI_SUCCESS;
}

/* Only the algorithms chosen here use the radix, or whoever sets an algorithm in the environment
 * and not its radix. */
static void set_radix(int i) {
  char text[MOST_TEXT];
  MPI_T_cvar_handle handle;
  int before;
  if (!list[i].radix_variable || !find(list[i].radix_variable, "", &handle, &before, text))
    return;
  PMPI_T_cvar_write(handle, &list[i].radix);
  PMPI_T_cvar_handle_free(&handle);
}

static void open_one(int i) {
  char text[MOST_TEXT] = "";
  int before;
  if (!find(list[i].collective, "_INTRA_ALGORITHM", &algorithms[i].handle, &before, text) ||
      before != AUTOMATIC)
    return;
  algorithms[i].value = number_in(text, list[i].name);
  if (algorithms[i].value == AUTOMATIC)
    return;
  set_radix(i);
  rgi_log(RGI_LOG_DEBUG, "MPICH's algorithm for %s: %s, number %d", list[i].collective,
          list[i].name, algorithms[i].value);
}

/* The processes' threads may differ, and with them what each could choose. */
static void agree(MPI_Comm comm) {
  int mine = 0, all = 0;
  for (int i = 0; i < RGI_MPICH_ALGORITHMS; i++)
    mine |= (algorithms[i].value != AUTOMATIC) << i;
  if (PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_BAND, comm) != MPI_SUCCESS)
    all = 0;
  for (int i = 0; i < RGI_MPICH_ALGORITHMS; i++)
    if (!(all >> i & 1))
      algorithms[i].value = AUTOMATIC;
}

/* The tool interface stays open: once closed, MPICH's does not find its variables again. */
void rgi_mpich_algorithms_open(MPI_Comm comm) {
  int level;
  if (PMPI_Query_thread(&level) == MPI_SUCCESS && level != MPI_THREAD_MULTIPLE &&
      PMPI_T_init_thread(MPI_THREAD_SINGLE, &level) == MPI_SUCCESS)
    for (int i = 0; i < RGI_MPICH_ALGORITHMS; i++)
      open_one(i);
  agree(comm);
}

static void write_value(rgi_mpich_algorithm a, int value) {
  if (algorithms[a].value != AUTOMATIC)
    PMPI_T_cvar_write(algorithms[a].handle, &value);
}

void rgi_mpich_algorithm_begin(rgi_mpich_algorithm a) {
  write_value(a, algorithms[a].value);
}

void rgi_mpich_algorithm_end(rgi_mpich_algorithm a) {
  write_value(a, AUTOMATIC);
}
