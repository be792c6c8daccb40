/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Handles of arrays: negative numbers, each of which stands for an entry of a table of the process.
 */
#ifndef RGI_GA_HANDLE_H
#define RGI_GA_HANDLE_H

#include <gacommon.h>
#include <regroup/array.h>
#include <regroup/error.h>

/* What GA_Set_... have said of an array that is not allocated yet. */
typedef struct {
  rg_array_spec spec;
  int64_t *map;        /* the first indices of given blocks, dimension after dimension */
  int irregular_tiles; /* these are tiles, and grid has the processes */
  int64_t grid[GA_MAX_DIM], *runs;
  int restricted, *list; /* the processes that may own elements; 0: all */
} rgi_ga_handle_plan;

typedef struct {
  int dims;
  int type;       /* one of C's of macommon.h, or a registered one */
  int group;      /* its number (ga_group.h) */
  rg_array array; /* NULL until it is allocated */
  char *name;
  rgi_ga_handle_plan *plan; /* until it is allocated */
  size_t bytes;             /* of the caller's elements */
  /* Tiles (ga_tile.h): how many along each dimension, 0: none; their extent, or where each
   * begins, which is in map. */
  int64_t shape[GA_MAX_DIM], tiles[GA_MAX_DIM], tile[GA_MAX_DIM];
  int64_t *starts[GA_MAX_DIM], *map;
  /* Of a restricted array, whose group has the owners first: the rank of each process there, and
   * the process of each rank. NULL where both are the same. */
  int *rank, *process;
} rgi_ga_handle;

enum { RGI_GA_HANDLES = 32768, RGI_GA_FIRST_HANDLE = -1000 };
extern rgi_ga_handle *rgi_ga_handles[RGI_GA_HANDLES];

/* The entry of g; NULL if there is none. */
static inline rgi_ga_handle *rgi_ga_handle_or_null(int g) {
  unsigned i = (unsigned)RGI_GA_FIRST_HANDLE - (unsigned)g;
  return i < RGI_GA_HANDLES ? rgi_ga_handles[i] : NULL;
}

/* The dimensions of g; 0 if there is no such array, which the function of the call reports. */
static inline int rgi_ga_handle_dims(int g) {
  const rgi_ga_handle *handle = rgi_ga_handle_or_null(g);
  return handle ? handle->dims : 0;
}

/* A new entry. */
int rgi_ga_handle_new(const char *call, rgi_ga_handle **handle);

/* Forgets the plan. */
void rgi_ga_handle_settle(rgi_ga_handle *handle);

/* The entry of g, allocated or not; ends the job if there is none. */
rgi_ga_handle *rgi_ga_handle_any(const char *call, int g);

/* Frees the entry, its array and its plan. */
void rgi_ga_handle_free(const char *call, int g);

/* The entry of an allocated array; ends the job if g is none. */
rgi_ga_handle *rgi_ga_handle_of(const char *call, int g);

static inline rg_array rgi_ga_handle_array(const char *call, int g) {
  rgi_ga_handle *handle = rgi_ga_handle_or_null(g);
  return handle && handle->array ? handle->array : rgi_ga_handle_of(call, g)->array;
}

/* The entry of an array that is not allocated yet. */
rgi_ga_handle *rgi_ga_handle_planned(const char *call, int g);

#define RGI_GA_ARRAY(g) rgi_ga_handle_array(__func__, g)

/* What g is like. */
rg_array_spec rgi_ga_handle_spec(const char *call, int g);

/* The caller's rank in the group of an array; g: the one that an error names. */
int rgi_ga_handle_me(const char *call, int g, rg_array array);

/* The rank in the array's group that process p has, and the reverse. */
static inline int rgi_ga_handle_rank(const rgi_ga_handle *handle, int p) {
  return handle->rank ? handle->rank[p] : p;
}

static inline int rgi_ga_handle_process(const rgi_ga_handle *handle, int rank) {
  return handle->process ? handle->process[rank] : rank;
}

/* The bytes that the arrays of this process may have, 0: any number; and those that they have. */
extern size_t rgi_ga_handle_limit, rgi_ga_handle_used;

/* --- errors (ga_error.c) ---------------------------------------------------------------------- */

/* Ends the job. call: the __func__ of a function rgi_ga_NAME. g: the array, 0 if there is none. */
__attribute__((noreturn, format(printf, 3, 4))) void rgi_ga_error_end(const char *call, int g,
                                                                      const char *format, ...);

/* The same with the text of a function of the library that has returned code. Returns only after a
 * death, where the program wants to go on (rg_ga_keep_failures); the first code is kept. */
extern int rgi_ga_handle_keeps, rgi_ga_handle_kept;
void rgi_ga_error_report(const char *call, int g, int code);

static inline void rgi_ga_error_check(const char *call, int g, int code) {
  if (__builtin_expect(code != RG_SUCCESS, 0))
    rgi_ga_error_report(call, g, code);
}

/* What a function of the library on array g has returned. */
#define RGI_GA_TRY(g, call) rgi_ga_error_check(__func__, g, call)

#endif
