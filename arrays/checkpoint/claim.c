/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The file <path>.lock holds three numbers as text: the latest claim, the job that has claimed it,
 * and the job that has loaded last; jobs by random numbers. A process that claims removes the
 * unfinished file of the claim before; the process that made that claim then cannot commit any
 * more. The new process makes a file of its own, and fails if another process has made it. These
 * two steps alone let one writer only commit: the lock is for those that would claim at the same
 * moment, and is done without where the file system has none, or where a process that holds it is
 * stopped. */
#include "checkpoint/claim.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "file/file.h"

#define LOCK_SECONDS                                                                               \
  10.0 /* the lock is held for a few writes to the disk, unless its holder is stopped */

#define BLOCKED_SECONDS 0.05  /* when the lock has been waited for in vain before */
#define ABANDONED_SECONDS 2.0 /* between the file of a claim and its number */

/* --- what this process knows -------------------------------------------------------------- */

typedef struct record {
  rgi_claim_known known;
  int blocked; /* the lock was waited for in vain: its holder is stopped */
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

/* With the lock. NULL: no memory. */
static record *make_record(const char *path) {
  record *r = find_record(path);
  if (!r && (r = calloc(1, sizeof *r + strlen(path) + 1))) {
    strcpy(r->path, path);
    r->next = records.first;
    records.first = r;
  }
  return r;
}

static int is_blocked(const char *path) {
  pthread_mutex_lock(&records.lock);
  record *r = find_record(path);
  int blocked = r && r->blocked;
  pthread_mutex_unlock(&records.lock);
  return blocked;
}

static void note_blocked(const char *path, int blocked) {
  pthread_mutex_lock(&records.lock);
  record *r = make_record(path);
  if (r)
    r->blocked = blocked;
  pthread_mutex_unlock(&records.lock);
}

void rgi_claim_note(const char *path, rgi_claim_known known) {
  pthread_mutex_lock(&records.lock);
  record *r = make_record(path);
  if (r)
    r->known = (rgi_claim_known){.number = known.number ? known.number : r->known.number,
                                 .whole = known.whole ? known.whole : r->known.whole,
                                 .begun = known.begun ? known.begun : r->known.begun,
                                 .loaded = known.loaded,
                                 .failed = known.failed};
  pthread_mutex_unlock(&records.lock);
}

/* --- the file of the number ---------------------------------------------------------------- */

char *rgi_claim_name(const char *path, const char *end) {
  char *name = malloc(strlen(path) + strlen(end) + 1);
  if (name)
    sprintf(name, "%s%s", path, end);
  return name;
}

char *rgi_claim_part(const char *path, uint64_t number) {
  char end[40];
  snprintf(end, sizeof end, ".part.%" PRIu64, number);
  return rgi_claim_name(path, end);
}

/* Locks until the file is closed; whether it can. */
static int lock_file(const char *path, int fd) {
  struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  int blocked = is_blocked(path);
  double end = rgi_clock_now() + (blocked ? BLOCKED_SECONDS : LOCK_SECONDS);
  while (fcntl(fd, F_OFD_SETLK, &all) != 0) {
    if (errno != EAGAIN && errno != EACCES && errno != EINTR)
      return 0;
    if (rgi_clock_now() > end) {
      note_blocked(path, 1);
      return 0;
    }
    rgi_clock_sleep(0.005);
  }
  if (blocked)
    note_blocked(path, 0);
  return 1;
}

/* What the file holds; older ones hold the number only. */
typedef struct {
  uint64_t number, claimed, loaded;
} claim_record;

static int read_record(int fd, claim_record *entry) {
  char text[96] = "";
  int error = pread(fd, text, sizeof text - 1, 0) < 0 ? errno : 0;
  *entry = (claim_record){0};
  sscanf(text, "%" SCNu64 " %" SCNx64 " %" SCNx64, &entry->number, &entry->claimed, &entry->loaded);
  return error;
}

/* The file of the number, open. */
typedef struct {
  int fd, locked;
  claim_record record; /* zero if the file is empty */
} number_file;

/* Opens and locks the file and reads its number. Returns the system's error. A link is not
 * followed: whoever may write to the folder could have it lead to any file of the caller's. */
static int open_number(const char *path, int flags, number_file *file) {
  char *name = rgi_claim_name(path, ".lock");
  if (!name)
    return ENOMEM;
  file->fd = open(name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0666);
  free(name);
  if (file->fd < 0)
    return errno;
  file->locked = lock_file(path, file->fd);
  int error = read_record(file->fd, &file->record);
  if (error)
    close(file->fd);
  return error;
}

/* Always as many bytes, so that nothing of an older record remains. */
static int write_record(int fd, const claim_record *entry) {
  char text[96];
  int n = snprintf(text, sizeof text, "%020" PRIu64 " %016" PRIx64 " %016" PRIx64 "\n",
                   entry->number, entry->claimed, entry->loaded);
  errno = ENOSPC; /* of a write that is too short */
  return pwrite(fd, text, (size_t)n, 0) == n ? 0 : errno;
}

static int write_durably(int fd, const claim_record *entry) {
  int error = write_record(fd, entry);
  return error ? error : fsync(fd) == 0 ? 0 : errno;
}

static int remove_part(const char *path, uint64_t number) {
  char *part = rgi_claim_part(path, number);
  int error = !part ? ENOMEM : unlink(part) != 0 && errno != ENOENT ? errno : 0;
  free(part);
  return error;
}

static int make_part(const char *path, uint64_t number) {
  char *part = rgi_claim_part(path, number);
  int fd = part ? open(part, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666) : -1;
  int error = fd >= 0 ? 0 : part ? errno : ENOMEM;
  if (fd >= 0)
    close(fd);
  free(part);
  return error;
}

/* Of a claim that has failed: the disk may be full. */
static void remove_empty(const char *path, int fd) {
  char *name = rgi_claim_name(path, ".lock");
  struct stat status;
  if (name && fstat(fd, &status) == 0 && status.st_size == 0)
    unlink(name);
  free(name);
}

/* Where the caller may not write. */
static int read_number_only(const char *path, uint64_t *number) {
  claim_record entry;
  char *name = rgi_claim_name(path, ".lock");
  int fd = name ? open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
  int error = fd >= 0 ? read_record(fd, &entry) : name ? errno : ENOMEM;
  free(name);
  if (fd >= 0)
    close(fd);
  if (error)
    return rgi_file_system_error("cannot read the number of checkpoints", path, error);
  *number = entry.number;
  return RG_SUCCESS;
}

static int cut_off(const char *path, uint64_t there, uint64_t here) {
  return rgi_error(RG_ERR_FILE,
                   "%s: checkpoint %" PRIu64 " was begun elsewhere after checkpoint %" PRIu64
                   " here: this job, or this part of it, is cut off from one that goes on",
                   path, there, here);
}

/* Makes the file of claim `next`, and writes the number. EEXIST: another one has claimed. */
static int claim_number(const char *path, const number_file *file, uint64_t next, uint64_t job) {
  claim_record now;
  int error = make_part(path, next);
  if (error)
    return error;
  error = read_record(file->fd, &now); /* it can have changed only without the lock */
  if (!error)
    error = now.number > file->record.number
                ? EEXIST
                : write_durably(file->fd, &(claim_record){next, job, now.loaded});
  if (error)
    remove_part(path, next);
  return error;
}

/* Without the lock: whether the one that has made the next file has died before it wrote the
 * number. If it lives it finds its file gone. */
static int is_abandoned(const number_file *file) {
  claim_record now;
  rgi_clock_sleep(ABANDONED_SECONDS);
  return read_record(file->fd, &now) == 0 && now.number == file->record.number;
}

static int claim_next(const char *path, const number_file *file, uint64_t job, uint64_t *next) {
  int error = remove_part(path, file->record.number);
  if (!error)
    error = claim_number(path, file, *next, job);
  if (error == EEXIST && (file->locked || is_abandoned(file))) {
    error = remove_part(path, *next);
    if (!error)
      error = claim_number(path, file, ++*next, job);
  }
  return error;
}

/* Whether others have claimed since, and go on. */
static int is_late(const claim_record *entry, const rgi_claim_known *known, uint64_t job) {
  return entry->number > known->number && (known->number || known->loaded) &&
         !(known->loaded && entry->loaded == job) && !(known->failed && entry->claimed == job);
}

int rgi_claim_take(const char *path, const rgi_claim_known *known, uint64_t least, uint64_t job,
                   uint64_t *number) {
  number_file file;
  int error = open_number(path, O_CREAT, &file);
  if (error)
    return rgi_file_system_error("cannot read the number of checkpoints", path, error);
  uint64_t next = least > known->number ? least : known->number;
  int late = is_late(&file.record, known, job);
  next = (file.record.number > next ? file.record.number : next) + 1;
  if (!late)
    error = claim_next(path, &file, job, &next);
  if (error)
    remove_empty(path, file.fd);
  close(file.fd);
  if (!late && error != EEXIST) /* the file may have the number, also after an error */
    rgi_claim_note(
        path, (rgi_claim_known){
                  .number = next, .begun = 1, .loaded = known->loaded, .failed = known->failed});
  if (late || error == EEXIST)
    return cut_off(path, late ? file.record.number : next, known->number);
  if (error)
    return rgi_file_system_error("cannot begin a checkpoint", path, error);
  *number = next;
  return RG_SUCCESS;
}

int rgi_claim_load(const char *path, uint64_t written, uint64_t job, uint64_t *number) {
  number_file file;
  int error = open_number(path, 0, &file);
  *number = 0;
  if (error == ENOENT)
    return RG_SUCCESS;
  if (error == EACCES || error == EROFS)
    return read_number_only(path, number);
  if (error)
    return rgi_file_system_error("cannot read the number of checkpoints", path, error);
  *number = file.record.number;
  int late = written && *number > written && file.record.claimed != job;
  if (!late) {
    file.record.loaded = job;
    write_record(file.fd, &file.record); /* if it cannot be written, others count as later */
  }
  close(file.fd);
  return late ? cut_off(path, *number, written) : RG_SUCCESS;
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
  number_file file;
  int error = open_number(path, O_CREAT, &file);
  if (error)
    return error;
  if (file.record.number > number)
    error = ESTALE;
  else if (rename(part, name) != 0)
    error = errno == ENOENT ? ESTALE : errno; /* removed by a later start */
  else
    error = sync_folder(name);
  close(file.fd);
  return error;
}
