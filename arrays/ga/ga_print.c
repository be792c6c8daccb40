/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Printing, in Global Arrays' formats: indices count from 1 and are in the order of Fortran, for C
 * too. Process 0 of the array's group prints. */
#include <regroup/collectives.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ga/ga_group.h"
#include "ga/ga_patch.h"
#include "ga/ga_tile.h"
#include "ga/ga_type.h"
#include "ga_core.h"

typedef struct {
  const char *call;
  int g, dims, type;
  rg_array array;
  FILE *file;
  const char *name;
  int64_t lo[GA_MAX_DIM], end[GA_MAX_DIM]; /* in C's order and numbers */
  size_t bytes;                            /* of an element */
} print_job;

/* The number of Fortran's dimension k, of which the index is shown. */
static int64_t shown(const print_job *job, const int64_t at[], int k) {
  return at[job->dims - 1 - k] + 1;
}

static void show_number(FILE *file, double number, int padded) {
  if (number < 100000.0)
    fprintf(file, padded ? "%11.5f" : "%f", number);
  else
    fprintf(file, padded ? "%.5e" : "%e", number);
}

static void show_complex(FILE *file, double real, double imaginary, int padded) {
  int plain = real < 100000.0 && imaginary < 100000.0;
  fprintf(file,
          padded  ? plain ? "%11.5f,%11.5f" : "%.5e,%.5e"
          : plain ? "(%f,%f)"
                  : "(%e,%e)",
          real, imaginary);
}

static void show_element(const print_job *job, const void *element, int padded) {
  FILE *file = job->file;
  switch (job->type) {
  case C_INT:
    fprintf(file, padded ? "%8d" : "%d", *(const int *)element);
    return;
  case C_LONG:
    fprintf(file, padded ? "%8ld" : "%ld", *(const long *)element);
    return;
  case C_LONGLONG:
    fprintf(file, padded ? "%8lld" : "%lld", *(const long long *)element);
    return;
  case C_FLOAT:
    fprintf(file, padded ? "%11.5f" : "%f", (double)*(const float *)element);
    return;
  case C_DBL:
    show_number(file, *(const double *)element, padded);
    return;
  case C_SCPL:
    show_complex(file, (double)((const float *)element)[0], (double)((const float *)element)[1],
                 padded);
    return;
  case C_DCPL:
    show_complex(file, ((const double *)element)[0], ((const double *)element)[1], padded);
    return;
  default:
    rgi_ga_error_end(job->call, job->g, "elements of type %d cannot be printed", job->type);
  }
}

/* Steps over the slices of the patch: dimensions of C from `last` down. Returns 0 at the end. */
static int next(const print_job *job, int64_t at[], int last) {
  for (int d = last; d >= 0; d--) {
    if (++at[d] < job->end[d])
      return 1;
    at[d] = job->lo[d];
  }
  return 0;
}

static void *room_for(const print_job *job, int64_t elements) {
  void *memory = malloc((size_t)elements * job->bytes);
  if (!memory)
    rgi_ga_error_end(job->call, job->g, "no memory for a part of the array");
  return memory;
}

/* One line for each element. */
static void print_list(const print_job *job) {
  const int last = job->dims - 1;
  int64_t at[GA_MAX_DIM], end[GA_MAX_DIM], n = job->end[last] - job->lo[last];
  char *row = room_for(job, n);
  memcpy(at, job->lo, sizeof at);
  do {
    for (int d = 0; d < last; d++)
      end[d] = at[d] + 1;
    end[last] = job->end[last];
    at[last] = job->lo[last];
    rgi_ga_error_check(job->call, job->g, rg_array_get(job->array, at, end, row, NULL));
    for (int64_t i = 0; i < n; i++) {
      fprintf(job->file, "%s(", job->name);
      for (int k = 0; k < job->dims; k++)
        fprintf(job->file, k == last ? "%lld" : "%lld,",
                (long long)(shown(job, at, k) + (k == 0 ? i : 0)));
      fprintf(job->file, ") = ");
      show_element(job, row + (size_t)i * job->bytes, 0);
      fprintf(job->file, "\n");
    }
  } while (last > 0 && next(job, at, last - 1));
  free(row);
}

/* The numbers of columns and a line below them. */
static void print_head(const print_job *job, int64_t first, int64_t columns) {
  const int is_complex = job->type == C_DCPL || job->type == C_SCPL, is_double = job->type == C_DBL;
  const int width = is_complex ? 22 : is_double ? 10 : 7;
  fprintf(job->file, "\n%*s", is_complex ? 0 : is_double ? 3 : 5, "");
  for (int64_t i = 0; i < columns; i++)
    fprintf(job->file, "%*lld  ", width, (long long)(first + i));
  fprintf(job->file, "\n      ");
  for (int64_t i = 0; i < columns; i++)
    fprintf(job->file, " %.*s", is_complex ? 23 : is_double ? 11 : 8, "-----------------------");
  fprintf(job->file, "\n");
}

enum { COLUMNS = 6 };

/* Some columns of the slice at `at`, with all rows: Fortran's first dimension is that of rows. */
static void print_panel(const print_job *job, int64_t at[], int64_t columns) {
  const int last = job->dims - 1;
  int64_t end[GA_MAX_DIM], rows = job->end[last] - job->lo[last];
  char *panel = room_for(job, rows * columns);
  for (int d = 0; d < last; d++)
    end[d] = at[d] + (d == last - 1 ? columns : 1);
  end[last] = job->end[last];
  at[last] = job->lo[last];
  rgi_ga_error_check(job->call, job->g, rg_array_get(job->array, at, end, panel, NULL));
  if (job->dims > 1)
    print_head(job, at[last - 1] + 1, columns);
  for (int64_t i = 0; i < rows; i++) {
    fprintf(job->file, "%4lld  ", (long long)(job->lo[last] + i + 1));
    for (int64_t j = 0; j < columns; j++) {
      fprintf(job->file, " ");
      show_element(job, panel + (size_t)(j * rows + i) * job->bytes, 1);
    }
    fprintf(job->file, "\n");
  }
  free(panel);
}

static void print_slice_name(const print_job *job, const int64_t at[]) {
  fprintf(job->file, "\n -- patch: %s[", job->name);
  for (int k = 0; k < job->dims; k++) {
    const int d = job->dims - 1 - k;
    if (k < 2)
      fprintf(job->file, "%lld:%lld,", (long long)job->lo[d] + 1, (long long)job->end[d]);
    else
      fprintf(job->file, d ? "%lld," : "%lld", (long long)at[d] + 1);
  }
  fprintf(job->file, "]\n");
}

/* Tables of rows and columns. */
static void print_tables(const print_job *job) {
  const int column = job->dims - 2, most = job->type == C_SCPL ? COLUMNS / 2 : COLUMNS;
  int64_t at[GA_MAX_DIM];
  memcpy(at, job->lo, sizeof at);
  if (job->dims == 1) {
    print_panel(job, at, 1);
    return;
  }
  do {
    if (job->dims > 2)
      print_slice_name(job, at);
    for (int64_t j = job->lo[column]; j < job->end[column]; j += most) {
      int64_t left = job->end[column] - j;
      at[column] = j;
      print_panel(job, at, left < most ? left : most);
    }
  } while (job->dims > 2 && next(job, at, column - 1));
}

/* Calls by all members; file matters at process 0. */
static void print(const char *call, int g, const int64_t lo[], const int64_t hi[], int pretty,
                  FILE *file) {
  rgi_ga_handle *handle = rgi_ga_handle_of(call, g);
  rg_array_spec spec = {.size = sizeof spec};
  print_job job = {.call = call,
                   .g = g,
                   .dims = handle->dims,
                   .type = handle->type,
                   .array = handle->array,
                   .file = file,
                   .name = handle->name ? handle->name : ""};
  rgi_ga_error_check(call, g, rg_array_sync(handle->array));
  rgi_ga_error_check(call, g, rg_array_info(handle->array, &spec));
  job.bytes = spec.element_size;
  for (int d = 0; d < job.dims; d++) {
    job.lo[d] = lo ? lo[d] : 0;
    job.end[d] = hi ? hi[d] + 1 : spec.shape[d];
  }
  if (rgi_ga_pgroup_nodeid(handle->group) == 0) {
    fprintf(file, "\n global array: %s[", job.name);
    for (int k = 0; k < job.dims; k++)
      fprintf(file, k == job.dims - 1 ? "%lld:%lld" : "%lld:%lld,",
              (long long)shown(&job, job.lo, k), (long long)job.end[job.dims - 1 - k]);
    fprintf(file, "],  handle: %d \n", g);
    if (pretty)
      print_tables(&job);
    else
      print_list(&job);
    fflush(file);
  }
  rgi_ga_error_check(call, g, rg_array_sync(handle->array));
}

void rgi_ga_print(int g_a) {
  print(__func__, g_a, NULL, NULL, 1, stdout);
}

void rgi_ga_print_file(FILE *file, int g_a) {
  print(__func__, g_a, NULL, NULL, 1, file);
}

void rgi_ga_print_patch(int g_a, const int64_t lo[], const int64_t hi[], int pretty) {
  print(__func__, g_a, lo, hi, pretty, stdout);
}

/* --- arrays and their distributions --------------------------------------------------------- */

/* "(1:4,1:3) -> 2": what a process has. */
static void print_block(int g, int process, const char *before, const char *after) {
  int64_t lo[GA_MAX_DIM], hi[GA_MAX_DIM];
  const int dims = rgi_ga_handle_dims(g);
  rgi_ga_distribution(g, process, lo, hi);
  printf("%s", before);
  for (int d = dims - 1; d >= 0; d--)
    printf(d ? "%lld:%lld," : "%lld:%lld", (long long)lo[d] + 1, (long long)hi[d] + 1);
  printf("%s", after);
}

static int blocks_of(int g) {
  const rgi_ga_handle *handle = rgi_ga_handle_or_null(g);
  return rgi_ga_tile_has(handle) ? (int)rgi_ga_tile_count(handle)
                                 : rgi_ga_pgroup_nnodes(handle->group);
}

void rgi_ga_print_distribution(int g_a) {
  rgi_ga_handle *handle = rgi_ga_handle_of(__func__, g_a);
  rg_array_spec spec = {.size = sizeof spec};
  RGI_GA_TRY(g_a, rg_array_sync(handle->array));
  RGI_GA_TRY(g_a, rg_array_info(handle->array, &spec));
  if (rgi_ga_pgroup_nodeid(handle->group) == 0) {
    printf("Array Handle=%d Name:'%s' Data Type:%s\nArray Dimensions:", g_a, handle->name,
           rgi_ga_type_name(handle->type));
    for (int d = 0; d < spec.dims; d++)
      printf(d < spec.dims - 1 ? "%lldx" : "%lld\n", (long long)spec.shape[d]);
    for (int i = 0, n = blocks_of(g_a); i < n; i++) {
      printf("Process=%d\t owns array section: ", i);
      print_block(g_a, i, "[", "]\n");
    }
    fflush(stdout);
  }
  RGI_GA_TRY(g_a, rg_array_sync(handle->array));
}

void rgi_ga_summarize(int verbose) {
  int any = 0;
  printf(" Summary of allocated global arrays\n-----------------------------------\n");
  for (int i = 0; i < RGI_GA_HANDLES; i++) {
    const rgi_ga_handle *handle = rgi_ga_handles[i];
    rg_array_spec spec = {.size = sizeof spec};
    if (!handle || !handle->array)
      continue;
    RGI_GA_TRY(0, rg_array_info(handle->array, &spec));
    printf("  array %d => %s %s(", any++, rgi_ga_type_name(handle->type), handle->name);
    for (int d = spec.dims - 1; d >= 0; d--)
      printf(d ? "%lld," : "%lld", (long long)spec.shape[d]);
    printf("),  handle: %d \n", RGI_GA_FIRST_HANDLE - i);
    for (int p = 0; verbose && p < blocks_of(RGI_GA_FIRST_HANDLE - i); p++) {
      print_block(RGI_GA_FIRST_HANDLE - i, p, "    (", ")");
      printf(" -> %d \n", p);
    }
  }
  if (!any)
    printf("  No active global arrays\n");
  printf("\n\n");
  fflush(stdout);
}

/* Accesses are not counted: a count would cost as much as an access. */
void rgi_ga_print_stats(void) {
  printf("\n                         GA Statistics for process %4d\n"
         "                         ------------------------------\n\n"
         "Memory of arrays of this process: %zu bytes\n",
         rgi_ga_nodeid(), rgi_ga_inquire_memory());
  fflush(stdout);
}
