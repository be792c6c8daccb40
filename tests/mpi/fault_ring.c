/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A ring: in each round every member sends a message to the next one, of a length and by calls that
 * are drawn, and a token goes round that adds the members up. See mortal.h. */
#include <stdlib.h>

#include "mortal.h"

enum { MOST = 200000, KINDS = 7 };

static int out[MOST], in[MOST];

typedef struct {
  MPI_Comm comm;
  MPI_Request open[2]; /* the receive and the send */
  int left, right, length, tag;
} ring;

static int start(ring *r, int synchronous) {
  MORTAL_TRY(MPI_Irecv(in, r->length, MPI_INT, r->left, r->tag, r->comm, &r->open[0]));
  if (synchronous)
    MORTAL_TRY(MPI_Issend(out, r->length, MPI_INT, r->right, r->tag, r->comm, &r->open[1]));
  else
    MORTAL_TRY(MPI_Isend(out, r->length, MPI_INT, r->right, r->tag, r->comm, &r->open[1]));
  return MPI_SUCCESS;
}

static int start_persistent(ring *r) {
  MORTAL_TRY(MPI_Recv_init(in, r->length, MPI_INT, r->left, r->tag, r->comm, &r->open[0]));
  MORTAL_TRY(MPI_Send_init(out, r->length, MPI_INT, r->right, r->tag, r->comm, &r->open[1]));
  MORTAL_TRY(MPI_Startall(2, r->open));
  return MPI_SUCCESS;
}

/* The length of a message is found first. */
static int probe(ring *r, int matched) {
  MPI_Message message;
  MPI_Status status;
  int length;
  MORTAL_TRY(MPI_Isend(out, r->length, MPI_INT, r->right, r->tag, r->comm, &r->open[1]));
  if (matched)
    MORTAL_TRY(MPI_Mprobe(r->left, r->tag, r->comm, &message, &status));
  else
    MORTAL_TRY(MPI_Probe(r->left, r->tag, r->comm, &status));
  MPI_Get_count(&status, MPI_INT, &length);
  if (length != r->length)
    mortal_fail("the length", length);
  if (matched)
    MORTAL_TRY(MPI_Mrecv(in, length, MPI_INT, &message, &status));
  else
    MORTAL_TRY(MPI_Recv(in, length, MPI_INT, r->left, r->tag, r->comm, &status));
  return MPI_SUCCESS;
}

static int wait_any(ring *r) {
  int at;
  MORTAL_TRY(MPI_Waitany(2, r->open, &at, MPI_STATUS_IGNORE));
  MORTAL_TRY(MPI_Wait(&r->open[!at], MPI_STATUS_IGNORE));
  return MPI_SUCCESS;
}

static int exchange(ring *r, int kind) {
  MPI_Status states[2]; /* gcc warns of MPI_STATUSES_IGNORE */
  int code = MPI_SUCCESS;
  switch (kind) {
  case 0:
  case 1:
    code = start(r, kind);
    break;
  case 2:
    code = start(r, 0);
    return code ? code : wait_any(r);
  case 3:
    code = start_persistent(r);
    break;
  case 4:
  case 5:
    code = probe(r, kind == 4);
    break;
  default:
    MORTAL_TRY(MPI_Sendrecv(out, r->length, MPI_INT, r->right, r->tag, in, r->length, MPI_INT,
                            r->left, r->tag, r->comm, MPI_STATUS_IGNORE));
  }
  if (!code)
    MORTAL_TRY(MPI_Waitall(2, r->open, states));
  return code;
}

/* The buffers are this process's again. */
static void end_requests(ring *r, int failed) {
  if (failed)
    MPIX_Comm_revoke(r->comm);
  for (int i = 0; i < 2; i++) {
    if (failed)
      mortal_code(MPI_Wait(&r->open[i], MPI_STATUS_IGNORE), "MPI_Wait");
    if (r->open[i] != MPI_REQUEST_NULL)
      MPI_Request_free(&r->open[i]);
  }
}

/* Adds up 1 << rank, which tells the members. */
static int pass_token(const ring *r, int me, int n) {
  long long token = 0, sum = 0;
  for (int i = 0; i < n; i++)
    sum += 1LL << mortal_world_rank(r->comm, i);
  if (me > 0)
    MORTAL_TRY(MPI_Recv(&token, 1, MPI_LONG_LONG, r->left, 1, r->comm, MPI_STATUS_IGNORE));
  token += 1LL << mortal_rank;
  if (n > 1)
    MORTAL_TRY(MPI_Send(&token, 1, MPI_LONG_LONG, r->right, 1, r->comm));
  if (me == 0 && n > 1)
    MORTAL_TRY(MPI_Recv(&token, 1, MPI_LONG_LONG, r->left, 1, r->comm, MPI_STATUS_IGNORE));
  if (me == 0 && token != sum)
    mortal_fail("the token", token);
  return MPI_SUCCESS;
}

static int step(MPI_Comm comm, int round) {
  static const int lengths[] = {1, 10, 100, 3000, 20000, MOST};
  int me, n;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &n);
  ring r = {.comm = comm,
            .open = {MPI_REQUEST_NULL, MPI_REQUEST_NULL},
            .left = (me + n - 1) % n,
            .right = (me + 1) % n,
            .length = lengths[mortal_draw((uint64_t)round, 1) % 6],
            .tag = 2 + round % 1000};
  int theirs = mortal_world_rank(comm, r.left);
  for (int i = 0; i < r.length; i++) {
    out[i] = mortal_rank * 1000003 + round + i;
    in[i] = -1;
  }
  int code = exchange(&r, (int)(mortal_draw((uint64_t)round, 2) % KINDS));
  end_requests(&r, code);
  for (int i = 0; !code && i < r.length; i++)
    if (in[i] != theirs * 1000003 + round + i) {
      mortal_fail("another message than the neighbour's", i);
      break;
    }
  return code ? code : pass_token(&r, me, n);
}

int main(int argc, char **argv) {
  MPI_Comm comm = MPI_COMM_WORLD;
  uint64_t checksum = 0;
  int round = 0, failed;
  mortal_begin(argc, argv, MPI_THREAD_SINGLE);
  do {
    for (failed = 0; round < mortal_rounds && !failed; round += !failed)
      failed = step(comm, round);
  } while (!mortal_settle(&comm, failed, &round));
  for (int i = 0; i < mortal_rounds; i++)
    checksum += mortal_draw((uint64_t)i, 0);
  return mortal_end(checksum);
}
