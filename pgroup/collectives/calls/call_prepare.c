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

static int in_place_error(const rgi_call *call) {
  return rgi_error(RG_ERR_ARG, "%s: MPI_IN_PLACE has no meaning here", call->name);
}

static int check_memory(const rgi_call *call, const dense_side *dense) {
  return dense->memory == MPI_IN_PLACE
             ? in_place_error(call)
             : rgi_datatype_check_memory(call->name, &dense->datatype, dense->memory, dense->bytes);
}

/* n equal blocks (1: one block of all). */
static int even_side(const rgi_call *call, const rgi_call_side *side, int n, dense_side *dense) {
  dense->memory = rgi_call_memory(side);
  dense->displs = NULL;
  dense->n = n;
  RGI_TRY(rgi_datatype_of(call->name, side->type, &dense->datatype));
  dense->blocks = (rgi_blocks){0, NULL, NULL};
  RGI_TRY(rgi_datatype_bytes(call->name, &dense->datatype, side->count, &dense->blocks.each));
  if (n > 1 && dense->blocks.each > PTRDIFF_MAX / (size_t)n)
    return rgi_error(RG_ERR_ARG, "%s: %d blocks of %zu bytes are too many", call->name, n,
                     dense->blocks.each);
  dense->bytes = (size_t)n * dense->blocks.each;
  return check_memory(call, dense);
}

/* One block for each rank; without displacements one after another. */
static int uneven_side(rgi_sched *sched, const rgi_call *call, const rgi_call_side *side,
                       dense_side *dense) {
  int n = sched->coll->all.size;
  dense->memory = rgi_call_memory(side);
  dense->displs = side->displs;
  dense->n = n;
  RGI_TRY(rgi_datatype_of(call->name, side->type, &dense->datatype));
  size_t *at = rgi_sched_alloc(sched, 2 * (size_t)n * sizeof *at), *length = at + n;
  if (!at)
    return sched->error;
  dense->bytes = 0;
  for (int i = 0; i < n; i++) {
    RGI_TRY(rgi_datatype_bytes(call->name, &dense->datatype, side->counts[i], &length[i]));
    at[i] = side->displs && dense->datatype.dense
                ? (size_t)(side->displs[i] * dense->datatype.extent)
                : dense->bytes;
    dense->bytes += length[i];
  }
  dense->blocks = (rgi_blocks){0, at, length};
  return check_memory(call, dense);
}

/* A block for each rank, in a vector form or not. */
static int side_of_ranks(rgi_sched *sched, const rgi_call *call, const rgi_call_side *side,
                         dense_side *dense) {
  int v = call->operation == RG_OP_GATHERV || call->operation == RG_OP_SCATTERV ||
          call->operation == RG_OP_ALLGATHERV || call->operation == RG_OP_ALLTOALLV;
  if (!v)
    return even_side(call, side, sched->coll->all.size, dense);
  if (!side->counts || !side->displs)
    return rgi_error(RG_ERR_ARG, "%s: the counts or displacements are NULL", call->name);
  return uneven_side(sched, call, side, dense);
}

/* --- dense forms --------------------------------------------------------------------- */

/* Packs block i of the user's memory into dense. */
static int pack_block(const dense_side *dense, int i, char *packed) {
  const rgi_datatype *datatype = &dense->datatype;
  size_t length = rgi_blocks_length(&dense->blocks, i);
  if (length == 0)
    return RG_SUCCESS;
  MPI_Aint at = dense->displs ? dense->displs[i]
                              : (MPI_Aint)((size_t)i * (dense->blocks.each / datatype->size));
  return rgi_datatype_pack_bytes(datatype, rgi_datatype_element(datatype, dense->memory, at),
                                 length, packed + rgi_blocks_at(&dense->blocks, i));
}

static int pack_all(const dense_side *dense, char *packed) {
  for (int i = 0; i < dense->n; i++)
    RGI_TRY(pack_block(dense, i, packed));
  return RG_SUCCESS;
}

/* What is sent: in place, or packed. */
static int dense_in(rgi_sched *sched, const dense_side *dense, const char **in) {
  if (dense->datatype.dense) {
    *in = dense->memory;
    return RG_SUCCESS;
  }
  char *room = rgi_sched_alloc(sched, dense->bytes);
  *in = room;
  return room ? pack_all(dense, room) : sched->error;
}

/* Where to receive: in place, or to be unpacked from. */
static int dense_out(rgi_sched *sched, const dense_side *dense, char **out) {
  sched->datatype = dense->datatype;
  if (dense->datatype.dense) {
    *out = dense->memory;
    return RG_SUCCESS;
  }
  *out = rgi_sched_alloc(sched, dense->bytes);
  sched->unpack_bytes = dense->bytes;
  return *out ? RG_SUCCESS : sched->error;
}

/* Makes *dense a dense copy of itself: its blocks follow one another. */
static int copy_side(rgi_sched *sched, dense_side *dense, const char **copy) {
  size_t at = 0, *places = dense->blocks.at
                               ? rgi_sched_alloc(sched, (size_t)dense->n * sizeof *places)
                               : NULL;
  char *room = rgi_sched_alloc(sched, dense->bytes);
  for (int i = 0; i < dense->n && places; i++) {
    places[i] = at;
    at += rgi_blocks_length(&dense->blocks, i);
  }
  dense->blocks.at = places;
  *copy = room;
  return sched->error ? sched->error : pack_all(dense, room);
}

static int same_size(const rgi_call *call, size_t sent, size_t expected) {
  if (sent == expected)
    return RG_SUCCESS;
  return rgi_error(sent > expected ? RG_ERR_TRUNCATE : RG_ERR_MISMATCH,
                   "%s: sends %zu bytes to itself and expects %zu", call->name, sent, expected);
}

/* --- operations ------------------------------------------------------------------------- */

static int prepare_bcast(rgi_sched *sched, const rgi_call *call, rgi_algorithm_args *args) {
  dense_side dense;
  const char *in;
  int is_root = sched->coll->all.me == call->root;
  RGI_TRY(even_side(call, &call->recv, 1, &dense));
  args->bytes = dense.bytes;
  RGI_TRY(dense_out(sched, &dense, &args->out));
  if (!is_root || dense.datatype.dense)
    return RG_SUCCESS;
  sched->unpack_bytes = 0;
  RGI_TRY(dense_in(sched, &dense, &in));
  memcpy(&args->out, &in, sizeof in); /* drops const: a broadcast does not write to its root's */
  return RG_SUCCESS;
}

static const rgi_call_side *operand_of(const rgi_call *call) {
  return call->send.memory == MPI_IN_PLACE ? &call->recv : &call->send;
}

/* reduce, allreduce, scan, exscan */
static int prepare_vector(rgi_sched *sched, const rgi_call *call, rgi_algorithm_args *args) {
  int me = sched->coll->all.me, in_place = call->send.memory == MPI_IN_PLACE;
  int gets = call->operation != RG_OP_REDUCE || me == call->root;
  int scans = call->operation == RG_OP_SCAN || call->operation == RG_OP_EXSCAN;
  dense_side in, out;
  if (in_place && !gets)
    return in_place_error(call);
  RGI_TRY(even_side(call, operand_of(call), 1, &in));
  RGI_TRY(rgi_reduction_make(call->name, call->recv.type, call->op, &sched->reduction));
  args->bytes = in.bytes;
  RGI_TRY(in_place && scans ? copy_side(sched, &in, &args->in) : dense_in(sched, &in, &args->in));
  if (!gets)
    return RG_SUCCESS;
  RGI_TRY(even_side(call, &call->recv, 1, &out));
  RGI_TRY(dense_out(sched, &out, &args->out));
  if (call->operation == RG_OP_EXSCAN && me == 0)
    sched->unpack_bytes = 0;
  return RG_SUCCESS;
}

/* gather(v), allgather(v) */
static int prepare_gather(rgi_sched *sched, const rgi_call *call, rgi_algorithm_args *args) {
  int me = sched->coll->all.me;
  int all = call->operation == RG_OP_ALLGATHER || call->operation == RG_OP_ALLGATHERV;
  int gets = all || me == call->root, in_place = call->send.memory == MPI_IN_PLACE;
  dense_side in, out;
  if (gets) {
    RGI_TRY(side_of_ranks(sched, call, &call->recv, &out));
    RGI_TRY(dense_out(sched, &out, &args->out));
    args->out_blocks = out.blocks;
    args->bytes = rgi_blocks_length(&out.blocks, me);
  }
  if (in_place && !gets)
    return in_place_error(call);
  if (in_place) /* the own block is in its place */
    return out.datatype.dense ? RG_SUCCESS : pack_block(&out, me, args->out);
  RGI_TRY(even_side(call, &call->send, 1, &in));
  if (gets)
    RGI_TRY(same_size(call, in.bytes, args->bytes));
  args->bytes = in.bytes;
  if (!gets)
    args->out_blocks.each = in.bytes;
  return dense_in(sched, &in, &args->in);
}

/* scatter(v) */
static int prepare_scatter(rgi_sched *sched, const rgi_call *call, rgi_algorithm_args *args) {
  int me = sched->coll->all.me, gives = me == call->root;
  dense_side in, out;
  if (gives) {
    RGI_TRY(side_of_ranks(sched, call, &call->send, &in));
    RGI_TRY(dense_in(sched, &in, &args->in));
    args->in_blocks = in.blocks;
    args->bytes = rgi_blocks_length(&in.blocks, me);
  }
  if (call->recv.memory == MPI_IN_PLACE)
    return gives ? RG_SUCCESS : in_place_error(call);
  RGI_TRY(even_side(call, &call->recv, 1, &out));
  if (gives)
    RGI_TRY(same_size(call, args->bytes, out.bytes));
  args->bytes = out.bytes;
  if (!gives)
    args->in_blocks.each = out.bytes;
  return dense_out(sched, &out, &args->out);
}

/* alltoall(v) */
static int prepare_alltoall(rgi_sched *sched, const rgi_call *call, rgi_algorithm_args *args) {
  int me = sched->coll->all.me;
  dense_side in, out;
  RGI_TRY(side_of_ranks(sched, call, &call->recv, &out));
  RGI_TRY(dense_out(sched, &out, &args->out));
  args->out_blocks = out.blocks;
  args->bytes = out.blocks.each;
  if (call->send.memory == MPI_IN_PLACE) {
    in = out;
    RGI_TRY(copy_side(sched, &in, &args->in));
    args->in_blocks = in.blocks;
    return RG_SUCCESS;
  }
  RGI_TRY(side_of_ranks(sched, call, &call->send, &in));
  args->in_blocks = in.blocks;
  RGI_TRY(same_size(call, rgi_blocks_length(&in.blocks, me), rgi_blocks_length(&out.blocks, me)));
  return dense_in(sched, &in, &args->in);
}

static int prepare_reduce_scatter(rgi_sched *sched, const rgi_call *call,
                                  rgi_algorithm_args *args) {
  int n = sched->coll->all.size, me = sched->coll->all.me;
  const rgi_call_side *operand = operand_of(call);
  rgi_call_side mine = call->recv;
  dense_side in, out;
  RGI_TRY(call->recv.counts ? uneven_side(sched, call, operand, &in)
                            : even_side(call, operand, n, &in));
  RGI_TRY(rgi_reduction_make(call->name, call->recv.type, call->op, &sched->reduction));
  if (call->recv.counts)
    mine.count = call->recv.counts[me];
  RGI_TRY(even_side(call, &mine, 1, &out));
  RGI_TRY(dense_out(sched, &out, &args->out));
  args->bytes = out.bytes;
  args->in_blocks = in.blocks;
  in.blocks = (rgi_blocks){in.bytes, NULL, NULL}; /* packed as one: blocks follow one another */
  in.n = 1;
  return call->send.memory == MPI_IN_PLACE ? copy_side(sched, &in, &args->in)
                                           : dense_in(sched, &in, &args->in);
}

static int check_root(const rgi_call *call, int size) {
  return call->root >= 0 && call->root < size
             ? RG_SUCCESS
             : rgi_error(RG_ERR_RANK, "%s: root %d; the group's ranks go from 0 to %d", call->name,
                         call->root, size - 1);
}

int rgi_call_prepare(rgi_sched *sched, const rgi_call *call, rgi_algorithm_args *args) {
  *args = (rgi_algorithm_args){.root = call->root};
  RGI_TRY(check_root(call, sched->coll->all.size));
  switch (call->operation) {
  case RG_OP_BCAST:
    return prepare_bcast(sched, call, args);
  case RG_OP_REDUCE:
  case RG_OP_ALLREDUCE:
  case RG_OP_SCAN:
  case RG_OP_EXSCAN:
    return prepare_vector(sched, call, args);
  case RG_OP_GATHER:
  case RG_OP_GATHERV:
  case RG_OP_ALLGATHER:
  case RG_OP_ALLGATHERV:
    return prepare_gather(sched, call, args);
  case RG_OP_SCATTER:
  case RG_OP_SCATTERV:
    return prepare_scatter(sched, call, args);
  case RG_OP_ALLTOALL:
  case RG_OP_ALLTOALLV:
    return prepare_alltoall(sched, call, args);
  case RG_OP_REDUCE_SCATTER:
    return prepare_reduce_scatter(sched, call, args);
  default:
    return RG_SUCCESS; /* a barrier has no data */
  }
}
