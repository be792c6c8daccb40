/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Puts and gets are copies between two layouts. Accumulates are made under the target's lock, some
 * KiB at a time, since MPI wants them atomic for each element only: so others do not wait long. */
#include "mpich/windows/win_access.h"

#include <stddef.h>
#include <string.h>

#include "access/patch.h"
#include "base/copy.h"
#include "base/error.h"
#include "collectives/reduction/op.h"
#include "formation/datatype.h"
#include "mpich/windows/win_type.h"

#define AT_A_TIME 32768 /* bytes under the lock, about */
#define STAGED 4096     /* the same, of elements that are combined elsewhere */
#define SMALL 256       /* bytes that are not worth a walk over their layout */

RGI_WIN_THREAD char rgi_win_has_put;

/* --- checks --------------------------------------------------------------------------------- */

int rgi_win_access_place(rgi_win *window, const rgi_win_access *access, int64_t low, int64_t bytes,
                         char **at) {
  int64_t begin, end;
  *at = NULL;
  if ((unsigned)access->rank >= (unsigned)window->n)
    return access->rank == MPI_PROC_NULL ? MPI_SUCCESS : MPI_ERR_RANK;
  const rgi_win_target *t = &window->target[access->rank];
  if (access->disp < 0)
    return MPI_ERR_DISP;
  if (!window->open_all && !t->opening)
    return MPI_ERR_RMA_SYNC;
  if (__builtin_mul_overflow((int64_t)access->disp, t->disp_unit, &begin) ||
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

/* Whether a side is like the target's. */
static inline int is_like(const rgi_win_buffer *buffer, const rgi_win_buffer *target) {
  return buffer->type == target->type && buffer->count == target->count && buffer->memory;
}

/* The bytes of the target's side where they are few enough for any arithmetic; else 0. */
static inline uint64_t basic_bytes(const rgi_win_buffer *target) {
  return target->count > 0 && target->count < 1 << 30
             ? (uint64_t)target->count * rgi_datatype_basic_size(target->type)
             : 0;
}

/* Where they are, or NULL. */
static inline char *find_open(const rgi_win *window, const rgi_win_access *access, uint64_t bytes) {
  int64_t begin;
  if (!bytes || (unsigned)access->rank >= (unsigned)window->n)
    return NULL;
  const rgi_win_target *t = &window->target[access->rank];
  if ((!window->open_all && !t->opening) || access->disp < 0 ||
      __builtin_mul_overflow((int64_t)access->disp, t->disp_unit, &begin) || begin > t->size ||
      bytes > (uint64_t)(t->size - begin))
    return NULL;
  return t->base + begin;
}

static inline int copy_common(const rgi_win *window, const rgi_win_access *access, int *code) {
  uint64_t bytes = is_like(&access->origin, &access->target) ? basic_bytes(&access->target) : 0;
  char *at = find_open(window, access, bytes);
  if (at)
    rgi_copy_block(access->kind == RGI_WIN_PUT ? at : access->origin.memory,
                   access->kind == RGI_WIN_PUT ? access->origin.memory : at, bytes);
  *code = MPI_SUCCESS;
  return at != NULL;
}

/* Sums are of ints and larger numbers: those of bytes have no operation. */
static inline int is_common_op(const rgi_win_access *access, uint64_t bytes) {
  return access->op == MPI_REPLACE ||
         (access->op == MPI_NO_OP && access->kind == RGI_WIN_GET_ACCUMULATE) ||
         (access->op == MPI_SUM && bytes >= sizeof(int) * (uint64_t)access->target.count);
}

/* Whether the loops can combine the elements where they lie. */
static inline int lies_aligned(const rgi_win_access *access, const char *at, uint64_t bytes) {
  uintptr_t below = bytes == 4 * (uint64_t)access->target.count ? 3 : 7;
  return (((uintptr_t)at | (uintptr_t)access->origin.memory) & below) == 0;
}

static inline void copy_small(void *to, const void *from, size_t bytes) {
  if (!rgi_copy_number(to, from, bytes))
    memcpy(to, from, bytes);
}

/* At most SMALL bytes. The result may be the origin: it is written last. */
static inline __attribute__((always_inline)) int accumulate_dense(rgi_win *window,
                                                                  const rgi_win_access *access,
                                                                  char *at, uint64_t bytes,
                                                                  const rgi_kernel *kernel) {
  char old[SMALL];
  int error = rgi_win_access_lock(window, access->rank);
  if (error)
    return rgi_win_raise_own(window, error, access->call);
  if (access->kind == RGI_WIN_GET_ACCUMULATE)
    copy_small(old, at, bytes);
  if (access->op == MPI_REPLACE)
    copy_small(at, access->origin.memory, bytes);
  else if (kernel)
    kernel->run(access->origin.memory, at, bytes >> kernel->log);
  rgi_win_access_unlock(window, access->rank);
  if (access->kind == RGI_WIN_GET_ACCUMULATE)
    copy_small(access->result.memory, old, bytes);
  return MPI_SUCCESS;
}

int rgi_win_access_common(rgi_win *window, const rgi_win_access *access, int *code) {
  uint64_t bytes = basic_bytes(&access->target);
  if (bytes > SMALL || !is_common_op(access, bytes) ||
      (access->op != MPI_NO_OP && !is_like(&access->origin, &access->target)) ||
      (access->kind == RGI_WIN_GET_ACCUMULATE && !is_like(&access->result, &access->target)))
    return 0;
  char *at = find_open(window, access, bytes);
  if (!at || (access->op == MPI_SUM && !lies_aligned(access, at, bytes)))
    return 0;
  *code = accumulate_dense(window, access, at, bytes,
                           access->op == MPI_SUM ? rgi_op_kernel_of(access->target.type, access->op)
                                                 : NULL);
  return 1;
}

/* --- layouts of both sides ----------------------------------------------------------------- */

/* A side of an access: its bytes, and how they lie. */
typedef struct {
  char *memory;
  int64_t count, bytes, low, reach; /* from the first byte to behind the last one */
  const rgi_layout *layout;         /* NULL: dense */
  MPI_Datatype basic;
  int64_t basic_size, basic_extent;
  uintptr_t placing; /* of its elements, beside that of the memory */
} access_side;

static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static int find_side(const rgi_win_buffer *buffer, access_side *found) {
  int64_t common = (int64_t)rgi_datatype_basic_size(buffer->type);
  *found = (access_side){.memory = buffer->memory,
                         .count = buffer->count,
                         .bytes = 0,
                         .low = 0,
                         .reach = 0,
                         .layout = NULL,
                         .basic = buffer->type,
                         .basic_size = common,
                         .basic_extent = common,
                         .placing = 0};
  if (buffer->count < 0)
    return MPI_ERR_COUNT;
  if (buffer->type == MPI_DATATYPE_NULL)
    return MPI_ERR_TYPE;
  if (common)
    return __builtin_mul_overflow(buffer->count, common, &found->bytes) ||
                   (found->reach = found->bytes, 0)
               ? MPI_ERR_COUNT
               : MPI_SUCCESS;
  const rgi_win_type *t = rgi_win_type_of(buffer->type);
  if (!t)
    return MPI_ERR_TYPE;
  found->layout = &t->layout;
  found->basic = t->basic;
  found->basic_size = t->basic_size;
  found->basic_extent = t->basic_extent;
  found->placing = t->placing;
  if (found->layout->size == 0 || buffer->count == 0)
    return MPI_SUCCESS;
  int64_t span;
  if (__builtin_mul_overflow(buffer->count, found->layout->size, &found->bytes) ||
      __builtin_mul_overflow(buffer->count - 1, found->layout->extent, &span))
    return MPI_ERR_COUNT;
  found->low = found->layout->low + least(span, 0);
  found->reach = found->layout->high - found->layout->low + (span < 0 ? -span : span);
  return MPI_SUCCESS;
}

static void begin_side(const access_side *side, rgi_layout_cursor *cursor) {
  if (side->layout)
    rgi_layout_begin(cursor, side->layout, side->memory, side->count);
  else
    rgi_layout_begin_flat(cursor, side->memory, side->bytes);
}

/* NULL is also MPI_BOTTOM, to which a type's addresses are relative. */
static int lacks_memory(const access_side *side) {
  return !side->memory && side->bytes > 0 && side->low == 0;
}

/* The target's side: where it is in the caller's memory. nothing: MPI_PROC_NULL. */
static int find_target(rgi_win *window, const rgi_win_access *access, access_side *t,
                       int *nothing) {
  int class = find_side(&access->target, t);
  if (class == MPI_SUCCESS)
    class = rgi_win_access_place(window, access, t->low, t->reach, &t->memory);
  *nothing = access->rank == MPI_PROC_NULL;
  return class;
}

int rgi_win_access_check(rgi_win *window, const rgi_win_access *access) {
  access_side t;
  if (find_side(&access->target, &t) != MPI_SUCCESS)
    return MPI_SUCCESS;
  if (rgi_win_access_place(window, access, t.low, t.reach, &t.memory) == MPI_ERR_RMA_RANGE)
    return MPI_ERR_RMA_RANGE;
  if (access->kind >= RGI_WIN_ACCUMULATE && is_builtin(access->op) &&
      t.basic != MPI_DATATYPE_NULL && !rgi_win_access_takes(t.basic, access->op))
    return MPI_ERR_OP;
  return MPI_SUCCESS;
}

/* --- moving --------------------------------------------------------------------------------- */

static void put_piece(const rgi_strided *strided, void *target, void *origin, const void *how) {
  (void)how;
  rgi_patch_put(strided, target, origin);
}

static void get_piece(const rgi_strided *strided, void *target, void *origin, const void *how) {
  (void)how;
  rgi_patch_get(strided, target, origin);
}

static void combine_piece(const rgi_strided *strided, void *target, void *origin, const void *how) {
  rgi_patch_combine(how, strided, target, origin, NULL);
}

static int copy_sides(const access_side *target, const access_side *origin, rgi_win_kind kind) {
  rgi_layout_cursor to, from;
  const access_side *source = kind == RGI_WIN_PUT ? origin : target;
  const access_side *sink = kind == RGI_WIN_PUT ? target : origin;
  if (source->bytes > sink->bytes)
    return MPI_ERR_TRUNCATE;
  if (source->bytes == 0)
    return MPI_SUCCESS;
  if (!source->layout && !sink->layout) {
    rgi_copy_block(sink->memory, source->memory, (size_t)source->bytes);
    return MPI_SUCCESS;
  }
  begin_side(target, &to);
  begin_side(origin, &from);
  rgi_layout_walk(&to, &from, source->bytes, kind == RGI_WIN_PUT ? put_piece : get_piece, NULL);
  return MPI_SUCCESS;
}

/* The sides of an accumulate on their way: the target as it is read, and as it is written. */
typedef struct {
  rgi_layout_cursor result, origin, read, write;
  MPI_Datatype basic;
  int64_t basic_size;
  const rgi_layout *basic_layout; /* NULL: without gaps */
  const rgi_kernel *kernel;       /* of elements that are combined where they lie */
  int staged;
} accumulate_call;

static void begin_staged(const accumulate_call *accumulation, rgi_layout_cursor *cursor,
                         char *memory, int64_t bytes) {
  if (accumulation->basic_layout)
    rgi_layout_begin(cursor, accumulation->basic_layout, memory, bytes / accumulation->basic_size);
  else
    rgi_layout_begin_flat(cursor, memory, bytes);
}

/* Elements that are not aligned, have gaps, or that MPI combines, and those of which the result
 * replaces the origin, are combined elsewhere, side by side and aligned; what lies in gaps is not
 * written. */
static void accumulate_staged(accumulate_call *accumulation, const rgi_win_access *access,
                              int64_t bytes) {
  _Alignas(max_align_t) char ours[STAGED], theirs[STAGED];
  rgi_layout_cursor staged;
  begin_staged(accumulation, &staged, ours, bytes);
  rgi_layout_walk(&staged, &accumulation->origin, bytes, put_piece, NULL);
  begin_staged(accumulation, &staged, theirs, bytes);
  rgi_layout_walk(&staged, &accumulation->read, bytes, put_piece, NULL);
  begin_staged(accumulation, &staged, theirs, bytes);
  if (access->kind == RGI_WIN_GET_ACCUMULATE)
    rgi_layout_walk(&accumulation->result, &staged, bytes, put_piece, NULL);
  if (access->op != MPI_REPLACE)
    rgi_op_apply(ours, theirs, (size_t)(bytes / accumulation->basic_size), accumulation->basic,
                 access->op);
  begin_staged(accumulation, &staged, access->op == MPI_REPLACE ? ours : theirs, bytes);
  rgi_layout_walk(&accumulation->write, &staged, bytes, put_piece, NULL);
}

static void accumulate_part(accumulate_call *accumulation, const rgi_win_access *access,
                            int64_t bytes) {
  if (accumulation->staged) {
    accumulate_staged(accumulation, access, bytes);
    return;
  }
  if (access->kind == RGI_WIN_GET_ACCUMULATE)
    rgi_layout_walk(&accumulation->read, &accumulation->result, bytes, get_piece, NULL);
  if (access->op == MPI_REPLACE)
    rgi_layout_walk(&accumulation->write, &accumulation->origin, bytes, put_piece, NULL);
  else if (access->op != MPI_NO_OP)
    rgi_layout_walk(&accumulation->write, &accumulation->origin, bytes, combine_piece,
                    accumulation->kernel);
}

static int accumulate_sides(rgi_win *window, const rgi_win_access *access,
                            const access_side *target, accumulate_call *accumulation) {
  int64_t room = accumulation->staged ? STAGED : AT_A_TIME,
          step = room / target->basic_extent * accumulation->basic_size;
  for (int64_t at = 0; at < target->bytes; at += step) {
    int error = rgi_win_access_lock(window, access->rank);
    if (error)
      return rgi_win_raise_own(window, error, access->call);
    accumulate_part(accumulation, access, least(step, target->bytes - at));
    rgi_win_access_unlock(window, access->rank);
  }
  return MPI_SUCCESS;
}

/* The elements of all sides are of one predefined type. */
static int check_elements(const access_side *target, const access_side *other) {
  if (target->basic == MPI_DATATYPE_NULL || other->basic == MPI_DATATYPE_NULL)
    return target->bytes || other->bytes ? MPI_ERR_TYPE : MPI_SUCCESS;
  return other->bytes == target->bytes ? MPI_SUCCESS : MPI_ERR_TRUNCATE;
}

/* A type without elements takes all of MPI's operations. */
static int check_operation(const rgi_win_access *access, const access_side *target) {
  int takes = target->basic != MPI_DATATYPE_NULL
                  ? rgi_win_access_takes(target->basic, access->op)
                  : access->op == MPI_REPLACE || access->op == MPI_NO_OP || is_builtin(access->op);
  if (access->op == MPI_NO_OP && access->kind == RGI_WIN_ACCUMULATE)
    takes = 0;
  return takes ? MPI_SUCCESS : MPI_ERR_OP;
}

/* A side that the caller gives. */
static int find_own(const rgi_win_buffer *buffer, access_side *side) {
  int class = find_side(buffer, side);
  return class == MPI_SUCCESS && lacks_memory(side) ? MPI_ERR_BUFFER : class;
}

/* Those of the three sides that take part; then the operation. As MPI does, types are looked at
 * first. */
static int find_sides(rgi_win *window, const rgi_win_access *access, access_side *target,
                      access_side *origin, access_side *result, int *nothing) {
  int class = find_target(window, access, target, nothing),
      is_get = access->kind == RGI_WIN_GET_ACCUMULATE;
  origin->layout = result->layout = NULL;
  if (class == MPI_SUCCESS && (access->op != MPI_NO_OP || !is_get))
    class = find_own(&access->origin, origin);
  if (class == MPI_SUCCESS && is_get)
    class = find_own(&access->result, result);
  if (class == MPI_SUCCESS && access->op != MPI_NO_OP)
    class = check_elements(target, origin);
  if (class == MPI_SUCCESS && is_get)
    class = check_elements(target, result);
  return class == MPI_SUCCESS ? check_operation(access, target) : class;
}

/* The loop that combines the elements of both sides where they lie; NULL: there is none. */
static const rgi_kernel *find_kernel(const rgi_win_access *access, const access_side *target,
                                     const access_side *origin) {
  uintptr_t below, placing = (uintptr_t)target->memory | target->placing |
                             (uintptr_t)origin->memory | origin->placing;
  if (target->basic_size != target->basic_extent)
    return NULL;
  const rgi_kernel *kernel = rgi_op_kernel_of(target->basic, access->op);
  below = kernel->log < 3 ? ((uintptr_t)1 << kernel->log) - 1 : 7;
  return kernel->run && (placing & below) == 0 ? kernel : NULL;
}

static int do_overlap(const access_side *a, const access_side *b) {
  intptr_t begin = (intptr_t)a->memory + a->low, other = (intptr_t)b->memory + b->low;
  return begin < other + b->reach && other < begin + a->reach;
}

static int accumulate_spread(rgi_win *window, const rgi_win_access *access,
                             const access_side *target, const access_side *origin,
                             const access_side *result, accumulate_call *accumulation) {
  const rgi_win_type *basic = NULL;
  if (target->basic_size != target->basic_extent && !(basic = rgi_win_type_of(target->basic)))
    return rgi_win_raise_access(window, MPI_ERR_NO_MEM, access);
  accumulation->basic = target->basic;
  accumulation->basic_size = target->basic_size;
  accumulation->basic_layout = basic ? &basic->layout : NULL;
  begin_side(target, &accumulation->read);
  begin_side(target, &accumulation->write);
  if (access->op != MPI_NO_OP)
    begin_side(origin, &accumulation->origin);
  if (access->kind == RGI_WIN_GET_ACCUMULATE)
    begin_side(result, &accumulation->result);
  return accumulate_sides(window, access, target, accumulation);
}

static int accumulate(rgi_win *window, const rgi_win_access *access) {
  access_side target, origin, result;
  accumulate_call m = {.kernel = NULL};
  int nothing, class = find_sides(window, access, &target, &origin, &result, &nothing);
  if (class != MPI_SUCCESS)
    return rgi_win_raise_access(window, class, access);
  if (nothing || target.bytes == 0)
    return MPI_SUCCESS;
  if (access->op != MPI_REPLACE && access->op != MPI_NO_OP)
    m.staged = !(m.kernel = find_kernel(access, &target, &origin));
  if (!m.staged && !target.layout && !origin.layout && !result.layout && target.bytes <= SMALL)
    return accumulate_dense(window, access, target.memory, (uint64_t)target.bytes, m.kernel);
  if (access->kind == RGI_WIN_GET_ACCUMULATE && access->op != MPI_NO_OP &&
      do_overlap(&origin, &result))
    m.staged = 1;
  return accumulate_spread(window, access, &target, &origin, &result, &m);
}

static int copy(rgi_win *window, const rgi_win_access *access) {
  access_side target, origin;
  int nothing, class = find_target(window, access, &target, &nothing);
  if (class == MPI_SUCCESS)
    class = find_own(&access->origin, &origin);
  if (class == MPI_SUCCESS && !nothing)
    class = copy_sides(&target, &origin, access->kind);
  return class == MPI_SUCCESS ? MPI_SUCCESS : rgi_win_raise_access(window, class, access);
}

int rgi_win_access_make(rgi_win *window, rgi_win_access *access) {
  int code;
  if (access->kind == RGI_WIN_PUT)
    rgi_win_has_put = 1;
  if (access->kind >= RGI_WIN_ACCUMULATE ? rgi_win_access_common(window, access, &code)
                                         : copy_common(window, access, &code))
    return code;
  return access->kind >= RGI_WIN_ACCUMULATE ? accumulate(window, access) : copy(window, access);
}
