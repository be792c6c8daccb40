/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * MPICH's text for an error met deep inside it is longer than MPI_MAX_ERROR_STRING, and is written
 * whole: the library has room for it, and takes its beginning.
 *
 * ranks: 1
 * wrap: MPI_Error_string */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "progress/mpi_error.h"

#define LINES 40

__typeof__(MPI_Error_string) __wrap_MPI_Error_string;

int __wrap_MPI_Error_string(int code, char *text, int *length) {
  *length = 0;
  for (int i = 0; i < LINES; i++)
    *length +=
        sprintf(text + *length, "MPIR_Allreduce_intra_recursive_doubling(%d): line %d of %d\n",
                code, i, LINES);
  return MPI_SUCCESS;
}

static void test_long_text(void) {
  struct {
    char text[MPI_MAX_ERROR_STRING], behind[MPI_MAX_ERROR_STRING];
  } place = {.behind = "behind"};
  RGT_FAILS(rgi_mpi_error(7, "MPI_Wait"), RG_ERR_MPI);
  RGT_TRUE(strstr(rg_error_detail(), "MPI_Wait: MPIR_Allreduce") != NULL);
  rgi_mpi_error_text(7, place.text);
  RGT_INT(strlen(place.text), MPI_MAX_ERROR_STRING - 1);
  RGT_TRUE(strchr(place.text, '\n') == NULL);
  rgi_mpi_error_lines(7, place.text);
  RGT_INT(strcspn(place.text, "\n"),
          strlen("MPIR_Allreduce_intra_recursive_doubling(7): line 0 of 40"));
  RGT_STR(place.behind, "behind");
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"long_text", test_long_text}, {NULL, NULL}};
  return rgt_main(argc, argv, "mpi_error", tests);
}
