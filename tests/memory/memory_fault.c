/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * links: regroup-mpi
 * sources: tests/memory/shortage.c tests/memory/program_guard.c
 * wrap: malloc calloc realloc strdup strndup asprintf free
 * wrap: rgi_arena_alloc rgi_arena_alloc_for rgi_arena_alloc_brief rgi_arena_alloc_placed
 * wrap: rgi_arena_heap_commit dlsym
 * MPI's fault tolerance while a process lacks memory, without a death: test_memory.py. After two
 * calls there is no vote: members that have the communicator get errors on it, and it is kept.
 * These calls are the last ones, since each wait of the library looks at what is kept. */
#include <mpi.h>
#include <regroup.h>
#include <regroup/mpi-ext.h>

#include "tests/check/check.h"
#include "tests/memory/shortage.h"

enum { TAG = 5, OTHER_TAG };

static MPI_Comm comm = MPI_COMM_NULL, made = MPI_COMM_NULL, half = MPI_COMM_NULL;
static MPI_Request request;
static MPI_Group group = MPI_GROUP_NULL;
static int out, in, flag;

static int code_of(int mpi) {
  int class = MPI_SUCCESS;
  if (mpi != MPI_SUCCESS)
    MPI_Error_class(mpi, &class);
  return class == MPI_SUCCESS ? RG_SUCCESS : class == MPI_ERR_NO_MEM ? RG_ERR_NOMEM : RG_ERR_MPI;
}

static int left(void) {
  return (rgt_rank + rgt_size - 1) % rgt_size;
}

static int right(void) {
  return (rgt_rank + 1) % rgt_size;
}

static int fresh(void) {
  out = rgt_rank;
  in = flag = -1;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  return code_of(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
}

static int free_all(void) {
  if (group != MPI_GROUP_NULL)
    MPI_Group_free(&group);
  if (made != MPI_COMM_NULL)
    MPI_Comm_free(&made);
  if (half != MPI_COMM_NULL)
    MPI_Comm_free(&half);
  return code_of(MPI_Comm_free(&comm));
}

/* --- messages: where nothing can be noted, calls are MPI's alone --------------------------- */

static int has_left(void) {
  return in == left();
}

static int sendrecv(void) {
  return code_of(MPI_Sendrecv(&out, 1, MPI_INT, right(), TAG, &in, 1, MPI_INT, left(), TAG, comm,
                              MPI_STATUS_IGNORE));
}

/* Again where it has failed, since the neighbours wait for it. */
static int sendrecv_replace(void) {
  in = out;
  int code =
      MPI_Sendrecv_replace(&in, 1, MPI_INT, right(), TAG, left(), TAG, comm, MPI_STATUS_IGNORE);
  shortage_over();
  int again = code ? MPI_Sendrecv_replace(&in, 1, MPI_INT, right(), TAG, left(), TAG, comm,
                                          MPI_STATUS_IGNORE)
                   : MPI_SUCCESS;
  return again ? RG_ERR_INTERNAL : code_of(code);
}

/* gcc takes MPI_STATUSES_IGNORE for an array. */
static int wait_both(MPI_Request both[2]) {
  MPI_Status statuses[2];
  return MPI_Waitall(2, both, statuses);
}

static int isend(void) {
  MPI_Request both[2];
  int started = MPI_Irecv(&in, 1, MPI_INT, left(), TAG, comm, &both[0]);
  int sent = MPI_Isend(&out, 1, MPI_INT, right(), TAG, comm, &both[1]);
  int ended = wait_both(both);
  return code_of(started ? started : sent ? sent : ended);
}

static int persistent(void) {
  MPI_Request both[2];
  int received = MPI_Recv_init(&in, 1, MPI_INT, left(), TAG, comm, &both[0]);
  int sent = MPI_Send_init(&out, 1, MPI_INT, right(), TAG, comm, &both[1]);
  int started = MPI_Startall(2, both), ended = wait_both(both);
  MPI_Request_free(&both[0]);
  MPI_Request_free(&both[1]);
  return code_of(received ? received : sent ? sent : started ? started : ended);
}

static int probe(void) {
  MPI_Message message;
  MPI_Request sent;
  int code = MPI_Isend(&out, 1, MPI_INT, right(), TAG, comm, &sent);
  int probed = MPI_Mprobe(left(), TAG, comm, &message, MPI_STATUS_IGNORE);
  int got = MPI_Mrecv(&in, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
  int ended = MPI_Wait(&sent, MPI_STATUS_IGNORE);
  return code_of(code ? code : probed ? probed : got ? got : ended);
}

/* --- collectives that are MPI's --------------------------------------------------------------- */

static int iallreduce(void) {
  int code = MPI_Iallreduce(&out, &in, 1, MPI_INT, MPI_SUM, comm, &request);
  return code_of(code ? code : MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static int sum(void) {
  return rgt_size * (rgt_size - 1) / 2;
}

static int is_summed(void) {
  return in == sum();
}

static int persistent_barrier(void) {
  int code = MPI_Barrier_init(comm, MPI_INFO_NULL, &request), started = MPI_Start(&request);
  int ended = MPI_Wait(&request, MPI_STATUS_IGNORE), freed = MPI_Request_free(&request);
  return code_of(code ? code : started ? started : ended ? ended : freed);
}

/* --- communicators ---------------------------------------------------------------------------- */

static int sums(MPI_Comm on, int expected) {
  int total = -1;
  return on != MPI_COMM_NULL &&
         MPI_Allreduce(&out, &total, 1, MPI_INT, MPI_SUM, on) == MPI_SUCCESS && total == expected;
}

static int made_works(void) {
  return sums(made, sum());
}

static int dup(void) {
  return code_of(MPI_Comm_dup(comm, &made));
}

static int idup(void) {
  int code = MPI_Comm_idup(comm, &made, &request);
  return code_of(code ? code : MPI_Wait(&request, MPI_STATUS_IGNORE));
}

/* Even ranks, then odd ones. */
static int side(void) {
  return rgt_rank % 2;
}

static int split(void) {
  return code_of(MPI_Comm_split(comm, side(), 0, &made));
}

static int sum_of_side(int odd) {
  int total = 0;
  for (int i = odd; i < rgt_size; i += 2)
    total += i;
  return total;
}

static int is_split(void) {
  return sums(made, sum_of_side(side()));
}

static int create(void) {
  MPI_Group all;
  MPI_Comm_group(comm, &all);
  int code = MPI_Comm_create(comm, all, &made);
  MPI_Group_free(&all);
  return code_of(code);
}

static int create_group(void) {
  MPI_Group all;
  MPI_Comm_group(comm, &all);
  int code = MPI_Comm_create_group(comm, all, TAG, &made);
  MPI_Group_free(&all);
  return code_of(code);
}

static int cart_create(void) {
  const int periods[] = {1};
  return code_of(MPI_Cart_create(comm, 1, &rgt_size, periods, 0, &made));
}

static int graph_create(void) {
  int from = left(), to = right();
  return code_of(MPI_Dist_graph_create_adjacent(comm, 1, &from, MPI_UNWEIGHTED, 1, &to,
                                                MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made));
}

static int with_half(void) {
  int error = fresh();
  return error ? error : code_of(MPI_Comm_split(comm, side(), 0, &half));
}

static int intercomm_create(void) {
  return code_of(MPI_Intercomm_create(half, 0, comm, 1 - side(), OTHER_TAG, &made));
}

static int is_inter(void) {
  return sums(made, sum_of_side(1 - side()));
}

static int with_inter(void) {
  int error = with_half();
  if (!error)
    error = code_of(MPI_Intercomm_create(half, 0, comm, 1 - side(), OTHER_TAG, &made));
  MPI_Comm_free(&half);
  half = made;
  made = MPI_COMM_NULL;
  return error ? error : code_of(MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN));
}

static int intercomm_merge(void) {
  return code_of(MPI_Intercomm_merge(half, side(), &made));
}

/* --- the extension ---------------------------------------------------------------------------- */

static int all_but_mine(void) {
  int error = fresh();
  flag = ~(1 << rgt_rank);
  return error;
}

static int agree(void) {
  return code_of(MPIX_Comm_agree(comm, &flag));
}

static int iagree(void) {
  int code = MPIX_Comm_iagree(comm, &flag, &request);
  return code_of(code ? code : MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static int has_agreed(void) {
  return flag == ~((1 << rgt_size) - 1);
}

static int agree_inter(void) {
  flag = 1 << rgt_rank;
  return code_of(MPIX_Comm_agree(half, &flag));
}

static int shrink(void) {
  return code_of(MPIX_Comm_shrink(comm, &made));
}

static int ishrink(void) {
  int code = MPIX_Comm_ishrink(comm, &made, &request);
  return code_of(code ? code : MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static int get_failed(void) {
  return code_of(MPIX_Comm_get_failed(comm, &group));
}

static int get_acked(void) {
  int code = MPIX_Comm_failure_ack(comm), more = MPIX_Comm_ack_failed(comm, rgt_size, &in);
  return code_of(code ? code : more ? more : MPIX_Comm_failure_get_acked(comm, &group));
}

static int none_failed(void) {
  int size = 0;
  if (group != MPI_GROUP_NULL)
    MPI_Group_size(group, &size);
  return size == 0 && in <= 0;
}

static int revoke(void) {
  int code = MPIX_Comm_revoke(comm);
  shortage_over();
  return code && MPIX_Comm_revoke(comm) ? RG_ERR_INTERNAL : code_of(code);
}

static int is_revoked(void) {
  int class = -1;
  MPI_Error_class(MPI_Recv(&in, 1, MPI_INT, left(), TAG, comm, MPI_STATUS_IGNORE), &class);
  return class == MPIX_ERR_REVOKED && MPIX_Comm_is_revoked(comm, &flag) == MPI_SUCCESS && flag == 1;
}

#define ONE SHORTAGE_ONE
#define ALL SHORTAGE_ALL

static const shortage_call calls[] = {
    {"MPI_Sendrecv", ONE, fresh, sendrecv, has_left, free_all},
    {"MPI_Sendrecv_replace", ONE, fresh, sendrecv_replace, has_left, free_all},
    {"MPI_Isend, MPI_Irecv, MPI_Waitall", ONE, fresh, isend, has_left, free_all},
    {"MPI_Send_init, MPI_Startall", ONE, fresh, persistent, has_left, free_all},
    {"MPI_Mprobe, MPI_Mrecv", ONE, fresh, probe, has_left, free_all},
    {"MPI_Iallreduce", ONE, fresh, iallreduce, is_summed, free_all},
    {"MPI_Barrier_init", ONE, fresh, persistent_barrier, NULL, free_all},
    {"MPI_Comm_dup", ALL, fresh, dup, made_works, free_all},
    {"MPI_Comm_idup", ALL, fresh, idup, made_works, free_all},
    {"MPI_Comm_split", ALL, fresh, split, is_split, free_all},
    {"MPI_Comm_create", ALL, fresh, create, made_works, free_all},
    {"MPI_Cart_create", ALL, fresh, cart_create, made_works, free_all},
    {"MPI_Dist_graph_create_adjacent", ALL, fresh, graph_create, made_works, free_all},
    {"MPI_Intercomm_merge", ALL, with_inter, intercomm_merge, made_works, free_all},
    {"MPIX_Comm_agree", ALL, all_but_mine, agree, has_agreed, free_all},
    {"MPIX_Comm_agree, two sides", ALL, with_inter, agree_inter, NULL, free_all},
    {"MPIX_Comm_iagree", ALL, all_but_mine, iagree, has_agreed, free_all},
    {"MPIX_Comm_shrink", ALL, fresh, shrink, made_works, free_all},
    {"MPIX_Comm_shrink, two sides", ALL, with_inter, shrink, NULL, free_all},
    {"MPIX_Comm_ishrink", ALL, fresh, ishrink, made_works, free_all},
    {"MPIX_Comm_get_failed", ONE, fresh, get_failed, none_failed, free_all},
    {"MPIX_Comm_failure_get_acked", ONE, fresh, get_acked, none_failed, free_all},
    {"MPIX_Comm_revoke", ONE, fresh, revoke, is_revoked, free_all},
    {"MPI_Comm_create_group", SHORTAGE_SOME, fresh, create_group, made_works, free_all},
    {"MPI_Intercomm_create", SHORTAGE_SOME, with_half, intercomm_create, is_inter, free_all},
    {NULL, ALL, NULL, NULL, NULL, NULL}};

int main(int argc, char **argv) {
  return shortage_main(argc, argv, "memory_fault", calls);
}
