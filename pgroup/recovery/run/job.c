/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * One start of a job. mpiexec's exit status alone does not tell whether the launcher has lost the
 * job, since a program may end with the same status. So regroup-run reads the standard error of
 * mpiexec and of the job, passes it on, and looks for the lines by which mpiexec and the guards
 * report that a node or a rank is gone. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "noded/overlay.h"
#include "recovery/run/run.h"

#define LOST_STATUS 255 /* mpiexec's, when the connection to a proxy is gone */
#define LONGEST 4096    /* bytes of a line; the rest is not looked at */

typedef struct {
  char line[LONGEST];
  size_t n;
  int lost, killed; /* whether such lines have been seen: a node is gone; a rank is; */
  int well;         /* the survivors have ended well */
} stderr_listener;

static volatile sig_atomic_t stop;
static volatile pid_t launcher;

/* A signal from a terminal has reached mpiexec as well: only others are passed on. */
static void on_signal(int sign, siginfo_t *info, void *context) {
  (void)context;
  stop = sign;
  if (info->si_code <= 0 && launcher > 0)
    kill(launcher, sign);
}

static void on_child(int sign) {
  (void)sign; /* the signal ends poll early */
}

static void catch_signals(void) {
  static const int all[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
  struct sigaction act = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
  struct sigaction child = {.sa_handler = on_child, .sa_flags = SA_NOCLDSTOP};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
    sigaction(all[i], &act, NULL);
  sigaction(SIGCHLD, &child, NULL);
}

/* mpiexec's lines about a connection that was closed while the job ran; a guard's line about a rank
 * that was killed when the job could not survive it (noded/guard.c); a daemon's line about the end
 * of the survivors (noded/daemon.c). */
static void look_at_line(stderr_listener *l) {
  l->line[l->n] = 0;
  if (!strncmp(l->line, "[mpiexec@", 9) &&
      (strstr(l->line, "assert (!closed) failed") ||
       strstr(l->line, "process manager error waiting for completion")))
    l->lost = 1;
  if (strstr(l->line, "regroup: rank ") && strstr(l->line, " was ended by signal 9 ") &&
      strstr(l->line, ": the job ends"))
    l->killed = 1;
  if (strstr(l->line, "regroup: the job has ended well without "))
    l->well = 1;
  l->n = 0;
}

static void forward_text(stderr_listener *l, const char *text, ssize_t n) {
  for (ssize_t done = 0, some; done < n; done += some)
    if ((some = write(STDERR_FILENO, text + done, (size_t)(n - done))) <= 0)
      break;
  for (ssize_t i = 0; i < n; i++) {
    if (text[i] == '\n')
      look_at_line(l);
    else if (l->n + 1 < sizeof l->line)
      l->line[l->n++] = text[i];
  }
}

/* Reads and passes on what is there. 0: there will be no more. */
static int listen_once(stderr_listener *l, int fd, int milliseconds) {
  char text[4096];
  struct pollfd p = {fd, POLLIN, 0};
  if (poll(&p, 1, milliseconds) <= 0)
    return errno == EINTR || milliseconds > 0;
  ssize_t n = read(fd, text, sizeof text);
  if (n > 0)
    forward_text(l, text, n);
  return n > 0 || (n < 0 && errno == EINTR);
}

static pid_t start_launcher(char **command, int ends[2]) {
  static const struct sigaction plain = {.sa_handler = SIG_DFL};
  pid_t pid = fork();
  if (pid != 0)
    return pid;
  sigaction(SIGCHLD, &plain, NULL); /* the others are reset by exec, as they have handlers */
  dup2(ends[1], STDERR_FILENO);
  close(ends[0]);
  close(ends[1]);
  execvp(command[0], command);
  fprintf(stderr, "regroup-run: cannot start %s: %s\n", command[0], strerror(errno));
  _exit(2);
}

static run_end judge_end(int status, const stderr_listener *l) {
  run_end end = {.interrupted = stop};
  end.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  if (stop && end.status == 0)
    end.status = 128 + stop; /* mpiexec sometimes ends with 0 when it has interrupted its ranks */
  if (l->well && end.status == RGI_OVERLAY_ENDED_STATUS)
    end.status = 0;
  end.lost = WIFSIGNALED(status) || (l->lost && end.status == LOST_STATUS) ||
             (l->killed && end.status != 0) || end.status == RGI_OVERLAY_ENDED_STATUS;
  return end;
}

run_end run_job(char **command) {
  int ends[2], status = 0;
  stderr_listener l = {.n = 0};
  if (pipe2(ends, O_CLOEXEC) != 0) {
    perror("regroup-run: pipe");
    return (run_end){.status = 2};
  }
  catch_signals();
  launcher = start_launcher(command, ends);
  close(ends[1]);
  int open_still = launcher > 0;
  while (launcher > 0 && waitpid(launcher, &status, WNOHANG) == 0)
    if (!open_still || !(open_still = listen_once(&l, ends[0], 100)))
      poll(NULL, 0, 100);
  pid_t started = launcher;
  launcher = 0;
  while (open_still && listen_once(&l, ends[0], 0))
    continue; /* the last lines */
  if (l.n)
    look_at_line(&l);
  close(ends[0]);
  return started > 0 ? judge_end(status, &l) : (run_end){.status = 2};
}
