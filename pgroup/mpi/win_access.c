/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Puts and gets are copies between two layouts. Accumulates are made under the target's lock, some
 * KiB at a time, since MPI wants them atomic for each element only: so others do not wait long. */
#include "mpi/win_access.h"

#include <string.h>

#include "access/patch.h"
#include "base/copy.h"
#include "base/error.h"
#include "collectives/op_apply.h"
#include "collectives/op_check.h"
#include "formation/datatype.h"
#include "mpi/win_type.h"

#define AT_A_TIME 32768 /* bytes under the lock, about */
#define SMALL 256       /* bytes that are not worth a walk over their layout */

RGI_WIN_THREAD char rgi_win_has_put;

/* --- checks --------------------------------------------------------------------------------- */

int rgi_win_access_place(rgi_win *w, const rgi_win_access *a, int64_t low, int64_t bytes,
                         char **at) {
  int64_t begin, end;
  *at = NULL;
  if ((unsigned)a->rank >= (unsigned)w->n)
    return a->rank == MPI_PROC_NULL ? MPI_SUCCESS : MPI_ERR_RANK;
  const rgi_win_target *t = &w->target[a->rank];
  if (a->disp < 0)
    return MPI_ERR_DISP;
  if (!w->open_all && !t->opening)
    return MPI_ERR_RMA_SYNC;
  if (__builtin_mul_overflow((int64_t)a->disp, t->disp_unit, &begin) ||
      __builtin_add_overflow(begin, low, &begin) || __builtin_add_overflow(begin, bytes, &end) ||
      begin < 0 || (bytes > 0 && end > t->size))
    return MPI_ERR_RMA_RANGE;
  *at = t->base ? t->base + (begin - low) : NULL;
  return MPI_SUCCESS;
}

/* An operation of MPI's that combines elements. */
static int is_builtin(MPI_Op op) {
  static const MPI_Op ops[] = {MPI_PROD, MPI_MIN, MPI_MAX,  MPI_BAND,   MPI_BOR,    MPI_BXOR,
                               MPI_LAND, MPI_LOR, MPI_LXOR, MPI_MINLOC, MPI_MAXLOC, MPI_SUM};
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
    if (ops[i] == op)
      return 1;
  return 0;
}

int rgi_win_access_takes(MPI_Datatype type, MPI_Op op) {
  if (op == MPI_REPLACE || op == MPI_NO_OP ||
      (op == MPI_SUM && rgi_datatype_basic_size(type) >= sizeof(int)))
    return 1;
  return is_builtin(op) && rgi_op_check("MPI_Accumulate", type, op) == RG_SUCCESS;
}

/* --- the commonest accesses ---------------------------------------------------------------------
 *
 * Elements of one basic type that lie dense on all sides, in memory that is open to the caller.
 * What these functions do not make has not been begun: another access, or a wrong one. */

/* A number of the commonest size is one load and one store. */
static inline void copy_dense(void *to, const void *from, size_t bytes) {
  if (bytes == sizeof(uint64_t))
    memcpy(to, from, sizeof(uint64_t));
  else
    rgi_copy_block(to, from, bytes);
}

/* Whether a side is like the target's. */
static inline int is_like(const rgi_win_buffer *b, const rgi_win_buffer *target) {
  return b->type == target->type && b->count == target->count && b->memory;
}

/* The bytes of the target's side where they are few enough for any arithmetic; else 0. */
static inline uint64_t basic_bytes(const rgi_win_buffer *target) {
  return target->count > 0 && target->count < 1 << 30
             ? (uint64_t)target->count * rgi_datatype_basic_size(target->type)
             : 0;
}

/* Where they are, or NULL. */
static inline char *find_open(const rgi_win *w, const rgi_win_access *a, uint64_t bytes) {
  int64_t begin;
  if (!bytes || (unsigned)a->rank >= (unsigned)w->n)
    return NULL;
  const rgi_win_target *t = &w->target[a->rank];
  if ((!w->open_all && !t->opening) || a->disp < 0 ||
      __builtin_mul_overflow((int64_t)a->disp, t->disp_unit, &begin) || begin > t->size ||
      bytes > (uint64_t)(t->size - begin))
    return NULL;
  return t->base + begin;
}

static inline int copy_common(const rgi_win *w, const rgi_win_access *a, int *code) {
  uint64_t bytes = is_like(&a->origin, &a->target) ? basic_bytes(&a->target) : 0;
  char *at = find_open(w, a, bytes);
  if (at)
    copy_dense(a->kind == RGI_WIN_PUT ? at : a->origin.memory,
               a->kind == RGI_WIN_PUT ? a->origin.memory : at, bytes);
  *code = MPI_SUCCESS;
  return at != NULL;
}

/* Sums are of ints and larger numbers: those of bytes have no operation. */
static inline int is_common_op(const rgi_win_access *a, uint64_t bytes) {
  return a->op == MPI_REPLACE || a->op == MPI_NO_OP ||
         (a->op == MPI_SUM && bytes >= sizeof(int) * (uint64_t)a->target.count);
}

int rgi_win_access_common(rgi_win *w, const rgi_win_access *a, int *code) {
  uint64_t bytes = basic_bytes(&a->target);
  if (bytes > SMALL || !is_common_op(a, bytes) ||
      (a->op != MPI_NO_OP && !is_like(&a->origin, &a->target)) ||
      (a->kind == RGI_WIN_GET_ACCUMULATE && !is_like(&a->result, &a->target)))
    return 0;
  char *at = find_open(w, a, bytes);
  int error = at ? rgi_win_access_lock(w, a->rank) : RG_SUCCESS;
  *code = error ? rgi_win_raise_own(w, error) : MPI_SUCCESS;
  if (!at || error)
    return at != NULL;
  if (a->kind == RGI_WIN_GET_ACCUMULATE)
    copy_dense(a->result.memory, at, bytes);
  if (a->op == MPI_REPLACE)
    copy_dense(at, a->origin.memory, bytes);
  else if (a->op == MPI_SUM)
    rgi_op_apply(a->origin.memory, at, (size_t)a->target.count, a->target.type, a->op);
  rgi_win_access_unlock(w, a->rank);
  return 1;
}

/* --- layouts of both sides ----------------------------------------------------------------------
 */

/* A side of an access: its bytes, and how they lie. */
typedef struct {
  char *memory;
  int64_t count, bytes, low, reach; /* from the first byte to behind the last one */
  const rgi_layout *layout;         /* NULL: dense */
  MPI_Datatype basic;
  int64_t basic_size;
} side;

static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* units: as basic elements with their gaps. */
static int find_side(const rgi_win_buffer *b, int units, side *s) {
  size_t common = rgi_datatype_basic_size(b->type);
  *s = (side){b->memory, b->count, 0, 0, 0, NULL, b->type, (int64_t)common};
  if (b->count < 0)
    return MPI_ERR_COUNT;
  if (b->type == MPI_DATATYPE_NULL)
    return MPI_ERR_TYPE;
  if (common)
    return __builtin_mul_overflow(b->count, (int64_t)common, &s->bytes) || (s->reach = s->bytes, 0)
               ? MPI_ERR_COUNT
               : MPI_SUCCESS;
  const rgi_win_type *t = rgi_win_type_of(b->type);
  if (!t)
    return MPI_ERR_TYPE;
  s->layout = units && t->units.runs ? &t->units : &t->layout;
  s->basic = t->basic;
  s->basic_size = t->basic_size;
  if (s->layout->size == 0 || b->count == 0)
    return MPI_SUCCESS;
  int64_t span;
  if (__builtin_mul_overflow(b->count, s->layout->size, &s->bytes) ||
      __builtin_mul_overflow(b->count - 1, s->layout->extent, &span))
    return MPI_ERR_COUNT;
  s->low = s->layout->low + least(span, 0);
  s->reach = s->layout->high - s->layout->low + (span < 0 ? -span : span);
  return MPI_SUCCESS;
}

static void begin_side(const side *s, rgi_layout_cursor *c) {
  if (s->layout)
    rgi_layout_begin(c, s->layout, s->memory, s->count);
  else
    rgi_layout_begin_flat(c, s->memory, s->bytes);
}

/* NULL is also MPI_BOTTOM, to which a type's addresses are relative. */
static int lacks_memory(const side *s) {
  return !s->memory && s->bytes > 0 && s->low == 0;
}

/* The target's side: where it is in the caller's memory. nothing: MPI_PROC_NULL. */
static int find_target(rgi_win *w, const rgi_win_access *a, side *t, int *nothing) {
  int class = find_side(&a->target, a->kind >= RGI_WIN_ACCUMULATE, t);
  if (class == MPI_SUCCESS)
    class = rgi_win_access_place(w, a, t->low, t->reach, &t->memory);
  *nothing = a->rank == MPI_PROC_NULL;
  return class;
}

int rgi_win_access_check(rgi_win *w, const rgi_win_access *a) {
  side t;
  if (find_side(&a->target, 0, &t) != MPI_SUCCESS)
    return MPI_SUCCESS;
  if (rgi_win_access_place(w, a, t.low, t.reach, &t.memory) == MPI_ERR_RMA_RANGE)
    return MPI_ERR_RMA_RANGE;
  if (a->kind >= RGI_WIN_ACCUMULATE && is_builtin(a->op) && t.basic != MPI_DATATYPE_NULL &&
      !rgi_win_access_takes(t.basic, a->op))
    return MPI_ERR_OP;
  return MPI_SUCCESS;
}

/* --- moving
 * --------------------------------------------------------------------------------------- */

static void put_piece(const rgi_strided *p, void *target, void *origin, const void *how) {
  (void)how;
  rgi_patch_put(p, target, origin);
}

static void get_piece(const rgi_strided *p, void *target, void *origin, const void *how) {
  (void)how;
  rgi_patch_get(p, target, origin);
}

/* How the pieces of an accumulate are combined. */
typedef struct {
  MPI_Datatype type;
  MPI_Op op;
  int64_t size; /* of an element */
  int sum;      /* the rg_array_type whose sums patch_accumulate.c makes, or -1 */
} combination;

static int type_of_sum(MPI_Datatype type, MPI_Op op) {
  if (op != MPI_SUM)
    return -1;
  if (type == MPI_DOUBLE)
    return RG_TYPE_DOUBLE;
  if (type == MPI_FLOAT)
    return RG_TYPE_FLOAT;
  if (type == MPI_INT || type == MPI_INT32_T)
    return RG_TYPE_INT32;
  if (type == MPI_LONG || type == MPI_INT64_T || type == MPI_LONG_LONG)
    return RG_TYPE_INT64;
  return type == MPI_C_DOUBLE_COMPLEX ? RG_TYPE_DOUBLE_COMPLEX : -1;
}

static void combine_piece(const rgi_strided *p, void *target, void *origin, const void *how) {
  const combination *c = how;
  int64_t at[RGI_STRIDED_DIMS] = {0}, from = 0, to = 0;
  int64_t rows = p->dims > 1 ? p->extent[1] : 1;
  if (c->sum >= 0) {
    rgi_patch_accumulate((rg_array_type)c->sum, p, target, origin, NULL);
    return;
  }
  do
    for (int64_t i = 0; i < rows; i++)
      rgi_op_apply((char *)origin + from + i * (p->dims > 1 ? p->origin_stride[1] : 0),
                   (char *)target + to + i * (p->dims > 1 ? p->target_stride[1] : 0),
                   (size_t)(p->extent[0] / c->size), c->type, c->op);
  while (rgi_strided_step(p, at, &from, &to));
}

static int copy_sides(const side *target, const side *origin, rgi_win_kind kind) {
  rgi_layout_cursor to, from;
  const side *source = kind == RGI_WIN_PUT ? origin : target;
  const side *sink = kind == RGI_WIN_PUT ? target : origin;
  if (source->bytes > sink->bytes)
    return MPI_ERR_TRUNCATE;
  if (source->bytes == 0)
    return MPI_SUCCESS;
  if (!source->layout && !sink->layout) {
    copy_dense(sink->memory, source->memory, (size_t)source->bytes);
    return MPI_SUCCESS;
  }
  begin_side(target, &to);
  begin_side(origin, &from);
  rgi_layout_walk(&to, &from, source->bytes, kind == RGI_WIN_PUT ? put_piece : get_piece, NULL);
  return MPI_SUCCESS;
}

/* The three sides of an accumulate on their way. */
typedef struct {
  rgi_layout_cursor read, write, origin, result;
  combination how;
} accumulation;

static void accumulate_part(accumulation *m, const rgi_win_access *a, int64_t bytes) {
  if (a->kind == RGI_WIN_GET_ACCUMULATE)
    rgi_layout_walk(&m->read, &m->result, bytes, get_piece, NULL);
  if (a->op == MPI_REPLACE)
    rgi_layout_walk(&m->write, &m->origin, bytes, put_piece, NULL);
  else if (a->op != MPI_NO_OP)
    rgi_layout_walk(&m->write, &m->origin, bytes, combine_piece, &m->how);
}

static int accumulate_sides(rgi_win *w, const rgi_win_access *a, const side *target,
                            accumulation *m) {
  int64_t step = AT_A_TIME / target->basic_size * target->basic_size;
  for (int64_t at = 0; at < target->bytes; at += step) {
    int error = rgi_win_access_lock(w, a->rank);
    if (error)
      return rgi_win_raise_own(w, error);
    accumulate_part(m, a, least(step, target->bytes - at));
    rgi_win_access_unlock(w, a->rank);
  }
  return MPI_SUCCESS;
}

/* The elements of all sides are of one predefined type, which the operation takes. */
static int check_operation(const rgi_win_access *a, const side *target, const side *other) {
  if (target->basic == MPI_DATATYPE_NULL || other->basic == MPI_DATATYPE_NULL)
    return target->bytes || other->bytes ? MPI_ERR_TYPE : MPI_SUCCESS;
  if (other->bytes != target->bytes)
    return MPI_ERR_TRUNCATE;
  return rgi_win_access_takes(target->basic, a->op) ? MPI_SUCCESS : MPI_ERR_OP;
}

/* A side that takes part. */
static int prepare_side(const rgi_win_access *a, const rgi_win_buffer *b, const side *target,
                        side *s) {
  int class = find_side(b, 1, s);
  if (class == MPI_SUCCESS && lacks_memory(s))
    class = MPI_ERR_BUFFER;
  return class == MPI_SUCCESS ? check_operation(a, target, s) : class;
}

/* A few elements that lie dense on all sides. */
static int accumulate_dense(rgi_win *w, const rgi_win_access *a, const side *target) {
  int error = rgi_win_access_lock(w, a->rank);
  if (error)
    return rgi_win_raise_own(w, error);
  if (a->kind == RGI_WIN_GET_ACCUMULATE)
    copy_dense(a->result.memory, target->memory, (size_t)target->bytes);
  if (a->op == MPI_REPLACE)
    copy_dense(target->memory, a->origin.memory, (size_t)target->bytes);
  else if (a->op != MPI_NO_OP)
    rgi_op_apply(a->origin.memory, target->memory, (size_t)a->target.count, target->basic, a->op);
  rgi_win_access_unlock(w, a->rank);
  return MPI_SUCCESS;
}

static int accumulate_spread(rgi_win *w, const rgi_win_access *a, const side *target,
                             const side *origin, const side *result) {
  accumulation m;
  begin_side(target, &m.read);
  begin_side(target, &m.write);
  if (a->op != MPI_NO_OP)
    begin_side(origin, &m.origin);
  if (a->kind == RGI_WIN_GET_ACCUMULATE)
    begin_side(result, &m.result);
  m.how =
      (combination){target->basic, a->op, target->basic_size, type_of_sum(target->basic, a->op)};
  return accumulate_sides(w, a, target, &m);
}

static int accumulate(rgi_win *w, const rgi_win_access *a) {
  side target, origin, result;
  int nothing, class = find_target(w, a, &target, &nothing);
  origin.layout = result.layout = NULL;
  if (class == MPI_SUCCESS && nothing)
    return MPI_SUCCESS;
  if (class == MPI_SUCCESS && a->op != MPI_NO_OP)
    class = prepare_side(a, &a->origin, &target, &origin);
  if (class == MPI_SUCCESS && a->kind == RGI_WIN_GET_ACCUMULATE)
    class = prepare_side(a, &a->result, &target, &result);
  if (class != MPI_SUCCESS)
    return rgi_win_raise(w, class);
  if (target.bytes == 0)
    return MPI_SUCCESS;
  if (!target.layout && !origin.layout && !result.layout && target.bytes <= SMALL)
    return accumulate_dense(w, a, &target);
  return accumulate_spread(w, a, &target, &origin, &result);
}

static int copy(rgi_win *w, const rgi_win_access *a) {
  side target, origin;
  int nothing, class = find_target(w, a, &target, &nothing);
  if (class == MPI_SUCCESS && nothing)
    return MPI_SUCCESS;
  if (class == MPI_SUCCESS)
    class = find_side(&a->origin, 0, &origin);
  if (class == MPI_SUCCESS && lacks_memory(&origin))
    class = MPI_ERR_BUFFER;
  if (class == MPI_SUCCESS)
    class = copy_sides(&target, &origin, a->kind);
  return class == MPI_SUCCESS ? MPI_SUCCESS : rgi_win_raise(w, class);
}

int rgi_win_access_make(rgi_win *w, rgi_win_access *a) {
  int code;
  if (a->kind == RGI_WIN_PUT)
    rgi_win_has_put = 1;
  if (a->kind >= RGI_WIN_ACCUMULATE ? rgi_win_access_common(w, a, &code) : copy_common(w, a, &code))
    return code;
  return a->kind >= RGI_WIN_ACCUMULATE ? accumulate(w, a) : copy(w, a);
}
