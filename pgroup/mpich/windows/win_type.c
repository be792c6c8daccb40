/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Layouts of datatypes. The layout of a derived type is built from those of its parts. */
#include "mpich/windows/win_type.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "formation/datatype.h"
#include "formation/type_contents.h"
#include "runtime/runtime.h"

static struct {
  pthread_mutex_t lock;
  _Atomic int key;
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER, .key = MPI_KEYVAL_INVALID};

/* What is being built. */
typedef struct {
  int mixed; /* several basic types */
  MPI_Datatype basic;
} type_building;

static int build(type_building *building, MPI_Datatype type, rgi_layout *layout);

/* --- building --------------------------------------------------------------------------- */

static int is_dense(const rgi_layout *part) {
  return part->runs == 1 && part->run->n == 1 && part->run->bytes == part->extent;
}

/* rows, of n elements that lie side by side each. The parts of a matrix are many rows. */
static int add_rows(rgi_layout *layout, const rgi_layout *part, int64_t offset, int64_t n,
                    int64_t rows, int64_t stride) {
  rgi_layout_run runs = {
      .offset = offset + part->run->offset, .bytes = n * part->extent, .n = rows, .stride = stride};
  return rgi_layout_add_runs(layout, &runs);
}

/* n elements side by side. */
static int add_elements(rgi_layout *layout, const rgi_layout *part, int64_t offset, int64_t n) {
  if (is_dense(part))
    return rgi_layout_add(layout, offset + part->run->offset, n * part->extent);
  for (int64_t i = 0; i < n; i++)
    if (!rgi_layout_add_all(layout, part, offset + i * part->extent))
      return 0;
  return 1;
}

static void note_basic(type_building *building, MPI_Datatype type) {
  if (building->basic != MPI_DATATYPE_NULL && building->basic != type)
    building->mixed = 1;
  building->basic = type;
}

/* The type of MPI's that a program in Fortran has selected by range and precision. */
static MPI_Datatype predefined(MPI_Datatype type, int combiner, int size) {
  MPI_Datatype found = type;
  if (combiner == MPI_COMBINER_F90_REAL)
    PMPI_Type_match_size(MPI_TYPECLASS_REAL, size, &found);
  else if (combiner == MPI_COMBINER_F90_COMPLEX)
    PMPI_Type_match_size(MPI_TYPECLASS_COMPLEX, size, &found);
  else if (combiner == MPI_COMBINER_F90_INTEGER)
    PMPI_Type_match_size(MPI_TYPECLASS_INTEGER, size, &found);
  return found;
}

/* A pair of a number and an int may have a gap between the two, or behind them. */
static int add_basic(type_building *building, MPI_Datatype type, int combiner, rgi_layout *layout) {
  int size;
  PMPI_Type_size(type, &size);
  note_basic(building, predefined(type, combiner, size));
  if (size == layout->extent || size == 0)
    return rgi_layout_add(layout, 0, size);
  int first = size - (int)sizeof(int), second = (first + 3) / 4 * 4;
  return rgi_layout_add(layout, 0, first) && rgi_layout_add(layout, second, (int)sizeof(int));
}

/* Blocks of `lengths` elements (each: a length for each block), at displacements in bytes or
 * elements. */
static int add_blocks(rgi_layout *layout, const rgi_layout *part, const rgi_type_contents *contents,
                      int64_t unit) {
  const int64_t *number = contents->number;
  int each =
      contents->combiner == MPI_COMBINER_INDEXED || contents->combiner == MPI_COMBINER_HINDEXED;
  int64_t n = number[0];
  const int64_t *displs = number + 1 + (each ? n : 1);
  for (int64_t i = 0; i < n; i++)
    if (!add_elements(layout, part, displs[i] * unit, number[1 + (each ? i : 0)]))
      return 0;
  return 1;
}

static int add_vector(rgi_layout *layout, const rgi_layout *part, const int64_t number[],
                      int64_t unit) {
  if (is_dense(part))
    return add_rows(layout, part, 0, number[1], number[0], number[2] * unit);
  for (int64_t i = 0; i < number[0]; i++)
    if (!add_elements(layout, part, i * number[2] * unit, number[1]))
      return 0;
  return 1;
}

/* One dimension of an array of which a type has a part: the first ranges [begin, begin + length),
 * each `step` behind the one before, up to `end`. */
typedef struct {
  int64_t begin, length, step, end, stride;
} type_dimension;

/* Whether the innermost dimension has one range. */
static int is_one_range(const type_dimension *dimension) {
  return dimension->begin + dimension->length >= dimension->end;
}

static int add_grid(rgi_layout *layout, const rgi_layout *part, const type_dimension *dims, int n,
                    int64_t offset);

/* What is inside the indices [from, from + length) of the outermost of n > 1 dimensions. */
static int add_inside(rgi_layout *layout, const rgi_layout *part, const type_dimension *dims, int n,
                      int64_t offset, int64_t from, int64_t length) {
  const type_dimension *in = dims + 1;
  offset += from * dims->stride;
  if (n == 2 && is_dense(part) && in->begin < in->end && is_one_range(in))
    return add_rows(layout, part, offset + in->begin * in->stride, in->end - in->begin, length,
                    dims->stride);
  for (int64_t i = 0; i < length; i++)
    if (!add_grid(layout, part, in, n - 1, offset + i * dims->stride))
      return 0;
  return 1;
}

/* dims are from the outermost to the innermost one. */
static int add_grid(rgi_layout *layout, const rgi_layout *part, const type_dimension *dims, int n,
                    int64_t offset) {
  for (int64_t from = dims->begin; from < dims->end; from += dims->step) {
    int64_t length = from + dims->length < dims->end ? dims->length : dims->end - from;
    if (n == 1 && !add_elements(layout, part, offset + from * dims->stride, length))
      return 0;
    if (n > 1 && !add_inside(layout, part, dims, n, offset, from, length))
      return 0;
  }
  return 1;
}

#define DIMENSIONS 64

/* Puts the dimensions into their order in memory, with strides. sizes: of the whole array. */
static int add_dimensions(rgi_layout *layout, const rgi_layout *part, type_dimension given[], int n,
                          const int64_t sizes[], int order) {
  type_dimension dims[DIMENSIONS];
  int64_t stride = part->extent;
  for (int i = n - 1; i >= 0; i--) {
    int at = order == MPI_ORDER_C ? i : n - 1 - i;
    dims[i] = given[at];
    dims[i].stride = stride;
    stride *= sizes[at];
  }
  return add_grid(layout, part, dims, n, 0);
}

static int add_subarray(rgi_layout *layout, const rgi_layout *part, const int64_t number[]) {
  int n = (int)number[0];
  const int64_t *sizes = number + 1, *parts = sizes + n, *starts = parts + n;
  type_dimension given[DIMENSIONS];
  if (n < 1 || n > DIMENSIONS)
    return 0;
  for (int i = 0; i < n; i++)
    given[i] = (type_dimension){.begin = starts[i],
                                .length = parts[i],
                                .step = parts[i] ? parts[i] : 1,
                                .end = starts[i] + parts[i]};
  return add_dimensions(layout, part, given, n, sizes, (int)starts[n]);
}

/* What a process has of one dimension: of `size` elements on `procs` processes. */
static type_dimension share_of(int64_t size, int64_t kind, int64_t arg, int64_t procs, int64_t at) {
  int64_t block = arg;
  if (kind == MPI_DISTRIBUTE_NONE)
    return (type_dimension){.length = size, .step = size ? size : 1, .end = size};
  if (arg == MPI_DISTRIBUTE_DFLT_DARG)
    block = kind == MPI_DISTRIBUTE_BLOCK ? (size + procs - 1) / procs : 1;
  type_dimension d = {.begin = at * block, .length = block, .step = block * procs, .end = size};
  if (kind == MPI_DISTRIBUTE_BLOCK && d.begin + block < size)
    d.end = d.begin + block;
  return d;
}

/* The processes are in C's order. */
static int add_darray(rgi_layout *layout, const rgi_layout *part, const int64_t number[]) {
  int n = (int)number[2];
  const int64_t *sizes = number + 3, *kinds = sizes + n, *args = kinds + n, *procs = args + n;
  type_dimension given[DIMENSIONS];
  if (n < 1 || n > DIMENSIONS)
    return 0;
  for (int64_t i = n - 1, rank = number[1]; i >= 0; rank /= procs[i], i--)
    given[i] = share_of(sizes[i], kinds[i], args[i], procs[i], rank % procs[i]);
  return add_dimensions(layout, part, given, n, sizes, (int)procs[n]);
}

static int add_struct(type_building *building, rgi_layout *layout,
                      const rgi_type_contents *contents) {
  int64_t n = contents->number[0];
  int good = 1;
  for (int64_t i = 0; i < n && good; i++) {
    rgi_layout part = {0};
    good = build(building, contents->type[i], &part) &&
           add_elements(layout, &part, contents->number[1 + n + i], contents->number[1 + i]);
    rgi_layout_free(&part);
  }
  return good;
}

static int add_parts(const rgi_type_contents *contents, const rgi_layout *part,
                     rgi_layout *layout) {
  switch (contents->combiner) {
  case MPI_COMBINER_DUP:
  case MPI_COMBINER_RESIZED:
    return rgi_layout_add_all(layout, part, 0);
  case MPI_COMBINER_CONTIGUOUS:
    return add_elements(layout, part, 0, contents->number[0]);
  case MPI_COMBINER_VECTOR:
    return add_vector(layout, part, contents->number, part->extent);
  case MPI_COMBINER_HVECTOR:
    return add_vector(layout, part, contents->number, 1);
  case MPI_COMBINER_INDEXED:
  case MPI_COMBINER_INDEXED_BLOCK:
    return add_blocks(layout, part, contents, part->extent);
  case MPI_COMBINER_HINDEXED:
  case MPI_COMBINER_HINDEXED_BLOCK:
    return add_blocks(layout, part, contents, 1);
  case MPI_COMBINER_SUBARRAY:
    return add_subarray(layout, part, contents->number);
  case MPI_COMBINER_DARRAY:
    return add_darray(layout, part, contents->number);
  default:
    return 0;
  }
}

/* Of elements of so many bytes without gaps. */
static int build_of_common(const rgi_type_contents *contents, int64_t bytes, rgi_layout *layout) {
  rgi_layout_run run = {.bytes = bytes, .n = 1, .stride = bytes};
  rgi_layout part = {.size = bytes, .extent = bytes, .high = bytes, .runs = 1, .run = &run};
  return add_parts(contents, &part, layout);
}

static int build_derived(type_building *building, const rgi_type_contents *contents,
                         rgi_layout *layout) {
  rgi_layout part = {0};
  if (contents->combiner == MPI_COMBINER_STRUCT)
    return add_struct(building, layout, contents);
  size_t common = rgi_datatype_basic_size(contents->type[0]);
  if (common) {
    note_basic(building, contents->type[0]);
    return build_of_common(contents, (int64_t)common, layout);
  }
  int good = build(building, contents->type[0], &part) && add_parts(contents, &part, layout);
  rgi_layout_free(&part);
  return good;
}

static int build(type_building *building, MPI_Datatype type, rgi_layout *layout) {
  rgi_type_contents contents;
  MPI_Count low, extent = 0;
  int good = rgi_type_contents_read(type, &contents) &&
             PMPI_Type_get_extent_x(type, &low, &extent) == MPI_SUCCESS;
  *layout = (rgi_layout){.extent = extent};
  if (good)
    good = rgi_type_contents_is_basic(contents.combiner)
               ? add_basic(building, type, contents.combiner, layout)
               : build_derived(building, &contents, layout);
  rgi_type_contents_free(&contents);
  return good;
}

static void free_type(rgi_win_type *type) {
  rgi_layout_free(&type->layout);
  free(type);
}

static void measure_basic(rgi_win_type *type) {
  MPI_Count low, extent = 0;
  int size = 0;
  if (type->basic != MPI_DATATYPE_NULL) {
    PMPI_Type_size(type->basic, &size);
    PMPI_Type_get_extent_x(type->basic, &low, &extent);
  }
  type->basic_size = size;
  type->basic_extent = extent;
}

static void note_placing(rgi_win_type *type) {
  type->placing = (uintptr_t)type->layout.extent;
  for (size_t i = 0; i < type->layout.runs; i++)
    type->placing |= (uintptr_t)type->layout.run[i].offset | (uintptr_t)type->layout.run[i].stride;
}

static rgi_win_type *make_type(MPI_Datatype type) {
  rgi_win_type *t = calloc(1, sizeof *t);
  type_building b = {.basic = MPI_DATATYPE_NULL};
  if (!t || !build(&b, type, &t->layout)) {
    if (t)
      free_type(t);
    return NULL;
  }
  t->basic = b.mixed ? MPI_DATATYPE_NULL : b.basic;
  measure_basic(t);
  note_placing(t);
  return t;
}

/* --- the cache -------------------------------------------------------------------------- */

static int delete_type(MPI_Datatype type, int key, void *value, void *extra) {
  (void)type, (void)key, (void)extra;
  free_type(value);
  return MPI_SUCCESS;
}

/* Two threads may use the type for the first time. */
static rgi_win_type *keep_type(MPI_Datatype type) {
  void *found = NULL;
  int flag = 0;
  pthread_mutex_lock(&kept.lock);
  int key = atomic_load(&kept.key);
  if (key == MPI_KEYVAL_INVALID) {
    PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, delete_type, &key, NULL);
    atomic_store(&kept.key, key);
  }
  if (PMPI_Type_get_attr(type, key, &found, &flag) == MPI_SUCCESS && !flag) {
    found = make_type(type);
    if (found)
      PMPI_Type_set_attr(type, key, found);
  }
  pthread_mutex_unlock(&kept.lock);
  return found;
}

/* MPI_Pack_size finds what is no datatype, or has not been committed, and calls the handler of the
 * library's communicator, which returns; other calls on datatypes have a handler of the program's.
 */
static int is_committed(MPI_Datatype type) {
  int unused;
  return PMPI_Pack_size(0, type, rgi_runtime.comm, &unused) == MPI_SUCCESS;
}

const rgi_win_type *rgi_win_type_of(MPI_Datatype type) {
  void *found = NULL;
  int flag = 0, key = atomic_load_explicit(&kept.key, memory_order_acquire);
  if (!is_committed(type))
    return NULL;
  if (key != MPI_KEYVAL_INVALID && PMPI_Type_get_attr(type, key, &found, &flag) == MPI_SUCCESS &&
      flag)
    return found;
  return keep_type(type);
}
