/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Writing a checkpoint. When rg_checkpoint_start returns, each member has copied its elements, and
 * a writer, a thread, writes the copy to its segment of the file. The phases after that are
 * advanced by rg_checkpoint_test and rg_checkpoint_wait, on every member: WRITING     until the
 * member's writer has its segment on the disk; GATHERING   the results of all writers go to rank 0;
 *   COMMITTING  rank 0 only: if all have succeeded its writer writes the head and renames the file;
 *   TELLING     rank 0 broadcasts the outcome.
 * Gather and broadcast are non-blocking collectives on a group of the checkpoint's own. The file of
 * the generation before is not touched, so that a job that dies at any moment leaves one complete
 * checkpoint. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <regroup/checkpoint.h>
#include <regroup/collectives.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/error_report.h"
#include "base/mix.h"
#include "base/spare.h"
#include "checkpoint/checkpoint_check.h"
#include "checkpoint/claim.h"
#include "checkpoint/disk_writer.h"
#include "checkpoint/generations.h"
#include "checkpoint/head.h"
#include "collectives/calls/group_error.h"
#include "distribution/distribution_owner.h"
#include "file/file.h"
#include "formation/group.h"
#include "object/array.h"
#include "progress/wait.h"
#include "recovery/checkpoint_due.h"
#include "runtime/runtime.h"

#define MAGIC 0x63686b70u

typedef enum { WRITING, GATHERING, COMMITTING, TELLING } phase;

/* The result of a member's writer, and of the whole checkpoint. */
typedef struct {
  int32_t number, member; /* the system's error, and the member that had it */
  uint64_t checksum;
} segment_report;

struct rg_checkpoint_s {
  unsigned magic;
  rg_group group;
  char *part, *name; /* the file while it is written, and its final name */
  char *path;
  rgi_claim_known known; /* of the path, by any member */
  rgi_head head;
  int fd;
  char *copy;
  rgi_disk_writer writer;
  phase phase;
  rg_request request;
  segment_report mine, outcome, *all; /* all: rank 0 */
  double began, reported, written; /* times; written: seconds until the segment was on the disk */
  rg_checkpoint next;
};

/* The checkpoints that have not been ended: no two of them have the same path. */
static struct {
  pthread_mutex_t lock;
  rg_checkpoint first;
} under_way = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int is_under_way(const char *path) {
  int found = 0;
  pthread_mutex_lock(&under_way.lock);
  for (rg_checkpoint c = under_way.first; c; c = c->next)
    found |= !strcmp(c->path, path);
  pthread_mutex_unlock(&under_way.lock);
  return found;
}

static void list_checkpoint(rg_checkpoint checkpoint) {
  pthread_mutex_lock(&under_way.lock);
  checkpoint->next = under_way.first;
  under_way.first = checkpoint;
  pthread_mutex_unlock(&under_way.lock);
}

static void unlist_checkpoint(rg_checkpoint checkpoint) {
  pthread_mutex_lock(&under_way.lock);
  for (rg_checkpoint *link = &under_way.first; *link; link = &(*link)->next)
    if (*link == checkpoint) {
      *link = checkpoint->next;
      break;
    }
  pthread_mutex_unlock(&under_way.lock);
}

/* --- the start -------------------------------------------------------------------------- */

/* Every member: all give the same arguments, and no checkpoint to this path is under way. *known:
 * what any member knows of the path. */
static int check_same(const char *call, rg_group g, const char *path,
                      const rgi_checkpoint_content *content, rgi_claim_known *known) {
  uint64_t hash = rgi_file_hash(path, strlen(path), RGI_FILE_HASH_START);
  hash = rgi_mix_bits(rgi_mix_bits(hash + content->bytes) + (uint64_t)content->n);
  for (int64_t i = 0; i < content->n; i++)
    hash = rgi_mix_bits(hash + content->arrays[i]->hash);
  *known = rgi_claim_recall(path);
  uint64_t most[] = {hash,          ~hash,        (uint64_t)is_under_way(path),
                     known->number, known->whole, known->loaded,
                     known->failed};
  RGI_TRY(rg_allreduce(g, MPI_IN_PLACE, most, sizeof most / sizeof most[0], MPI_UINT64_T, MPI_MAX));
  *known =
      (rgi_claim_known){.number = most[3], .whole = most[4], .loaded = most[5], .failed = most[6]};
  if (most[2])
    return rgi_error(RG_ERR_ARG, "%s: the one before to %s has not been ended: rg_checkpoint_wait",
                     call, path);
  if (most[0] == ~most[1])
    return RG_SUCCESS;
  return rgi_error(RG_ERR_MISMATCH,
                   "%s: the members name different files (here %s), arrays or numbers of bytes",
                   call, path);
}

/* What rank 0 tells the others when it has claimed. */
typedef struct {
  int64_t word;   /* of its error */
  int64_t unsure; /* whether it is not known that the newest generation is whole */
  uint64_t number;
} claim_result;

static int find_readable(rg_checkpoint checkpoint, rgi_generations *generations) {
  RGI_TRY(rgi_generations_find("rg_checkpoint_start", checkpoint->path, generations));
  return generations->unreadable
             ? rgi_error(RG_ERR_FILE, "rg_checkpoint_start: %s", generations->trouble)
             : RG_SUCCESS;
}

/* Members of the latest claim need not look at the files before they claim again. *newest: the
 * greatest number that is in them. */
static int look_before(rg_checkpoint checkpoint, rgi_generations *generations, uint64_t *newest) {
  *newest = checkpoint->known.number;
  if (checkpoint->known.number && !checkpoint->known.loaded && !checkpoint->known.failed)
    return RG_SUCCESS;
  RGI_TRY(find_readable(checkpoint, generations));
  *newest = generations->n ? generations->head[0].fixed->sequence : 0;
  rgi_generations_clear(generations); /* until the claim another start could complete its own */
  *generations = (rgi_generations){0};
  return RG_SUCCESS;
}

/* Rank 0: claims, and finds the generations that are there. */
static int claim_checkpoint(rg_checkpoint checkpoint, rgi_generations *generations,
                            claim_result *result) {
  uint64_t newest;
  if (!generations)
    return rgi_error(RG_ERR_NOMEM, "rg_checkpoint_start: no memory for two heads");
  RGI_TRY(look_before(checkpoint, generations, &newest));
  RGI_TRY(rgi_claim_take(checkpoint->path, &checkpoint->known, newest, rgi_runtime.job,
                         &result->number));
  checkpoint->part = rgi_claim_part(
      checkpoint->path, result->number); /* start_checkpoint removes it after an error */
  RGI_TRY(find_readable(checkpoint, generations));
  result->unsure = generations->n == RGI_HEAD_GENERATIONS;
  for (int i = 0; i < generations->n; i++)
    result->unsure &= generations->head[i].fixed->sequence != checkpoint->known.whole;
  return RG_SUCCESS;
}

/* The name of the generation that the new one replaces: one that is not known to be whole, or else
 * the older. whole: whether the newest is. */
static char *name_to_replace(const rg_checkpoint checkpoint, const rgi_generations *generations,
                             int whole) {
  char *first = rgi_claim_name(checkpoint->path, ".0");
  if (first && generations->n) {
    int keep = generations->n == 2 &&
               (!whole || generations->head[1].fixed->sequence == checkpoint->known.whole);
    if (!strcmp(generations->name[keep], first)) /* the one that is kept */
      first[strlen(first) - 1] = '1';
  }
  return first;
}

static int cut_off(const struct rg_checkpoint_s *checkpoint) {
  return rgi_error(RG_ERR_FILE,
                   "%s: a later checkpoint was begun elsewhere: this job, or this part of it, is "
                   "cut off from one that goes on",
                   checkpoint->path);
}

/* Only a later claim removes the file of this start. */
static int explain_error(const struct rg_checkpoint_s *checkpoint, int error) {
  return error && access(checkpoint->part, F_OK) != 0 && errno == ENOENT ? cut_off(checkpoint)
                                                                         : error;
}

static int begin_file(rg_checkpoint checkpoint, const rgi_generations *generations, int whole) {
  checkpoint->name = name_to_replace(checkpoint, generations, whole);
  checkpoint->all = calloc((size_t)checkpoint->head.fixed->members, sizeof *checkpoint->all);
  if (!checkpoint->name || !checkpoint->all)
    return rgi_error(RG_ERR_NOMEM, "no memory for a checkpoint");
  return explain_error(
      checkpoint, rgi_file_extend(checkpoint->part, (int64_t)checkpoint->head.fixed->file_bytes));
}

/* The error of one member on all of them. */
static int share_error(const struct rg_checkpoint_s *checkpoint, int error) {
  return rgi_group_error_share(checkpoint->group, "rg_checkpoint_start", error);
}

/* Every member: whether the newest generation is whole. */
static int check_newest(rg_checkpoint checkpoint, const rgi_generations *generations, int *whole) {
  rgi_head head = {0};
  char name[sizeof generations->name[0]] = "";
  int error = rgi_generations_broadcast(checkpoint->group, generations, 0, &head, name);
  if (!error) {
    error =
        share_error(checkpoint, rgi_generations_read(checkpoint->group, &head, name, NULL, NULL));
    *whole = !error;
    error = error == RG_ERR_FILE ? RG_SUCCESS : error == RG_ERR_SYSTEM ? RG_ERR_FILE : error;
  }
  rgi_head_clear(&head);
  return error;
}

static int learn_claim(rg_checkpoint checkpoint, claim_result *result, int error) {
  RGI_TRY(rg_bcast(checkpoint->group, result, sizeof *result, MPI_BYTE, 0));
  RGI_TRY(rgi_group_error_tell(checkpoint->group, "rg_checkpoint_start", result->word, error));
  checkpoint->head.fixed->sequence = result->number;
  if (!checkpoint->part)
    checkpoint->part = rgi_claim_part(checkpoint->path, result->number);
  rgi_claim_note(checkpoint->path, (rgi_claim_known){.number = result->number, .begun = 1});
  return RG_SUCCESS;
}

/* Every member: claims the checkpoint, and makes its file. generations: rank 0's. */
static int make_file(rg_checkpoint checkpoint, rgi_generations *generations) {
  claim_result result = {0};
  int whole = 1;
  int error =
      checkpoint->group->me == 0 ? claim_checkpoint(checkpoint, generations, &result) : RG_SUCCESS;
  result.word = rgi_group_error_word(checkpoint->group, error);
  RGI_TRY(learn_claim(checkpoint, &result, error));
  if (result.unsure)
    RGI_TRY(check_newest(checkpoint, generations, &whole));
  error = checkpoint->part ? RG_SUCCESS : rgi_error(RG_ERR_NOMEM, "no memory for a name");
  if (!error && checkpoint->group->me == 0)
    error = begin_file(checkpoint, generations, whole);
  return share_error(checkpoint, error);
}

/* Copies the caller's segment. */
static int copy_elements(rg_checkpoint checkpoint, int64_t n, const rg_array arrays[]) {
  int me = checkpoint->group->me;
  uint64_t at = 0;
  for (int64_t k = 0; k < n; k++) {
    const rgi_distribution *layout = &arrays[k]->d;
    char *to = checkpoint->copy + at;
    for (int64_t i = 0; i < rgi_distribution_blocks(layout, me); i++) {
      int64_t lo[RG_ARRAY_MAX_DIMS], hi[RG_ARRAY_MAX_DIMS];
      int64_t elements = rgi_head_block(layout, me, i, lo, hi);
      if (elements)
        RGI_TRY(rg_array_get(arrays[k], lo, hi, to, NULL));
      to += (size_t)elements * arrays[k]->element;
    }
    uint64_t end = rgi_head_segment_end(at, layout, arrays[k]->element, me);
    memset(to, 0, (size_t)(checkpoint->copy + end - to));
    at = end;
  }
  return RG_SUCCESS;
}

static int open_and_copy(rg_checkpoint checkpoint, int64_t n, const rg_array arrays[]) {
  const rgi_head_segment *mine = &checkpoint->head.segments[checkpoint->group->me];
  checkpoint->fd = open(checkpoint->part, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
  if (checkpoint->fd < 0)
    return explain_error(checkpoint, rgi_file_system_error("cannot open", checkpoint->part, errno));
  checkpoint->copy = malloc(mine->bytes + 1);
  if (!checkpoint->copy)
    return rgi_error(RG_ERR_NOMEM, "no memory for a copy of %llu bytes to be written",
                     (unsigned long long)mine->bytes);
  return copy_elements(checkpoint, n, arrays);
}

static int make_head(const char *path, int64_t n, const rg_array arrays[], size_t bytes,
                     rg_checkpoint checkpoint) {
  checkpoint->path = rgi_claim_name(path, "");
  if (!checkpoint->path)
    return rgi_error(RG_ERR_NOMEM, "no memory for a name");
  for (int64_t i = 0; i < n; i++)
    if (!arrays[i]->confirmed)
      RGI_TRY(rgi_array_confirm("rg_checkpoint_start", arrays[i]));
  RGI_TRY(rg_array_fence(NULL));
  return rgi_head_make(rgi_members_count(checkpoint->group->members), n, arrays, bytes,
                       &checkpoint->head);
}

/* Frees the checkpoint. after_death: messages may still arrive in its memory, which is kept. */
static void release_checkpoint(rg_checkpoint checkpoint, int after_death) {
  if (checkpoint->fd >= 0)
    close(checkpoint->fd);
  unlist_checkpoint(checkpoint);
  free(checkpoint->copy);
  free(checkpoint->part);
  free(checkpoint->path);
  free(checkpoint->name);
  rgi_head_clear(&checkpoint->head);
  rg_group_free(&checkpoint->group);
  checkpoint->magic = 0;
  if (after_death)
    return;
  free(checkpoint->all);
  rgi_spare_free(checkpoint);
}

static int start_checkpoint(rg_checkpoint checkpoint, const char *path,
                            const rgi_checkpoint_content *content) {
  int64_t n = content->n;
  const rg_array *arrays = content->arrays;
  RGI_TRY(share_error(checkpoint, make_head(path, n, arrays, content->bytes, checkpoint)));
  if (checkpoint->group->me == 0 && content->bytes)
    memcpy(checkpoint->head.state, content->state, content->bytes);
  rgi_generations *generations = checkpoint->group->me == 0 ? calloc(1, sizeof *generations) : NULL;
  int error = make_file(checkpoint, generations);
  if (generations)
    rgi_generations_clear(generations);
  free(generations);
  if (!error)
    error = share_error(checkpoint, open_and_copy(checkpoint, n, arrays));
  if (error && checkpoint->group->me == 0 && checkpoint->part)
    unlink(checkpoint->part);
  return error;
}

/* A death, or a revocation after one, may hide that a member of this group has claimed: what the
 * member knew before stays. */
static void note_end(const char *path, int error, uint64_t whole) {
  if (error == RG_ERR_PROC_FAILED || error == RG_ERR_REVOKED)
    rgi_claim_note(path, (rgi_claim_known){.loaded = rgi_claim_recall(path).loaded, .failed = 1});
  else if (whole && !error)
    rgi_claim_note(path, (rgi_claim_known){.whole = whole});
}

static void start_writer(rg_checkpoint checkpoint) {
  const rgi_head_segment *mine = &checkpoint->head.segments[checkpoint->group->me];
  checkpoint->writer = (rgi_disk_writer){
      .fd = checkpoint->fd, .bytes = checkpoint->copy, .size = mine->bytes, .offset = mine->offset};
  rgi_disk_writer_start(&checkpoint->writer);
}

int rg_checkpoint_start(rg_group g, const char *path, int64_t n, const rg_array arrays[],
                        const void *state, size_t bytes, rg_checkpoint *made) {
  rgi_checkpoint_content content = {.n = n, .arrays = arrays, .bytes = bytes, .state = state};
  RGI_REQUIRE(made);
  RGI_REQUIRE(path);
  RGI_TRY(rgi_checkpoint_check(__func__, g, &content));
  rgi_claim_known known;
  int error = check_same(__func__, g, path, &content, &known);
  if (error) {
    note_end(path, error, 0);
    return rgi_error_report_under(__func__, error);
  }
  rg_checkpoint c = rgi_spare_alloc_zeroed(1, sizeof *c);
  if (!c)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory", __func__);
  c->fd = -1;
  c->known = known;
  c->began = rgi_clock_now();
  error = rgi_group_derive(g, &c->group);
  if (!error)
    error = start_checkpoint(c, path, &content);
  if (error) {
    note_end(path, error, 0);
    release_checkpoint(c, error == RG_ERR_PROC_FAILED);
    return rgi_error_report_under(__func__, error);
  }
  c->magic = MAGIC;
  list_checkpoint(c);
  start_writer(c);
  *made = c;
  return RG_SUCCESS;
}

/* --- the end ------------------------------------------------------------------------------ */

static int check_checkpoint(const char *call, const rg_checkpoint *checkpoint) {
  if (!checkpoint)
    return rgi_error(RG_ERR_ARG, "%s: c is NULL", call);
  if (*checkpoint && (*checkpoint)->magic != MAGIC)
    return rgi_error(RG_ERR_ARG, "%s: no checkpoint, or ended already", call);
  return *checkpoint ? rgi_group_check_member(call, (*checkpoint)->group) : RG_SUCCESS;
}

/* The writer has ended: its result goes to rank 0. */
static int send_report(rg_checkpoint checkpoint) {
  rgi_disk_writer_end(&checkpoint->writer);
  checkpoint->written = checkpoint->writer.ended - checkpoint->began;
  checkpoint->reported = rgi_clock_now();
  free(checkpoint->copy);
  checkpoint->copy = NULL;
  checkpoint->mine = (segment_report){checkpoint->writer.number, checkpoint->group->me,
                                      checkpoint->writer.checksum};
  checkpoint->phase = GATHERING;
  return rg_igather(checkpoint->group, &checkpoint->mine, sizeof checkpoint->mine, MPI_BYTE,
                    checkpoint->all, sizeof checkpoint->mine, MPI_BYTE, 0, &checkpoint->request);
}

static int send_outcome(rg_checkpoint checkpoint) {
  checkpoint->phase = TELLING;
  return rg_ibcast(checkpoint->group, &checkpoint->outcome, sizeof checkpoint->outcome, MPI_BYTE, 0,
                   &checkpoint->request);
}

/* By the writer's thread. */
static int name_file(void *checkpoint) {
  rg_checkpoint c = checkpoint;
  return rgi_claim_commit(c->path, c->head.fixed->sequence, c->part, c->name);
}

/* Rank 0: writes the head if all segments are on the disk. */
static int commit_checkpoint(rg_checkpoint checkpoint) {
  for (int i = 0; i < checkpoint->head.fixed->members; i++) {
    checkpoint->head.segments[i].checksum = checkpoint->all[i].checksum;
    if (checkpoint->all[i].number && !checkpoint->outcome.number)
      checkpoint->outcome = checkpoint->all[i];
  }
  if (checkpoint->outcome.number)
    return send_outcome(checkpoint);
  rgi_head_seal(&checkpoint->head);
  checkpoint->writer = (rgi_disk_writer){.fd = checkpoint->fd,
                                         .bytes = checkpoint->head.memory,
                                         .size = checkpoint->head.fixed->head_bytes,
                                         .finish = name_file,
                                         .context = checkpoint};
  checkpoint->phase = COMMITTING;
  rgi_disk_writer_start(&checkpoint->writer);
  return RG_SUCCESS;
}

static int end_commit(rg_checkpoint checkpoint) {
  rgi_disk_writer_end(&checkpoint->writer);
  checkpoint->outcome = (segment_report){checkpoint->writer.number, 0, 0};
  return send_outcome(checkpoint);
}

/* Advances the phases as far as possible without waiting. */
static int progress_checkpoint(rg_checkpoint checkpoint, int *done) {
  int over;
  if (checkpoint->phase == WRITING && atomic_load(&checkpoint->writer.ready.value))
    RGI_TRY(send_report(checkpoint));
  if (checkpoint->phase == GATHERING) {
    RGI_TRY(rg_test(&checkpoint->request, &over, NULL));
    if (over)
      RGI_TRY(checkpoint->group->me == 0 ? commit_checkpoint(checkpoint)
                                         : send_outcome(checkpoint));
  }
  if (checkpoint->phase == COMMITTING && atomic_load(&checkpoint->writer.ready.value))
    RGI_TRY(end_commit(checkpoint));
  if (checkpoint->phase == TELLING)
    RGI_TRY(rg_test(&checkpoint->request, done, NULL));
  return RG_SUCCESS;
}

/* Waits until the present phase can end. */
static int pause_for(const char *call, rg_checkpoint checkpoint) {
  rgi_wait wait;
  if (checkpoint->phase == GATHERING || checkpoint->phase == TELLING)
    return rg_wait(&checkpoint->request, NULL);
  rgi_wait_start(&wait, call, -1);
  wait.outside = 1;
  while (!atomic_load(&checkpoint->writer.ready.value))
    RGI_TRY(rgi_wait_bell(&wait, &checkpoint->writer.ready, 0, 1));
  return RG_SUCCESS;
}

/* Ends a checkpoint that is complete or has failed. */
static int finish_checkpoint(rg_checkpoint *checkpoint, int error) {
  rg_checkpoint was = *checkpoint;
  rgi_disk_writer_cancel(&was->writer);
  if (!error && was->outcome.number == ESTALE)
    error = cut_off(was);
  else if (!error && was->outcome.number) {
    error = rgi_file_system_error("cannot write", was->part, was->outcome.number);
    if (was->outcome.member != was->group->me)
      rgi_error_from(error, "rg_checkpoint_wait", was->outcome.member, rg_error_detail());
  }
  if (error && was->group->me == 0)
    unlink(was->part);
  if (!error)
    rgi_checkpoint_due_cost(was->written + rgi_clock_now() - was->reported);
  note_end(was->path, error, was->head.fixed->sequence);
  release_checkpoint(was, error == RG_ERR_PROC_FAILED || error == RG_ERR_REVOKED);
  *checkpoint = NULL;
  return error;
}

int rg_checkpoint_test(rg_checkpoint *checkpoint, int *done) {
  int over = 0;
  RGI_REQUIRE(done);
  RGI_TRY(check_checkpoint(__func__, checkpoint));
  int error = *checkpoint ? progress_checkpoint(*checkpoint, &over) : RG_SUCCESS;
  if (*checkpoint && (error || over)) {
    over = 1;
    RGI_TRY(rgi_error_report_under(__func__, finish_checkpoint(checkpoint, error)));
  }
  *done = over || !*checkpoint;
  return RG_SUCCESS;
}

int rg_checkpoint_wait(rg_checkpoint *checkpoint) {
  int done = 0, error = RG_SUCCESS;
  RGI_TRY(check_checkpoint(__func__, checkpoint));
  while (*checkpoint && !error && !done) {
    error = progress_checkpoint(*checkpoint, &done);
    if (!error && !done)
      error = pause_for(__func__, *checkpoint);
    if (error == RG_ERR_TIMEOUT)
      return rgi_error_report_under(__func__, error);
  }
  return *checkpoint ? rgi_error_report_under(__func__, finish_checkpoint(checkpoint, error))
                     : RG_SUCCESS;
}
