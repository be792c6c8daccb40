/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * From the user's arguments to dense bytes. Algorithms move bytes only: elements with gaps are
 * packed here before the schedule and unpacked at its end, and MPI_IN_PLACE becomes a copy
 * where an algorithm needs one. Each operation says which sides a member gives and gets. */
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "collectives/calls/call.h"
#include "collectives/schedule/coll_state.h"

/* One side of a call in dense form: n blocks of elements of a type. */
typedef struct {
  rgi_datatype datatype;
  void *memory;
  const MPI_Aint *displs; /* of the blocks in memory; NULL: one after another */
  int n;
  rgi_blocks blocks; /* dense, in bytes */
  size_t bytes;      /* of all */
} dense_side;

static int in_place_error(const rgi_call *c) {
  return rgi_error(RG_ERR_ARG, "%s: MPI_IN_PLACE has no meaning here", c->name);
}

static int check_memory(const rgi_call *c, const dense_side *d) {
  return d->memory == MPI_IN_PLACE
             ? in_place_error(c)
             : rgi_datatype_check_memory(c->name, &d->datatype, d->memory, d->bytes);
}

/* n equal blocks (1: one block of all). */
static int even_side(const rgi_call *c, const rgi_call_side *u, int n, dense_side *d) {
  d->memory = rgi_call_memory(u);
  d->displs = NULL;
  d->n = n;
  RGI_TRY(rgi_datatype_of(c->name, u->type, &d->datatype));
  d->blocks = (rgi_blocks){0, NULL, NULL};
  RGI_TRY(rgi_datatype_bytes(c->name, &d->datatype, u->count, &d->blocks.each));
  if (n > 1 && d->blocks.each > PTRDIFF_MAX / (size_t)n)
    return rgi_error(RG_ERR_ARG, "%s: %d blocks of %zu bytes are too many", c->name, n,
                     d->blocks.each);
  d->bytes = (size_t)n * d->blocks.each;
  return check_memory(c, d);
}

/* One block for each rank; without displacements one after another. */
static int uneven_side(rgi_sched *s, const rgi_call *c, const rgi_call_side *u, dense_side *d) {
  int n = s->coll->all.size;
  d->memory = rgi_call_memory(u);
  d->displs = u->displs;
  d->n = n;
  RGI_TRY(rgi_datatype_of(c->name, u->type, &d->datatype));
  size_t *at = rgi_sched_alloc(s, 2 * (size_t)n * sizeof *at), *length = at + n;
  if (!at)
    return s->error;
  d->bytes = 0;
  for (int i = 0; i < n; i++) {
    RGI_TRY(rgi_datatype_bytes(c->name, &d->datatype, u->counts[i], &length[i]));
    at[i] = u->displs && d->datatype.dense ? (size_t)(u->displs[i] * d->datatype.extent) : d->bytes;
    d->bytes += length[i];
  }
  d->blocks = (rgi_blocks){0, at, length};
  return check_memory(c, d);
}

/* A block for each rank, in a vector form or not. */
static int side_of_ranks(rgi_sched *s, const rgi_call *c, const rgi_call_side *u, dense_side *d) {
  int v = c->operation == RG_OP_GATHERV || c->operation == RG_OP_SCATTERV ||
          c->operation == RG_OP_ALLGATHERV || c->operation == RG_OP_ALLTOALLV;
  if (!v)
    return even_side(c, u, s->coll->all.size, d);
  if (!u->counts || !u->displs)
    return rgi_error(RG_ERR_ARG, "%s: the counts or displacements are NULL", c->name);
  return uneven_side(s, c, u, d);
}

/* --- dense forms --------------------------------------------------------------------- */

/* Packs block i of the user's memory into dense. */
static int pack_block(const dense_side *d, int i, char *dense) {
  const rgi_datatype *t = &d->datatype;
  size_t length = rgi_blocks_length(&d->blocks, i);
  if (length == 0)
    return RG_SUCCESS;
  MPI_Aint at = d->displs ? d->displs[i] : (MPI_Aint)((size_t)i * (d->blocks.each / t->size));
  return rgi_datatype_pack_bytes(t, rgi_datatype_element(t, d->memory, at), length,
                                 dense + rgi_blocks_at(&d->blocks, i));
}

static int pack_all(const dense_side *d, char *dense) {
  for (int i = 0; i < d->n; i++)
    RGI_TRY(pack_block(d, i, dense));
  return RG_SUCCESS;
}

/* What is sent: in place, or packed. */
static int dense_in(rgi_sched *s, const dense_side *d, const char **in) {
  if (d->datatype.dense) {
    *in = d->memory;
    return RG_SUCCESS;
  }
  char *room = rgi_sched_alloc(s, d->bytes);
  *in = room;
  return room ? pack_all(d, room) : s->error;
}

/* Where to receive: in place, or to be unpacked from. */
static int dense_out(rgi_sched *s, const dense_side *d, char **out) {
  s->datatype = d->datatype;
  if (d->datatype.dense) {
    *out = d->memory;
    return RG_SUCCESS;
  }
  *out = rgi_sched_alloc(s, d->bytes);
  s->unpack_bytes = d->bytes;
  return *out ? RG_SUCCESS : s->error;
}

/* Makes *d a dense copy of itself: its blocks follow one another. */
static int copy_side(rgi_sched *s, dense_side *d, const char **copy) {
  size_t at = 0, *places = d->blocks.at ? rgi_sched_alloc(s, (size_t)d->n * sizeof *places) : NULL;
  char *room = rgi_sched_alloc(s, d->bytes);
  for (int i = 0; i < d->n && places; i++) {
    places[i] = at;
    at += rgi_blocks_length(&d->blocks, i);
  }
  d->blocks.at = places;
  *copy = room;
  return s->error ? s->error : pack_all(d, room);
}

static int same_size(const rgi_call *c, size_t sent, size_t expected) {
  if (sent == expected)
    return RG_SUCCESS;
  return rgi_error(sent > expected ? RG_ERR_TRUNCATE : RG_ERR_MISMATCH,
                   "%s: sends %zu bytes to itself and expects %zu", c->name, sent, expected);
}

/* --- operations ------------------------------------------------------------------------- */

static int prepare_bcast(rgi_sched *s, const rgi_call *c, rgi_algorithm_args *p) {
  dense_side d;
  const char *in;
  int is_root = s->coll->all.me == c->root;
  RGI_TRY(even_side(c, &c->recv, 1, &d));
  p->bytes = d.bytes;
  RGI_TRY(dense_out(s, &d, &p->out));
  if (!is_root || d.datatype.dense)
    return RG_SUCCESS;
  s->unpack_bytes = 0;
  RGI_TRY(dense_in(s, &d, &in));
  memcpy(&p->out, &in, sizeof in); /* drops const: a broadcast does not write to its root's */
  return RG_SUCCESS;
}

static const rgi_call_side *operand_of(const rgi_call *c) {
  return c->send.memory == MPI_IN_PLACE ? &c->recv : &c->send;
}

/* reduce, allreduce, scan, exscan */
static int prepare_vector(rgi_sched *s, const rgi_call *c, rgi_algorithm_args *p) {
  int me = s->coll->all.me, in_place = c->send.memory == MPI_IN_PLACE;
  int gets = c->operation != RG_OP_REDUCE || me == c->root;
  int scans = c->operation == RG_OP_SCAN || c->operation == RG_OP_EXSCAN;
  dense_side in, out;
  if (in_place && !gets)
    return in_place_error(c);
  RGI_TRY(even_side(c, operand_of(c), 1, &in));
  RGI_TRY(rgi_reduction_make(c->name, c->recv.type, c->op, &s->reduction));
  p->bytes = in.bytes;
  RGI_TRY(in_place && scans ? copy_side(s, &in, &p->in) : dense_in(s, &in, &p->in));
  if (!gets)
    return RG_SUCCESS;
  RGI_TRY(even_side(c, &c->recv, 1, &out));
  RGI_TRY(dense_out(s, &out, &p->out));
  if (c->operation == RG_OP_EXSCAN && me == 0)
    s->unpack_bytes = 0;
  return RG_SUCCESS;
}

/* gather(v), allgather(v) */
static int prepare_gather(rgi_sched *s, const rgi_call *c, rgi_algorithm_args *p) {
  int me = s->coll->all.me;
  int all = c->operation == RG_OP_ALLGATHER || c->operation == RG_OP_ALLGATHERV;
  int gets = all || me == c->root, in_place = c->send.memory == MPI_IN_PLACE;
  dense_side in, out;
  if (gets) {
    RGI_TRY(side_of_ranks(s, c, &c->recv, &out));
    RGI_TRY(dense_out(s, &out, &p->out));
    p->out_blocks = out.blocks;
    p->bytes = rgi_blocks_length(&out.blocks, me);
  }
  if (in_place && !gets)
    return in_place_error(c);
  if (in_place) /* the own block is in its place */
    return out.datatype.dense ? RG_SUCCESS : pack_block(&out, me, p->out);
  RGI_TRY(even_side(c, &c->send, 1, &in));
  if (gets)
    RGI_TRY(same_size(c, in.bytes, p->bytes));
  p->bytes = in.bytes;
  if (!gets)
    p->out_blocks.each = in.bytes;
  return dense_in(s, &in, &p->in);
}

/* scatter(v) */
static int prepare_scatter(rgi_sched *s, const rgi_call *c, rgi_algorithm_args *p) {
  int me = s->coll->all.me, gives = me == c->root;
  dense_side in, out;
  if (gives) {
    RGI_TRY(side_of_ranks(s, c, &c->send, &in));
    RGI_TRY(dense_in(s, &in, &p->in));
    p->in_blocks = in.blocks;
    p->bytes = rgi_blocks_length(&in.blocks, me);
  }
  if (c->recv.memory == MPI_IN_PLACE)
    return gives ? RG_SUCCESS : in_place_error(c);
  RGI_TRY(even_side(c, &c->recv, 1, &out));
  if (gives)
    RGI_TRY(same_size(c, p->bytes, out.bytes));
  p->bytes = out.bytes;
  if (!gives)
    p->in_blocks.each = out.bytes;
  return dense_out(s, &out, &p->out);
}

/* alltoall(v) */
static int prepare_alltoall(rgi_sched *s, const rgi_call *c, rgi_algorithm_args *p) {
  int me = s->coll->all.me;
  dense_side in, out;
  RGI_TRY(side_of_ranks(s, c, &c->recv, &out));
  RGI_TRY(dense_out(s, &out, &p->out));
  p->out_blocks = out.blocks;
  p->bytes = out.blocks.each;
  if (c->send.memory == MPI_IN_PLACE) {
    in = out;
    RGI_TRY(copy_side(s, &in, &p->in));
    p->in_blocks = in.blocks;
    return RG_SUCCESS;
  }
  RGI_TRY(side_of_ranks(s, c, &c->send, &in));
  p->in_blocks = in.blocks;
  RGI_TRY(same_size(c, rgi_blocks_length(&in.blocks, me), rgi_blocks_length(&out.blocks, me)));
  return dense_in(s, &in, &p->in);
}

static int prepare_reduce_scatter(rgi_sched *s, const rgi_call *c, rgi_algorithm_args *p) {
  int n = s->coll->all.size, me = s->coll->all.me;
  const rgi_call_side *operand = operand_of(c);
  rgi_call_side mine = c->recv;
  dense_side in, out;
  RGI_TRY(c->recv.counts ? uneven_side(s, c, operand, &in) : even_side(c, operand, n, &in));
  RGI_TRY(rgi_reduction_make(c->name, c->recv.type, c->op, &s->reduction));
  if (c->recv.counts)
    mine.count = c->recv.counts[me];
  RGI_TRY(even_side(c, &mine, 1, &out));
  RGI_TRY(dense_out(s, &out, &p->out));
  p->bytes = out.bytes;
  p->in_blocks = in.blocks;
  in.blocks = (rgi_blocks){in.bytes, NULL, NULL}; /* packed as one: blocks follow one another */
  in.n = 1;
  return c->send.memory == MPI_IN_PLACE ? copy_side(s, &in, &p->in) : dense_in(s, &in, &p->in);
}

static int check_root(const rgi_call *c, int size) {
  return c->root >= 0 && c->root < size
             ? RG_SUCCESS
             : rgi_error(RG_ERR_RANK, "%s: root %d; the group's ranks go from 0 to %d", c->name,
                         c->root, size - 1);
}

int rgi_call_prepare(rgi_sched *s, const rgi_call *c, rgi_algorithm_args *p) {
  *p = (rgi_algorithm_args){.root = c->root};
  RGI_TRY(check_root(c, s->coll->all.size));
  switch (c->operation) {
  case RG_OP_BCAST:
    return prepare_bcast(s, c, p);
  case RG_OP_REDUCE:
  case RG_OP_ALLREDUCE:
  case RG_OP_SCAN:
  case RG_OP_EXSCAN:
    return prepare_vector(s, c, p);
  case RG_OP_GATHER:
  case RG_OP_GATHERV:
  case RG_OP_ALLGATHER:
  case RG_OP_ALLGATHERV:
    return prepare_gather(s, c, p);
  case RG_OP_SCATTER:
  case RG_OP_SCATTERV:
    return prepare_scatter(s, c, p);
  case RG_OP_ALLTOALL:
  case RG_OP_ALLTOALLV:
    return prepare_alltoall(s, c, p);
  case RG_OP_REDUCE_SCATTER:
    return prepare_reduce_scatter(s, c, p);
  default:
    return RG_SUCCESS; /* a barrier has no data */
  }
}
