/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Everything here but the end of the file runs in the guard, which is a copy of the
 * process from before main: it uses nothing of MPI. */
#include "noded/guard.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "noded/daemon.h"
#include "noded/overlay.h"
#include "noded/pmi.h"
#include "shm/arena.h"
#include "shm/process_table.h"

#define CHECK_SECONDS 0.01
#define READ_SECONDS 5.0
#define FDS 3 /* that may come with an address: arena, listener, pipe */

static int to_guard = -1;

/* --- the guard ------------------------------------------------------------------ */

typedef struct {
  pid_t rank;
  int socket, signals; /* from the rank; from everybody */
  int ended, status;   /* the rank has, and how (waitpid's) */
  int stopping;        /* the launcher has told it to */
  double stopped;      /* since when the rank has been; 0: it is not */
  rgi_guard_addresses where;
  rgi_process_table table;
  rgi_process_job *job; /* NULL before rg_init */
  int daemon;           /* readable when the node's daemon, another guard, has ended; or -1 */
} guarded_child;

static int read_addresses(guarded_child *w, rgi_guard_addresses *a, int fds[FDS]) {
  char room[CMSG_SPACE(FDS * sizeof(int))];
  struct iovec part = {a, sizeof *a};
  struct msghdr m = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
  if (recvmsg(w->socket, &m, MSG_DONTWAIT) != (ssize_t)sizeof *a)
    return 0;
  struct cmsghdr *c = CMSG_FIRSTHDR(&m);
  if (!c || c->cmsg_type != SCM_RIGHTS)
    return 0;
  int n = (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
  for (int i = 0; i < FDS; i++)
    fds[i] = -1;
  memcpy(fds, CMSG_DATA(c), (size_t)n * sizeof(int));
  return 1;
}

static void watch_daemon(guarded_child *w) {
  rgi_overlay *overlay = rgi_arena_at(w->where.overlay);
  w->daemon = (int)syscall(SYS_pidfd_open, atomic_load(&overlay->daemon_pid), 0);
}

/* The library has started, perhaps anew. */
static void take_addresses(guarded_child *w, const rgi_guard_addresses *a, const int fds[FDS]) {
  rgi_daemon_close();
  if (w->daemon >= 0)
    close(w->daemon);
  w->daemon = -1;
  w->where = *a;
  w->job = NULL;
  if (!rgi_arena_attach(fds[0]))
    return;
  w->table = (rgi_process_table){.members = rgi_arena_at(a->members), .n = a->processes, .me = -1};
  rgi_process_table_attach(&w->table, rgi_arena_at(a->process_table), a->world);
  w->job = &w->table.journal->job;
  if (!a->overlay)
    return;
  if (fds[1] >= 0)
    rgi_daemon_open(rgi_arena_at(a->overlay), &w->table, fds[1], fds[2]);
  else
    watch_daemon(w);
}

static void hear_rank(guarded_child *w) {
  rgi_guard_addresses a;
  int fds[FDS];
  while (read_addresses(w, &a, fds))
    take_addresses(w, &a, fds);
}

/* The launcher drops what it has not read when it hears of the end, and may be late. */
static void await_reader(void) {
  int unread = 1;
  for (double end = rgi_clock_now() + READ_SECONDS;
       unread > 0 && rgi_clock_now() < end && ioctl(STDERR_FILENO, FIONREAD, &unread) == 0;)
    rgi_clock_sleep(CHECK_SECONDS);
  rgi_clock_sleep(0.05); /* to pass it on */
}

/* One line is enough. Of the guards of a launcher's process the first one listens, and takes no
 * more than one connection: who has it tells. It lasts until the listener ends, so that nobody
 * else tells in the moment between the end of who has told and that of all. */
static struct sockaddr_un teller_address = {.sun_family = AF_UNIX};

static void listen_to_tellers(void) {
  char space[32] = "";
  int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (readlink("/proc/self/ns/pid", space, sizeof space - 1) < 0)
    space[0] = 0;
  snprintf(teller_address.sun_path + 1, sizeof teller_address.sun_path - 1, "regroup-end-%d-%s",
           (int)getppid(), space);
  if (bind(s, (struct sockaddr *)&teller_address, sizeof teller_address) != 0 || listen(s, 0) != 0)
    close(s);
}

/* Where nobody listens the listener itself may have told, and all end very soon. */
static int is_to_tell(void) {
  int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  for (double end = rgi_clock_now() + READ_SECONDS; rgi_clock_now() < end;
       rgi_clock_sleep(CHECK_SECONDS)) {
    if (connect(s, (struct sockaddr *)&teller_address, sizeof teller_address) == 0)
      return 1;
    if (errno == EAGAIN)
      return 0;
  }
  return 1;
}

/* The launcher ends the whole job when this process ends by a signal, and only then for
 * sure: a rank that has not reached the launcher's barrier yet is not missed by it. */
static int end_job(int sign, const char *why) {
  if (is_to_tell()) {
    fprintf(stderr, "regroup: rank %s was ended by signal %d (%s)%s: the job ends\n",
            getenv("PMI_RANK") ? getenv("PMI_RANK") : "?", sign, strsignal(sign), why);
    await_reader();
  } else {
    rgi_clock_sleep(READ_SECONDS +
                    1); /* the other one ends it meanwhile, when its line has been read */
  }
  kill(getpid(), SIGKILL);
  return 128 + sign;
}

/* All others wait for one another, for this one, perhaps, inside MPI. */
static int check_patience(const guarded_child *w, int sign) {
  char why[100];
  double patience = w->where.patience;
  if (patience <= 0 || !rgi_process_table_all_waiting(&w->table, patience))
    return -1;
  snprintf(why, sizeof why, " and all others have been waiting for %g s", patience);
  return end_job(sign, why);
}

/* The rank has been killed: its status for the launcher, or -1 as long as the others have
 * not ended. */
static int outlive_child(const guarded_child *w) {
  int sign = WTERMSIG(w->status);
  uint32_t outcome = w->job ? atomic_load(&w->job->outcome) : 0, all = (uint32_t)w->where.processes;
  if (!w->job || (!outcome && atomic_load(&w->job->ready) < all))
    return end_job(sign, " before rg_init had returned everywhere");
  if (outcome == RGI_PROCESS_JOB_DONE) {
    rgi_pmi_finalize();
    return 0;
  }
  if (outcome == RGI_PROCESS_JOB_LOST ||
      (!w->where.overlay && atomic_load(&w->job->gone) >= all && !atomic_load(&w->job->outcome)))
    return end_job(sign, " and nobody is left");
  return w->where.overlay ? -1 : check_patience(w, sign);
}

/* The launcher ends a job by signals, which reach the rank as well unless they are
 * meant for the guard alone. */
static void pass_signal_on(guarded_child *w, int sign) {
  if (sign == SIGUSR1 || sign == SIGUSR2 || sign == SIGCHLD)
    return;
  w->stopping = 1;
  if (!w->ended)
    kill(w->rank, sign);
}

static void look_at_rank(guarded_child *w) {
  struct signalfd_siginfo info;
  while (read(w->signals, &info, sizeof info) == (ssize_t)sizeof info)
    pass_signal_on(w, (int)info.ssi_signo);
  hear_rank(w);
  if (w->ended || waitpid(w->rank, &w->status, WNOHANG) != w->rank)
    return;
  w->ended = 1;
  hear_rank(w); /* its last words */
  if (!w->job)
    return;
  rgi_process_table_ended(&w->table, (int)w->rank);
  atomic_fetch_add(&w->job->gone, 1);
}

/* By a signal, or by whoever debugs it. */
static int is_stopped(pid_t pid) {
  char path[32], text[512], *end;
  snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
  FILE *f = fopen(path, "r");
  if (!f)
    return 0;
  text[fread(text, 1, sizeof text - 1, f)] = 0;
  fclose(f);
  end = strrchr(text, ')'); /* of the program's name */
  return end && (end[2] == 'T' || end[2] == 't');
}

static void look_at_stopping(guarded_child *w) {
  double now = rgi_clock_now();
  if (w->where.stopped <= 0 || w->ended)
    return;
  if (!is_stopped(w->rank))
    w->stopped = 0;
  else if (w->stopped == 0)
    w->stopped = now;
  else if (now - w->stopped > w->where.stopped)
    kill(w->rank, SIGKILL);
}

/* Without its daemon, or cut off by the others, this node has no part in the job. */
static int look_at_node(guarded_child *w) {
  struct pollfd gone = {w->daemon, POLLIN, 0};
  rgi_daemon_step();
  const char *why = rgi_daemon_fatal_reason();
  if (!why && w->daemon >= 0 && poll(&gone, 1, 0) > 0 && !atomic_load(&w->job->outcome))
    why = " because the daemon of its node is gone";
  if (!why)
    return -1;
  if (!w->ended)
    kill(w->rank, SIGKILL);
  listen_to_tellers(); /* who did may be gone */
  return end_job(SIGKILL, why);
}

/* The guard's status, or -1: it goes on. */
static int step_guard(guarded_child *w) {
  look_at_rank(w);
  look_at_stopping(w);
  int status = look_at_node(w);
  if (status >= 0 || !w->ended)
    return status;
  int well = WIFEXITED(w->status);
  if (w->stopping || getppid() == 1) /* the launcher is gone */
    return well ? WEXITSTATUS(w->status) : 128 + WTERMSIG(w->status);
  if (well && WEXITSTATUS(w->status) != 0)
    return WEXITSTATUS(w->status);
  if (w->job && atomic_load(&w->job->outcome) != RGI_PROCESS_JOB_LOST && rgi_daemon_needed())
    return -1;
  return well ? 0 : outlive_child(w);
}

static int watch_child(pid_t rank, int socket, const sigset_t *signals) {
  guarded_child w = {.rank = rank, .socket = socket, .daemon = -1};
  w.signals = signalfd(-1, signals, SFD_CLOEXEC | SFD_NONBLOCK);
  listen_to_tellers();
  for (;;) {
    struct pollfd all[] = {{w.signals, POLLIN, 0},
                           {w.ended ? -1 : socket, POLLIN, 0},
                           {rgi_daemon_fd(), POLLIN, 0},
                           {w.ended ? -1 : w.daemon, POLLIN, 0}};
    int often = rgi_daemon_busy() || w.where.stopped > 0;
    poll(all, 4, w.ended ? (int)(1000 * CHECK_SECONDS) : often ? 100 : -1);
    if (all[1].revents & POLLHUP && !w.ended) /* the rank is about to end */
      rgi_clock_sleep(1e-3);
    int status = step_guard(&w);
    if (status >= 0)
      return status;
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

__attribute__((constructor)) static void fork_child(void) {
  int ends[2];
  sigset_t signals, before;
  if (!is_wanted() || socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends) != 0)
    return;
  setenv("REGROUP_GUARDED", "1", 1); /* programs that this one starts need none */
  wanted_signals(&signals);
  sigprocmask(SIG_BLOCK, &signals, &before);
  pid_t guard = getpid(), rank = fork();
  if (rank > 0) {
    close(ends[1]);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* without the launcher nobody could end this job */
    _exit(watch_child(rank, ends[0], &signals));
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
  to_guard = ends[1];
}

/* --- the rank ------------------------------------------------------------------------ */

int rgi_guard_exists(void) {
  return to_guard >= 0;
}

void rgi_guard_tell(const rgi_guard_addresses *a, int fd, int listener, int pipe) {
  char room[CMSG_SPACE(FDS * sizeof(int))] = {0};
  int fds[FDS] = {fd, listener, pipe}, n = listener >= 0 ? FDS : 1;
  rgi_guard_addresses copy = *a;
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
