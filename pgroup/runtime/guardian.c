/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Everything here but the end of the file runs in the guardian, which is a copy of the
 * process from before main: it uses nothing of MPI. */
#include "runtime/guardian.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/launcher.h"
#include "runtime/pause.h"

#define PATIENCE 60.0 /* seconds for survivors to begin to recover */
#define LOOK_SECONDS 0.01
#define READ_SECONDS 5.0

typedef struct {
  uint64_t will, excused; /* where they are */
  int processes;
} address;

typedef struct {
  rgi_will *will;
  const _Atomic uint32_t *excused;
  uint32_t processes;
} testament;

static int to_guardian = -1;

/* --- the guardian ------------------------------------------------------------------ */

static int read_address(int socket, address *a, int *fd) {
  char room[CMSG_SPACE(sizeof(int))];
  struct iovec part = {a, sizeof *a};
  struct msghdr m = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
  if (recvmsg(socket, &m, MSG_DONTWAIT) != (ssize_t)sizeof *a)
    return 0;
  struct cmsghdr *c = CMSG_FIRSTHDR(&m);
  if (!c || c->cmsg_type != SCM_RIGHTS)
    return 0;
  memcpy(fd, CMSG_DATA(c), sizeof *fd);
  return 1;
}

static void *map(int fd, uint64_t offset, size_t bytes) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE), from = offset / page * page;
  char *memory =
      mmap(NULL, offset - from + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)from);
  return memory == MAP_FAILED ? NULL : memory + (offset - from);
}

/* The last will that the rank told of: 1, or 0 if there is none. */
static int find_will(int socket, testament *t) {
  int fd = -1, newer;
  address a = {0, 0, 0}, next;
  while (read_address(socket, &next, &newer)) {
    if (fd >= 0)
      close(fd);
    fd = newer;
    a = next;
  }
  if (fd < 0)
    return 0;
  t->will = map(fd, a.will, sizeof *t->will);
  t->excused = map(fd, a.excused, sizeof *t->excused);
  t->processes = (uint32_t)a.processes;
  return t->will && t->excused;
}

/* The launcher drops what it has not read when it hears of the end, and may be late. */
static void await_reader(void) {
  int unread = 1;
  for (double end = rgi_now() + READ_SECONDS;
       unread > 0 && rgi_now() < end && ioctl(STDERR_FILENO, FIONREAD, &unread) == 0;)
    rgi_sleep(LOOK_SECONDS);
  rgi_sleep(0.05); /* to pass it on */
}

/* The launcher ends the whole job when this process ends by a signal, and only then for
 * sure: a rank that has not reached the launcher's barrier yet is not missed by it. */
static int give_up(int sign, const char *why) {
  fprintf(stderr, "regroup: rank %s was ended by signal %d (%s)%s: the job ends\n",
          getenv("PMI_RANK") ? getenv("PMI_RANK") : "?", sign, strsignal(sign), why);
  await_reader();
  kill(getpid(), SIGKILL);
  return 128 + sign;
}

/* The rank has been killed: its status for the launcher, when the others have ended. */
static int outlive(int socket, int sign) {
  testament t;
  if (!find_will(socket, &t) || atomic_load(&t.will->ready) < t.processes)
    return give_up(sign, " before rg_init had returned everywhere");
  rgi_will *will = t.will;
  atomic_fetch_add(&will->gone, 1);
  for (double begin = rgi_now(); !atomic_load(&will->outcome); rgi_sleep(LOOK_SECONDS)) {
    if (atomic_load(&will->gone) >= t.processes && !atomic_load(&will->outcome))
      return give_up(sign, " and nobody is left");
    if (!atomic_load(&will->held) && !atomic_load(t.excused) && rgi_now() - begin > PATIENCE)
      return give_up(sign, " and nobody has recovered");
    if (getppid() == 1)
      return 128 + sign; /* the launcher is gone */
  }
  rgi_launcher_leave();
  return 0;
}

/* The rank has ended by itself. */
static int leave(int socket, int status) {
  testament t;
  if (find_will(socket, &t))
    atomic_fetch_add(&t.will->gone, 1);
  return status;
}

/* The launcher ends a job by signals, which reach the rank as well unless they are
 * meant for the guardian alone. */
static void pass_on(pid_t rank, int sign, int *stopping) {
  if (sign == SIGUSR1 || sign == SIGUSR2 || sign == SIGCHLD)
    return;
  *stopping = 1;
  kill(rank, sign);
}

static int watch(pid_t rank, int socket, const sigset_t *signals) {
  int stopping = 0, status;
  for (;;) {
    siginfo_t info;
    if (sigwaitinfo(signals, &info) > 0)
      pass_on(rank, info.si_signo, &stopping);
    if (waitpid(rank, &status, WNOHANG) != rank)
      continue;
    if (WIFEXITED(status))
      return leave(socket, WEXITSTATUS(status));
    return stopping ? 128 + WTERMSIG(status) : outlive(socket, WTERMSIG(status));
  }
}

static void wanted_signals(sigset_t *set) {
  static const int all[] = {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
  sigemptyset(set);
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
    sigaddset(set, all[i]);
}

/* --- parting ------------------------------------------------------------------------- */

static int is_wanted(void) {
  const char *asked = getenv("RG_SURVIVE");
  return asked && strcmp(asked, "1") == 0 && getenv("PMI_FD") && !getenv("REGROUP_GUARDED");
}

__attribute__((constructor)) static void part(void) {
  int ends[2];
  sigset_t signals, before;
  if (!is_wanted() || socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends) != 0)
    return;
  setenv("REGROUP_GUARDED", "1", 1); /* programs that this one starts need none */
  wanted_signals(&signals);
  sigprocmask(SIG_BLOCK, &signals, &before);
  pid_t guardian = getpid(), rank = fork();
  if (rank > 0) {
    close(ends[1]);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* without the launcher nobody could end this job */
    _exit(watch(rank, ends[0], &signals));
  }
  sigprocmask(SIG_SETMASK, &before, NULL);
  close(ends[0]);
  if (rank < 0) { /* without a guardian the job does not survive, but runs */
    close(ends[1]);
    return;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != guardian)
    _exit(1);
  to_guardian = ends[1];
}

/* --- the rank ------------------------------------------------------------------------ */

int rgi_guarded(void) {
  return to_guardian >= 0;
}

void rgi_guardian_tell(int fd, uint64_t will, uint64_t excused, int processes) {
  char room[CMSG_SPACE(sizeof(int))] = {0};
  address a = {will, excused, processes};
  struct iovec part = {&a, sizeof a};
  struct msghdr m = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
  struct cmsghdr *c = CMSG_FIRSTHDR(&m);
  if (to_guardian < 0)
    return;
  c->cmsg_level = SOL_SOCKET;
  c->cmsg_type = SCM_RIGHTS;
  c->cmsg_len = CMSG_LEN(sizeof fd);
  memcpy(CMSG_DATA(c), &fd, sizeof fd);
  if (sendmsg(to_guardian, &m, MSG_NOSIGNAL) < 0 && errno != EPIPE)
    to_guardian = -1;
}
