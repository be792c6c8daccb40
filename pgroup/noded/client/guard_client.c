/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Runs in ranks, but for the fork before main, which parts a process into guard and rank: the
 * parent goes into guard.c and never returns from there. Constructors of other libraries may run
 * before this one or after it; what those after it make exists in the rank only. Threads that those
 * before it have started exist in the guard only: Debian 13's UCX has one. A lock that it holds
 * during the fork stays taken in the rank, and MPI_Init hangs. So the fork waits until all other
 * threads sleep. Where an interpreter opens the library, its threads hold locks while they sleep:
 * then there is no fork. */
#include "noded/client/guard_client.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/option_table.h"
#include "base/task.h"
#include "mpich/mpich.h"
#include "noded/daemon/news.h"

/* Of 1000, the whole memory: the daemon counts as using all pages that it has touched of the
 * arena, which is at most half of the memory unless the user says otherwise. */
#define OOM_RAISE 500
#define OOM_MOST 1000
#define OOM_NEVER (-1000)

/* For threads that libraries have started. OpenBLAS's spin for some 0.1 s. */
#define SETTLE_SECONDS 1.0

static int to_guard = -1;
static pid_t own; /* this rank's process: a child of it has no guard */
static int blind; /* rgi_guard_blind */

__attribute__((weak)) int rgi_guard_is_unwanted(void) {
  return 0;
}

static int is_wanted(void) {
  return strcmp(rgi_option_text(RGI_OPT_SURVIVE), "1") == 0 && rgi_mpich_pmi_speaks() &&
         !getenv("REGROUP_GUARDED") && !rgi_guard_is_unwanted();
}

/* Old kernels and some containers have no pidfds. Guard and rank are under the same filter. */
static int find_blindness(void) {
  int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
  if (fd < 0)
    return errno;
  close(fd);
  return 0;
}

/* Where memory runs out the kernel kills the process that uses most: that shall be a rank, whose
 * death the job survives, and not the daemon. Every process may raise its own score. */
static void raise_oom_score(void) {
  char text[16] = "";
  int fd = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
  int score = fd >= 0 && read(fd, text, sizeof text - 1) > 0 ? atoi(text) : OOM_NEVER;
  int raised = score + OOM_RAISE < OOM_MOST ? score + OOM_RAISE : OOM_MOST;
  int length = snprintf(text, sizeof text, "%d", raised);
  if (score != OOM_NEVER && pwrite(fd, text, (size_t)length, 0) < 0)
    errno = 0; /* the job runs nevertheless */
  if (fd >= 0)
    close(fd);
}

/* The frame of a constructor is so near below argv at the program's start, and farther away within
 * dlopen, which keeps several places to return to on the stack. */
#define START_BYTES 1024

/* Why this process cannot part into two any more; NULL: it can. */
static const char *find_obstacle(char **argv, const char *frame) {
  if ((uintptr_t)argv - (uintptr_t)frame < START_BYTES)
    return NULL;
  if (rgi_mpich_has_begun())
    return "MPI has begun";
  return rgi_task_count() > 1 ? "the process has several threads" : NULL;
}

static int may_fork(char **argv, const char *frame) {
  const char *obstacle = find_obstacle(argv, frame);
  if (obstacle)
    fprintf(stderr,
            "regroup: rank %s: the library was loaded when %s: without a guard the job does not "
            "survive this rank's death; load the library before, or preload it\n",
            rgi_mpich_pmi_rank(), obstacle);
  return !obstacle;
}

/* The C library calls constructors as it calls main. */
__attribute__((constructor)) static void fork_child(int argc, char **argv) {
  int ends[2];
  pid_t launcher = getppid();
  sigset_t signals, before;
  (void)argc;
  if (!is_wanted() || !may_fork(argv, __builtin_frame_address(0)) ||
      socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends) != 0)
    return;
  setenv("REGROUP_GUARDED", "1", 1); /* programs that this one starts need no guard */
  rgi_mpich_calm_transport();
  rgi_guard_signals(&signals);
  sigprocmask(SIG_BLOCK, &signals, &before);
  blind = find_blindness();
  rgi_task_settle(SETTLE_SECONDS);
  pid_t guard = getpid(), rank = fork();
  if (rank > 0) {
    close(ends[1]);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* without the launcher no process could end this job */
    if (getppid() != launcher)        /* it has ended before; with this process the rank does */
      _exit(1);
    _exit(rgi_guard_watch(rank, ends[0], &signals));
  }
  sigprocmask(SIG_SETMASK, &before, NULL);
  close(ends[0]);
  if (rank < 0) { /* without a guard the job does not survive, but runs */
    close(ends[1]);
    return;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != guard)
    _exit(1);
  raise_oom_score();
  unsetenv(RGI_NEWS_MARK);
  own = getpid();
  to_guard = ends[1];
}

int rgi_guard_exists(void) {
  return to_guard >= 0;
}

int rgi_guard_blind(void) {
  return blind;
}

void rgi_guard_tell(const rgi_guard_addresses *addresses, int fd, int listener, int pipe) {
  char room[CMSG_SPACE(RGI_GUARD_FDS * sizeof(int))] = {0};
  int fds[RGI_GUARD_FDS] = {fd, listener, pipe}, n = listener >= 0 ? RGI_GUARD_FDS : 1;
  rgi_guard_addresses copy = *addresses;
  struct iovec part = {&copy, sizeof copy};
  struct msghdr m = {.msg_iov = &part,
                     .msg_iovlen = 1,
                     .msg_control = room,
                     .msg_controllen = CMSG_SPACE((size_t)n * sizeof(int))};
  struct cmsghdr *c = CMSG_FIRSTHDR(&m);
  if (to_guard < 0)
    return;
  c->cmsg_level = SOL_SOCKET;
  c->cmsg_type = SCM_RIGHTS;
  c->cmsg_len = CMSG_LEN((size_t)n * sizeof(int));
  memcpy(CMSG_DATA(c), fds, (size_t)n * sizeof(int));
  if (sendmsg(to_guard, &m, MSG_NOSIGNAL) < 0 && errno != EPIPE)
    to_guard = -1;
}

void rgi_guard_tell_end(rgi_guard_phase phase) {
  if (to_guard >= 0 && getpid() == own)
    send(to_guard, &phase, sizeof phase, MSG_NOSIGNAL | MSG_DONTWAIT);
}
