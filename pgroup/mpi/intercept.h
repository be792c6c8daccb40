/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What libregroup-mpi.so does with the application's calls of MPI: a call is served by the
 * library's own operation, or passed on to MPI (PMPI_...).
 *
 * All members of a communicator must decide alike. Therefore a call is passed on only
 *  - where the operation was not chosen (RG_MPI, the same on all processes),
 *  - where the communicator is an inter-communicator, or has processes of another
 *    MPI_COMM_WORLD,
 *  - where a member had no memory for the communicator's group at the first call on it,
 *  - where the arguments are in error: MPI then reports it, as it would without the library. */
#ifndef RGI_INTERCEPT_H
#define RGI_INTERCEPT_H

#include <dlfcn.h>
#include <mpi.h>
#include <regroup/group.h>
#include <stdatomic.h>
#include <stddef.h>

#include "mpich/mpich.h"

/* X(id, name): the operations, by MPI's names. */
#define RGI_INTERCEPT_LIST(X)                                                                      \
  X(BARRIER, "barrier")                                                                            \
  X(BCAST, "bcast")                                                                                \
  X(REDUCE, "reduce")                                                                              \
  X(ALLREDUCE, "allreduce")                                                                        \
  X(GATHER, "gather")                                                                              \
  X(GATHERV, "gatherv")                                                                            \
  X(SCATTER, "scatter")                                                                            \
  X(SCATTERV, "scatterv")                                                                          \
  X(ALLGATHER, "allgather")                                                                        \
  X(ALLGATHERV, "allgatherv")                                                                      \
  X(ALLTOALL, "alltoall")                                                                          \
  X(ALLTOALLV, "alltoallv")                                                                        \
  X(REDUCE_SCATTER, "reduce_scatter")                                                              \
  X(REDUCE_SCATTER_BLOCK, "reduce_scatter_block")                                                  \
  X(SCAN, "scan")                                                                                  \
  X(EXSCAN, "exscan")                                                                              \
  X(COMM_CREATE_GROUP, "comm_create_group")                                                        \
  X(RMA, "rma")

typedef enum {
#define RGI_ID(id, name) RGI_INTERCEPT_##id,
  RGI_INTERCEPT_LIST(RGI_ID)
#undef RGI_ID
      RGI_INTERCEPT_COUNT
} rgi_intercept_call;

/* What became of a call. */
typedef enum {
  RGI_INTERCEPT_SERVED,
  RGI_INTERCEPT_NOT_CHOSEN,
  RGI_INTERCEPT_OTHER_COMM, /* an inter-communicator, processes of another MPI_COMM_WORLD, or a
                               member had no memory */
  RGI_INTERCEPT_OTHER_CASE, /* wrong arguments, which MPI reports; threads */
  RGI_INTERCEPT_OUTCOMES
} rgi_intercept_outcome;

/* --- while the application runs ------------------------------------------------------ */

/* The group to serve the call on; or NULL: rgi_intercept_refused, or pass it on. Collective over
 * comm; the first call on comm in which members wait for one another sends a small broadcast and a
 * small allreduce. */
rg_group rgi_intercept_group(rgi_intercept_call call, MPI_Comm comm);

/* After a call on g that has ended in an error, before rgi_intercept_end: 1: it is to be done
 * again, since it was another member's error. intact: what the caller gives is as it was.
 * Collective over comm then. */
int rgi_intercept_again(rgi_intercept_call call, MPI_Comm comm, rg_group g, int error, int intact);

/* Where there is no group: 1 and MPI's error code for a call that is neither served nor passed on:
 * the members have not come to it within RG_TIMEOUT, or it has no partner, since others have come
 * past it before an error. */
int rgi_intercept_refused(rgi_intercept_call call, MPI_Comm comm, int *answer);

/* The call that this thread has begun is refused, with this error. */
void rgi_intercept_refuse_next(int error);

/* The end of a call that was tried: 1 and MPI's error code for the application, after the
 * communicator's error handler; or 0: nothing has been done, pass it on. */
int rgi_intercept_end(rgi_intercept_call call, MPI_Comm comm, int error, int *answer);

/* The call as the library's texts begin with it: "rg_bcast"; of windows as it is named below. */
const char *rgi_intercept_name(rgi_intercept_call call);

/* The function by which this thread is about to make a window, a constant: "MPI_Win_create". */
void rgi_intercept_name_window(const char *call);

/* Whether the operation was chosen. */
int rgi_intercept_chosen(rgi_intercept_call call);

/* Only where there will be a report, or the job tolerates faults: calls with nothing to do take
 * nanoseconds. */
enum { RGI_INTERCEPT_REPORTS = 1, RGI_INTERCEPT_CHECKS = 2 };
extern int rgi_intercept_counting;

/* The end of a call that was served without an error, in most jobs. */
static inline int rgi_intercept_is_plain(int error) {
  if (error || rgi_intercept_counting)
    return 0;
  rgi_mpich_served++;
  return 1;
}

void rgi_intercept_count(rgi_intercept_call call, rgi_intercept_outcome outcome);

/* --- calls on windows ------------------------------------------------------------------------ */

#define RGI_INTERCEPT_WINDOW_LIST(X)                                                               \
  X(PUT, "put")                                                                                    \
  X(GET, "get")                                                                                    \
  X(ACCUMULATE, "accumulate")                                                                      \
  X(GET_ACCUMULATE, "get_accumulate")                                                              \
  X(FETCH_AND_OP, "fetch_and_op")                                                                  \
  X(COMPARE_AND_SWAP, "compare_and_swap")                                                          \
  X(LOCK, "lock")                                                                                  \
  X(FLUSH, "flush")                                                                                \
  X(FENCE, "fence")

typedef enum {
#define RGI_ID(id, name) RGI_INTERCEPT_WINDOW_##id,
  RGI_INTERCEPT_WINDOW_LIST(RGI_ID)
#undef RGI_ID
      RGI_INTERCEPT_WINDOW_COUNT
} rgi_intercept_window_call;

/* Counts a call on a window. */
void rgi_intercept_count_window(rgi_intercept_window_call call, int served);

/* --- passing on ------------------------------------------------------------------------------ */

/* The next definition of MPI's function behind this library. Fortran's bindings call MPI's
 * functions by both names, MPI_... and PMPI_..., so this library defines both. With fault tolerance
 * it is MPI's own: a tool behind this library would call PMPI_..., which is this library's then. */
#define RGI_INTERCEPT_NEXT(function) RGI_INTERCEPT_NEXT_OF(function)
#define RGI_INTERCEPT_NEXT_OF(function)                                                            \
  ({                                                                                               \
    static _Atomic(void *) next_[2];                                                               \
    const int own_ = rgi_intercept_fault.enter && #function[3] == '_'; /* MPI_... */               \
    void *found_ = atomic_load_explicit(&next_[own_], memory_order_relaxed);                       \
    if (!found_) {                                                                                 \
      found_ = dlsym(RTLD_NEXT, &"P" #function[!own_]);                                            \
      atomic_store_explicit(&next_[own_], found_, memory_order_relaxed);                           \
    }                                                                                              \
    (__typeof__(function) *)found_;                                                                \
  })

/* PMPI_... is the same function as MPI_.... */
#define RGI_INTERCEPT_BOTH(function)                                                               \
  extern __typeof__(MPI_##function) PMPI_##function                                                \
      __attribute__((alias("MPI_" #function), visibility("default")))

/* --- start and end --------------------------------------------------------------------- */

/* Bit i: operation i is wanted, by RG_MPI. Local. RG_ERR_OPTION. */
int rgi_intercept_wanted(unsigned *wanted);

/* Calls of these operations are served from now on. */
void rgi_intercept_choose(unsigned chosen);

/* Raises the error as one of MPI's, through comm's error handler. call: RGI_INTERCEPT_COUNT for
 * MPI_Init. Returns the code for the application. A fatal one ends the job here, after a line that
 * names the application's call. */
int rgi_intercept_raise(rgi_intercept_call call, MPI_Comm comm, int error);

/* Ends the job after this line, as a fatal error of MPI's does. */
void rgi_intercept_abort(MPI_Comm comm, int code, const char *text);

/* Raises a code of MPI's; a fatal one ends the job after the text. */
int rgi_intercept_raise_code(MPI_Comm comm, int code, const char *text);

/* As rgi_intercept_raise, for an error that MPI does not find, of one of its classes. */
int rgi_intercept_refuse(rgi_intercept_call call, MPI_Comm comm, int class, const char *why);

/* Gives a new communicator (or MPI_COMM_NULL) the error handler of the one that it comes of. */
int rgi_intercept_inherit_handler(MPI_Comm from, MPI_Comm to);

/* MPI_IN_PLACE where it has no meaning, which MPICH would read or write. */
static inline int rgi_intercept_misplaced(rgi_intercept_call call, MPI_Comm comm) {
  return rgi_intercept_refuse(call, comm, MPI_ERR_BUFFER, "MPI_IN_PLACE has no meaning here");
}

/* MPI's code for an error of the library's. */
int rgi_intercept_code(int error);

/* The group of comm's processes, or NULL where there is none: see rgi_intercept_group. */
rg_group rgi_intercept_comm_group(rgi_intercept_call call, MPI_Comm comm);

/* As rgi_intercept_comm_group if a call on comm has made it already, on all members alike; else
 * NULL. Local. */
rg_group rgi_intercept_known_group(MPI_Comm comm);

/* Prints, on rank 0 of comm to standard error, what became of all processes' calls. Collective
 * over comm. */
void rgi_intercept_report(MPI_Comm comm);

/* From now on the group of comm's collectives is this one. 0: MPI has no memory for an attribute.
 */
int rgi_intercept_give_group(MPI_Comm comm, rg_group g);

struct rgi_members;

/* What fault tolerance (fault/fault_start.c) does in a job that survives; else all NULL. */
typedef struct {
  int (*begin)(void);                            /* the library has started; an error of its */
  void (*adopt)(MPI_Comm comm, rg_group g);      /* a new group of collectives */
  int (*creates)(MPI_Comm comm);                 /* MPI_Comm_create_group begins; an error */
  int (*made)(MPI_Comm comm);                    /* by it; an error */
  int (*code)(MPI_Comm comm, int error);         /* MPI's for the library's; 0: it has none */
  int (*check)(MPI_Comm comm, const char *call); /* before a collective; RG_ERR_REVOKED */
  void *(*enter)(MPI_Comm comm, int *code); /* a blocking call is passed on: RGI_INTERCEPT_PASS */
  int (*leave)(void *entered, int code);
  /* A non-blocking collective of MPI's: 1: it is not to be started, and *code is the answer. */
  int (*starts)(MPI_Comm comm, MPI_Request *request, int *code);
  void (*started)(MPI_Comm comm, MPI_Request request);
  /* A call of MPI's begins that a death of these does not end; NULL: it has ended. */
  void (*watch)(const struct rgi_members *members, const char *call);
  int (*keeps)(MPI_Comm comm); /* the program frees it: whether MPI must not */
  int (*part)(void); /* MPI_Init ends: RG_RESERVE's processes part from the others; an error */
} rgi_intercept_fault_hooks;

extern rgi_intercept_fault_hooks rgi_intercept_fault;

/* A blocking call on comm that is passed on to MPI, which a death then ends. */
#define RGI_INTERCEPT_PASS(comm, call)                                                             \
  ({                                                                                               \
    int code_ = MPI_SUCCESS;                                                                       \
    void *entered_ = rgi_intercept_fault.enter ? rgi_intercept_fault.enter(comm, &code_) : NULL;   \
    if (code_ == MPI_SUCCESS)                                                                      \
      code_ = (call);                                                                              \
    entered_ ? rgi_intercept_fault.leave(entered_, code_) : code_;                                 \
  })

/* What the program has given MPI_Init, which may be NULL. */
extern struct rgi_intercept_arguments {
  int *argc;
  char ***argv;
} rgi_intercept_arguments;

/* Serves no further call. is_whole: no process has died, and MPI's collectives end. */
void rgi_intercept_end_service(int is_whole);

/* A communicator of MPI_COMM_WORLD's processes for the library's own use. */
extern MPI_Comm rgi_intercept_comm;

#endif
