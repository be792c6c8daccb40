/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Moving elements between members' memory and a file, by collective MPI-IO in rounds of bounded
 * size. This bounds the memory, keeps MPI's counts within an int for any size of the array, and
 * lets an error of one member end the transfer on all. */
#include <regroup/collectives.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "collectives/calls/group_error.h"
#include "distribution/distribution.h"
#include "distribution/distribution_owner.h"
#include "file/file.h"
#include "noded/client/guard_client.h"

/* --- runs: what is contiguous in the file and in memory --------------------------------------- */

/* The runs are found row by row across all blocks of the member: along the last dimension from
 * block to block, then the next row. A run ends where the file or the memory is not contiguous any
 * more. */
typedef struct {
  const rgi_distribution *d;
  int64_t first[RG_ARRAY_MAX_DIMS], end[RG_ARRAY_MAX_DIMS]; /* of the member's first block */
  int64_t at[RG_ARRAY_MAX_DIMS], hi[RG_ARRAY_MAX_DIMS]; /* the next element; the end of its block */
  int more;
} file_runs;

/* n elements that are contiguous in the file and in memory; offsets, in elements, from the start of
 * the array and of the member's memory. */
typedef struct {
  int64_t n, file, memory;
} file_run;

static void start_runs(file_runs *it, const rgi_distribution *layout, int rank) {
  it->d = layout;
  rgi_distribution_block(layout, rank, 0, it->first, it->end);
  it->more = 1;
  for (int k = 0; k < layout->dims; k++)
    it->more = it->more && it->first[k] < it->end[k];
  memcpy(it->at, it->first, sizeof it->at);
  memcpy(it->hi, it->end, sizeof it->hi);
}

/* Goes from the end of a block along dimension k to the member's next one, if there is one. */
static int next_block(file_runs *it, int k) {
  const rgi_distribution *layout = it->d;
  int64_t gap, left = layout->shape[k] - it->hi[k];
  if (!rgi_distribution_is_cyclic(layout) ||
      __builtin_mul_overflow(layout->grid[k] - 1, layout->chunk[k], &gap) || left <= gap)
    return 0;
  it->at[k] = it->hi[k] + gap;
  it->hi[k] = left - gap < layout->chunk[k] ? layout->shape[k] : it->at[k] + layout->chunk[k];
  return 1;
}

/* Advances by n elements along the last dimension, at its end into the next row. */
static void advance_run(file_runs *it, int64_t n) {
  for (int k = it->d->dims - 1; k >= 0; k--) {
    it->at[k] += n;
    if (it->at[k] < it->hi[k] || next_block(it, k))
      return;
    it->at[k] = it->first[k];
    it->hi[k] = it->end[k];
    n = 1;
  }
  it->more = 0;
}

static file_run run_here(const file_runs *it) {
  int last = it->d->dims - 1;
  file_run run = {.n = it->hi[last] - it->at[last]};
  for (int k = 0; k <= last; k++)
    run.file = run.file * it->d->shape[k] + it->at[k];
  rgi_distribution_find(it->d, it->at, &run.memory);
  return run;
}

/* The longest next run, but at most `most` elements; 0: there is none. */
static int find_run(file_runs *it, int64_t most, file_run *run) {
  if (!it->more)
    return 0;
  *run = run_here(it);
  for (file_run more = *run;;) {
    int64_t room = most - (run->n - more.n);
    int64_t n = more.n < room ? more.n : room;
    run->n += n - more.n;
    advance_run(it, n);
    if (run->n == most || !it->more)
      return 1;
    more = run_here(it);
    if (more.file != run->file + run->n || more.memory != run->memory + run->n)
      return 1;
    run->n += more.n;
  }
}

enum { ROUND = 16 << 20, RUNS = 1 << 16 }; /* bytes and runs of a round, at most */

/* ROMIO takes the part of a path before a colon as the name of a file system. */
#ifdef ROMIO_VERSION
enum { PREFIX = 1 };
#else
enum { PREFIX = 0 };
#endif

typedef struct {
  const char *call;
  rg_array a;
  const char *path;
  MPI_File file;
  int64_t start;
  int writing;
  file_runs runs;
  file_run rest;      /* of a run that did not fit into the last round; in bytes */
  int n;              /* runs of this round */
  int lengths[RUNS];  /* bytes */
  MPI_Aint at[RUNS];  /* in the file, from start */
  int64_t from[RUNS]; /* in memory, in bytes */
  int bytes;          /* of the round */
  char buffer[ROUND];
} file_transfer;

static char *memory_of(const file_transfer *transfer, int i) {
  return rgi_array_mine(transfer->a) + transfer->from[i];
}

/* The next run in bytes; an element may be longer than a round. Returns 0 if there is none. */
static int next_run(file_transfer *transfer) {
  int64_t element = (int64_t)transfer->a->element, most = ROUND / element;
  file_run run;
  if (transfer->rest.n > 0)
    return 1;
  if (!find_run(&transfer->runs, most > 1 ? most : 1, &run))
    return 0;
  transfer->rest = (file_run){run.n * element, run.file * element, run.memory * element};
  return 1;
}

static void collect_runs(file_transfer *transfer) {
  transfer->bytes = 0;
  for (transfer->n = 0; transfer->n < RUNS && transfer->bytes < ROUND && next_run(transfer);
       transfer->n++) {
    int room = ROUND - transfer->bytes,
        some = transfer->rest.n < room ? (int)transfer->rest.n : room;
    transfer->lengths[transfer->n] = some;
    transfer->at[transfer->n] = transfer->rest.file;
    transfer->from[transfer->n] = transfer->rest.memory;
    transfer->bytes += some;
    transfer->rest.n -= some;
    transfer->rest.file += some;
    transfer->rest.memory += some;
  }
}

static void pack_round(file_transfer *transfer) {
  char *to = transfer->buffer;
  for (int i = 0; i < transfer->n; to += transfer->lengths[i++])
    memcpy(to, memory_of(transfer, i), (size_t)transfer->lengths[i]);
}

static void unpack_round(file_transfer *transfer) {
  const char *from = transfer->buffer;
  for (int i = 0; i < transfer->n; from += transfer->lengths[i++])
    memcpy(memory_of(transfer, i), from, (size_t)transfer->lengths[i]);
}

/* All members call MPI in every round, those without runs with a count of 0. */
static int move_round(file_transfer *transfer) {
  MPI_Datatype runs = MPI_BYTE;
  MPI_Status status;
  int code, moved = 0, seen;
  if (transfer->n > 0) {
    MPI_Type_create_hindexed(transfer->n, transfer->lengths, transfer->at, MPI_BYTE, &runs);
    MPI_Type_commit(&runs);
  }
  seen =
      MPI_File_set_view(transfer->file, transfer->start, MPI_BYTE, runs, "native", MPI_INFO_NULL);
  if (transfer->n > 0)
    MPI_Type_free(&runs);
  int count = seen == MPI_SUCCESS ? transfer->bytes : 0;
  code = transfer->writing
             ? MPI_File_write_at_all(transfer->file, 0, transfer->buffer, count, MPI_BYTE, &status)
             : MPI_File_read_at_all(transfer->file, 0, transfer->buffer, count, MPI_BYTE, &status);
  const char *what = transfer->writing ? "cannot write" : "cannot read";
  RGI_TRY(rgi_file_mpi_error(what, transfer->path, seen));
  RGI_TRY(rgi_file_mpi_error(what, transfer->path, code));
  MPI_Get_count(&status, MPI_BYTE, &moved);
  if (moved != count)
    return rgi_error(RG_ERR_FILE, "%s %s: only %d of %d bytes", what, transfer->path, moved, count);
  return RG_SUCCESS;
}

static int one_round(file_transfer *transfer) {
  collect_runs(transfer);
  if (transfer->writing)
    pack_round(transfer);
  RGI_TRY(move_round(transfer));
  if (!transfer->writing)
    unpack_round(transfer);
  return RG_SUCCESS;
}

static int share_error(const file_transfer *transfer, int error) {
  return rgi_group_error_share(transfer->a->group, transfer->call, error);
}

static int all_rounds(file_transfer *transfer) {
  int more = 1;
  while (more) {
    RGI_TRY(share_error(transfer, one_round(transfer)));
    more = transfer->rest.n > 0 || transfer->runs.more;
    RGI_TRY(rg_allreduce(transfer->a->group, MPI_IN_PLACE, &more, 1, MPI_INT, MPI_MAX));
  }
  return transfer->writing
             ? share_error(transfer, rgi_file_mpi_error("cannot write", transfer->path,
                                                        MPI_File_sync(transfer->file)))
             : RG_SUCCESS;
}

/* Opens, moves, closes. comm holds the array's members, or the caller alone. */
static int with_file(file_transfer *transfer, MPI_Comm comm, MPI_Info how) {
  char name[strlen(transfer->path) + 5];
  sprintf(name, "%s%s", PREFIX && strchr(transfer->path, ':') ? "ufs:" : "", transfer->path);
  int mode = transfer->writing ? MPI_MODE_RDWR : MPI_MODE_RDONLY;
  int opened = MPI_File_open(comm, name, mode, how, &transfer->file);
  int code = share_error(transfer, rgi_file_mpi_error("cannot open", transfer->path, opened));
  if (opened != MPI_SUCCESS)
    return code;
  MPI_File_set_errhandler(transfer->file, MPI_ERRORS_RETURN);
  if (code == RG_SUCCESS)
    code = all_rounds(transfer);
  int closed = rgi_file_mpi_error("cannot close", transfer->path, MPI_File_close(&transfer->file));
  return code ? code : share_error(transfer, closed);
}

/* In a job that survives: MPI-IO over a communicator would wait for dead processes. Without data
 * sieving, by which a member would overwrite other members' elements between its own with what
 * they were before. */
static int transfer_alone(file_transfer *transfer) {
  MPI_Info how;
  MPI_Info_create(&how);
  MPI_Info_set(how, "romio_ds_write", "disable");
  int code = with_file(transfer, MPI_COMM_SELF, how);
  MPI_Info_free(&how);
  return code;
}

static int transfer_with_comm(file_transfer *transfer) {
  rg_group g; /* of its own, so that its communicator does not outlive the call */
  MPI_Comm comm;
  RGI_TRY(rg_group_dup(transfer->a->group, &g));
  int code = share_error(transfer, rg_group_comm(g, &comm));
  if (code == RG_SUCCESS)
    code = with_file(transfer, comm, MPI_INFO_NULL);
  rg_group_free(&g);
  return code;
}

static int transfer_all(const char *call, rg_array a, const char *path, int64_t start,
                        int writing) {
  file_transfer *transfer = malloc(sizeof *transfer);
  int code =
      transfer ? RG_SUCCESS : rgi_error(RG_ERR_NOMEM, "no memory for the buffers of %s", path);
  code = rgi_group_error_share(a->group, call, code);
  if (code == RG_SUCCESS) {
    transfer->call = call;
    transfer->a = a;
    transfer->path = path;
    transfer->start = start;
    transfer->writing = writing;
    transfer->rest.n = 0;
    start_runs(&transfer->runs, &a->d, a->me);
    code = rgi_guard_exists() ? transfer_alone(transfer) : transfer_with_comm(transfer);
  }
  free(transfer);
  return code;
}

int rgi_file_write(const char *call, rg_array a, const char *path, int64_t start) {
  return transfer_all(call, a, path, start, 1);
}

int rgi_file_read(const char *call, rg_array a, const char *path, int64_t start) {
  return transfer_all(call, a, path, start, 0);
}
