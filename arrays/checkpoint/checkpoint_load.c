/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Reading a checkpoint. Rank 0 reads the heads of both generations and broadcasts the newest one.
 * Each segment is read by one member, which puts its blocks into the arrays. If that generation
 * turns out to be damaged, the older one is tried. */
#include <errno.h>
#include <fcntl.h>
#include <regroup/checkpoint.h>
#include <regroup/collectives.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "checkpoint/checkpoint_check.h"
#include "checkpoint/head.h"
#include "distribution/distribution_owner.h"
#include "file/file.h"
#include "formation/group.h"
#include "object/array.h"

typedef struct {
  rg_group group;
  const char *path;
  int64_t n;
  const rg_array *arrays;
  void *state;
  size_t bytes;
} loading;

/* What rank 0 has found: the valid heads, the newest first. */
typedef struct {
  int n, there;
  rgi_head head[RGI_HEAD_GENERATIONS];
  char name[RGI_HEAD_GENERATIONS][4096];
  char trouble[600]; /* the errors of the others */
} finding;

static void note_trouble(finding *f) {
  size_t used = strlen(f->trouble);
  snprintf(f->trouble + used, sizeof f->trouble - used, "%s%.290s", used ? "; " : "",
           rg_error_detail());
}

static int find_heads(const char *path, finding *f) {
  if (strlen(path) > sizeof f->name[0] - 8)
    return rgi_error(RG_ERR_ARG, "rg_checkpoint_load: the path is too long");
  for (int i = 0; i < RGI_HEAD_GENERATIONS; i++) {
    int there;
    snprintf(f->name[f->n], sizeof f->name[0], "%s.%d", path, i);
    int error = rgi_head_read(f->name[f->n], &there, &f->head[f->n]);
    f->there += there;
    if (error)
      note_trouble(f);
    f->n += there && !error;
  }
  if (f->n == 2 && f->head[1].fixed->sequence > f->head[0].fixed->sequence) {
    rgi_head older = f->head[0];
    f->head[0] = f->head[1];
    f->head[1] = older;
    snprintf(f->name[0], sizeof f->name[0], "%s.1", path);
    snprintf(f->name[1], sizeof f->name[1], "%s.0", path);
  }
  return RG_SUCCESS;
}

/* --- one generation ------------------------------------------------------------------------ */

static int fits_array(const char *name, int64_t i, rg_array a, const rgi_head_array *s) {
  if (s->type == a->type && s->element == a->element && s->d.dims == a->d.dims &&
      !memcmp(s->d.shape, a->d.shape, (size_t)s->d.dims * sizeof *s->d.shape))
    return RG_SUCCESS;
  return rgi_error(RG_ERR_FILE,
                   "%s: array %lld has type %d, %d dimensions and %lld elements along the first, "
                   "that which was saved type %d, %d and %lld",
                   name, (long long)i, (int)a->type, a->d.dims, (long long)a->d.shape[0],
                   (int)s->type, s->d.dims, (long long)s->d.shape[0]);
}

static int fits_head(const loading *l, const char *name, const rgi_head *h) {
  if (h->fixed->arrays != l->n || h->fixed->state_bytes != l->bytes)
    return rgi_error(RG_ERR_FILE,
                     "%s holds %lld arrays and %llu bytes of state; %lld and %llu were to be read",
                     name, (long long)h->fixed->arrays, (unsigned long long)h->fixed->state_bytes,
                     (long long)l->n, (unsigned long long)l->bytes);
  for (int64_t i = 0; i < l->n; i++)
    RGI_TRY(fits_array(name, i, l->arrays[i], &h->saved[i]));
  return RG_SUCCESS;
}

/* Puts the blocks of one segment. writer: the rank that wrote it. */
static int put_blocks(const loading *l, const rgi_head *h, int writer, const char *segment) {
  uint64_t at = 0;
  for (int64_t k = 0; k < l->n; k++) {
    const rgi_head_array *s = &h->saved[k];
    const char *from = segment + at;
    for (int64_t i = 0; i < rgi_distribution_blocks(&s->d, writer); i++) {
      int64_t lo[RG_ARRAY_MAX_DIMS], hi[RG_ARRAY_MAX_DIMS];
      int64_t elements = rgi_head_block(&s->d, writer, i, lo, hi);
      if (elements)
        RGI_TRY(rg_array_put(l->arrays[k], lo, hi, from, NULL));
      from += (size_t)elements * s->element;
    }
    at = rgi_head_segment_end(at, &s->d, s->element, writer);
  }
  return RG_SUCCESS;
}

static int read_bytes(int fd, const char *name, char *to, const rgi_head_segment *s) {
  for (uint64_t done = 0; done < s->bytes;) {
    ssize_t got = pread(fd, to + done, s->bytes - done, (off_t)(s->offset + done));
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return rgi_file_system_error("cannot read", name, errno);
    if (got == 0)
      return rgi_error(RG_ERR_FILE, "%s is truncated", name);
    done += (uint64_t)got;
  }
  return rgi_head_hash(to, s->bytes, RGI_HEAD_HASH_START) == s->checksum
             ? RG_SUCCESS
             : rgi_error(RG_ERR_FILE, "%s is damaged: a checksum of its elements differs", name);
}

static int read_segment(const loading *l, const rgi_head *h, int fd, const char *name, int i) {
  const rgi_head_segment *s = &h->segments[i];
  if (s->offset > h->fixed->file_bytes || s->bytes > h->fixed->file_bytes - s->offset)
    return rgi_error(RG_ERR_FILE, "%s is damaged: its head makes no sense", name);
  char *segment = malloc(s->bytes + 1);
  if (!segment)
    return rgi_error(RG_ERR_NOMEM, "rg_checkpoint_load: no memory for %llu bytes",
                     (unsigned long long)s->bytes);
  int error = read_bytes(fd, name, segment, s);
  if (!error)
    error = put_blocks(l, h, i, segment);
  free(segment);
  return error;
}

/* The members read the segments in turn, so that all read about equally many. */
static int read_segments(const loading *l, const rgi_head *h, const char *name) {
  int fd = open(name, O_RDONLY | O_CLOEXEC), error = RG_SUCCESS;
  if (fd < 0)
    return rgi_file_system_error("cannot open", name, errno);
  int step = rgi_members_count(l->group->members);
  for (int i = l->group->me; !error && i < h->fixed->members; i += step)
    error = read_segment(l, h, fd, name, i);
  close(fd);
  return error ? error : rg_array_fence(NULL);
}

/* Broadcasts rank 0's i-th head and its file's name. */
static int broadcast_head(const loading *l, finding *f, int i, rgi_head *h, char *name) {
  uint64_t bytes = l->group->me == 0 ? f->head[i].fixed->head_bytes : 0;
  RGI_TRY(rg_bcast(l->group, &bytes, 1, MPI_UINT64_T, 0));
  h->memory = malloc(bytes);
  RGI_TRY(rgi_file_agree(l->group,
                         h->memory ? RG_SUCCESS : rgi_error(RG_ERR_NOMEM, "no memory for a head")));
  if (l->group->me == 0) {
    memcpy(h->memory, f->head[i].memory, bytes);
    memcpy(name, f->name[i], sizeof f->name[i]);
  }
  RGI_TRY(rg_bcast(l->group, h->memory, (MPI_Count)bytes, MPI_BYTE, 0));
  RGI_TRY(rg_bcast(l->group, name, sizeof f->name[i], MPI_BYTE, 0));
  return rgi_file_agree(l->group, rgi_head_work_out(h));
}

/* *damaged: the other generation is to be tried. */
static int load_generation(const loading *l, finding *f, int i, int *damaged) {
  rgi_head h = {0};
  char name[sizeof f->name[0]] = "";
  *damaged = 0;
  int error = broadcast_head(l, f, i, &h, name);
  if (!error)
    error = rgi_file_agree(l->group, fits_head(l, name, &h));
  if (!error) {
    error = rgi_file_agree(l->group, read_segments(l, &h, name));
    *damaged = error == RG_ERR_FILE;
  }
  if (!error && l->bytes)
    memcpy(l->state, h.state, l->bytes);
  rgi_head_clear(&h);
  return error;
}

/* --- all generations
 * ------------------------------------------------------------------------------ */

static void warn_of_trouble(const loading *l, const finding *f) {
  if (l->group->me == 0 && f->trouble[0])
    rgi_log(RGI_LOG_WARN, "rg_checkpoint_load: %s: an older checkpoint may have been taken",
            f->trouble);
}

static int load_newest(const loading *l, finding *f, int numbers[2]) {
  int error = RG_SUCCESS, damaged = 1;
  for (int i = 0; i < numbers[0] && damaged; i++) {
    error = load_generation(l, f, i, &damaged);
    if (damaged)
      note_trouble(f);
  }
  if (numbers[0] && !damaged) {
    if (!error)
      warn_of_trouble(l, f);
    return error;
  }
  if (l->group->me == 0)
    error = rgi_error(RG_ERR_FILE, "rg_checkpoint_load: no checkpoint %s is whole: %s", l->path,
                      f->trouble);
  else
    error = RG_SUCCESS;
  return rgi_file_agree(l->group, error);
}

static int load_any(const loading *l, finding *f, int *found) {
  int numbers[2];
  for (int64_t i = 0; i < l->n; i++)
    RGI_TRY(rg_array_sync(l->arrays[i]));
  RGI_TRY(rgi_file_agree(l->group, l->group->me == 0 ? find_heads(l->path, f) : RG_SUCCESS));
  numbers[0] = f->n;
  numbers[1] = f->there;
  RGI_TRY(rg_bcast(l->group, numbers, 2, MPI_INT, 0));
  if (numbers[1])
    RGI_TRY(load_newest(l, f, numbers));
  *found = numbers[1] > 0;
  return RG_SUCCESS;
}

int rg_checkpoint_load(rg_group g, const char *path, int64_t n, const rg_array arrays[],
                       size_t bytes, void *state, int *found) {
  rgi_checkpoint_content content = {.n = n, .arrays = arrays, .bytes = bytes, .state = state};
  loading l = {.path = path, .n = n, .arrays = arrays, .state = state, .bytes = bytes};
  RGI_REQUIRE(found);
  RGI_REQUIRE(path);
  RGI_TRY(rgi_checkpoint_check(__func__, g, &content));
  finding *f = calloc(1, sizeof *f);
  int error = rgi_file_agree(
      g, f ? RG_SUCCESS : rgi_error(RG_ERR_NOMEM, "rg_checkpoint_load: no memory for a head"));
  l.group = g;
  if (!error)
    error = load_any(&l, f, found);
  for (int i = 0; f && i < f->n; i++)
    rgi_head_clear(&f->head[i]);
  free(f);
  return error;
}
