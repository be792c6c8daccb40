/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The number is text in the file <path>.lock. Who claims removes the unfinished file of the claim
 * before: so the one before cannot commit any more even where the file system has no locks. */
#include "checkpoint/claim.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "file/file.h"

#define LOCK_SECONDS 10.0 /* the lock is held for a few writes to the disk */

/* --- what this process knows -------------------------------------------------------------- */

typedef struct record {
  rgi_claim_known known;
  struct record *next;
  char path[];
} record;

/* It outlives rg_finalize: the process remains the one that has claimed. */
static struct {
  pthread_mutex_t lock;
  record *first;
} records = {.lock = PTHREAD_MUTEX_INITIALIZER};

static record *find_record(const char *path) {
  record *r = records.first;
  while (r && strcmp(r->path, path))
    r = r->next;
  return r;
}

rgi_claim_known rgi_claim_recall(const char *path) {
  pthread_mutex_lock(&records.lock);
  record *r = find_record(path);
  rgi_claim_known known = r ? r->known : (rgi_claim_known){0};
  pthread_mutex_unlock(&records.lock);
  return known;
}

void rgi_claim_note(const char *path, rgi_claim_known known) {
  pthread_mutex_lock(&records.lock);
  record *r = find_record(path);
  if (!r && (r = calloc(1, sizeof *r + strlen(path) + 1))) {
    strcpy(r->path, path);
    r->next = records.first;
    records.first = r;
  }
  if (r)
    r->known = (rgi_claim_known){.number = known.number ? known.number : r->known.number,
                                 .whole = known.whole ? known.whole : r->known.whole,
                                 .free = known.free};
  pthread_mutex_unlock(&records.lock);
}

/* --- the file of the number ---------------------------------------------------------------- */

static char *name_of(const char *path, const char *end) {
  char *name = malloc(strlen(path) + strlen(end) + 1);
  if (name)
    sprintf(name, "%s%s", path, end);
  return name;
}

char *rgi_claim_part(const char *path, uint64_t number) {
  char end[40];
  snprintf(end, sizeof end, ".part.%" PRIu64, number);
  return name_of(path, end);
}

/* Locks until the file is closed. File systems without locks are used without. */
static int lock_file(int fd) {
  struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  double end = rgi_clock_now() + LOCK_SECONDS;
  while (fcntl(fd, F_OFD_SETLK, &all) != 0) {
    if (errno == EINVAL || errno == ENOLCK || errno == ENOSYS || errno == EOPNOTSUPP)
      return 0;
    if ((errno != EAGAIN && errno != EACCES && errno != EINTR) || rgi_clock_now() > end)
      return errno;
    rgi_clock_sleep(0.005);
  }
  return 0;
}

/* Opens and locks the file and reads its number, 0 if it is empty. Returns the system's error. */
static int open_number(const char *path, int *fd, uint64_t *number) {
  char text[32] = "";
  char *name = name_of(path, ".lock");
  if (!name)
    return ENOMEM;
  *fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  free(name);
  if (*fd < 0)
    return errno;
  int error = lock_file(*fd);
  if (!error && pread(*fd, text, sizeof text - 1, 0) < 0)
    error = errno;
  *number = strtoull(text, NULL, 10);
  if (error)
    close(*fd);
  return error;
}

static int write_number(int fd, uint64_t number) {
  char text[32];
  int n = snprintf(text, sizeof text, "%" PRIu64 "\n", number);
  errno = ENOSPC; /* of a write that is too short */
  return pwrite(fd, text, (size_t)n, 0) == n && fsync(fd) == 0 ? 0 : errno;
}

static int remove_part(const char *path, uint64_t number) {
  char *part = rgi_claim_part(path, number);
  int error = !part ? ENOMEM : unlink(part) != 0 && errno != ENOENT ? errno : 0;
  free(part);
  return error;
}

int rgi_claim_take(const char *path, const rgi_claim_known *known, uint64_t least,
                   uint64_t *number) {
  uint64_t last;
  int fd, error = open_number(path, &fd, &last);
  if (error)
    return rgi_file_system_error("cannot lock checkpoints", path, error);
  if (last > known->number && known->number && !known->free) {
    close(fd);
    return rgi_error(RG_ERR_FILE,
                     "%s: checkpoint %" PRIu64 " was begun elsewhere after checkpoint %" PRIu64
                     " here: this job, or this part of it, is cut off from one that goes on",
                     path, last, known->number);
  }
  error = remove_part(path, last);
  *number = (last > least ? last : least) + 1;
  if (*number <= known->number)
    *number = known->number + 1;
  if (!error)
    error = write_number(fd, *number);
  close(fd);
  return error ? rgi_file_system_error("cannot write the lock of", path, error) : RG_SUCCESS;
}

/* --- the end --------------------------------------------------------------------------------- */

/* Writes the folder to the disk, on file systems that can. */
static int sync_folder(const char *name) {
  const char *slash = strrchr(name, '/');
  char folder[slash ? (size_t)(slash - name) + 2 : 2];
  snprintf(folder, sizeof folder, "%s", slash ? name : ".");
  int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return errno;
  int error = fsync(fd) == 0 || errno == EINVAL || errno == EOPNOTSUPP ? 0 : errno;
  close(fd);
  return error;
}

int rgi_claim_commit(const char *path, uint64_t number, const char *part, const char *name) {
  uint64_t last;
  int fd, error = open_number(path, &fd, &last);
  if (error)
    return error;
  if (last != number)
    error = ESTALE;
  else if (rename(part, name) != 0)
    error = errno == ENOENT ? ESTALE : errno; /* removed by a later start */
  else
    error = sync_folder(name);
  close(fd);
  return error;
}
