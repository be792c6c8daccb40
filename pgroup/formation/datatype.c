/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Before MPI 4 MPI_Pack takes ints for counts and sizes: larger data are packed in several calls.
 * Types that lie dense in memory, and are not permuted by a derived type, are copied without
 * MPI. */
#include "formation/datatype.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "formation/type_contents.h"
#include "progress/mpi_error.h"
#include "runtime/runtime.h"

/* The most common types need no call of MPI. */
static size_t common_size(MPI_Datatype type) {
  size_t basic = rgi_datatype_basic_size(type);
  if (basic)
    return basic;
  if (type == MPI_SIGNED_CHAR || type == MPI_UNSIGNED_CHAR || type == MPI_PACKED)
    return 1;
  if (type == MPI_UNSIGNED || type == MPI_INT32_T || type == MPI_UINT32_T)
    return 4;
  return type == MPI_UNSIGNED_LONG || type == MPI_LONG_LONG ? 8 : 0;
}

/* Whether elements lie in memory as MPI_Pack lays them out. A derived type may
 * name its parts in any order, so that sizes alone do not tell. */
static int in_order(MPI_Datatype type) {
  rgi_type_contents contents;
  int answer = 0;
  if (rgi_type_contents_read(type, &contents))
    answer =
        rgi_type_contents_is_basic(contents.combiner) ||
        ((contents.combiner == MPI_COMBINER_CONTIGUOUS || contents.combiner == MPI_COMBINER_DUP) &&
         in_order(contents.type[0]));
  rgi_type_contents_free(&contents);
  return answer;
}

int rgi_datatype_of(const char *call, MPI_Datatype type, rgi_datatype *datatype) {
  MPI_Count size, low, extent, true_low, true_extent;
  size_t common = common_size(type);
  if (common) {
    *datatype = (rgi_datatype){.type = type,
                               .size = common,
                               .extent = (MPI_Aint)common,
                               .true_extent = (MPI_Aint)common,
                               .dense = 1};
    return RG_SUCCESS;
  }
  if (type == MPI_DATATYPE_NULL)
    return rgi_error(RG_ERR_ARG, "%s: the datatype is MPI_DATATYPE_NULL", call);
  RGI_TRY_MPI(MPI_Type_size_x(type, &size));
  RGI_TRY_MPI(MPI_Type_get_extent_x(type, &low, &extent));
  RGI_TRY_MPI(MPI_Type_get_true_extent_x(type, &true_low, &true_extent));
  *datatype = (rgi_datatype){.type = type,
                             .size = (size_t)size,
                             .extent = (MPI_Aint)extent,
                             .true_low = (MPI_Aint)true_low,
                             .true_extent = (MPI_Aint)true_extent};
  datatype->dense =
      size == 0 || (size == extent && true_low == 0 && true_extent == size && in_order(type));
  return RG_SUCCESS;
}

int rgi_datatype_bytes_error(const char *call, const rgi_datatype *datatype, MPI_Count count) {
  if (count < 0)
    return rgi_error(RG_ERR_ARG, "%s: the count %lld is negative", call, (long long)count);
  if (rgi_datatype_is_too_large(datatype))
    return rgi_error(RG_ERR_UNSUPPORTED, "%s: elements of %zu bytes with gaps are too large", call,
                     datatype->size);
  return rgi_error(RG_ERR_ARG, "%s: %lld elements of %zu bytes are too many", call,
                   (long long)count, datatype->size);
}

int rgi_datatype_memory_error(const char *call) {
  return rgi_error(RG_ERR_ARG, "%s: the buffer is NULL", call);
}

/* --- packing ----------------------------------------------------------------------- */

typedef enum { PACK, UNPACK } direction;

#if MPI_VERSION >= 4
typedef MPI_Count pack_count;
#define PACK_MOST PTRDIFF_MAX
#define FORM(name) name##_c
#define FORM_NAME(name) name "_c"
#else
typedef int pack_count;
#define PACK_MOST INT_MAX
#define FORM(name) name
#define FORM_NAME(name) name
#endif

/* One call of MPI: n elements. */
static int move_elements(const rgi_datatype *datatype, direction to, char *memory, size_t n,
                         char *dense) {
  pack_count position = 0, size = (pack_count)(n * datatype->size), count = (pack_count)n;
  int code = to == PACK ? FORM(MPI_Pack)(memory, count, datatype->type, dense, size, &position,
                                         rgi_runtime.comm)
                        : FORM(MPI_Unpack)(dense, size, &position, memory, count, datatype->type,
                                           rgi_runtime.comm);
  return rgi_mpi_error(code, to == PACK ? FORM_NAME("MPI_Pack") : FORM_NAME("MPI_Unpack"));
}

/* The whole elements of so many bytes. */
static int move_bytes(const rgi_datatype *datatype, direction to, char *memory, size_t bytes,
                      char *dense) {
  size_t most = (size_t)PACK_MOST / datatype->size, count = bytes / datatype->size;
  for (size_t at = 0, n; at < count; at += n) {
    n = count - at < most ? count - at : most;
    RGI_TRY(move_elements(datatype, to, rgi_datatype_element(datatype, memory, (MPI_Aint)at), n,
                          dense + at * datatype->size));
  }
  return RG_SUCCESS;
}

/* Unpacks the beginning of an element. */
static int unpack_part(const rgi_datatype *datatype, const char *dense, size_t bytes,
                       char *memory) {
  char *whole = malloc(datatype->size);
  if (!whole)
    return rgi_error(RG_ERR_NOMEM, "no memory to unpack %zu bytes", datatype->size);
  int error = move_elements(datatype, PACK, memory, 1, whole);
  memcpy(whole, dense, bytes);
  if (!error)
    error = move_elements(datatype, UNPACK, memory, 1, whole);
  free(whole);
  return error;
}

static int move_all(const rgi_datatype *datatype, direction to, char *memory, size_t bytes,
                    char *dense) {
  size_t count = bytes / datatype->size, rest = bytes % datatype->size;
  RGI_TRY(move_bytes(datatype, to, memory, bytes, dense));
  return rest ? unpack_part(datatype, dense + count * datatype->size, rest,
                            rgi_datatype_element(datatype, memory, (MPI_Aint)count))
              : RG_SUCCESS;
}

/* MPI_BOTTOM, from which a type's addresses count, is NULL, which MPICH does not take: there the
 * type is moved down by a byte, to count from the next one. */
static int move_at(const rgi_datatype *datatype, direction to, const void *memory, size_t bytes,
                   char *dense) {
  static const MPI_Aint down = -1;
  static const int one = 1;
  rgi_datatype moved = *datatype;
  if (memory)
    return move_all(datatype, to, rgi_datatype_element(datatype, memory, 0), bytes, dense);
  RGI_TRY_MPI(MPI_Type_create_hindexed(1, &one, &down, datatype->type, &moved.type));
  int error = rgi_mpi_error(MPI_Type_commit(&moved.type), "MPI_Type_commit");
  if (!error)
    error = move_all(&moved, to, (char *)(intptr_t)-down, bytes, dense);
  MPI_Type_free(&moved.type);
  return error;
}

int rgi_datatype_pack_bytes(const rgi_datatype *datatype, const void *memory, size_t bytes,
                            void *dense) {
  if (!datatype->dense)
    return move_at(datatype, PACK, memory, bytes, dense);
  if (bytes)
    memcpy(dense, memory, bytes);
  return RG_SUCCESS;
}

int rgi_datatype_unpack_bytes(const rgi_datatype *datatype, const void *dense, size_t bytes,
                              void *memory) {
  char *from;
  memcpy(&from, &dense, sizeof from); /* drops const: it is only read */
  if (!datatype->dense)
    return move_at(datatype, UNPACK, memory, bytes, from);
  if (bytes)
    memcpy(memory, dense, bytes);
  return RG_SUCCESS;
}
