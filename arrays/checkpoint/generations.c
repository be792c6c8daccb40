/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Finding the generations of a checkpoint, and reading one: the members read the segments in turn,
 * so that all read about equally many. */
#include "checkpoint/generations.h"

#include <errno.h>
#include <fcntl.h>
#include <regroup/collectives.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "collectives/calls/group_error.h"
#include "file/file.h"
#include "formation/group.h"

void rgi_generations_note_trouble(rgi_generations *generations) {
  size_t used = strlen(generations->trouble);
  snprintf(generations->trouble + used, sizeof generations->trouble - used, "%s%.290s",
           used ? "; " : "", rg_error_detail());
}

int rgi_generations_find(const char *call, const char *path, rgi_generations *generations) {
  if (strlen(path) > sizeof generations->name[0] - 8)
    return rgi_error(RG_ERR_ARG, "%s: the path is too long", call);
  for (int i = 0; i < RGI_HEAD_GENERATIONS; i++) {
    rgi_head_found found;
    snprintf(generations->name[generations->n], sizeof generations->name[0], "%s.%d", path, i);
    int error = rgi_head_read(generations->name[generations->n], &found,
                              &generations->head[generations->n]);
    if (error == RG_ERR_NOMEM) /* of this process: the file may be whole */
      return error;
    generations->there += found != RGI_HEAD_ABSENT;
    generations->unreadable += found == RGI_HEAD_UNREADABLE;
    if (error)
      rgi_generations_note_trouble(generations);
    generations->n += found == RGI_HEAD_THERE && !error;
  }
  if (generations->n == 2 &&
      generations->head[1].fixed->sequence > generations->head[0].fixed->sequence) {
    rgi_head older = generations->head[0];
    generations->head[0] = generations->head[1];
    generations->head[1] = older;
    snprintf(generations->name[0], sizeof generations->name[0], "%s.1", path);
    snprintf(generations->name[1], sizeof generations->name[1], "%s.0", path);
  }
  return RG_SUCCESS;
}

void rgi_generations_clear(rgi_generations *generations) {
  for (int i = 0; i < generations->n; i++)
    rgi_head_clear(&generations->head[i]);
}

int rgi_generations_broadcast(rg_group g, const rgi_generations *generations, int i, rgi_head *head,
                              char *name) {
  uint64_t bytes = g->me == 0 ? generations->head[i].fixed->head_bytes : 0;
  RGI_TRY(rg_bcast(g, &bytes, 1, MPI_UINT64_T, 0));
  head->memory = malloc(bytes);
  RGI_TRY(rgi_group_error_share(g, "the head of a checkpoint",
                                head->memory ? RG_SUCCESS
                                             : rgi_error(RG_ERR_NOMEM, "no memory for a head")));
  if (g->me == 0) {
    memcpy(head->memory, generations->head[i].memory, bytes);
    memcpy(name, generations->name[i], sizeof generations->name[i]);
  }
  RGI_TRY(rg_bcast(g, head->memory, (MPI_Count)bytes, MPI_BYTE, 0));
  RGI_TRY(rg_bcast(g, name, sizeof generations->name[i], MPI_BYTE, 0));
  return rgi_group_error_share(g, "the head of a checkpoint", rgi_head_work_out(head));
}

static int read_bytes(int fd, const char *name, char *to, const rgi_head_segment *segment) {
  RGI_TRY(rgi_head_read_bytes(fd, name, to, segment->bytes, segment->offset));
  return rgi_head_hash(to, segment->bytes, RGI_HEAD_HASH_START) == segment->checksum
             ? RG_SUCCESS
             : rgi_error(RG_ERR_FILE, "%s is damaged: a checksum of its elements differs", name);
}

/* What reading the segments of one file needs. */
typedef struct {
  const rgi_head *head;
  const char *name;
  int fd;
  rgi_generations_use *use;
  void *context;
} segment_reading;

static int read_segment(const segment_reading *reading, int i) {
  const rgi_head_segment *s = &reading->head->segments[i];
  uint64_t file_bytes = reading->head->fixed->file_bytes;
  if (s->offset > file_bytes || s->bytes > file_bytes - s->offset)
    return rgi_error(RG_ERR_FILE, "%s is damaged: its head makes no sense", reading->name);
  char *segment = malloc(s->bytes + 1);
  if (!segment)
    return rgi_error(RG_ERR_NOMEM, "no memory for %llu bytes of %s", (unsigned long long)s->bytes,
                     reading->name);
  int error = read_bytes(reading->fd, reading->name, segment, s);
  if (!error && reading->use)
    error = reading->use(reading->context, reading->head, i, segment);
  free(segment);
  return error;
}

int rgi_generations_read(rg_group g, const rgi_head *head, const char *name,
                         rgi_generations_use *use, void *context) {
  segment_reading r = {.head = head,
                       .name = name,
                       .fd = open(name, O_RDONLY | O_CLOEXEC),
                       .use = use,
                       .context = context};
  int error = RG_SUCCESS;
  if (r.fd < 0) {
    rgi_file_system_error("cannot open", name, errno);
    return RG_ERR_SYSTEM;
  }
  int step = rgi_members_count(g->members);
  for (int i = g->me; !error && i < head->fixed->members; i += step)
    error = read_segment(&r, i);
  close(r.fd);
  return error;
}
