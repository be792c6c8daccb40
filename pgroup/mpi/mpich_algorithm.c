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

/* A variable, what the library writes, and what was there before that. */
typedef struct {
  int found;
  MPI_T_cvar_handle handle;
  int value, before;
} variable;

static struct {
  variable number, radix; /* of the algorithm; number not found: it is not to be chosen */
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

/* The variable, if it is of type int, and its description. */
static int find(const char *name, const char *kind, variable *v, char *text) {
  char full[MOST_NAME], ignored[MOST_NAME];
  int index, verbosity, bind, scope, count, length = sizeof ignored, text_length = MOST_TEXT;
  MPI_Datatype type;
  MPI_T_enum values;
  snprintf(full, sizeof full, "MPIR_CVAR_%s%s", name, kind);
  v->found = PMPI_T_cvar_get_index(full, &index) == MPI_SUCCESS &&
             PMPI_T_cvar_get_info(index, ignored, &length, &verbosity, &type, &values, text,
                                  &text_length, &bind, &scope) == MPI_SUCCESS &&
             type == MPI_INT &&
             PMPI_T_cvar_handle_alloc(index, NULL, &v->handle, &count) == MPI_SUCCESS &&
             count == 1 && PMPI_T_cvar_read(v->handle, &v->before) == MPI_SUCCESS;
  return v->found;
}

static void open_one(int i) {
  char text[MOST_TEXT] = "";
  variable *number = &algorithms[i].number, *radix = &algorithms[i].radix;
  if (!find(list[i].collective, "_INTRA_ALGORITHM", number, text))
    return;
  number->value = number_in(text, list[i].name);
  number->found = number->before == AUTOMATIC && number->value != AUTOMATIC &&
                  (!list[i].radix_variable || find(list[i].radix_variable, "", radix, text));
  radix->value = list[i].radix;
}

/* The processes' threads may differ, and with them what each could choose. */
static void agree(MPI_Comm comm) {
  int mine = 0, all = 0;
  for (int i = 0; i < RGI_MPICH_ALGORITHMS; i++)
    mine |= algorithms[i].number.found << i;
  if (PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_BAND, comm) != MPI_SUCCESS)
    all = 0;
  for (int i = 0; i < RGI_MPICH_ALGORITHMS; i++) {
    algorithms[i].number.found = all >> i & 1;
    if (algorithms[i].number.found)
      rgi_log(RGI_LOG_DEBUG, "MPICH's algorithm for %s: %s, number %d", list[i].collective,
              list[i].name, algorithms[i].number.value);
  }
}

/* The tool interface stays open: once closed, MPICH's does not find its variables again. Another
 * tool may use it from several threads. */
void rgi_mpich_algorithms_open(MPI_Comm comm) {
  int level;
  if (PMPI_Query_thread(&level) == MPI_SUCCESS && level != MPI_THREAD_MULTIPLE &&
      PMPI_T_init_thread(MPI_THREAD_MULTIPLE, &level) == MPI_SUCCESS)
    for (int i = 0; i < RGI_MPICH_ALGORITHMS; i++)
      open_one(i);
  agree(comm);
}

static void choose_value(variable *v) {
  if (v->found) {
    PMPI_T_cvar_read(v->handle, &v->before);
    PMPI_T_cvar_write(v->handle, &v->value);
  }
}

static void give_value_back(const variable *v) {
  if (v->found)
    PMPI_T_cvar_write(v->handle, &v->before);
}

/* What the program has set itself meanwhile is kept. */
void rgi_mpich_algorithm_begin(rgi_mpich_algorithm a) {
  if (!algorithms[a].number.found)
    return;
  choose_value(&algorithms[a].number);
  if (algorithms[a].number.before == AUTOMATIC)
    choose_value(&algorithms[a].radix);
  else
    give_value_back(&algorithms[a].number);
}

void rgi_mpich_algorithm_end(rgi_mpich_algorithm a) {
  if (!algorithms[a].number.found)
    return;
  give_value_back(&algorithms[a].number);
  if (algorithms[a].number.before == AUTOMATIC)
    give_value_back(&algorithms[a].radix);
}
