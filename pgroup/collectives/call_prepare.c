/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * From the user's arguments to dense bytes. Algorithms move bytes only: elements with gaps are
 * packed here before the schedule and unpacked at its end, and MPI_IN_PLACE becomes a copy
 * where an algorithm needs one. Each operation says which sides a member gives and gets. */
#include <stdint.h>

#include "base/error.h"
#include "collectives/call.h"
#include "collectives/coll_state.h"

/* One side of a call: a block or one for each rank, of elements of a type. */
typedef struct {
  rgi_datatype datatype;
  void *memory;
  rgi_blocks blocks; /* dense, in bytes */
  size_t bytes;      /* of all */
} call_side;

static void *without_const(const void *p) {
  void *q;
  __builtin_memcpy(&q, &p, sizeof q);
  return q;
}

static int in_place_error(const rgi_call *c) {
  return rgi_error(RG_ERR_ARG, "%s: MPI_IN_PLACE has no meaning here", c->name);
}

static int to_bytes(const rgi_call *c, const rgi_datatype *t, MPI_Count count, size_t *bytes) {
  if (count < 0)
    return rgi_error(RG_ERR_ARG, "%s: the count %lld is negative", c->name, (long long)count);
  if (t->size && (size_t)count > PTRDIFF_MAX / t->size)
    return rgi_error(RG_ERR_ARG, "%s: %lld elements of %zu bytes are too many", c->name,
                     (long long)count, t->size);
  *bytes = (size_t)count * t->size;
  return RG_SUCCESS;
}

/* NULL is an address only for types that hold absolute ones. */
static int check_memory(const rgi_call *c, const call_side *d) {
  if (d->memory == MPI_IN_PLACE)
    return in_place_error(c);
  if (!d->memory && d->bytes && d->datatype.true_low == 0)
    return rgi_error(RG_ERR_ARG, "%s: the buffer is NULL", c->name);
  return RG_SUCCESS;
}

/* n equal blocks (1: one block of all). */
static int even_side(const rgi_call *c, const void *memory, MPI_Count count, MPI_Datatype type,
                     int n, call_side *d) {
  d->memory = without_const(memory);
  RGI_TRY(rgi_datatype_of(c->name, type, &d->datatype));
  d->blocks = (rgi_blocks){0, NULL, NULL};
  RGI_TRY(to_bytes(c, &d->datatype, count, &d->blocks.each));
  if (n > 1 && d->blocks.each > PTRDIFF_MAX / (size_t)n)
    return rgi_error(RG_ERR_ARG, "%s: %d blocks of %zu bytes are too many", c->name, n,
                     d->blocks.each);
  d->bytes = (size_t)n * d->blocks.each;
  return check_memory(c, d);
}

/* One block for each of n ranks; displs NULL: one after another. */
static int uneven_side(rgi_sched *s, const rgi_call *c, const void *memory,
                       const MPI_Count counts[], const MPI_Aint displs[], MPI_Datatype type, int n,
                       int wants_displs, call_side *d) {
  d->memory = without_const(memory);
  RGI_TRY(rgi_datatype_of(c->name, type, &d->datatype));
  if (!counts || (wants_displs && !displs))
    return rgi_error(RG_ERR_ARG, "%s: the counts or displacements are NULL", c->name);
  size_t *at = rgi_sched_alloc(s, 2 * (size_t)n * sizeof *at), *length = at + n;
  if (!at)
    return s->error;
  d->bytes = 0;
  for (int i = 0; i < n; i++) {
    RGI_TRY(to_bytes(c, &d->datatype, counts[i], &length[i]));
    at[i] = displs && d->datatype.dense ? (size_t)(displs[i] * d->datatype.extent) : d->bytes;
    d->bytes += length[i];
  }
  d->blocks = (rgi_blocks){0, at, length};
  return check_memory(c, d);
}

/* --- dense forms --------------------------------------------------------------------- */

static size_t element_count(const call_side *d, size_t bytes) {
  return d->datatype.size ? bytes / d->datatype.size : 0;
}

/* Packs blocks [from, to) of the user's memory into dense. */
static int pack_blocks(const call_side *d, const MPI_Aint displs[], int from, int to, char *dense) {
  for (int i = from; i < to; i++) {
    size_t length = rgi_blocks_length(&d->blocks, i), each = element_count(d, d->blocks.each);
    MPI_Aint at = displs ? displs[i] : (MPI_Aint)((size_t)i * each);
    if (length)
      RGI_TRY(rgi_datatype_pack(&d->datatype, rgi_datatype_element(&d->datatype, d->memory, at),
                                element_count(d, length), dense + rgi_blocks_at(&d->blocks, i)));
  }
  return RG_SUCCESS;
}

/* n blocks to be sent: in place, or packed. */
static int dense_in(rgi_sched *s, const call_side *d, const MPI_Aint displs[], int n,
                    const char **in) {
  if (d->datatype.dense) {
    *in = d->memory;
    return RG_SUCCESS;
  }
  char *room = rgi_sched_alloc(s, d->bytes);
  *in = room;
  return room ? pack_blocks(d, displs, 0, n, room) : s->error;
}

/* Where n blocks are received: in place, or to be unpacked from. */
static int dense_out(rgi_sched *s, const call_side *d, char **out) {
  s->datatype = d->datatype;
  if (d->datatype.dense) {
    *out = d->memory;
    return RG_SUCCESS;
  }
  *out = rgi_sched_alloc(s, d->bytes);
  s->unpack_bytes = d->bytes;
  return *out ? RG_SUCCESS : s->error;
}

/* A dense copy of n blocks. */
static int dense_copy(rgi_sched *s, const call_side *d, const MPI_Aint displs[], int n, char **copy,
                      rgi_blocks *blocks) {
  call_side packed = *d;
  size_t at = 0, *places = d->blocks.at ? rgi_sched_alloc(s, (size_t)n * sizeof *places) : NULL;
  for (int i = 0; i < n && places; i++) {
    places[i] = at;
    at += rgi_blocks_length(&d->blocks, i);
  }
  packed.blocks.at = places;
  *blocks = packed.blocks;
  *copy = rgi_sched_alloc(s, d->bytes);
  return s->error ? s->error : pack_blocks(&packed, displs, 0, n, *copy);
}

static int same_size(const rgi_call *c, size_t sent, size_t expected) {
  if (sent == expected)
    return RG_SUCCESS;
  return rgi_error(sent > expected ? RG_ERR_TRUNCATE : RG_ERR_MISMATCH,
                   "%s: sends %zu bytes to itself and expects %zu", c->name, sent, expected);
}

/* --- operations ------------------------------------------------------------------------- */

static int prepare_bcast(rgi_sched *s, const rgi_call *c, rgi_algorithm_args *p) {
  call_side d;
  const char *in;
  int is_root = s->coll->all.me == c->root;
  RGI_TRY(even_side(c, c->recv, c->recv_count, c->recv_type, 1, &d));
  p->bytes = d.bytes;
  RGI_TRY(dense_out(s, &d, &p->out));
  if (!is_root || d.datatype.dense)
    return RG_SUCCESS;
  s->unpack_bytes = 0;
  RGI_TRY(dense_in(s, &d, NULL, 1, &in));
  p->out = without_const(in);
  return RG_SUCCESS;
}

/* reduce, allreduce, scan, exscan */
static int prepare_vector(rgi_sched *s, const rgi_call *c, rgi_algorithm_args *p) {
  int me = s->coll->all.me, in_place = c->send == MPI_IN_PLACE;
  int gets = c->operation != RG_OP_REDUCE || me == c->root;
  int scans = c->operation == RG_OP_SCAN || c->operation == RG_OP_EXSCAN;
  call_side in, out;
  if (in_place && !gets)
    return in_place_error(c);
  RGI_TRY(even_side(c, in_place ? c->recv : c->send, c->recv_count, c->recv_type, 1, &in));
  RGI_TRY(rgi_reduction_make(c->name, c->recv_type, c->op, &s->reduction));
  p->bytes = in.bytes;
  if (in_place && scans) {
    rgi_blocks unused;
    char *copy;
    RGI_TRY(dense_copy(s, &in, NULL, 1, &copy, &unused));
    p->in = copy;
  } else {
    RGI_TRY(dense_in(s, &in, NULL, 1, &p->in));
  }
  if (!gets)
    return RG_SUCCESS;
  RGI_TRY(even_side(c, c->recv, c->recv_count, c->recv_type, 1, &out));
  RGI_TRY(dense_out(s, &out, &p->out));
  if (c->operation == RG_OP_EXSCAN && me == 0)
    s->unpack_bytes = 0;
  return RG_SUCCESS;
}

static int receive_side(rgi_sched *s, const rgi_call *c, int n, int v, call_side *d) {
  return v ? uneven_side(s, c, c->recv, c->recv_counts, c->recv_displs, c->recv_type, n, 1, d)
           : even_side(c, c->recv, c->recv_count, c->recv_type, n, d);
}

static int send_side(rgi_sched *s, const rgi_call *c, int n, int v, call_side *d) {
  return v ? uneven_side(s, c, c->send, c->send_counts, c->send_displs, c->send_type, n, 1, d)
           : even_side(c, c->send, c->send_count, c->send_type, n, d);
}

/* gather(v), allgather(v) */
static int prepare_gather(rgi_sched *s, const rgi_call *c, rgi_algorithm_args *p) {
  int n = s->coll->all.size, me = s->coll->all.me;
  int all = c->operation == RG_OP_ALLGATHER || c->operation == RG_OP_ALLGATHERV;
  int v = c->operation == RG_OP_GATHERV || c->operation == RG_OP_ALLGATHERV;
  int gets = all || me == c->root, in_place = c->send == MPI_IN_PLACE;
  call_side in, out;
  if (gets) {
    RGI_TRY(receive_side(s, c, n, v, &out));
    RGI_TRY(dense_out(s, &out, &p->out));
    p->out_blocks = out.blocks;
    p->bytes = rgi_blocks_length(&out.blocks, me);
  }
  if (in_place && !gets)
    return in_place_error(c);
  if (in_place) /* the own block is in its place */
    return out.datatype.dense ? RG_SUCCESS : pack_blocks(&out, c->recv_displs, me, me + 1, p->out);
  RGI_TRY(even_side(c, c->send, c->send_count, c->send_type, 1, &in));
  if (gets)
    RGI_TRY(same_size(c, in.bytes, p->bytes));
  p->bytes = in.bytes;
  if (!gets)
    p->out_blocks.each = in.bytes;
  return dense_in(s, &in, NULL, 1, &p->in);
}

/* scatter(v) */
static int prepare_scatter(rgi_sched *s, const rgi_call *c, rgi_algorithm_args *p) {
  int n = s->coll->all.size, me = s->coll->all.me, gives = me == c->root;
  call_side in, out;
  if (gives) {
    RGI_TRY(send_side(s, c, n, c->operation == RG_OP_SCATTERV, &in));
    RGI_TRY(dense_in(s, &in, c->send_displs, n, &p->in));
    p->in_blocks = in.blocks;
    p->bytes = rgi_blocks_length(&in.blocks, me);
  }
  if (c->recv == MPI_IN_PLACE)
    return gives ? RG_SUCCESS : in_place_error(c);
  RGI_TRY(even_side(c, c->recv, c->recv_count, c->recv_type, 1, &out));
  if (gives)
    RGI_TRY(same_size(c, p->bytes, out.bytes));
  p->bytes = out.bytes;
  if (!gives)
    p->in_blocks.each = out.bytes;
  return dense_out(s, &out, &p->out);
}

/* alltoall(v) */
static int prepare_alltoall(rgi_sched *s, const rgi_call *c, rgi_algorithm_args *p) {
  int n = s->coll->all.size, me = s->coll->all.me;
  int v = c->operation == RG_OP_ALLTOALLV;
  call_side in, out;
  RGI_TRY(receive_side(s, c, n, v, &out));
  RGI_TRY(dense_out(s, &out, &p->out));
  p->out_blocks = out.blocks;
  p->bytes = out.blocks.each;
  if (c->send == MPI_IN_PLACE) {
    char *copy;
    RGI_TRY(dense_copy(s, &out, c->recv_displs, n, &copy, &p->in_blocks));
    p->in = copy;
    return RG_SUCCESS;
  }
  RGI_TRY(send_side(s, c, n, v, &in));
  p->in_blocks = in.blocks;
  RGI_TRY(same_size(c, rgi_blocks_length(&in.blocks, me), rgi_blocks_length(&out.blocks, me)));
  return dense_in(s, &in, c->send_displs, n, &p->in);
}

static int prepare_reduce_scatter(rgi_sched *s, const rgi_call *c, rgi_algorithm_args *p) {
  int n = s->coll->all.size, me = s->coll->all.me;
  int in_place = c->send == MPI_IN_PLACE;
  const void *memory = in_place ? c->recv : c->send;
  call_side in, out;
  if (c->recv_counts)
    RGI_TRY(uneven_side(s, c, memory, c->recv_counts, NULL, c->recv_type, n, 0, &in));
  else
    RGI_TRY(even_side(c, memory, c->recv_count, c->recv_type, n, &in));
  RGI_TRY(rgi_reduction_make(c->name, c->recv_type, c->op, &s->reduction));
  MPI_Count mine = c->recv_counts ? c->recv_counts[me] : c->recv_count;
  RGI_TRY(even_side(c, c->recv, mine, c->recv_type, 1, &out));
  RGI_TRY(dense_out(s, &out, &p->out));
  p->bytes = out.bytes;
  p->in_blocks = in.blocks;
  call_side whole = in; /* packed as one: blocks follow one another */
  whole.blocks = (rgi_blocks){in.bytes, NULL, NULL};
  if (in_place) {
    rgi_blocks unused;
    char *copy;
    RGI_TRY(dense_copy(s, &whole, NULL, 1, &copy, &unused));
    p->in = copy;
    return RG_SUCCESS;
  }
  return dense_in(s, &whole, NULL, 1, &p->in);
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
