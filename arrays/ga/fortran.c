/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Arguments of Fortran, and the functions for it that do not follow from the table. */
#include "ga/fortran.h"

#include <stdbool.h>
#include <string.h>

#include "ga/ga_group.h"
#include "ga/ma.h"

/* Fortran's types, and what they are in C. */
static const int types[][2] = {
    {MT_F_BYTE, MT_C_CHAR},
    {MT_F_INT, sizeof(Integer) == sizeof(int) ? MT_C_INT : MT_C_LONGINT},
    {MT_F_LOG, sizeof(Integer) == sizeof(int) ? MT_C_INT : MT_C_LONGINT},
    {MT_F_REAL, MT_C_FLOAT},
    {MT_F_DBL, MT_C_DBL},
    {MT_F_SCPL, MT_C_SCPL},
    {MT_F_DCPL, MT_C_DCPL},
};
enum { TYPES = sizeof types / sizeof types[0] };

int rgi_fortran_type_in(Integer type) {
  for (int i = 0; i < TYPES; i++)
    if (types[i][0] == type)
      return types[i][1];
  return (int)type;
}

Integer rgi_fortran_type_out(int type) {
  for (int i = 0; i < TYPES; i++)
    if (types[i][1] == type)
      return types[i][0];
  return type;
}

#ifdef REGROUP_GA_I4
/* A request is an address, which 4 bytes do not hold: integers are places in this table, from 1.
 * What a variable held before its first call is no place. */
static ga_nbhdl_t *requests;
static Integer request_room;

static bool is_place(Integer number) {
  return number > 0 && number <= request_room && requests[number - 1];
}

ga_nbhdl_t rgi_fortran_request_in(Integer number) {
  return is_place(number) ? requests[number - 1] : 0;
}

static Integer free_place(void) {
  Integer i = 0;
  while (i < request_room && requests[i])
    i++;
  if (i == request_room) {
    Integer larger = request_room ? 2 * request_room : 64;
    requests = realloc(requests, (size_t)larger * sizeof *requests);
    if (!requests)
      rgi_ga_error_end("rgi_ga_for_fortran", 0, "no memory for %ld requests", (long)larger);
    memset(requests + i, 0, (size_t)(larger - i) * sizeof *requests);
    request_room = larger;
  }
  return i + 1;
}

Integer rgi_fortran_request_out(Integer number, ga_nbhdl_t request) {
  if (!request) {
    if (is_place(number))
      requests[number - 1] = 0;
    return 0;
  }
  if (!is_place(number) || requests[number - 1] != request) {
    number = free_place();
    requests[number - 1] = request;
  }
  return number;
}
#endif

void rgi_fortran_text(const char *text, size_t length, char copy[RGI_FORTRAN_TEXT]) {
  if (length >= RGI_FORTRAN_TEXT)
    length = RGI_FORTRAN_TEXT - 1;
  while (length > 0 && text[length - 1] == ' ')
    length--;
  memcpy(copy, text, length);
  copy[length] = '\0';
}

void rgi_fortran_string(const char *text, char *to, size_t length) {
  size_t n = text ? strnlen(text, length) : 0;
  if (n)
    memcpy(to, text, n);
  memset(to + n, ' ', length - n);
}

long rgi_fortran_index(const char *call, int g, const void *element) {
  const rgi_ga_handle *handle = rgi_ga_handle_or_null(g);
  Integer type = handle ? rgi_fortran_type_out(handle->type) : MT_F_BYTE;
  long index = 0;
  if (!rgi_ma_size(type)) /* a registered one: in bytes */
    type = MT_F_BYTE;
  if (element && !rgi_ma_index(type, element, &index))
    rgi_ga_error_end(call, g,
                     "the common block is no whole number of elements away from the array");
  return index + 1;
}

/* Memory for n things of this size; without it the program ends. */
static void *memory_for(Integer n, size_t size) {
  void *memory = malloc((n > 0 ? (size_t)n : 1) * size);
  if (!memory)
    rgi_ga_error_end("rgi_ga_for_fortran", 0, "no memory for %ld arguments", (long)n);
  return memory;
}

int *rgi_fortran_ints(const Integer *list, Integer n) {
  int *copy = memory_for(n, sizeof *copy);
  for (Integer i = 0; i < n; i++)
    copy[i] = (int)list[i];
  return copy;
}

int64_t *rgi_fortran_subscripts(int dims, Integer n, const Integer *list) {
  int64_t *copy = memory_for(n, (size_t)(dims ? dims : 1) * sizeof *copy);
  for (Integer i = 0; i < n; i++)
    rgi_fortran_in(dims, list + i * dims, 1, copy + i * dims);
  return copy;
}

int64_t *rgi_fortran_pairs(Integer n, const Integer *i, const Integer *j) {
  int64_t *copy = memory_for(n, 2 * sizeof *copy);
  for (Integer k = 0; k < n; k++) {
    copy[2 * k] = (int64_t)j[k] - 1;
    copy[2 * k + 1] = (int64_t)i[k] - 1;
  }
  return copy;
}

int64_t *rgi_fortran_map(int dims, const Integer *const parts[], const int64_t sizes[]) {
  int64_t total = 0, n = 0;
  for (int d = 0; d < dims; d++)
    total += sizes[d] > 0 ? sizes[d] : 0;
  int64_t *copy = memory_for((Integer)total, sizeof *copy);
  for (int d = 0; d < dims; d++)
    for (int64_t i = 0; i < sizes[d]; i++)
      copy[n++] = (int64_t)parts[dims - 1 - d][i] - 1;
  return copy;
}

void rgi_fortran_parts(int dims, const Integer *map, const int64_t sizes[],
                       const Integer *parts[]) {
  for (int d = 0; d < dims; d++) {
    parts[d] = map;
    map += sizes[dims - 1 - d];
  }
}

/* --- functions that do not follow from the table -------------------------------------------------
 */

/* The pieces of a patch: their bounds in C's order, and their owners. */
static int pieces(int g, const int64_t lo[], const int64_t hi[], int dims, int64_t **map,
                  int **procs) {
  int n = rgi_ga_locate_nnodes(g, lo, hi);
  *map = memory_for(n, 2 * (size_t)dims * sizeof **map);
  *procs = memory_for(n, sizeof **procs);
  return rgi_ga_locate_region(g, lo, hi, *map, *procs);
}

RG_API Integer nga_locate_region_(Integer *g_a, Integer *lo, Integer *hi, Integer *map,
                                  Integer *proclist, Integer *np);
Integer nga_locate_region_(Integer *g_a, Integer *lo, Integer *hi, Integer *map, Integer *proclist,
                           Integer *np) {
  int dims = rgi_fortran_dims((int)*g_a), *procs;
  int64_t from[GA_MAX_DIM], to[GA_MAX_DIM], *bounds;
  rgi_fortran_in(dims, lo, 1, from);
  rgi_fortran_in(dims, hi, 1, to);
  *np = pieces((int)*g_a, from, to, dims, &bounds, &procs);
  for (Integer p = 0; p < *np; p++) {
    proclist[p] = procs[p];
    for (int half = 0; half < 2; half++)
      rgi_fortran_out(dims, bounds + (2 * p + half) * dims, 1, map + (2 * p + half) * dims);
  }
  free(bounds);
  free(procs);
  return *np > 0;
}

/* Of two dimensions: for each piece its bounds in i and in j, and its owner. */
RG_API Integer ga_locate_region_(Integer *g_a, Integer *ilo, Integer *ihi, Integer *jlo,
                                 Integer *jhi, Integer map[][5], Integer *np);
Integer ga_locate_region_(Integer *g_a, Integer *ilo, Integer *ihi, Integer *jlo, Integer *jhi,
                          Integer map[][5], Integer *np) {
  const int64_t from[2] = {*jlo - 1, *ilo - 1}, to[2] = {*jhi - 1, *ihi - 1};
  int64_t *bounds;
  int *procs;
  *np = pieces((int)*g_a, from, to, 2, &bounds, &procs);
  for (Integer p = 0; p < *np; p++) {
    const int64_t *b = bounds + 4 * p;
    const Integer row[] = {(Integer)b[1] + 1, (Integer)b[3] + 1, (Integer)b[0] + 1,
                           (Integer)b[2] + 1, procs[p]};
    memcpy(map[p], row, sizeof row);
  }
  free(bounds);
  free(procs);
  return *np > 0;
}

#define PGROUP_GOP(name)                                                                           \
  RG_API void name(Integer *grp, Integer *type, void *x, Integer *n, const char *op,               \
                   size_t op_length);                                                              \
  void name(Integer *grp, Integer *type, void *x, Integer *n, const char *op, size_t op_length) {  \
    char text[RGI_FORTRAN_TEXT];                                                                   \
    rgi_fortran_text(op, op_length, text);                                                         \
    rgi_ga_group_reduce("rgi_ga_pgroup_gop", (int)*grp, rgi_fortran_type_in(*type), x, (int)*n,    \
                        text);                                                                     \
  }

PGROUP_GOP(ga_pgroup_gop_)
PGROUP_GOP(nga_pgroup_gop_)

#define VERSION(name)                                                                              \
  RG_API void name(Integer *major, Integer *minor, Integer *patch);                                \
  void name(Integer *major, Integer *minor, Integer *patch) {                                      \
    *major = GA_VERSION_MAJOR;                                                                     \
    *minor = GA_VERSION_MINOR;                                                                     \
    *patch = GA_VERSION_PATCH;                                                                     \
  }

VERSION(ga_version_)
VERSION(nga_version_)
