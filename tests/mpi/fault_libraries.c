/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A program with two libraries, each with communicators of its own. One has a grid, by rows and
 * columns; the other one sends messages that the first must not receive, and has handlers of its
 * own, which count the errors. In turn they are called; what one has revoked does not concern the
 * other one. After deaths both are closed, the program shrinks, and they are opened anew. See
 * mortal.h. */
#include <stdlib.h>

#include "mortal.h"

enum { MOST = 5000 };

/* --- the first: sums over a grid ------------------------------------------------------------- */

typedef struct {
  MPI_Comm all, row, column;
} grid;

static int open_grid(grid *g, MPI_Comm comm) {
  int me, n, width = 1;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &n);
  while ((width + 1) * (width + 1) <= n)
    width++;
  MORTAL_TRY(MPI_Comm_dup(comm, &g->all));
  MORTAL_TRY(MPI_Comm_split(g->all, me / width, me, &g->row));
  MORTAL_TRY(MPI_Comm_split(g->all, me % width, me, &g->column));
  return MPI_SUCCESS;
}

static void close_grid(grid *g) {
  MPI_Comm *each[] = {&g->row, &g->column, &g->all};
  for (int i = 0; i < 3; i++)
    if (*each[i] != MPI_COMM_NULL)
      MPI_Comm_free(each[i]);
}

/* Each member's number is in one row; the last row may be shorter. */
static int sum_grid(const grid *g, int round) {
  long long mine, in_row = 0, sum = 0, right = 0, total;
  int n, me, first, width;
  MPI_Comm_size(g->all, &n);
  MPI_Comm_rank(g->all, &me);
  MPI_Comm_rank(g->row, &first);
  MPI_Comm_size(g->row, &width);
  mine = mortal_world_rank(g->all, me) * 7 + round;
  for (int i = 0; i < n; i++)
    right += mortal_world_rank(g->all, i) * 7 + round;
  MORTAL_TRY(MPI_Reduce(&mine, &in_row, 1, MPI_LONG_LONG, MPI_SUM, 0, g->row));
  if (first == 0) {
    MORTAL_TRY(MPI_Allreduce(&in_row, &sum, 1, MPI_LONG_LONG, MPI_SUM, g->column));
    if (sum != right)
      mortal_fail("the sum over the grid", sum);
  }
  MORTAL_TRY(MPI_Bcast(&sum, 1, MPI_LONG_LONG, 0, g->row));
  MORTAL_TRY(MPI_Allreduce(&mine, &total, 1, MPI_LONG_LONG, MPI_SUM, g->all));
  if (total != right || sum != right)
    mortal_fail("the sum of all", total);
  return MPI_SUCCESS;
}

/* --- the second: messages between pairs ------------------------------------------------------ */

static int handled; /* errors */

static void count_error(MPI_Comm *comm, int *code, ...) {
  (void)comm;
  handled += *code != MPI_SUCCESS;
}

typedef struct {
  MPI_Comm comm;
  MPI_Errhandler handler;
  int *out, *in;
} pairs;

static int open_pairs(pairs *p, MPI_Comm comm) {
  MORTAL_TRY(MPI_Comm_dup(comm, &p->comm));
  MPI_Comm_create_errhandler(count_error, &p->handler);
  MPI_Comm_set_errhandler(p->comm, p->handler);
  MPI_Errhandler_free(&p->handler);
  return MPI_SUCCESS;
}

/* With the member at the other end, and with those that the round draws. */
static int swap(const pairs *p, int round) {
  int n, me, count = 1 + (int)(mortal_draw((uint64_t)round, 6) % MOST);
  MPI_Comm_size(p->comm, &n);
  MPI_Comm_rank(p->comm, &me);
  int other = ((round - me) % n + n) % n, theirs = mortal_world_rank(p->comm, other);
  for (int i = 0; i < count; i++)
    p->out[i] = mortal_rank * 31 + round - i;
  int before = handled;
  mortal_point();
  int code = MPI_Sendrecv(p->out, count, MPI_INT, other, 0, p->in, MOST, MPI_INT, other,
                          MPI_ANY_TAG, p->comm, MPI_STATUS_IGNORE);
  if (mortal_code(code, "MPI_Sendrecv") && handled != before + 1)
    mortal_fail("calls of the handler", handled - before);
  for (int i = 0; !code && i < count; i++)
    if (p->in[i] != theirs * 31 + round - i) { /* 31 apart: of another rank */
      mortal_fail("a message of the pair", p->in[i] - (theirs * 31 + round - i));
      break;
    }
  return code;
}

/* --- the program ----------------------------------------------------------------------------- */

static grid sums = {MPI_COMM_NULL, MPI_COMM_NULL, MPI_COMM_NULL};
static pairs messages = {.comm = MPI_COMM_NULL};

static int open_both(MPI_Comm comm) {
  int code = open_grid(&sums, comm);
  return code ? code : open_pairs(&messages, comm);
}

/* Members that wait in the libraries must know of the error. */
static void close_both(int failed) {
  MPI_Comm each[] = {sums.all, sums.row, sums.column, messages.comm};
  for (int i = 0; i < 4; i++)
    if (failed && each[i] != MPI_COMM_NULL)
      MPIX_Comm_revoke(each[i]);
  close_grid(&sums);
  if (messages.comm != MPI_COMM_NULL)
    MPI_Comm_free(&messages.comm);
}

/* A communicator that is revoked, while the others are used. */
static int revoke_another(MPI_Comm comm, int round) {
  MPI_Comm third;
  int n, me, code, dummy = 0;
  MPI_Comm_size(comm, &n);
  MPI_Comm_rank(comm, &me);
  MORTAL_TRY(MPI_Comm_dup(comm, &third));
  if (me == round % n)
    MPIX_Comm_revoke(third);
  mortal_point();
  code = mortal_code(MPI_Bcast(&dummy, 1, MPI_INT, round % n, third), "MPI_Bcast");
  if (me == round % n && code != MPIX_ERR_REVOKED)
    mortal_fail("a broadcast on the revoked communicator", code);
  code = sum_grid(&sums, round);
  MPI_Comm_free(&third);
  return code;
}

static int step(MPI_Comm comm, int round) {
  switch (mortal_draw((uint64_t)round, 7) % 8) {
  case 0:
    return revoke_another(comm, round);
  case 1:
  case 2:
  case 3:
    return sum_grid(&sums, round);
  default:
    return swap(&messages, round);
  }
}

int main(int argc, char **argv) {
  MPI_Comm comm = MPI_COMM_WORLD;
  uint64_t checksum = 0;
  int round = 0, failed;
  mortal_begin(argc, argv, MPI_THREAD_SINGLE);
  messages.out = malloc(MOST * sizeof(int));
  messages.in = malloc(MOST * sizeof(int));
  do {
    failed = open_both(comm);
    for (; round < mortal_rounds && !failed; round += !failed)
      failed = step(comm, round);
    close_both(failed);
  } while (!mortal_settle(&comm, failed, &round));
  for (int i = 0; i < mortal_rounds; i++)
    checksum += mortal_draw((uint64_t)i, 8);
  return mortal_end(checksum);
}
