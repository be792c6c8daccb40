/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Reading a checkpoint. Rank 0 reads the heads of both generations and broadcasts the newest one.
 * Each segment is read by one member, which puts its blocks into the arrays. If that generation
 * turns out to be damaged, the older one is tried. One that the system does not let be read is no
 * damaged one: it may be whole tomorrow. */
#include <errno.h>
#include <regroup/checkpoint.h>
#include <regroup/collectives.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/error_report.h"
#include "base/log.h"
#include "checkpoint/checkpoint_check.h"
#include "checkpoint/claim.h"
#include "checkpoint/generations.h"
#include "checkpoint/head.h"
#include "collectives/calls/group_error.h"
#include "distribution/distribution_owner.h"
#include "file/file.h"
#include "formation/group.h"
#include "object/array.h"
#include "runtime/runtime.h"

typedef struct {
  rg_group group;
  const char *path;
  int64_t n;
  const rg_array *arrays;
  void *state;
  size_t bytes;
  uint64_t written; /* the latest claim that the members know, if any has begun one; or 0 */
  uint64_t claimed; /* the latest claim before the files were read */
} load_call;

/* --- one generation ------------------------------------------------------------------------ */

static int fits_array(const char *name, int64_t i, rg_array a, const rgi_head_array *record) {
  if (record->type == a->type && record->element == a->element && record->d.dims == a->d.dims &&
      !memcmp(record->d.shape, a->d.shape, (size_t)record->d.dims * sizeof *record->d.shape))
    return RG_SUCCESS;
  return rgi_error(RG_ERR_FILE,
                   "%s: array %lld has type %d, %d dimensions and %lld elements along the first, "
                   "that which was saved type %d, %d and %lld",
                   name, (long long)i, (int)a->type, a->d.dims, (long long)a->d.shape[0],
                   (int)record->type, record->d.dims, (long long)record->d.shape[0]);
}

static int fits_head(const load_call *loading, const char *name, const rgi_head *head) {
  if (head->fixed->arrays != loading->n || head->fixed->state_bytes != loading->bytes)
    return rgi_error(
        RG_ERR_FILE, "%s holds %lld arrays and %llu bytes of state; %lld and %llu were to be read",
        name, (long long)head->fixed->arrays, (unsigned long long)head->fixed->state_bytes,
        (long long)loading->n, (unsigned long long)loading->bytes);
  for (int64_t i = 0; i < loading->n; i++)
    RGI_TRY(fits_array(name, i, loading->arrays[i], &head->saved[i]));
  return RG_SUCCESS;
}

/* Puts the blocks of one segment. writer: the rank that wrote it. */
static int put_blocks(void *context, const rgi_head *head, int writer, const char *segment) {
  const load_call *l = context;
  uint64_t at = 0;
  for (int64_t k = 0; k < l->n; k++) {
    const rgi_head_array *record = &head->saved[k];
    const char *from = segment + at;
    uint64_t end = rgi_head_segment_end(at, &record->d, record->element, writer);
    if (end > head->segments[writer].bytes)
      return rgi_error(RG_ERR_FILE, "%s is damaged: a part of it is too short", l->path);
    for (int64_t i = 0; i < rgi_distribution_blocks(&record->d, writer); i++) {
      int64_t lo[RG_ARRAY_MAX_DIMS], hi[RG_ARRAY_MAX_DIMS];
      int64_t elements = rgi_head_block(&record->d, writer, i, lo, hi);
      if (elements)
        RGI_TRY(rg_array_put(l->arrays[k], lo, hi, from, NULL));
      from += (size_t)elements * record->element;
    }
    at = end;
  }
  return RG_SUCCESS;
}

/* The error of one member on all of them. */
static int share_error(const load_call *loading, int error) {
  return rgi_group_error_share(loading->group, "rg_checkpoint_load", error);
}

/* On every member alike. */
static int read_arrays(load_call *loading, const rgi_head *head, const char *name) {
  int error = rgi_generations_read(loading->group, head, name, put_blocks, loading);
  return share_error(loading, error ? error : rg_array_fence(NULL));
}

/* *damaged: the other generation is to be tried. */
static int load_generation(load_call *loading, rgi_generations *generations, int i, int *damaged) {
  rgi_head head = {0};
  char name[sizeof generations->name[0]] = "";
  *damaged = 0;
  int error = rgi_generations_broadcast(loading->group, generations, i, &head, name);
  if (!error)
    error = share_error(loading, fits_head(loading, name, &head));
  if (!error) {
    error = read_arrays(loading, &head, name);
    *damaged = error == RG_ERR_FILE;
  }
  if (!error && loading->bytes)
    memcpy(loading->state, head.state, loading->bytes);
  if (!error) /* the program goes on from here: its next checkpoint may supersede all others */
    rgi_claim_note(
        loading->path,
        (rgi_claim_known){.number = loading->claimed, .whole = head.fixed->sequence, .loaded = 1});
  rgi_head_clear(&head);
  return error == RG_ERR_SYSTEM ? RG_ERR_FILE : error;
}

/* --- all generations ----------------------------------------------------------------------- */

static void warn_of_trouble(const load_call *loading, const rgi_generations *generations) {
  if (loading->group->me == 0 && generations->trouble[0])
    rgi_log(RGI_LOG_WARN, "rg_checkpoint_load: %s: an older checkpoint may have been taken",
            generations->trouble);
}

static int load_newest(load_call *loading, rgi_generations *generations, int numbers[2]) {
  int error = RG_SUCCESS, damaged = 1;
  for (int i = 0; i < numbers[0] && damaged; i++) {
    error = load_generation(loading, generations, i, &damaged);
    if (damaged)
      rgi_generations_note_trouble(generations);
  }
  if (numbers[0] && !damaged) {
    if (!error)
      warn_of_trouble(loading, generations);
    return error;
  }
  if (loading->group->me == 0)
    error = rgi_error(RG_ERR_FILE, "rg_checkpoint_load: no checkpoint %s is whole: %s",
                      loading->path, generations->trouble);
  else
    error = RG_SUCCESS;
  return share_error(loading, error);
}

/* Where there is no checkpoint: a folder that does not exist is a mistake, not a beginning. */
static int check_folder(const char *path) {
  const char *slash = strrchr(path, '/');
  struct stat status;
  if (!slash)
    return RG_SUCCESS;
  char folder[(size_t)(slash - path) + 2];
  snprintf(folder, sizeof folder, "%s", path);
  return stat(folder, &status) == 0
             ? RG_SUCCESS
             : rgi_file_system_error("cannot look for a checkpoint in", folder, errno);
}

/* Rank 0: what there is. */
static int look_for(load_call *loading, rgi_generations *generations) {
  RGI_TRY(rgi_claim_load(loading->path, loading->written, rgi_runtime.job, &loading->claimed));
  RGI_TRY(rgi_generations_find("rg_checkpoint_load", loading->path, generations));
  return generations->unreadable
             ? rgi_error(RG_ERR_FILE, "rg_checkpoint_load: %s", generations->trouble)
         : generations->there ? RG_SUCCESS
                              : check_folder(loading->path);
}

static int learn_written(load_call *loading) {
  rgi_claim_known known = rgi_claim_recall(loading->path);
  loading->written = known.begun ? known.number : 0;
  return rg_allreduce(loading->group, MPI_IN_PLACE, &loading->written, 1, MPI_UINT64_T, MPI_MAX);
}

static int load_any(load_call *loading, rgi_generations *generations, int *found) {
  for (int64_t i = 0; i < loading->n; i++)
    RGI_TRY(rg_array_sync(loading->arrays[i]));
  RGI_TRY(learn_written(loading));
  RGI_TRY(
      share_error(loading, loading->group->me == 0 ? look_for(loading, generations) : RG_SUCCESS));
  uint64_t told[] = {loading->claimed, (uint64_t)generations->n, (uint64_t)generations->there};
  RGI_TRY(rg_bcast(loading->group, told, 3, MPI_UINT64_T, 0));
  int numbers[] = {(int)told[1], (int)told[2]};
  loading->claimed = told[0];
  if (numbers[1])
    RGI_TRY(load_newest(loading, generations, numbers));
  *found = numbers[1] > 0;
  return RG_SUCCESS;
}

int rg_checkpoint_load(rg_group g, const char *path, int64_t n, const rg_array arrays[],
                       size_t bytes, void *state, int *found) {
  rgi_checkpoint_content content = {.n = n, .arrays = arrays, .bytes = bytes, .state = state};
  load_call l = {.path = path, .n = n, .arrays = arrays, .state = state, .bytes = bytes};
  RGI_REQUIRE(found);
  RGI_REQUIRE(path);
  RGI_TRY(rgi_checkpoint_check(__func__, g, &content));
  rgi_generations *generations = calloc(1, sizeof *generations);
  l.group = g;
  int error = share_error(
      &l, generations ? RG_SUCCESS
                      : rgi_error(RG_ERR_NOMEM, "rg_checkpoint_load: no memory for a head"));
  if (!error)
    error = load_any(&l, generations, found);
  if (generations)
    rgi_generations_clear(generations);
  free(generations);
  return rgi_error_report_under(__func__, error);
}
