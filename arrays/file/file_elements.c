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
#include "file/file.h"
#include "file/file_run.h"
#include "noded/client/guard_client.h"

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
  rgi_file_runs runs;
  rgi_file_run rest;  /* of a run that did not fit into the last round; in bytes */
  int n;              /* runs of this round */
  int lengths[RUNS];  /* bytes */
  MPI_Aint at[RUNS];  /* in the file, from start */
  int64_t from[RUNS]; /* in memory, in bytes */
  int bytes;          /* of the round */
  char buffer[ROUND];
} file_transfer;

static char *memory_of(const file_transfer *t, int i) {
  return rgi_array_mine(t->a) + t->from[i];
}

/* The next run in bytes; an element may be longer than a round. Returns 0 if there is none. */
static int next_run(file_transfer *t) {
  int64_t element = (int64_t)t->a->element, most = ROUND / element;
  rgi_file_run run;
  if (t->rest.n > 0)
    return 1;
  if (!rgi_file_runs_next(&t->runs, most > 1 ? most : 1, &run))
    return 0;
  t->rest = (rgi_file_run){run.n * element, run.file * element, run.memory * element};
  return 1;
}

static void collect_runs(file_transfer *t) {
  t->bytes = 0;
  for (t->n = 0; t->n < RUNS && t->bytes < ROUND && next_run(t); t->n++) {
    int room = ROUND - t->bytes, some = t->rest.n < room ? (int)t->rest.n : room;
    t->lengths[t->n] = some;
    t->at[t->n] = t->rest.file;
    t->from[t->n] = t->rest.memory;
    t->bytes += some;
    t->rest.n -= some;
    t->rest.file += some;
    t->rest.memory += some;
  }
}

static void pack_round(file_transfer *t) {
  char *to = t->buffer;
  for (int i = 0; i < t->n; to += t->lengths[i++])
    memcpy(to, memory_of(t, i), (size_t)t->lengths[i]);
}

static void unpack_round(file_transfer *t) {
  const char *from = t->buffer;
  for (int i = 0; i < t->n; from += t->lengths[i++])
    memcpy(memory_of(t, i), from, (size_t)t->lengths[i]);
}

/* All members call MPI in every round, those without runs with a count of 0. */
static int move_round(file_transfer *t) {
  MPI_Datatype runs = MPI_BYTE;
  MPI_Status status;
  int code, moved = 0, seen;
  if (t->n > 0) {
    MPI_Type_create_hindexed(t->n, t->lengths, t->at, MPI_BYTE, &runs);
    MPI_Type_commit(&runs);
  }
  seen = MPI_File_set_view(t->file, t->start, MPI_BYTE, runs, "native", MPI_INFO_NULL);
  if (t->n > 0)
    MPI_Type_free(&runs);
  int count = seen == MPI_SUCCESS ? t->bytes : 0;
  code = t->writing ? MPI_File_write_at_all(t->file, 0, t->buffer, count, MPI_BYTE, &status)
                    : MPI_File_read_at_all(t->file, 0, t->buffer, count, MPI_BYTE, &status);
  const char *what = t->writing ? "cannot write" : "cannot read";
  RGI_TRY(rgi_file_mpi_error(what, t->path, seen));
  RGI_TRY(rgi_file_mpi_error(what, t->path, code));
  MPI_Get_count(&status, MPI_BYTE, &moved);
  if (moved != count)
    return rgi_error(RG_ERR_FILE, "%s %s: only %d of %d bytes", what, t->path, moved, count);
  return RG_SUCCESS;
}

static int one_round(file_transfer *t) {
  collect_runs(t);
  if (t->writing)
    pack_round(t);
  RGI_TRY(move_round(t));
  if (!t->writing)
    unpack_round(t);
  return RG_SUCCESS;
}

static int share_error(const file_transfer *t, int error) {
  return rgi_group_error_share(t->a->group, t->call, error);
}

static int all_rounds(file_transfer *t) {
  int more = 1;
  while (more) {
    RGI_TRY(share_error(t, one_round(t)));
    more = t->rest.n > 0 || t->runs.more;
    RGI_TRY(rg_allreduce(t->a->group, MPI_IN_PLACE, &more, 1, MPI_INT, MPI_MAX));
  }
  return t->writing
             ? share_error(t, rgi_file_mpi_error("cannot write", t->path, MPI_File_sync(t->file)))
             : RG_SUCCESS;
}

/* Opens, moves, closes. comm holds the array's members, or the caller alone. */
static int with_file(file_transfer *t, MPI_Comm comm, MPI_Info how) {
  char name[strlen(t->path) + 5];
  sprintf(name, "%s%s", PREFIX && strchr(t->path, ':') ? "ufs:" : "", t->path);
  int mode = t->writing ? MPI_MODE_RDWR : MPI_MODE_RDONLY;
  int opened = MPI_File_open(comm, name, mode, how, &t->file);
  int code = share_error(t, rgi_file_mpi_error("cannot open", t->path, opened));
  if (opened != MPI_SUCCESS)
    return code;
  MPI_File_set_errhandler(t->file, MPI_ERRORS_RETURN);
  if (code == RG_SUCCESS)
    code = all_rounds(t);
  int closed = rgi_file_mpi_error("cannot close", t->path, MPI_File_close(&t->file));
  return code ? code : share_error(t, closed);
}

/* In a job that survives: MPI-IO over a communicator would wait for dead processes. Without data
 * sieving, by which a member would overwrite other members' elements between its own with what
 * they were before. */
static int transfer_alone(file_transfer *t) {
  MPI_Info how;
  MPI_Info_create(&how);
  MPI_Info_set(how, "romio_ds_write", "disable");
  int code = with_file(t, MPI_COMM_SELF, how);
  MPI_Info_free(&how);
  return code;
}

static int transfer_with_comm(file_transfer *t) {
  rg_group g; /* of its own, so that its communicator does not outlive the call */
  MPI_Comm comm;
  RGI_TRY(rg_group_dup(t->a->group, &g));
  int code = share_error(t, rg_group_comm(g, &comm));
  if (code == RG_SUCCESS)
    code = with_file(t, comm, MPI_INFO_NULL);
  rg_group_free(&g);
  return code;
}

static int transfer_all(const char *call, rg_array a, const char *path, int64_t start,
                        int writing) {
  file_transfer *t = malloc(sizeof *t);
  int code = t ? RG_SUCCESS : rgi_error(RG_ERR_NOMEM, "no memory for the buffers of %s", path);
  code = rgi_group_error_share(a->group, call, code);
  if (code == RG_SUCCESS) {
    t->call = call;
    t->a = a;
    t->path = path;
    t->start = start;
    t->writing = writing;
    t->rest.n = 0;
    rgi_file_runs_start(&t->runs, &a->d, a->me);
    code = rgi_guard_exists() ? transfer_alone(t) : transfer_with_comm(t);
  }
  free(t);
  return code;
}

int rgi_file_write(const char *call, rg_array a, const char *path, int64_t start) {
  return transfer_all(call, a, path, start, 1);
}

int rgi_file_read(const char *call, rg_array a, const char *path, int64_t start) {
  return transfer_all(call, a, path, start, 0);
}
