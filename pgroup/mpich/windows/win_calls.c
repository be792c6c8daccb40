/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * MPI's calls that access a window, with int counts and with MPI_Count ones. */
#include <string.h>

#include "base/copy.h"
#include "collectives/reduction/op.h"
#include "formation/datatype.h"
#include "formation/type_contents.h"
#include "mpi/intercept.h"
#include "mpich/windows/win_nodes.h"
#include "mpich/windows/win_type.h"

/* An access is described wholly: a compiler clears so large a struct slowly where members are left
 * out. */
#define NO_BUFFER                                                                                  \
  { NULL, 0, MPI_DATATYPE_NULL }

/* By a call with MPI's usual parameters; the rest: where a get-accumulate puts what was there. */
#define ACCESS(what, operation, ...)                                                               \
  {                                                                                                \
    .kind = what, .call = __func__, .rank = rank, .disp = disp, .op = operation,                   \
    .origin = {writable(origin), origin_count, origin_type}, .result = __VA_ARGS__, .target = {    \
      NULL,                                                                                        \
      target_count,                                                                                \
      target_type                                                                                  \
    }                                                                                              \
  }

/* Drops const: an origin is only read. */
static void *writable(const void *memory) {
  void *same;
  memcpy(&same, &memory, sizeof same);
  return same;
}

/* The request of an access that is complete: that of an empty message. */
static int end_request(int code, MPI_Request *request) {
  return code == MPI_SUCCESS
             ? PMPI_Irecv(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, rgi_intercept_comm, request)
             : code;
}

/* Such calls are allowed between a lock and its unlock only. The access is complete when its call
 * returns. */
static int make_request(rgi_win *window, rgi_win_access *access, MPI_Request *request) {
  if (!rgi_win_is_locked(window))
    return rgi_win_raise_access(window, MPI_ERR_RMA_SYNC, access);
  rgi_win_poll_served(RGI_WIN_ACCESS);
  return end_request(rgi_win_access_make(window, access), request);
}

/* As rgi_win_nodes_access. */
static int access_nodes(rgi_win_nodes *nodes, rgi_win_access *access, MPI_Request *request,
                        int *code) {
  if (request && !rgi_win_is_locked(nodes->window))
    return 0;
  if (!rgi_win_nodes_access(nodes, access, code))
    return 0;
  if (request)
    *code = end_request(*code, request);
  return 1;
}

/* An access to a window that is not served wholly. counted: as what, RGI_INTERCEPT_WINDOW_...;
 * request: NULL for a call without one; call: MPI's function with its arguments. */
#define PASS(counted, win, a, request, call)                                                       \
  ({                                                                                               \
    int code_;                                                                                     \
    rgi_win_nodes *s_ = rgi_win_nodes_of(win);                                                     \
    int made_ = s_ && access_nodes(s_, a, request, &code_);                                        \
    rgi_win_count(RGI_INTERCEPT_WINDOW_##counted, made_);                                          \
    if (!made_) {                                                                                  \
      code_ = call;                                                                                \
      if (s_)                                                                                      \
        rgi_win_nodes_issued(s_, (a)->rank);                                                       \
    }                                                                                              \
    code_;                                                                                         \
  })

#define COUNT int
#define FORM(name) name
#define BOTH(name) RGI_INTERCEPT_BOTH(name)
#include "mpich/windows/win_calls_forms.h"
#undef COUNT
#undef FORM
#undef BOTH

#if MPI_VERSION >= 4
#define COUNT MPI_Count
#define FORM(name) name##_c
#define BOTH(name) RGI_INTERCEPT_BOTH(name##_c)
#include "mpich/windows/win_calls_forms.h"
#endif

/* --- one element --------------------------------------------------------------------------- */

#define ONE_ELEMENT(operation)                                                                     \
  {                                                                                                \
    .kind = RGI_WIN_GET_ACCUMULATE, .call = __func__, .rank = rank, .disp = disp, .op = operation, \
    .origin = {writable(origin), 1, type}, .result = {result, 1, type}, .target = {                \
      NULL,                                                                                        \
      1,                                                                                           \
      type                                                                                         \
    }                                                                                              \
  }

/* Whether these calls take the type: one of MPI's own. */
static int is_predefined(MPI_Datatype type) {
  return rgi_datatype_basic_size(type) ||
         (rgi_win_type_of(type) && rgi_type_contents_combiner(type) == MPI_COMBINER_NAMED);
}

RG_API int MPI_Fetch_and_op(const void *origin, void *result, MPI_Datatype type, int rank,
                            MPI_Aint disp, MPI_Op op, MPI_Win win) {
  rgi_win *window = rgi_win_of_call(win, RGI_INTERCEPT_WINDOW_FETCH_AND_OP);
  int code;
  rgi_win_access access = ONE_ELEMENT(op);
  if (!window)
    return PASS(FETCH_AND_OP, win, &access, NULL,
                RGI_INTERCEPT_NEXT(PMPI_Fetch_and_op)(origin, result, type, rank, disp, op, win));
  if (rgi_win_access_common(window, &access, &code)) {
    rgi_win_poll_served(RGI_WIN_ACCESS);
    return code;
  }
  rgi_win_poll_served(RGI_WIN_ACCESS);
  return is_predefined(type) ? rgi_win_access_make(window, &access)
                             : rgi_win_raise_access(window, MPI_ERR_TYPE, &access);
}

/* Integers, logicals and bytes. */
static int can_be_compared(MPI_Datatype type) {
  return type == MPI_LONG || type == MPI_INT || type == MPI_INT64_T ||
         rgi_op_check("MPI_Compare_and_swap", type, MPI_LAND) == RG_SUCCESS ||
         rgi_op_check("MPI_Compare_and_swap", type, MPI_BAND) == RG_SUCCESS;
}

/* The bytes of such an element; it has no gaps. */
static int find_element(rgi_win *window, const rgi_win_access *access, char **at, size_t *bytes) {
  int size = (int)rgi_datatype_basic_size(access->target.type);
  if (!is_predefined(access->target.type) || !can_be_compared(access->target.type))
    return MPI_ERR_TYPE;
  if (!size)
    PMPI_Type_size(access->target.type, &size);
  *bytes = (size_t)size;
  return rgi_win_access_place(window, access, 0, size, at);
}

static int compare_and_swap(rgi_win *window, const rgi_win_access *access, const void *compare,
                            char *at, size_t bytes) {
  rgi_win_poll_served(RGI_WIN_ACCESS);
  int error = rgi_win_access_lock(window, access->rank);
  if (error)
    return rgi_win_raise_own(window, error, access->call);
  rgi_copy_block(access->result.memory, at, bytes);
  if (memcmp(at, compare, bytes) == 0)
    rgi_copy_block(at, access->origin.memory, bytes);
  rgi_win_access_unlock(window, access->rank);
  return MPI_SUCCESS;
}

RG_API int MPI_Compare_and_swap(const void *origin, const void *compare, void *result,
                                MPI_Datatype type, int rank, MPI_Aint disp, MPI_Win win) {
  rgi_win *window = rgi_win_of_call(win, RGI_INTERCEPT_WINDOW_COMPARE_AND_SWAP);
  char *at;
  size_t bytes;
  rgi_win_access access = ONE_ELEMENT(MPI_REPLACE);
  if (!window)
    return PASS(
        COMPARE_AND_SWAP, win, &access, NULL,
        RGI_INTERCEPT_NEXT(PMPI_Compare_and_swap)(origin, compare, result, type, rank, disp, win));
  int class = find_element(window, &access, &at, &bytes);
  if (class == MPI_SUCCESS && rank != MPI_PROC_NULL && (!origin || !compare || !result))
    class = MPI_ERR_BUFFER;
  if (class != MPI_SUCCESS)
    return rgi_win_raise_access(window, class, &access);
  return at ? compare_and_swap(window, &access, compare, at, bytes) : MPI_SUCCESS;
}

RGI_INTERCEPT_BOTH(Fetch_and_op);
RGI_INTERCEPT_BOTH(Compare_and_swap);
