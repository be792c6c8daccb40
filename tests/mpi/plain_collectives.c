/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Every collective, on every kind of communicator, with types with and without gaps,
 * operations of MPI's and the user's, in place and not, of several lengths. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plain.h"

#define ROOM (1 << 18) /* bytes of each buffer */

static unsigned char send_room[ROOM], recv_room[ROOM];
static int *const in = (int *)(void *)send_room, *const out = (int *)(void *)recv_room;
static MPI_Datatype gaps, dense, affine_type; /* four ints with holes; the same without */
static MPI_Op affine;

typedef struct {
  const char *name;
  MPI_Comm comm;
  int rank, size, inter, low;
} place;

static int step; /* sets the data, and the roots, of all calls apart */

static void fresh(const place *p) {
  unsigned x = (unsigned)(p->rank * 7919 + ++step);
  for (int i = 0; i < ROOM / (int)sizeof(int); i++)
    in[i] = (int)((x += 40503u) % 1000), out[i] = -i;
}

static int root_of(const place *p) {
  return step % p->size;
}

/* On an inter-communicator the root is rank 0 of the low group. */
static int named_root(const place *p) {
  if (!p->inter)
    return root_of(p);
  return !p->low ? 0 : p->rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
}

static void done(const place *p, const char *operation, const char *variant) {
  char name[99];
  snprintf(name, sizeof name, "%s %s %s", p->name, operation, variant);
  plain_called(operation, p->inter);
  plain_print(name, recv_room, ROOM);
}

/* x -> a x + b, one after another: not commutative. */
static void compose(void *a, void *b, int *n, MPI_Datatype *type) {
  const int *first = a;
  int *second = b;
  (void)type;
  for (int i = 0; i < *n; i++, first += 2, second += 2) {
    int slope = (int)((long long)first[0] * second[0] % 10007);
    second[1] = (int)(((long long)first[1] * second[0] + second[1]) % 10007);
    second[0] = slope;
  }
}

static void make_types(void) {
  MPI_Datatype vector;
  MPI_Type_vector(2, 2, 3, MPI_INT, &vector);
  MPI_Type_create_resized(vector, 0, 7 * (MPI_Aint)sizeof(int), &gaps);
  MPI_Type_commit(&gaps);
  MPI_Type_free(&vector);
  MPI_Type_contiguous(4, MPI_INT, &dense);
  MPI_Type_commit(&dense);
  MPI_Type_contiguous(2, MPI_INT, &affine_type);
  MPI_Type_commit(&affine_type);
  MPI_Op_create(compose, 0, &affine);
}

/* --- movement ----------------------------------------------------------------------- */

/* With the sender's data dense and the receiver's with gaps, and the other way round. */
static void move(const place *p, int n, MPI_Datatype a, MPI_Datatype b, const char *variant) {
  int root;
  fresh(p);
  memcpy(out, in, ROOM / 4);
  root = named_root(p);
  MPI_Bcast(out, n, p->rank % 2 ? a : b, root, p->comm);
  done(p, "bcast", variant);
  fresh(p);
  MPI_Gather(in, n, a, out, n, b, named_root(p), p->comm);
  done(p, "gather", variant);
  fresh(p);
  MPI_Scatter(in, n, a, out, n, b, named_root(p), p->comm);
  done(p, "scatter", variant);
  fresh(p);
  MPI_Allgather(in, n, a, out, n, b, p->comm);
  done(p, "allgather", variant);
  fresh(p);
  MPI_Alltoall(in, n, a, out, n, b, p->comm);
  done(p, "alltoall", variant);
}

/* Blocks of n + rank % 3 elements (alltoallv: of n + (sender + receiver) % 3), with room
 * between them, the last one first. */
static void move_uneven(const place *p, int n, MPI_Datatype a, MPI_Datatype b,
                        const char *variant) {
  int most = 64, counts[64], sums[64], displs[64], remote = p->size;
  if (p->inter)
    MPI_Comm_remote_size(p->comm, &remote);
  for (int i = 0; i < remote && i < most; i++) {
    counts[i] = n ? n + i % 3 : 0;
    sums[i] = n ? n + (i + p->rank) % 3 : 0;
    displs[i] = (remote - 1 - i) * (n + 3);
  }
  int own = n ? n + p->rank % 3 : 0;
  fresh(p);
  MPI_Gatherv(in, own, a, out, counts, displs, b, named_root(p), p->comm);
  done(p, "gatherv", variant);
  fresh(p);
  MPI_Scatterv(in, counts, displs, a, out, own, b, named_root(p), p->comm);
  done(p, "scatterv", variant);
  fresh(p);
  MPI_Allgatherv(in, own, a, out, counts, displs, b, p->comm);
  done(p, "allgatherv", variant);
  fresh(p);
  MPI_Alltoallv(in, sums, displs, a, out, sums, displs, b, p->comm);
  done(p, "alltoallv", variant);
}

static void move_in_place(const place *p, int n) {
  int counts[64], displs[64], root;
  for (int i = 0; i < p->size; i++) {
    counts[i] = n;
    displs[i] = i * (n + 1);
  }
  fresh(p);
  memcpy(out, in, ROOM);
  root = root_of(p);
  MPI_Gather(p->rank == root ? MPI_IN_PLACE : in, n, MPI_INT, out, n, MPI_INT, root, p->comm);
  done(p, "gather", "in place");
  fresh(p);
  root = root_of(p);
  MPI_Scatter(in, n, MPI_INT, p->rank == root ? MPI_IN_PLACE : out, n, MPI_INT, root, p->comm);
  done(p, "scatter", "in place");
  memcpy(out, in, ROOM);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, n, MPI_INT, p->comm);
  done(p, "allgather", "in place");
  memcpy(out, in, ROOM);
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, n, MPI_INT, p->comm);
  done(p, "alltoall", "in place");
  memcpy(out, in, ROOM);
  MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, counts, displs, MPI_INT, p->comm);
  done(p, "allgatherv", "in place");
  memcpy(out, in, ROOM);
  MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, out, counts, displs, MPI_INT, p->comm);
  done(p, "alltoallv", "in place");
}

/* --- reduction ----------------------------------------------------------------------- */

/* What is behind these bytes is not defined. */
static void forget(int bytes) {
  memset(recv_room + bytes, 0, (size_t)(ROOM - bytes));
}

static void combine(const place *p, int n, MPI_Datatype type, MPI_Op op, int in_place,
                    const char *variant) {
  int counts[64], bytes;
  const void *send = in_place ? MPI_IN_PLACE : in;
  for (int i = 0; i < p->size; i++)
    counts[i] = n ? n + i % 2 : 0;
  fresh(p);
  if (in_place)
    memcpy(out, in, ROOM);
  int root = named_root(p), here = !p->inter && p->rank != root;
  MPI_Reduce(here ? in : send, out, n, type, op, root, p->comm);
  done(p, "reduce", variant);
  MPI_Allreduce(send, out, n, type, op, p->comm);
  done(p, "allreduce", variant);
  if (p->inter)
    return; /* scans are not defined, and the groups' sizes may differ */
  MPI_Type_size(type, &bytes);
  fresh(p);
  if (in_place)
    memcpy(out, in, ROOM);
  MPI_Reduce_scatter_block(send, out, n, type, op, p->comm);
  forget(in_place ? n * bytes : ROOM);
  done(p, "reduce_scatter_block", variant);
  fresh(p);
  if (in_place)
    memcpy(out, in, ROOM);
  MPI_Reduce_scatter(send, out, counts, type, op, p->comm);
  forget(in_place ? counts[p->rank] * bytes : ROOM);
  done(p, "reduce_scatter", variant);
  fresh(p);
  if (in_place)
    memcpy(out, in, ROOM);
  MPI_Scan(send, out, n, type, op, p->comm);
  done(p, "scan", variant);
  fresh(p);
  if (in_place)
    memcpy(out, in, ROOM);
  MPI_Exscan(send, out, n, type, op, p->comm);
  forget(p->rank == 0 ? 0 : ROOM);
  done(p, "exscan", variant);
}

/* --- all of it ------------------------------------------------------------------------ */

static void everything(const place *p) {
  for (int i = 0; i < 3; i++)
    MPI_Barrier(p->comm), plain_called("barrier", p->inter);
  move(p, 5, MPI_INT, MPI_INT, "5 ints");
  move(p, 0, MPI_INT, MPI_INT, "nothing");
  move(p, 3, dense, gaps, "into gaps");
  move(p, 3, gaps, dense, "from gaps");
  move(p, 3000, MPI_INT, MPI_INT, "3000 ints");
  move_uneven(p, 4, MPI_INT, MPI_INT, "ints");
  move_uneven(p, 0, MPI_INT, MPI_INT, "nothing");
  move_uneven(p, 2, gaps, dense, "from gaps");
  move_uneven(p, 900, dense, gaps, "into gaps");
  combine(p, 6, MPI_INT, MPI_SUM, 0, "sum");
  combine(p, 0, MPI_INT, MPI_SUM, 0, "nothing");
  combine(p, 6, MPI_2INT, MPI_MINLOC, 0, "minloc");
  combine(p, 5, affine_type, affine, 0, "user's");
  combine(p, 4000, affine_type, affine, 0, "user's, long");
  combine(p, 4000, MPI_INT, MPI_BXOR, 0, "bxor, long");
  if (p->inter)
    return;
  move_in_place(p, 4);
  combine(p, 6, MPI_INT, MPI_MAX, 1, "max, in place");
  combine(p, 6, affine_type, affine, 1, "user's, in place");
}

static void at(const char *name, MPI_Comm comm, int low) {
  place p = {.name = name, .comm = comm, .low = low};
  MPI_Comm_rank(comm, &p.rank);
  MPI_Comm_size(comm, &p.size);
  MPI_Comm_test_inter(comm, &p.inter);
  everything(&p);
}

int main(int argc, char **argv) {
  MPI_Comm half, inter, turned, copy;
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  make_types();
  at("world", MPI_COMM_WORLD, 0);
  at("self", MPI_COMM_SELF, 0);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  at("copy", copy, 0);
  MPI_Comm_free(&copy);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &turned);
  at("turned", turned, 0);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  at("half", half, 0);
  if (size > 1) {
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 1, &inter);
    at("inter", inter, rank % 2 == 0);
    MPI_Comm_free(&inter);
  }
  MPI_Comm_free(&half);
  MPI_Comm_free(&turned);
  plain_counts();
  MPI_Finalize();
  return 0;
}
