/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Runs in guards. A guard is a copy of the process from before main, so nothing here may use MPI,
 * nor what other constructors set up. It sleeps in poll until a signal comes, its child ends or
 * sends addresses, its node daemon has something to do or ends; then it decides anew, in this order
 * (step_guard). A thread of another library may live here, and take SIGCHLD: a pidfd tells of the
 * child's end.
 *
 *  - The node cannot go on: its daemon is gone, or says why. The guard kills its child and ends the
 *    job; or, where the other nodes have given this one up, ends alone (end_node). It asks them by
 *    itself when the daemon does not move (given_up.h). So it does under
 *    Slurm when the daemon is gone.
 *  - The child lives: the guard goes on.
 *  - The launcher is ending the job, or is gone: the guard ends as the child did; but if the child
 *    was killed and its node's other ranks go on, the launcher's signal is theirs to obey.
 *  - The child has ended by exit before MPI_Finalize: the job ends (end_early), since the others
 * wait for it. Before MPI_Init that is no fault where all processes do so, after a wrong option for
 *    instance: then the guard ends as the child did.
 *  - The child has ended with a status other than 0: so does the guard, and the launcher judges.
 *  - This guard is the node's daemon and other nodes still need it: it goes on.
 *  - The child has ended well: so does the guard.
 *  - The child was killed (outlive_child). Before rg_init has returned in all processes of the node
 *    the job ends. Later the guard waits for the outcome in the arena: DONE, and it tells the
 *    launcher that its process has ended well; or no process is left, and the job ends. On one node
 *    the job also ends when all other processes have been waiting for RG_PATIENCE seconds; on
 *    several nodes the daemons find that out.
 *
 * A process may also end before it has a guard, because a library is missing, and so may all of
 * another node: the guard that is the arbiter (arbiter.h) looks for that until
 * rg_init has begun (check_siblings).
 *
 * To end the job a guard prints one line and tells the launcher by PMI, as MPI_Abort does; if that
 * has no effect it kills itself, since MPICH's launcher ends a job when its own child ends by a
 * signal. Of several guards that do so at once only one prints (arbiter.h). */
#include "noded/daemon/guard.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/last_words.h"
#include "base/task.h"
#include "mpich/mpich.h"
#include "noded/daemon/arbiter.h"
#include "noded/daemon/daemon.h"
#include "noded/daemon/given_up.h"
#include "noded/daemon/news.h"
#include "noded/wire/overlay.h"
#include "shm/arena.h"
#include "shm/process_table.h"

#define CHECK_SECONDS 0.01
#define READ_SECONDS 5.0
#define STOPPED_SECONDS 0.1 /* between looks whether the child is stopped */
#define LOOK_SECONDS 1.0    /* between looks whether a process has ended before it had a guard */
#define USAGE_SECONDS 2.0   /* for all others to end before MPI_Init, too */
#define ABORT_SECONDS 5.0   /* for the launcher to end the job */
#define UNSTARTED_STATUS 127

/* --- what the child tells ---------------------------------------------------------------- */

typedef struct {
  pid_t rank;
  int pidfd;           /* of the rank; -1: the system has none, and SIGCHLD alone tells */
  int socket, signals; /* descriptors: from the child; for signals from any process */
  int ended, status;   /* whether the child has ended; how (waitpid's) */
  double ended_at;     /* when that was noticed */
  int died;            /* it has ended in the library, between rg_init and rg_finalize */
  int survived;        /* the line that others go on is printed */
  rgi_guard_phase phase;
  int stopping;   /* whether the launcher is ending the job */
  double stopped; /* when the child was first seen stopped; 0: it is not stopped */
  double looked;  /* when this guard last looked for its siblings */
  int unstarted;  /* the rank that was missing then */
  int ended_node; /* the node of which all ranks had ended then, or -1 */
  rgi_guard_addresses where;
  rgi_process_table table; /* attached since rg_init */
  int daemon;              /* pidfd of the node's daemon, if that is another guard; or -1 */
  int unwatched;           /* why there is none although there should be: an errno */
} guarded_child;

static uint32_t job_outcome(const guarded_child *child) {
  return child->table.journal ? atomic_load(&child->table.journal->outcome) : RGI_PROCESS_JOB_OPEN;
}

static int read_addresses(guarded_child *child, rgi_guard_addresses *addresses,
                          int fds[RGI_GUARD_FDS]) {
  char room[CMSG_SPACE(RGI_GUARD_FDS * sizeof(int))];
  struct iovec part = {addresses, sizeof *addresses};
  struct msghdr m = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
  ssize_t n = recvmsg(child->socket, &m, MSG_DONTWAIT);
  if (n == (ssize_t)sizeof child->phase)
    memcpy(&child->phase, addresses, sizeof child->phase);
  if (n != (ssize_t)sizeof *addresses)
    return 0;
  struct cmsghdr *c = CMSG_FIRSTHDR(&m);
  if (!c || c->cmsg_type != SCM_RIGHTS)
    return 0;
  for (int i = 0; i < RGI_GUARD_FDS; i++)
    fds[i] = -1;
  memcpy(fds, CMSG_DATA(c), c->cmsg_len - CMSG_LEN(0));
  return 1;
}

static void watch_daemon(guarded_child *child) {
  rgi_overlay *overlay = rgi_arena_at(child->where.overlay);
  child->daemon = (int)syscall(SYS_pidfd_open, atomic_load(&overlay->daemon_pid), 0);
  child->unwatched = child->daemon < 0 ? errno : 0;
}

/* By each start of the library. */
static void take_addresses(guarded_child *child, const rgi_guard_addresses *addresses,
                           const int fds[RGI_GUARD_FDS]) {
  rgi_daemon_close();
  if (child->daemon >= 0)
    close(child->daemon);
  child->daemon = -1;
  child->unwatched = 0;
  child->where = *addresses;
  child->table.journal = NULL;
  if (!rgi_arena_attach(fds[0]))
    return;
  child->table = (rgi_process_table){
      .members = rgi_arena_at(addresses->members), .n = addresses->processes, .me = -1};
  rgi_process_table_attach(&child->table, rgi_arena_at(addresses->process_table), addresses->world);
  int is_daemon = addresses->overlay && fds[1] >= 0;
  prctl(PR_SET_NAME, is_daemon ? "regroup-noded" : "regroup-guard");
  if (is_daemon)
    rgi_daemon_open(rgi_arena_at(addresses->overlay), &child->table, fds[1], fds[2]);
  else if (addresses->overlay)
    watch_daemon(child);
}

static void read_socket(guarded_child *child) {
  rgi_guard_addresses addresses;
  int fds[RGI_GUARD_FDS];
  while (read_addresses(child, &addresses, fds))
    take_addresses(child, &addresses, fds);
}

/* --- ending the job ----------------------------------------------------------------------- */

static void tell_end(const char *why, const char *then) {
  if (rgi_arbiter_may_print(READ_SECONDS)) {
    rgi_news_print("regroup: %s%s\n", why, then);
    rgi_last_words_await(rgi_arbiter_wait);
  } else {
    rgi_arbiter_wait(READ_SECONDS + 1); /* the guard that prints ends the job meanwhile */
  }
}

/* status: for the launcher. */
static int end_job(const guarded_child *child, const char *why, int status) {
  tell_end(why, ": the job ends");
  rgi_mpich_pmi_abort(child->table.journal || child->phase == RGI_GUARD_MPI_BEGUN, status);
  for (double end = rgi_clock_now() + ABORT_SECONDS; rgi_clock_now() < end;) {
    if (rgi_mpich_siblings_are_all() && !rgi_mpich_siblings_live())
      return status; /* there is nothing left to end */
    rgi_arbiter_wait(CHECK_SECONDS);
  }
  kill(getpid(), SIGKILL);
  return status;
}

#define LINE_BYTES 200

static void describe_signal(int sign, const char *why, char line[LINE_BYTES]) {
  snprintf(line, LINE_BYTES, "rank %s was ended by signal %d (%s)%s", rgi_mpich_pmi_rank(), sign,
           strsignal(sign), why);
}

static int end_by_signal(const guarded_child *child, int sign, const char *why) {
  char line[LINE_BYTES];
  describe_signal(sign, why, line);
  return end_job(child, line, 128 + sign);
}

/* All other processes may be waiting for the dead one inside MPI, for ever. */
static int check_patience(guarded_child *child, int sign) {
  char why[100];
  double patience = child->where.patience;
  if (patience <= 0 || !rgi_process_table_all_waiting(&child->table, patience))
    return -1;
  snprintf(why, sizeof why, " and all others have been waiting for %g s", patience);
  return end_by_signal(child, sign, why);
}

/* Before rg_init has returned everywhere no process can go on without another one. */
static int is_beginning(const guarded_child *child) {
  return !child->table.journal ||
         (!job_outcome(child) && !rgi_process_table_all_ready(&child->table));
}

/* The child has ended by exit before MPI_Finalize, as far as is known. Whether MPI had begun is not
 * known where the program has called _exit, or exec has failed: only if another process of the job
 * lives on is that an error, and the launcher may just be about to close its end (PMI). */
static int end_early(const guarded_child *child) {
  char line[LINE_BYTES];
  int status = WEXITSTATUS(child->status),
      sure = child->died || child->phase == RGI_GUARD_MPI_BEGUN;
  if (!sure && !rgi_mpich_siblings_live() && (status == 0 || rgi_mpich_siblings_are_all())) {
    if (!rgi_mpich_siblings_are_all())
      rgi_news_early(rgi_mpich_pmi_rank());
    return status;
  }
  if (!sure && rgi_clock_now() - child->ended_at < USAGE_SECONDS)
    return -1;
  snprintf(line, sizeof line, "rank %s has ended with status %d before %s", rgi_mpich_pmi_rank(),
           status,
           is_beginning(child) ? "rg_init had returned everywhere"
           : child->died       ? "rg_finalize"
                               : "MPI_Finalize");
  return end_job(child, line, status ? status : 1);
}

/* One line for each death that the job survives. */
static void tell_survived(guarded_child *child, int sign) {
  if (child->survived++)
    return;
  int left = child->table.world - rgi_process_table_deaths(&child->table);
  if (!child->died)
    rgi_news_print("regroup: rank %s was ended by signal %d (%s) after rg_finalize\n",
                   rgi_mpich_pmi_rank(), sign, strsignal(sign));
  else if (left > 0)
    rgi_news_print("regroup: rank %s was ended by signal %d (%s); %d go on\n", rgi_mpich_pmi_rank(),
                   sign, strsignal(sign), left);
}

/* The child was killed: the status for the launcher, or -1 as long as the survivors have not
 * ended. */
static int outlive_child(guarded_child *child) {
  int sign = WTERMSIG(child->status);
  if (is_beginning(child))
    return end_by_signal(child, sign, " before rg_init had returned everywhere");
  tell_survived(child, sign);
  uint32_t outcome = job_outcome(child);
  if (outcome == RGI_PROCESS_JOB_DONE) {
    rgi_mpich_pmi_finalize();
    return 0;
  }
  if (outcome == RGI_PROCESS_JOB_LOST ||
      (!child->where.overlay && rgi_process_table_all_ended(&child->table) && !job_outcome(child)))
    return end_by_signal(child, sign, " and no process is left");
  return child->where.overlay ? -1 : check_patience(child, sign);
}

/* --- what the guard looks at ---------------------------------------------------------------- */

/* The launcher ends a job by signals to its own child, the guard, which passes them on, but for
 * SIGUSR1 and SIGUSR2: by these it tells of another process's end, and those that a user sends to
 * the launcher reach the rank itself. */
static void pass_signal_on(guarded_child *child, int sign) {
  if (sign == SIGUSR1 || sign == SIGUSR2 || sign == SIGCHLD)
    return;
  child->stopping = 1;
  if (!child->ended)
    kill(child->rank, sign);
}

static void check_child(guarded_child *child) {
  struct signalfd_siginfo info;
  while (read(child->signals, &info, sizeof info) == (ssize_t)sizeof info)
    pass_signal_on(child, (int)info.ssi_signo);
  read_socket(child);
  if (child->ended || waitpid(child->rank, &child->status, WNOHANG) != child->rank)
    return;
  child->ended = 1;
  close(child->pidfd);
  child->ended_at = rgi_clock_now();
  read_socket(child); /* what it sent last */
  child->died = child->table.journal && rgi_process_table_ended(&child->table, (int)child->rank);
}

/* By a signal, or in a debugger. */
static int is_stopped(pid_t pid) {
  char folder[32];
  snprintf(folder, sizeof folder, "/proc/%d", (int)pid);
  char state = rgi_task_state(folder);
  return state == 'T' || state == 't';
}

static void check_stopped(guarded_child *child) {
  double now = rgi_clock_now();
  if (child->where.stopped <= 0 || child->ended)
    return;
  if (!is_stopped(child->rank))
    child->stopped = 0;
  else if (child->stopped == 0)
    child->stopped = now;
  else if (now - child->stopped > child->where.stopped)
    kill(child->rank, SIGKILL);
}

/* The other nodes go on, or may: this node's processes end as if by themselves, so that the
 * launcher does not end the job. The daemon tells why, for all. */
static int end_node(guarded_child *child, const char *why) {
  if (!child->ended && kill(child->rank, SIGKILL) == 0)
    waitpid(child->rank, &child->status, 0);
  if (why) {
    const char *name = getenv("SLURMD_NODENAME");
    rgi_news_print("regroup: the node of rank %s%s%s%s ends: %s\n", rgi_mpich_pmi_rank(),
                   name ? " (" : "", name ? name : "", name ? ")" : "", why);
    rgi_last_words_await(rgi_arbiter_wait);
  }
  rgi_mpich_pmi_finalize();
  return RGI_OVERLAY_ENDED_STATUS;
}

static int end_for(guarded_child *child, const char *why) {
  if (!child->ended)
    kill(child->rank, SIGKILL);
  return end_by_signal(child, SIGKILL, why);
}

/* The daemon was killed. Slurm ends the other nodes only if it was asked to, MPICH's launcher
 * unless it was asked not to (-disable-auto-cleanup): it knows how the daemon has ended, and is not
 * told to end the job. */
static int end_without_daemon(guarded_child *child) {
  char line[LINE_BYTES];
  if (rgi_mpich_pmi_is_slurm())
    return end_node(child, rgi_arbiter_may_print(READ_SECONDS) ? "its daemon is gone" : NULL);
  if (!child->ended)
    kill(child->rank, SIGKILL);
  describe_signal(SIGKILL, " because the daemon of its node is gone", line);
  tell_end(line, "");
  kill(getpid(), SIGKILL);
  return 128 + SIGKILL;
}

static int is_daemon_gone(const guarded_child *child) {
  struct pollfd gone = {child->daemon, POLLIN, 0};
  return child->unwatched == ESRCH || (child->daemon >= 0 && poll(&gone, 1, 0) > 0);
}

/* The daemon does not move, and its rank is its child. If it can go on it tells why, for all. */
static int end_given_up(guarded_child *child, rgi_overlay *overlay) {
  int first = rgi_given_up_tell(overlay);
  for (int i = 0; i < child->table.n; i++)
    if (!rgi_process_table_is_dead(&child->table, child->table.entry[i].rank))
      kill(atomic_load(&child->table.entry[i].pid), SIGKILL);
  return end_node(child, first && is_stopped(atomic_load(&overlay->daemon_pid))
                             ? "its daemon is stopped, and the other nodes have given the node up"
                             : NULL);
}

/* A node whose daemon is gone, or which the other nodes have given up, has no part in the job. */
static int check_node(guarded_child *child) {
  rgi_daemon_step();
  const char *why = rgi_daemon_fatal_reason();
  if (why)
    return rgi_daemon_is_given_up() ? end_node(child, why) : end_for(child, why);
  if ((child->daemon < 0 && !child->unwatched) || job_outcome(child))
    return -1;
  rgi_overlay *overlay = rgi_arena_at(child->where.overlay);
  if (atomic_load(&overlay->ended))
    return end_node(child, NULL);
  if (rgi_given_up_step(overlay))
    return end_given_up(child, overlay);
  if (is_daemon_gone(child))
    return end_without_daemon(child);
  return child->unwatched
             ? end_for(child, " because it cannot be noticed when the daemon of its node ends")
             : -1;
}

/* Whether the child was killed, and the other ranks of the node have ended well or go on: after a
 * signal to all they may need time to save. */
static int is_outlived(const guarded_child *child) {
  uint32_t outcome = job_outcome(child);
  if (!WIFSIGNALED(child->status) || !child->table.journal)
    return 0;
  return outcome ? outcome == RGI_PROCESS_JOB_DONE
                 : rgi_process_table_all_ready(&child->table) &&
                       !rgi_process_table_all_ended(&child->table);
}

/* Whether this guard is to look for processes that have ended without a guard. */
static int looks_for_siblings(const guarded_child *child) {
  return rgi_arbiter_fd() >= 0 && !child->table.journal && !child->ended;
}

/* What is missing in two looks had no guard: one that has a guard is seen by the first. */
static int check_rank(guarded_child *child) {
  char line[LINE_BYTES], rank[16];
  int before = child->unstarted;
  child->unstarted = rgi_mpich_siblings_unstarted();
  if (before == RGI_MPICH_NO_SIBLING || child->unstarted != before)
    return -1;
  snprintf(rank, sizeof rank, before < 0 ? "?" : "%d", before);
  snprintf(line, sizeof line, "rank %s has ended before its program began (is a library missing?)",
           rank);
  return end_job(child, line, UNSTARTED_STATUS);
}

/* Also in two looks: this node's ranks may just have ended MPI, too, or be about to end. */
static int check_other_nodes(guarded_child *child) {
  char line[LINE_BYTES];
  int before = child->ended_node;
  child->ended_node = rgi_mpich_siblings_ended_node();
  if (before < 0 || child->ended_node < 0)
    return -1;
  snprintf(line, sizeof line,
           "all ranks of the launcher's node %d (from 0) have ended before MPI_Init (is a library "
           "missing there?)",
           before);
  return end_job(child, line, UNSTARTED_STATUS);
}

static int check_siblings(guarded_child *child) {
  double now = rgi_clock_now();
  if (!looks_for_siblings(child) || now - child->looked < LOOK_SECONDS)
    return -1;
  child->looked = now;
  if (rgi_mpich_pmi_has_finalized())
    return -1;
  int status = check_rank(child);
  return status < 0 ? check_other_nodes(child) : status;
}

/* The guard's status, or -1: it goes on. */
static int step_guard(guarded_child *child) {
  check_child(child);
  check_stopped(child);
  int status = check_siblings(child);
  if (status < 0)
    status = check_node(child);
  if (status >= 0 || !child->ended)
    return status;
  int well = WIFEXITED(child->status);
  if ((child->stopping && !is_outlived(child)) || getppid() == 1) /* 1: the launcher is gone */
    return well ? WEXITSTATUS(child->status) : 128 + WTERMSIG(child->status);
  if (well && child->phase != RGI_GUARD_MPI_ENDED && !rgi_mpich_pmi_has_finalized())
    return end_early(child);
  if (well && WEXITSTATUS(child->status) != 0)
    return WEXITSTATUS(child->status);
  if (child->table.journal && job_outcome(child) != RGI_PROCESS_JOB_LOST && rgi_daemon_needed())
    return -1;
  return well ? 0 : outlive_child(child);
}

/* --- all ----------------------------------------------------------------------------------- */

static int poll_milliseconds(const guarded_child *child) {
  double daemon = rgi_daemon_timeout();
  if (child->ended)
    return (int)(1000 * CHECK_SECONDS);
  if (looks_for_siblings(child) && (daemon < 0 || daemon > LOOK_SECONDS))
    daemon = LOOK_SECONDS;
  if (child->where.stopped > 0 && (daemon < 0 || daemon > STOPPED_SECONDS))
    daemon = STOPPED_SECONDS;
  if (child->daemon >= 0 && (daemon < 0 || daemon > RGI_GIVEN_UP_SECONDS))
    daemon = RGI_GIVEN_UP_SECONDS;
  return daemon < 0 ? -1 : (int)(1000 * daemon) + 1;
}

int rgi_guard_watch(pid_t rank, int socket, const sigset_t *signals) {
  guarded_child child = {.rank = rank,
                         .socket = socket,
                         .daemon = -1,
                         .unstarted = RGI_MPICH_NO_SIBLING,
                         .ended_node = -1};
  child.pidfd = (int)syscall(SYS_pidfd_open, rank, 0);
  child.signals = signalfd(-1, signals, SFD_CLOEXEC | SFD_NONBLOCK);
  prctl(PR_SET_NAME, "regroup-guard");
  rgi_arbiter_open();
  for (;;) {
    struct pollfd all[] = {
        {child.signals, POLLIN, 0},    {child.ended ? -1 : socket, POLLIN, 0},
        {rgi_daemon_fd(), POLLIN, 0},  {child.ended ? -1 : child.daemon, POLLIN, 0},
        {rgi_arbiter_fd(), POLLIN, 0}, {child.ended ? -1 : child.pidfd, POLLIN, 0}};
    poll(all, sizeof all / sizeof *all, poll_milliseconds(&child));
    rgi_arbiter_serve();
    if (all[1].revents & POLLHUP && !child.ended) /* the rank is about to end */
      rgi_clock_sleep(1e-3);
    int status = step_guard(&child);
    if (status >= 0)
      return status;
  }
}

void rgi_guard_signals(sigset_t *set) {
  static const int all[] = {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
  sigemptyset(set);
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
    sigaddset(set, all[i]);
}
