/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Cases of MPI's fault-tolerance extension for test_fault_cases.py, which links this program with
 * libregroup-mpi: ulfm_cases CASE. Prints "RESULT CASE wrong" on the last rank. */
#include <mpi-ext.h>
#include <mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int my_rank, size, wrong;

#define CHECK(right)                                                                               \
  do {                                                                                             \
    if (!(right)) {                                                                                \
      printf("WRONG rank %d line %d: %s\n", my_rank, __LINE__, #right);                            \
      fflush(stdout);                                                                              \
      wrong++;                                                                                     \
    }                                                                                              \
  } while (0)

static void die_if(int due) {
  if (due)
    raise(SIGKILL);
}

static MPI_Comm copy_of(MPI_Comm comm) {
  MPI_Comm made;
  MPI_Comm_dup(comm, &made);
  MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
  return made;
}

/* --- requests ------------------------------------------------------------------------------ */

static int sum_of(MPI_Comm comm) {
  int one = 1, sum = 0;
  return MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm) ? -1 : sum;
}

/* Two at a time on one communicator and on two, waited for in orders that differ; others have not
 * called when the first ones wait. */
static void two_agreements(void) {
  MPI_Comm other = copy_of(MPI_COMM_WORLD);
  MPI_Request r[3];
  int flag[3], token = 0;
  for (int round = 0; round < 20; round++) {
    for (int i = 0; i < 3; i++)
      flag[i] = my_rank == (round + i) % size ? ~(1 << i) : ~0;
    int first = (my_rank + round) % 2;
    MPIX_Comm_iagree(first ? other : MPI_COMM_WORLD, &flag[first ? 2 : 0], &r[first ? 2 : 0]);
    MPIX_Comm_iagree(first ? MPI_COMM_WORLD : other, &flag[first ? 0 : 2], &r[first ? 0 : 2]);
    MPIX_Comm_iagree(MPI_COMM_WORLD, &flag[1], &r[1]);
    if (my_rank == 0) { /* needs rank 0's agreements to go on while it is here */
      for (int i = 1; i < size; i++)
        MPI_Recv(&token, 1, MPI_INT, i, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      CHECK(MPI_Waitall(3, r, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    } else {
      for (int k = 0; k < 3; k++)
        CHECK(MPI_Wait(&r[(my_rank + k) % 3], MPI_STATUS_IGNORE) == MPI_SUCCESS);
      MPI_Send(&token, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
    }
    for (int i = 0; i < 3; i++)
      CHECK(flag[i] == ~(1 << i));
    CHECK(sum_of(other) == size);
  }
  MPI_Comm_free(&other);
}

/* The rank dies instead of calling: the others get its absence as an error, once. */
static void agreement_without_one(void) {
  int flag = ~(my_rank == 0), done = 0, code = MPI_SUCCESS;
  MPI_Request r;
  MPI_Barrier(MPI_COMM_WORLD);
  die_if(my_rank == 1);
  MPIX_Comm_iagree(MPI_COMM_WORLD, &flag, &r);
  while (!done && !code)
    code = MPI_Test(&r, &done, MPI_STATUS_IGNORE);
  CHECK(code == MPIX_ERR_PROC_FAILED);
  CHECK(flag == ~1);
  MPIX_Comm_failure_ack(MPI_COMM_WORLD);
  flag = ~(my_rank == 0) & ~4;
  MPIX_Comm_iagree(MPI_COMM_WORLD, &flag, &r);
  CHECK(MPI_Wait(&r, MPI_STATUS_IGNORE) == MPI_SUCCESS && flag == ~5);
}

/* Some wait, others have a request: Fenix does so. */
static void agreement_of_both_kinds(void) {
  for (int i = 0; i < 20; i++) {
    int flag = ~(1 << my_rank), code;
    MPI_Request r;
    if ((my_rank + i) % 2)
      code = MPIX_Comm_agree(MPI_COMM_WORLD, &flag);
    else {
      MPIX_Comm_iagree(MPI_COMM_WORLD, &flag, &r);
      code = MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
    CHECK(code == MPI_SUCCESS && flag == ~((1 << size) - 1));
  }
}

/* Two at a time, all begun in one order, waited for in orders that differ. */
static void shrink_both(MPI_Comm a, MPI_Comm b, int round, MPI_Comm made[2]) {
  MPI_Request r[2];
  int first = (my_rank + round) % 2;
  MPIX_Comm_ishrink(a, &made[0], &r[0]);
  MPIX_Comm_ishrink(b, &made[1], &r[1]);
  CHECK(MPI_Wait(&r[first], MPI_STATUS_IGNORE) == MPI_SUCCESS);
  CHECK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
  for (int i = 0; i < 2; i++)
    CHECK(sum_of(made[i]) == size - 1);
}

static void shrinks_and_copies(void) {
  MPI_Comm a = copy_of(MPI_COMM_WORLD), b = copy_of(MPI_COMM_WORLD), made[4];
  MPI_Request r[4];
  MPI_Barrier(MPI_COMM_WORLD);
  die_if(my_rank == 1);
  for (int round = 0; round < 20; round++) {
    shrink_both(a, b, round, made);
    MPI_Comm_free(&made[0]);
    MPI_Comm_free(&made[1]);
  }
  shrink_both(b, a, 0, made);
  MPI_Comm_idup(made[0], &made[2], &r[0]);
  MPI_Comm_idup(made[1], &made[3], &r[1]);
  CHECK(sum_of(made[1]) == size - 1);
  for (int i = 0; i < 2; i++)
    CHECK(MPI_Wait(&r[(my_rank + i) % 2], MPI_STATUS_IGNORE) == MPI_SUCCESS);
  for (int i = 0; i < 4; i++) {
    CHECK(sum_of(made[i]) == size - 1);
    MPI_Comm_disconnect(&made[i]);
  }
  MPI_Comm_disconnect(&a); /* of the dead, too */
  MPI_Comm_free(&b);
  CHECK(a == MPI_COMM_NULL && b == MPI_COMM_NULL);
}

/* --- sends that end when they are received -----------------------------------------------------
 */

enum { LONG = 1 << 18 };

static int long_message[LONG];

/* Rank 1 receives two of the five that each other rank has started, and dies. */
static void synchronous_sends(void) {
  enum { SENDS = 5 };
  const int length[SENDS] = {1, 1, LONG, LONG, 1}, received[SENDS] = {0, 1, 0, 1, 0};
  MPI_Request r[SENDS];
  int token = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  for (int from = 0; from < size && my_rank == 1; from++) {
    for (int i = 0; i < SENDS && from != 1; i++)
      if (received[i])
        MPI_Recv(long_message, length[i], MPI_INT, from, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (from != 1)
      MPI_Send(&token, 1, MPI_INT, from, SENDS, MPI_COMM_WORLD);
  }
  if (my_rank == 1)
    usleep(20000);
  die_if(my_rank == 1);
  for (int i = 0; i < SENDS - 1; i++)
    MPI_Issend(long_message, length[i], MPI_INT, 1, i, MPI_COMM_WORLD, &r[i]);
  MPI_Ssend_init(long_message, length[SENDS - 1], MPI_INT, 1, SENDS - 1, MPI_COMM_WORLD,
                 &r[SENDS - 1]);
  MPI_Start(&r[SENDS - 1]);
  MPI_Recv(&token, 1, MPI_INT, 1, SENDS, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < SENDS; i++)
    CHECK(MPI_Wait(&r[i], MPI_STATUS_IGNORE) == (received[i] ? MPI_SUCCESS : MPIX_ERR_PROC_FAILED));
  CHECK(MPI_Start(&r[SENDS - 1]) == MPI_SUCCESS);
  CHECK(MPI_Wait(&r[SENDS - 1], MPI_STATUS_IGNORE) == MPIX_ERR_PROC_FAILED);
  MPI_Request_free(&r[SENDS - 1]);
}

static int cancels_send(MPI_Comm comm) {
  MPI_Request r;
  MPI_Status status = {0};
  int cancelled = 0;
  MPI_Issend(long_message, 1, MPI_INT, 1, 2, comm, &r);
  MPI_Cancel(&r);
  int code = MPI_Wait(&r, &status);
  if (!code)
    MPI_Test_cancelled(&status, &cancelled);
  return code == MPIX_ERR_PROC_FAILED || cancelled;
}

/* From the moment of the death on, whoever knows of it by then. */
static void sends_to_the_dead(void) {
  void *buffer = malloc(sizeof long_message + 4096), *detached;
  int bytes;
  MPI_Request r;
  MPI_Buffer_attach(buffer, sizeof long_message + 4096);
  MPI_Barrier(MPI_COMM_WORLD);
  die_if(my_rank == 1);
  for (int i = 0; i < 300; i++) {
    int n = i % 3 ? 1 : LONG, code;
    switch (i % 5) {
    case 0:
      code = MPI_Ssend(long_message, n, MPI_INT, 1, 2, MPI_COMM_WORLD);
      break;
    case 1:
      MPI_Issend(long_message, n, MPI_INT, 1, 2, MPI_COMM_WORLD, &r);
      code = MPI_Wait(&r, MPI_STATUS_IGNORE);
      break;
    case 2:
      CHECK(cancels_send(MPI_COMM_WORLD));
      continue;
    default: /* may end well */
      code = i % 2 ? MPI_Bsend(long_message, n, MPI_INT, 1, 2, MPI_COMM_WORLD)
                   : MPI_Rsend(long_message, n, MPI_INT, 1, 2, MPI_COMM_WORLD);
      CHECK(code == MPI_SUCCESS || code == MPIX_ERR_PROC_FAILED);
      continue;
    }
    CHECK(code == MPIX_ERR_PROC_FAILED);
  }
  MPI_Buffer_detach(&detached, &bytes);
  free(buffer);
}

/* --- inter-communicators --------------------------------------------------------------------- */

/* Even ranks and odd ones; one of each dies. A copy serves, too. */
static void two_sides(void) {
  MPI_Comm half, inter, copy, made;
  int flag, n, remote, at = my_rank % 2, mine = (size + 1 - at) / 2, theirs = size - mine;
  MPI_Comm_split(MPI_COMM_WORLD, at, 0, &half);
  CHECK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - at, 8, &inter) == MPI_SUCCESS);
  MPI_Comm_dup(inter, &copy);
  flag = my_rank == 0 ? 5 : my_rank == 1 ? 6 : 7; /* each gets the other side's */
  CHECK(MPIX_Comm_agree(copy, &flag) == MPI_SUCCESS && flag == (at ? 5 : 6));
  die_if(my_rank >= size - 2);
  flag = my_rank == 0 ? 5 : my_rank == 1 ? 6 : 7;
  CHECK(MPIX_Comm_agree(copy, &flag) == MPIX_ERR_PROC_FAILED && flag == (at ? 5 : 6));
  int code = MPI_Barrier(inter); /* another one may have revoked it */
  CHECK(code == MPIX_ERR_PROC_FAILED || code == MPIX_ERR_REVOKED);
  MPIX_Comm_revoke(inter);
  CHECK(MPI_Barrier(inter) == MPIX_ERR_REVOKED);
  CHECK(MPIX_Comm_shrink(inter, &made) == MPI_SUCCESS);
  MPI_Comm_size(made, &n);
  MPI_Comm_remote_size(made, &remote);
  CHECK(n == mine - 1 && remote == theirs - 1);
  CHECK(MPI_Barrier(made) == MPI_SUCCESS);
  flag = my_rank == 0 ? 5 : my_rank == 1 ? 6 : 7;
  CHECK(MPIX_Comm_agree(made, &flag) == MPI_SUCCESS && flag == (at ? 5 : 6));
  MPI_Comm_free(&made);
}

/* --- handlers ---------------------------------------------------------------------------- */

static int called;
static MPI_Comm called_for;
static jmp_buf back;
static int jumps;

static void handler(MPI_Comm *comm, int *code, ...) {
  called += *code == MPIX_ERR_PROC_FAILED;
  called_for = *comm;
  if (jumps)
    longjmp(back, 1);
}

/* Each error calls the communicator's handler once. */
static void handlers(void) {
  MPI_Errhandler mine;
  MPI_Comm comm = copy_of(MPI_COMM_WORLD);
  MPI_Request r[2];
  int flag = 0, in;
  MPI_Comm_create_errhandler(handler, &mine);
  MPI_Comm_set_errhandler(comm, mine);
  MPI_Irecv(&in, 1, MPI_INT, 1, 3, comm, &r[0]);
  MPI_Irecv(&in, 1, MPI_INT, 1, 4, comm, &r[1]);
  MPI_Barrier(MPI_COMM_WORLD);
  die_if(my_rank == 1);
  CHECK(MPI_Wait(&r[0], MPI_STATUS_IGNORE) == MPIX_ERR_PROC_FAILED);
  CHECK(called == 1 && called_for == comm);
  while (called == 1)
    MPI_Test(&r[1], &flag, MPI_STATUS_IGNORE);
  CHECK(called == 2 && called_for == comm);
  CHECK(MPI_Barrier(comm) == MPIX_ERR_PROC_FAILED && called == 3);
  MPI_Comm made = MPI_COMM_NULL;
  CHECK(MPI_Comm_dup(comm, &made) == MPIX_ERR_PROC_FAILED && called == 4);
  CHECK(MPI_Alltoallw(NULL, (int[8]){0}, (int[8]){0}, (MPI_Datatype[8]){MPI_INT}, NULL, (int[8]){0},
                      (int[8]){0}, (MPI_Datatype[8]){MPI_INT}, comm) != MPI_SUCCESS &&
        called == 5);
  MPI_Errhandler_free(&mine);
}

/* What goes on after a jump out of the handler must be as after any other return. */
static void jump(int what, MPI_Comm comm) {
  MPI_Request r;
  MPI_Comm made;
  int in = 0, sum;
  switch (what) {
  case 0:
    MPI_Recv(&in, 1, MPI_INT, 1, 3, comm, MPI_STATUS_IGNORE);
    break;
  case 1:
    MPI_Allreduce(&my_rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    break;
  case 2:
    MPI_Irecv(&in, 1, MPI_INT, 1, 3, comm, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    break;
  case 3:
    MPI_Comm_dup(comm, &made);
    break;
  case 4:
    MPIX_Comm_agree(comm, &in);
    break;
  case 5:
    MPI_Neighbor_allgather(&my_rank, 1, MPI_INT, (int[8]){0}, 1, MPI_INT, comm);
    break;
  default:
    MPI_Ibarrier(comm, &r);
    MPI_Waitall(1, &r, MPI_STATUSES_IGNORE);
  }
}

static void jumps_out(void) {
  enum { WAYS = 7 };
  MPI_Errhandler mine;
  MPI_Comm comm[WAYS], made;
  int one = 1;
  MPI_Comm_create_errhandler(handler, &mine);
  for (int i = 0; i < WAYS; i++) {
    if (i == 5)
      MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &one, 0, &comm[i]);
    else
      comm[i] = copy_of(MPI_COMM_WORLD);
    MPI_Comm_set_errhandler(comm[i], mine);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  die_if(my_rank == 1);
  jumps = 1;
  for (volatile int i = 0; i < WAYS; i++) {
    if (setjmp(back) == 0) {
      jump(i, comm[i]);
      CHECK(!jumps); /* the handler has not been called */
    }
  }
  jumps = 0;
  CHECK(MPIX_Comm_shrink(MPI_COMM_WORLD, &made) == MPI_SUCCESS);
  for (int i = 0; i < 5; i++)
    CHECK(sum_of(made) == size - 1);
  MPI_Comm_free(&made);
  MPI_Errhandler_free(&mine);
}

/* --- many revocations --------------------------------------------------------------------------
 */

/* More, on all ranks together, than the library has room for at a time. */
static void many_revocations(void) {
  enum { N = 1500 };
  static MPI_Comm comm[N];
  for (int i = 0; i < N && !wrong; i++) {
    int flag = 1;
    MPI_Comm_split(MPI_COMM_SELF, 0, 0, &comm[i]);
    MPI_Comm_set_errhandler(comm[i], MPI_ERRORS_RETURN);
    MPIX_Comm_is_revoked(comm[i], &flag);
    CHECK(!flag);
    CHECK(MPIX_Comm_revoke(comm[i]) == MPI_SUCCESS);
    CHECK(MPI_Barrier(comm[i]) == MPIX_ERR_REVOKED);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < N && !wrong; i++) {
    int flag = 0;
    MPIX_Comm_is_revoked(comm[i], &flag);
    CHECK(flag);
    MPI_Comm_free(&comm[i]);
  }
  CHECK(sum_of(MPI_COMM_WORLD) == size);
}

/* --- the end ------------------------------------------------------------------------------- */

static int deleted;

static int delete_one(MPI_Comm comm, int key, void *value, void *extra) {
  (void)comm, (void)key, (void)extra;
  deleted++;
  if ((size_t)value == 1) /* the first one that was set, and so the last one here */
    printf("DELETED %d\n", deleted);
  fflush(stdout);
  return MPI_SUCCESS;
}

static void attributes_of_self(void) {
  for (size_t i = 1; i <= 3; i++) {
    int key;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_one, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, (void *)i);
    MPI_Comm_free_keyval(&key);
  }
  die_if(my_rank == 1);
}

/* The job ends, although it survives deaths. */
static void aborts(void) {
  die_if(my_rank == 1);
  while (MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS)
    ;
  if (my_rank == 0)
    MPI_Abort(MPI_COMM_WORLD, 7);
  for (;;)
    pause();
}

/* --- without a death ------------------------------------------------------------------------ */

static int pair[2], got[2];

static void next_pair(void) {
  static int step;
  step++;
  for (int i = 0; i < 2; i++) {
    pair[i] = 100 * step + 2 * my_rank + i;
    got[i] = -1;
  }
}

/* What one call writes another one reads. */
#define MOVE(write, read)                                                                          \
  do {                                                                                             \
    next_pair();                                                                                   \
    CHECK((write) == MPI_SUCCESS);                                                                 \
    CHECK((read) == MPI_SUCCESS);                                                                  \
    CHECK(memcmp(pair, got, sizeof got) == 0);                                                     \
  } while (0)
#define OUT pair, 2, MPI_INT
#define IN got, 2, MPI_INT

static int set_view(MPI_File file, int first) {
  return MPI_File_set_view(file, (MPI_Offset)sizeof(int) * first, MPI_INT, MPI_INT, "native",
                           MPI_INFO_NULL);
}

static int rewind_file(MPI_File file, int is_shared) {
  return is_shared ? MPI_File_seek_shared(file, 0, MPI_SEEK_SET)
                   : MPI_File_seek(file, 0, MPI_SEEK_SET);
}

/* By the process's own pointer, at an offset, and by the pointer that all share; begun and ended,
 * too. */
static void move_all(MPI_File f) {
  MPI_Status s;
  const int at = 2 * my_rank;
  CHECK(set_view(f, at) == MPI_SUCCESS);
  MOVE(MPI_File_write_all(f, OUT, &s), rewind_file(f, 0) || MPI_File_read_all(f, IN, &s));
  MOVE(rewind_file(f, 0) || MPI_File_write_all_begin(f, OUT) || MPI_File_write_all_end(f, pair, &s),
       rewind_file(f, 0) || MPI_File_read_all_begin(f, IN) || MPI_File_read_all_end(f, got, &s));
  CHECK(set_view(f, 0) == MPI_SUCCESS);
  MOVE(MPI_File_write_at_all(f, at, OUT, &s), MPI_File_read_at_all(f, at, IN, &s));
  MOVE(MPI_File_write_at_all_begin(f, at, OUT) || MPI_File_write_at_all_end(f, pair, &s),
       MPI_File_read_at_all_begin(f, at, IN) || MPI_File_read_at_all_end(f, got, &s));
  MOVE(rewind_file(f, 1) || MPI_File_write_ordered(f, OUT, &s),
       rewind_file(f, 1) || MPI_File_read_ordered(f, IN, &s));
  MOVE(rewind_file(f, 1) || MPI_File_write_ordered_begin(f, OUT) ||
           MPI_File_write_ordered_end(f, pair, &s),
       rewind_file(f, 1) || MPI_File_read_ordered_begin(f, IN) ||
           MPI_File_read_ordered_end(f, got, &s));
}

#define FILE_NAME "/tmp/ulfm_cases_XXXXXX" /* of mkstemp */

static MPI_File open_file(char name[]) {
  MPI_File file;
  if (my_rank == 0)
    close(mkstemp(name));
  MPI_Bcast(name, (int)strlen(name) + 1, MPI_CHAR, 0, MPI_COMM_WORLD);
  CHECK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                      &file) == MPI_SUCCESS);
  return file;
}

static void files(void) {
  char name[] = FILE_NAME;
  MPI_Offset bytes = (MPI_Offset)sizeof pair * size, found = 0;
  MPI_File file = open_file(name);
  CHECK(MPI_File_set_size(file, 1) == MPI_SUCCESS);
  CHECK(MPI_File_preallocate(file, bytes) == MPI_SUCCESS);
  CHECK(MPI_File_get_size(file, &found) == MPI_SUCCESS && found == bytes);
  CHECK(MPI_File_set_atomicity(file, 1) == MPI_SUCCESS);
  move_all(file);
  CHECK(MPI_File_sync(file) == MPI_SUCCESS);
  CHECK(MPI_File_close(&file) == MPI_SUCCESS);
}

/* Each process tells the edge that leaves the next one, in a ring. */
static void graphs(void) {
  const int one = 1, left = (my_rank + size - 1) % size, right = (my_rank + 1) % size,
            after = (right + 1) % size, weight = 10 + right;
  for (int weighted = 0; weighted < 2; weighted++) {
    MPI_Comm made = MPI_COMM_NULL;
    int in = -1, out = -1, has_weights = -1, from = -1, to = -1, weights[2] = {0}, value = -1;
    CHECK(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &right, &one, &after,
                                weighted ? &weight : MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                &made) == MPI_SUCCESS);
    MPI_Dist_graph_neighbors_count(made, &in, &out, &has_weights);
    CHECK(in == 1 && out == 1 && has_weights == weighted);
    MPI_Dist_graph_neighbors(made, 1, &from, &weights[0], 1, &to, &weights[1]);
    CHECK(from == left && to == right);
    CHECK(!weighted || (weights[0] == 10 + left && weights[1] == 10 + my_rank));
    CHECK(MPI_Neighbor_allgather(&my_rank, 1, MPI_INT, &value, 1, MPI_INT, made) == MPI_SUCCESS &&
          value == left);
    MPI_Comm_free(&made);
  }
}

static void matched_messages(void) {
  const int left = (my_rank + size - 1) % size, right = (my_rank + 1) % size;
  MPI_Request requests[2];
  MPI_Message message;
  int flag = 0, value = -1;
  MPI_Isend(&my_rank, 1, MPI_INT, right, 6, MPI_COMM_WORLD, &requests[0]);
  while (!flag)
    CHECK(MPI_Improbe(left, 6, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  CHECK(MPI_Imrecv(&value, 1, MPI_INT, &message, &requests[1]) == MPI_SUCCESS);
  CHECK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS && value == left);
}

/* A shrinking ends when all look at it, by any call. */
static void looks(void) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Request request;
  int flag = 0;
  CHECK(MPIX_Comm_ishrink(MPI_COMM_WORLD, &made, &request) == MPI_SUCCESS);
  while (!flag)
    CHECK(MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  CHECK(request != MPI_REQUEST_NULL);
  for (flag = 0; !flag;)
    CHECK(MPI_Testall(1, &request, &flag, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
  CHECK(request == MPI_REQUEST_NULL && sum_of(made) == size);
  MPI_Comm_free(&made);
}

/* Parts of a message become ready one by one, as a range and as a list. */
static void partitions(void) {
  enum { PARTS = 6 };
  const int left = (my_rank + size - 1) % size, right = (my_rank + 1) % size;
  int list[] = {5, 3}, out[PARTS], in[PARTS], flag = 0;
  MPI_Request r[2];
  CHECK(MPI_Psend_init(out, PARTS, 1, MPI_INT, right, 8, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]) ==
        MPI_SUCCESS);
  CHECK(MPI_Precv_init(in, PARTS, 1, MPI_INT, left, 8, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]) ==
        MPI_SUCCESS);
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < PARTS; i++) {
      out[i] = 100 * round + 10 * my_rank + i;
      in[i] = -1;
    }
    CHECK(MPI_Startall(2, r) == MPI_SUCCESS);
    CHECK(MPI_Pready(4, r[0]) == MPI_SUCCESS && MPI_Pready_range(0, 2, r[0]) == MPI_SUCCESS &&
          MPI_Pready_list(2, list, r[0]) == MPI_SUCCESS);
    for (flag = 0; !flag;)
      CHECK(MPI_Parrived(r[1], 3, &flag) == MPI_SUCCESS);
    CHECK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    for (int i = 0; i < PARTS; i++)
      CHECK(in[i] == 100 * round + 10 * left + i);
  }
  MPI_Request_free(&r[0]);
  MPI_Request_free(&r[1]);
}

/* --- the end of the job ---------------------------------------------------------------------- */

/* Nothing else is left: MPI cannot end these calls. */
static void waits_for_file(void) {
  char name[] = FILE_NAME;
  MPI_File file = open_file(name);
  unlink(name);
  CHECK(MPI_File_write_at_all(file, my_rank, name, 1, MPI_CHAR, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  die_if(my_rank == 1);
  for (int i = 0; i < 3; i++)
    MPI_File_write_at_all(file, my_rank, name, 1, MPI_CHAR, MPI_STATUS_IGNORE);
}

static void waits_for_window(void) {
  MPI_Win win;
  int *base;
  CHECK(MPI_Win_allocate(64, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win) == MPI_SUCCESS);
  MPI_Win_fence(0, win);
  die_if(my_rank == 1);
  for (int i = 0; i < 3; i++)
    MPI_Win_fence(0, win);
}

static const struct {
  const char *name;
  void (*run)(void);
} cases[] = {{"two_agreements", two_agreements},
             {"agreement_without_one", agreement_without_one},
             {"agreement_of_both_kinds", agreement_of_both_kinds},
             {"shrinks_and_copies", shrinks_and_copies},
             {"synchronous_sends", synchronous_sends},
             {"sends_to_the_dead", sends_to_the_dead},
             {"two_sides", two_sides},
             {"handlers", handlers},
             {"jumps_out", jumps_out},
             {"many_revocations", many_revocations},
             {"attributes_of_self", attributes_of_self},
             {"files", files},
             {"graphs", graphs},
             {"matched_messages", matched_messages},
             {"partitions", partitions},
             {"looks", looks},
             {"waits_for_file", waits_for_file},
             {"waits_for_window", waits_for_window},
             {"aborts", aborts}};

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &my_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    if (argc > 1 && strcmp(argv[1], cases[i].name) == 0)
      cases[i].run();
  if (my_rank == 0)
    printf("RESULT %s %d\n", argv[1], wrong);
  MPI_Finalize();
  return wrong != 0;
}
