/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Runs in guards. The file has a line for each vote that was given: job, number of the decision,
 * node, and a dot: a line without it was not written to its end, and counts for nobody. It is read
 * and appended to under a lock of the whole file (fcntl), which file systems of several machines
 * have, too. A file system that does not answer keeps the thread; the caller goes on without the
 * vote. */
#include "noded/consensus/witness.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static struct {
  const char *path;
  uint64_t job;
  uint32_t number;
  int node, asked;
  _Atomic int holder;
} witness;

/* The node that has the vote, or RGI_WITNESS_FAILED if none has. */
static int find_vote(FILE *f) {
  char line[80], end;
  uint64_t job;
  uint32_t number;
  int node;
  rewind(f);
  while (fgets(line, sizeof line, f))
    if (sscanf(line, "%" SCNx64 " %" SCNu32 " %d %c", &job, &number, &node, &end) == 4 &&
        end == '.' && job == witness.job && number == witness.number)
      return node;
  return RGI_WITNESS_FAILED;
}

static int add_vote(FILE *f) {
  return fseek(f, 0, SEEK_END) == 0 &&
                 fprintf(f, "\n%" PRIx64 " %" PRIu32 " %d .\n", witness.job, witness.number,
                         witness.node) > 0 &&
                 fflush(f) == 0 && fsync(fileno(f)) == 0
             ? witness.node
             : RGI_WITNESS_FAILED;
}

static int lock_file(int fd) {
  struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  int failed;
  while ((failed = fcntl(fd, F_SETLKW, &l)) != 0 && errno == EINTR)
    ;
  return !failed;
}

/* Closing the file gives the lock back. */
static void *use_file(void *unused) {
  int fd = open(witness.path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  FILE *f = fd >= 0 ? fdopen(fd, "r+") : NULL;
  int holder = RGI_WITNESS_FAILED;
  if (f && lock_file(fd) && (holder = find_vote(f)) == RGI_WITNESS_FAILED)
    holder = add_vote(f);
  if (f)
    fclose(f);
  else if (fd >= 0)
    close(fd);
  atomic_store(&witness.holder, holder);
  return unused;
}

int rgi_witness_ask(const char *path, uint64_t job, uint32_t number, int node) {
  pthread_t thread;
  int last = witness.asked ? atomic_load(&witness.holder) : RGI_WITNESS_FAILED;
  if (last == RGI_WITNESS_PENDING) /* the thread still uses these */
    return RGI_WITNESS_PENDING;
  if (last >= 0 && witness.number == number && witness.job == job)
    return last;
  witness.path = path;
  witness.job = job;
  witness.number = number;
  witness.node = node;
  witness.asked = 1;
  atomic_store(&witness.holder, RGI_WITNESS_PENDING);
  if (pthread_create(&thread, NULL, use_file, NULL) != 0)
    atomic_store(&witness.holder, RGI_WITNESS_FAILED);
  else
    pthread_detach(thread);
  return atomic_load(&witness.holder);
}
