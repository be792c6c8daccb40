/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Everything here but the end of the file runs in the guardian, which is a copy of the
 * process from before main: it uses nothing of MPI. */
#include "noded/guardian.h"

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

#include "base/pause.h"
#include "noded/launcher.h"
#include "noded/mesh.h"
#include "noded/speaker.h"
#include "shm/arena.h"
#include "shm/process_table.h"

#define LOOK_SECONDS 0.01
#define READ_SECONDS 5.0
#define FDS 3 /* that may come with an address: arena, listener, pipe */

static int to_guardian = -1;

/* --- the guardian ------------------------------------------------------------------ */

typedef struct {
  pid_t rank;
  int socket, signals; /* from the rank; from everybody */
  int ended, status;   /* the rank has, and how (waitpid's) */
  int stopping;        /* the launcher has told it to */
  double stopped;      /* since when the rank has been; 0: it is not */
  rgi_addresses where;
  rgi_process_table table;
  rgi_job_outcome *will; /* NULL before rg_init */
  int speaker;           /* readable when the node's speaker, another guardian, has ended; or -1 */
} ward;

static int read_addresses(ward *w, rgi_addresses *a, int fds[FDS]) {
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

static void watch_speaker(ward *w) {
  rgi_mesh *mesh = rgi_arena_at(w->where.mesh);
  w->speaker = (int)syscall(SYS_pidfd_open, atomic_load(&mesh->speaker), 0);
}

/* The library has started, perhaps anew. */
static void settle(ward *w, const rgi_addresses *a, const int fds[FDS]) {
  rgi_speaker_close();
  if (w->speaker >= 0)
    close(w->speaker);
  w->speaker = -1;
  w->where = *a;
  w->will = NULL;
  if (!rgi_arena_borrow(fds[0]))
    return;
  w->table = (rgi_process_table){.members = rgi_arena_at(a->bells), .n = a->processes, .me = -1};
  rgi_process_table_attach(&w->table, rgi_arena_at(a->lives), a->world);
  w->will = &w->table.journal->job;
  if (!a->mesh)
    return;
  if (fds[1] >= 0)
    rgi_speaker_open(rgi_arena_at(a->mesh), &w->table, fds[1], fds[2]);
  else
    watch_speaker(w);
}

static void hear_rank(ward *w) {
  rgi_addresses a;
  int fds[FDS];
  while (read_addresses(w, &a, fds))
    settle(w, &a, fds);
}

/* The launcher drops what it has not read when it hears of the end, and may be late. */
static void await_reader(void) {
  int unread = 1;
  for (double end = rgi_now() + READ_SECONDS;
       unread > 0 && rgi_now() < end && ioctl(STDERR_FILENO, FIONREAD, &unread) == 0;)
    rgi_sleep(LOOK_SECONDS);
  rgi_sleep(0.05); /* to pass it on */
}

/* One line is enough. Of the guardians of a launcher's process the first one listens, and takes no
 * more than one connection: who has it tells. It lasts until the listener ends, so that nobody
 * else tells in the moment between the end of who has told and that of all. */
static struct sockaddr_un telling = {.sun_family = AF_UNIX};

static void listen_to_tellers(void) {
  char space[32] = "";
  int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (readlink("/proc/self/ns/pid", space, sizeof space - 1) < 0)
    space[0] = 0;
  snprintf(telling.sun_path + 1, sizeof telling.sun_path - 1, "regroup-end-%d-%s", (int)getppid(),
           space);
  if (bind(s, (struct sockaddr *)&telling, sizeof telling) != 0 || listen(s, 0) != 0)
    close(s);
}

/* Where nobody listens the listener itself may have told, and all end very soon. */
static int is_to_tell(void) {
  int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  for (double end = rgi_now() + READ_SECONDS; rgi_now() < end; rgi_sleep(LOOK_SECONDS)) {
    if (connect(s, (struct sockaddr *)&telling, sizeof telling) == 0)
      return 1;
    if (errno == EAGAIN)
      return 0;
  }
  return 1;
}

/* The launcher ends the whole job when this process ends by a signal, and only then for
 * sure: a rank that has not reached the launcher's barrier yet is not missed by it. */
static int give_up(int sign, const char *why) {
  if (is_to_tell()) {
    fprintf(stderr, "regroup: rank %s was ended by signal %d (%s)%s: the job ends\n",
            getenv("PMI_RANK") ? getenv("PMI_RANK") : "?", sign, strsignal(sign), why);
    await_reader();
  } else {
    rgi_sleep(READ_SECONDS + 1); /* the other one ends it meanwhile, when its line has been read */
  }
  kill(getpid(), SIGKILL);
  return 128 + sign;
}

/* All others wait for one another, for this one, perhaps, inside MPI. */
static int lose_patience(const ward *w, int sign) {
  char why[100];
  double patience = w->where.patience;
  if (patience <= 0 || !rgi_process_table_stuck(&w->table, patience))
    return -1;
  snprintf(why, sizeof why, " and all others have been waiting for %g s", patience);
  return give_up(sign, why);
}

/* The rank has been killed: its status for the launcher, or -1 as long as the others have
 * not ended. */
static int outlive(const ward *w) {
  int sign = WTERMSIG(w->status);
  uint32_t outcome = w->will ? atomic_load(&w->will->outcome) : 0,
           all = (uint32_t)w->where.processes;
  if (!w->will || (!outcome && atomic_load(&w->will->ready) < all))
    return give_up(sign, " before rg_init had returned everywhere");
  if (outcome == RGI_JOB_DONE) {
    rgi_launcher_leave();
    return 0;
  }
  if (outcome == RGI_JOB_LOST ||
      (!w->where.mesh && atomic_load(&w->will->gone) >= all && !atomic_load(&w->will->outcome)))
    return give_up(sign, " and nobody is left");
  return w->where.mesh ? -1 : lose_patience(w, sign);
}

/* The launcher ends a job by signals, which reach the rank as well unless they are
 * meant for the guardian alone. */
static void pass_on(ward *w, int sign) {
  if (sign == SIGUSR1 || sign == SIGUSR2 || sign == SIGCHLD)
    return;
  w->stopping = 1;
  if (!w->ended)
    kill(w->rank, sign);
}

static void look_at_rank(ward *w) {
  struct signalfd_siginfo info;
  while (read(w->signals, &info, sizeof info) == (ssize_t)sizeof info)
    pass_on(w, (int)info.ssi_signo);
  hear_rank(w);
  if (w->ended || waitpid(w->rank, &w->status, WNOHANG) != w->rank)
    return;
  w->ended = 1;
  hear_rank(w); /* its last words */
  if (!w->will)
    return;
  rgi_process_table_ended(&w->table, (int)w->rank);
  atomic_fetch_add(&w->will->gone, 1);
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

static void look_at_stopping(ward *w) {
  double now = rgi_now();
  if (w->where.stopped <= 0 || w->ended)
    return;
  if (!is_stopped(w->rank))
    w->stopped = 0;
  else if (w->stopped == 0)
    w->stopped = now;
  else if (now - w->stopped > w->where.stopped)
    kill(w->rank, SIGKILL);
}

/* Without its speaker, or cut off by the others, this node has no part in the job. */
static int look_at_node(ward *w) {
  struct pollfd gone = {w->speaker, POLLIN, 0};
  rgi_speaker_step();
  const char *why = rgi_speaker_despair();
  if (!why && w->speaker >= 0 && poll(&gone, 1, 0) > 0 && !atomic_load(&w->will->outcome))
    why = " because the guardian that speaks for its node is gone";
  if (!why)
    return -1;
  if (!w->ended)
    kill(w->rank, SIGKILL);
  listen_to_tellers(); /* who did may be gone */
  return give_up(SIGKILL, why);
}

/* The guardian's status, or -1: it goes on. */
static int look(ward *w) {
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
  if (w->will && atomic_load(&w->will->outcome) != RGI_JOB_LOST && rgi_speaker_needed())
    return -1;
  return well ? 0 : outlive(w);
}

static int watch(pid_t rank, int socket, const sigset_t *signals) {
  ward w = {.rank = rank, .socket = socket, .speaker = -1};
  w.signals = signalfd(-1, signals, SFD_CLOEXEC | SFD_NONBLOCK);
  listen_to_tellers();
  for (;;) {
    struct pollfd all[] = {{w.signals, POLLIN, 0},
                           {w.ended ? -1 : socket, POLLIN, 0},
                           {rgi_speaker_fd(), POLLIN, 0},
                           {w.ended ? -1 : w.speaker, POLLIN, 0}};
    int often = rgi_speaker_busy() || w.where.stopped > 0;
    poll(all, 4, w.ended ? (int)(1000 * LOOK_SECONDS) : often ? 100 : -1);
    if (all[1].revents & POLLHUP && !w.ended) /* the rank is about to end */
      rgi_sleep(1e-3);
    int status = look(&w);
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

void rgi_guardian_tell(const rgi_addresses *a, int fd, int listener, int pipe) {
  char room[CMSG_SPACE(FDS * sizeof(int))] = {0};
  int fds[FDS] = {fd, listener, pipe}, n = listener >= 0 ? FDS : 1;
  rgi_addresses copy = *a;
  struct iovec part = {&copy, sizeof copy};
  struct msghdr m = {.msg_iov = &part,
                     .msg_iovlen = 1,
                     .msg_control = room,
                     .msg_controllen = CMSG_SPACE((size_t)n * sizeof(int))};
  struct cmsghdr *c = CMSG_FIRSTHDR(&m);
  if (to_guardian < 0)
    return;
  c->cmsg_level = SOL_SOCKET;
  c->cmsg_type = SCM_RIGHTS;
  c->cmsg_len = CMSG_LEN((size_t)n * sizeof(int));
  memcpy(CMSG_DATA(c), fds, (size_t)n * sizeof(int));
  if (sendmsg(to_guardian, &m, MSG_NOSIGNAL) < 0 && errno != EPIPE)
    to_guardian = -1;
}
