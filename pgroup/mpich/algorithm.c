/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * MPICH's control variables by name, and their values for one call. */
#include "mpich/mpich.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"

enum { MOST_TEXT = 4096, MOST_NAME = 128, AUTOMATIC = 0 };

static const struct {
  const char *collective, *name, *radix_variable;
  int radix;
} list[RGI_MPICH_ALGORITHMS] = {
    [RGI_MPICH_IBCAST] = {.collective = "IBCAST",
                          .name = "tsp_tree",
                          .radix_variable = "IBCAST_TREE_KVAL",
                          .radix = 8},
    [RGI_MPICH_ISCATTERV] = {.collective = "ISCATTERV", .name = "tsp_linear"},
    [RGI_MPICH_IREDUCE] = {.collective = "IREDUCE", .name = "tsp_tree"},
};

typedef struct {
  int found;
  MPI_T_cvar_handle handle;
} variable;

static struct {
  variable number, radix; /* of the algorithm; number not found: it is not to be chosen */
  int value;              /* of number, for the algorithm */
  int radix_before;       /* the present call */
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

/* The variable, if it is of type int, its value and its description. */
static int find(const char *name, const char *kind, variable *variable, int *value, char *text) {
  char full[MOST_NAME], ignored[MOST_NAME];
  int index, verbosity, bind, scope, count, length = sizeof ignored, text_length = MOST_TEXT;
  MPI_Datatype type;
  MPI_T_enum values;
  snprintf(full, sizeof full, "MPIR_CVAR_%s%s", name, kind);
  variable->found =
      PMPI_T_cvar_get_index(full, &index) == MPI_SUCCESS &&
      PMPI_T_cvar_get_info(index, ignored, &length, &verbosity, &type, &values, text, &text_length,
                           &bind, &scope) == MPI_SUCCESS &&
      type == MPI_INT &&
      PMPI_T_cvar_handle_alloc(index, NULL, &variable->handle, &count) == MPI_SUCCESS &&
      count == 1 && PMPI_T_cvar_read(variable->handle, value) == MPI_SUCCESS;
  return variable->found;
}

static void open_one(int i) {
  char text[MOST_TEXT] = "";
  int now;
  variable *number = &algorithms[i].number, *radix = &algorithms[i].radix;
  if (!find(list[i].collective, "_INTRA_ALGORITHM", number, &now, text))
    return;
  algorithms[i].value = number_in(text, list[i].name);
  number->found = now == AUTOMATIC && algorithms[i].value != AUTOMATIC &&
                  (!list[i].radix_variable || find(list[i].radix_variable, "", radix, &now, text));
}

/* The tool interface stays open: once closed, MPICH's does not find its variables again. Another
 * tool may use it from several threads. */
int rgi_mpich_algorithms_find(void) {
  int level, found = 0;
  if (PMPI_T_init_thread(MPI_THREAD_MULTIPLE, &level) != MPI_SUCCESS)
    return 0;
  for (int i = 0; i < RGI_MPICH_ALGORITHMS; i++) {
    open_one(i);
    found |= algorithms[i].number.found << i;
  }
  return found;
}

void rgi_mpich_algorithms_use(int found) {
  for (int i = 0; i < RGI_MPICH_ALGORITHMS; i++) {
    algorithms[i].number.found = found >> i & 1;
    if (algorithms[i].number.found)
      rgi_log(RGI_LOG_DEBUG, "MPICH's algorithm for %s: %s, number %d", list[i].collective,
              list[i].name, algorithms[i].value);
  }
}

int rgi_mpich_algorithm_begin(rgi_mpich_algorithm algorithm) {
  const variable *number = &algorithms[algorithm].number, *radix = &algorithms[algorithm].radix;
  int now = AUTOMATIC;
  if (!number->found || PMPI_T_cvar_read(number->handle, &now) != MPI_SUCCESS || now != AUTOMATIC)
    return 0;
  PMPI_T_cvar_write(number->handle, &algorithms[algorithm].value);
  if (radix->found) {
    PMPI_T_cvar_read(radix->handle, &algorithms[algorithm].radix_before);
    PMPI_T_cvar_write(radix->handle, &list[algorithm].radix);
  }
  return 1;
}

void rgi_mpich_algorithm_end(rgi_mpich_algorithm algorithm) {
  int automatic = AUTOMATIC;
  PMPI_T_cvar_write(algorithms[algorithm].number.handle, &automatic);
  if (algorithms[algorithm].radix.found)
    PMPI_T_cvar_write(algorithms[algorithm].radix.handle, &algorithms[algorithm].radix_before);
}
