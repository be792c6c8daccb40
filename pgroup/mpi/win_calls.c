/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * MPI's calls that access a window, with int counts and with MPI_Count ones. */
#include <string.h>

#include "base/copy.h"
#include "collectives/reduction/op_check.h"
#include "formation/datatype.h"
#include "formation/type_contents.h"
#include "mpi/intercept.h"
#include "mpi/win_nodes.h"
#include "mpi/win_type.h"

/* An access is described wholly: a compiler clears so large a struct slowly where members are left
 * out. */
#define NO_BUFFER                                                                                  \
  { NULL, 0, MPI_DATATYPE_NULL }

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
static int make_request(rgi_win *w, rgi_win_access *a, MPI_Request *request) {
  if (!rgi_win_is_locked(w))
    return rgi_win_raise_access(w, MPI_ERR_RMA_SYNC, a);
  rgi_win_poll_served(RGI_WIN_ACCESS);
  return end_request(rgi_win_access_make(w, a), request);
}

/* As rgi_win_nodes_access. */
static int access_nodes(rgi_win_nodes *s, rgi_win_access *a, MPI_Request *request, int *code) {
  if (request && !rgi_win_is_locked(s->window))
    return 0;
  if (!rgi_win_nodes_access(s, a, code))
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
#include "mpi/win_calls_forms.h"
#undef COUNT
#undef FORM
#undef BOTH

#if MPI_VERSION >= 4
#define COUNT MPI_Count
#define FORM(name) name##_c
#define BOTH(name) RGI_INTERCEPT_BOTH(name##_c)
#include "mpi/win_calls_forms.h"
#endif

/* --- one element --------------------------------------------------------------------------- */

/* Whether these calls take the type: one of MPI's own. */
static int is_predefined(MPI_Datatype type) {
  return rgi_datatype_basic_size(type) ||
         (rgi_win_type_of(type) && rgi_type_contents_combiner(type) == MPI_COMBINER_NAMED);
}

RG_API int MPI_Fetch_and_op(const void *origin, void *result, MPI_Datatype type, int rank,
                            MPI_Aint disp, MPI_Op op, MPI_Win win) {
  rgi_win *w = rgi_win_of_call(win, RGI_INTERCEPT_WINDOW_FETCH_AND_OP);
  int code;
  rgi_win_access a = {RGI_WIN_GET_ACCUMULATE,      __func__,          rank,           disp, op,
                      {writable(origin), 1, type}, {result, 1, type}, {NULL, 1, type}};
  if (!w)
    return PASS(FETCH_AND_OP, win, &a, NULL,
                RGI_INTERCEPT_NEXT(PMPI_Fetch_and_op)(origin, result, type, rank, disp, op, win));
  if (rgi_win_access_common(w, &a, &code)) {
    rgi_win_poll_served(RGI_WIN_ACCESS);
    return code;
  }
  rgi_win_poll_served(RGI_WIN_ACCESS);
  return is_predefined(type) ? rgi_win_access_make(w, &a)
                             : rgi_win_raise_access(w, MPI_ERR_TYPE, &a);
}

/* Integers, logicals and bytes. */
static int can_be_compared(MPI_Datatype type) {
  return type == MPI_LONG || type == MPI_INT || type == MPI_INT64_T ||
         rgi_op_check("MPI_Compare_and_swap", type, MPI_LAND) == RG_SUCCESS ||
         rgi_op_check("MPI_Compare_and_swap", type, MPI_BAND) == RG_SUCCESS;
}

/* The bytes of such an element; it has no gaps. */
static int find_element(rgi_win *w, const rgi_win_access *a, char **at, size_t *bytes) {
  int size = (int)rgi_datatype_basic_size(a->target.type);
  if (!is_predefined(a->target.type) || !can_be_compared(a->target.type))
    return MPI_ERR_TYPE;
  if (!size)
    PMPI_Type_size(a->target.type, &size);
  *bytes = (size_t)size;
  return rgi_win_access_place(w, a, 0, size, at);
}

static int compare_and_swap(rgi_win *w, const rgi_win_access *a, const void *compare, char *at,
                            size_t bytes) {
  rgi_win_poll_served(RGI_WIN_ACCESS);
  int error = rgi_win_access_lock(w, a->rank);
  if (error)
    return rgi_win_raise_own(w, error, a->call);
  rgi_copy_block(a->result.memory, at, bytes);
  if (memcmp(at, compare, bytes) == 0)
    rgi_copy_block(at, a->origin.memory, bytes);
  rgi_win_access_unlock(w, a->rank);
  return MPI_SUCCESS;
}

RG_API int MPI_Compare_and_swap(const void *origin, const void *compare, void *result,
                                MPI_Datatype type, int rank, MPI_Aint disp, MPI_Win win) {
  rgi_win *w = rgi_win_of_call(win, RGI_INTERCEPT_WINDOW_COMPARE_AND_SWAP);
  char *at;
  size_t bytes;
  rgi_win_access a = {
      RGI_WIN_GET_ACCUMULATE,      __func__,          rank,           disp, MPI_REPLACE,
      {writable(origin), 1, type}, {result, 1, type}, {NULL, 1, type}};
  if (!w)
    return PASS(
        COMPARE_AND_SWAP, win, &a, NULL,
        RGI_INTERCEPT_NEXT(PMPI_Compare_and_swap)(origin, compare, result, type, rank, disp, win));
  int class = find_element(w, &a, &at, &bytes);
  if (class == MPI_SUCCESS && rank != MPI_PROC_NULL && (!origin || !compare || !result))
    class = MPI_ERR_BUFFER;
  if (class != MPI_SUCCESS)
    return rgi_win_raise_access(w, class, &a);
  return at ? compare_and_swap(w, &a, compare, at, bytes) : MPI_SUCCESS;
}

RGI_INTERCEPT_BOTH(Fetch_and_op);
RGI_INTERCEPT_BOTH(Compare_and_swap);
