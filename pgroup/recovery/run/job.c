/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * One start of a job. The launcher's exit status alone does not tell what has become of the job. So
 * regroup-run reads the standard error of the launcher and of the job, passes it on, and looks for
 * the lines by which the launcher, guards and daemons report that a node or a rank is gone. Those
 * of guards and daemons begin with a mark that is drawn for each start (noded/daemon/news.h). Where
 * nothing depends on these lines (run_job_unheard) standard error stays the launcher's own: it may
 * be a terminal. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "noded/daemon/news.h"
#include "recovery/run/nodes.h"
#include "recovery/run/run.h"

#define EARLY_SECONDS 5.0 /* for all other nodes' ranks to end before MPI_Init, too */

typedef struct {
  const run_launcher *launcher;
  char line[RUN_LINE];
  size_t n, sent; /* bytes of the line, and of these passed on */
  int rest;       /* the line was longer: what comes is passed on only */
  run_news news;
  int early_rank; /* it has ended before MPI_Init, as all of its node have */
  double early;   /* when that was heard; 0: not */
} stderr_listener;

static char mark[32]; /* of this start's guards and daemons */
static volatile sig_atomic_t stop, shown_by;
static volatile pid_t launcher;

/* A signal from a terminal has reached the launcher as well: only others are passed on. */
static void on_signal(int sign, siginfo_t *info, void *context) {
  (void)context;
  if (sign != shown_by && sign != SIGUSR1 && sign != SIGUSR2)
    stop = sign;
  if (info->si_code <= 0 && launcher > 0)
    kill(launcher, sign);
}

static void on_child(int sign) {
  (void)sign; /* the signal ends poll early */
}

static void catch_signals(const run_launcher *by) {
  static const int all[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
  struct sigaction act = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
  struct sigaction child = {.sa_handler = on_child, .sa_flags = SA_NOCLDSTOP};
  shown_by = by->is_shown_by;
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
    sigaction(all[i], &act, NULL);
  sigaction(SIGCHLD, &child, NULL);
}

static void pass_on(const char *text, size_t n) {
  for (size_t done = 0; done < n;) {
    ssize_t some = write(STDERR_FILENO, text + done, n - done);
    if (some <= 0)
      break;
    done += (size_t)some;
  }
}

/* The number behind these words of a line that says that the job ends; -1: they are not there. */
static int number_behind(const char *line, const char *words) {
  const char *at = strstr(line, ": the job ends") ? strstr(line, words) : NULL;
  return at ? atoi(at + strlen(words)) : -1;
}

static int look_at_early(stderr_listener *l, const char *line) {
  if (!strstr(line, RGI_NEWS_EARLY))
    return 0;
  sscanf(line, "regroup: rank %d", &l->early_rank);
  l->early = l->early > 0 ? l->early : rgi_clock_now();
  return 1;
}

/* The others are in MPI_Init, for ever. */
static void check_early(stderr_listener *l) {
  if (l->early <= 0 || l->news.exited || rgi_clock_now() - l->early < EARLY_SECONDS)
    return;
  fprintf(stderr,
          "regroup-run: all ranks of the node of rank %d have ended with status 0 before MPI_Init: "
          "the job ends\n",
          l->early_rank);
  l->news.exited = 1;
  kill(launcher, SIGTERM);
}

/* A guard's line about a rank that has ended when the job could not survive it, or about the end of
 * its node (noded/daemon/guard.c); a daemon's line about the end of the survivors
 * (noded/daemon/daemon.c). */
static int look_at_news(stderr_listener *l, const char *line) {
  int sign = number_behind(line, " was ended by signal "),
      status = number_behind(line, " has ended with status ");
  if (sign > 0 && l->news.signal != SIGKILL)
    l->news.signal = sign;
  if (status >= 0)
    l->news.exited = status ? status : 1;
  if (look_at_early(l, line))
    return 0;
  l->news.well |= strstr(line, "regroup: the job has ended well without ") != NULL;
  l->news.ended |= strstr(line, "regroup: the node of rank ") != NULL;
  return l->launcher->hear_news(line);
}

/* Removes the mark. */
static int look_at_line(stderr_listener *l) {
  l->line[l->n] = 0;
  char *at = strstr(l->line + l->sent, mark);
  if (!at)
    return l->launcher->hear(l->line);
  l->n -= strlen(mark);
  memmove(at, at + strlen(mark), (size_t)(l->line + l->n - at) + 1);
  return look_at_news(l, at);
}

static void end_line(stderr_listener *l, int newline) {
  int passes = l->rest || look_at_line(l);
  if (newline)
    l->line[l->n++] = '\n';
  if (passes)
    pass_on(l->line + l->sent, l->n - l->sent);
  l->n = l->sent = 0;
  l->rest = !newline;
}

/* The bytes of the line before what may become a mark. */
static size_t unmarked(const stderr_listener *l) {
  for (size_t i = l->sent; i < l->n; i++) {
    size_t n = l->n - i < strlen(mark) ? l->n - i : strlen(mark);
    if (!memcmp(l->line + i, mark, n))
      return i;
  }
  return l->n;
}

/* What may become a line of the launcher's own, or of a guard's, is kept until it is one. */
static void send_part(stderr_listener *l) {
  char own[32];
  size_t n = (size_t)snprintf(own, sizeof own, "%s: ", l->launcher->name), end = unmarked(l);
  if (!l->rest && !strncmp(l->line, own, l->n < n ? l->n : n))
    return;
  pass_on(l->line + l->sent, end - l->sent);
  l->sent = end;
}

static void forward_text(stderr_listener *l, const char *text, ssize_t n) {
  for (ssize_t i = 0; i < n; i++) {
    if (text[i] == '\n') {
      end_line(l, 1);
      continue;
    }
    if (l->n + 2 >= sizeof l->line)
      end_line(l, 0);
    l->line[l->n++] = text[i];
  }
  if (l->n)
    send_part(l);
}

/* Reads and passes on what is there. 0: there will be no more. */
static int listen_once(stderr_listener *l, int fd, int milliseconds) {
  char text[4096];
  struct pollfd p = {fd, POLLIN, 0};
  int ready = poll(&p, 1, milliseconds);
  if (ready <= 0)
    return (ready < 0 && errno == EINTR) || milliseconds > 0;
  ssize_t n = read(fd, text, sizeof text);
  if (n > 0)
    forward_text(l, text, n);
  return n > 0 || (n < 0 && errno == EINTR);
}

/* What nobody guesses. */
static void draw_mark(void) {
  unsigned char random[8] = {0};
  unsigned long long word;
  if (getrandom(random, sizeof random, 0) != sizeof random)
    perror("regroup-run: getrandom");
  memcpy(&word, random, sizeof word);
  snprintf(mark, sizeof mark, "@regroup-%016llx@", word);
  setenv(RGI_NEWS_MARK, mark, 1);
}

/* ends: of the pipe to which its standard error goes, or NULL. */
static pid_t start_launcher(const run_launcher *by, char **command, const int *ends) {
  static const struct sigaction plain = {.sa_handler = SIG_DFL};
  pid_t pid = fork();
  if (pid != 0)
    return pid;
  if (by->dies)
    prctl(PR_SET_PDEATHSIG, SIGKILL);
  sigaction(SIGCHLD, &plain, NULL); /* the others are reset by exec, as they have handlers */
  if (ends) {
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
  }
  execvp(command[0], command);
  fprintf(stderr, "regroup-run: cannot start %s: %s\n", command[0], strerror(errno));
  _exit(2);
}

static run_end judge_end(int status, const stderr_listener *l) {
  run_end end = {.interrupted = stop, .lost = WIFSIGNALED(status)};
  end.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  l->launcher->judge(&l->news, &end);
  if (l->news.exited && end.status == 0)
    end.status = l->news.exited; /* the others may have ended well before they were told */
  if (stop && end.status == 0)
    end.status = 128 + stop; /* mpiexec sometimes ends with 0 when it has interrupted its ranks */
  if (end.status == SIGKILL && !stop && l->launcher->dies && !l->news.signal)
    fputs("regroup-run: the job has ended with status 9. If no line above names a rank that was "
          "killed, and the program has not ended with this status, a guard was killed: a job "
          "survives the death of ranks, but not that of their guards (regroup-guard, "
          "regroup-noded)\n",
          stderr);
  return end;
}

run_end run_job_unheard(const run_launcher *by, char **command) {
  const stderr_listener nothing = {.launcher = by};
  int status = 0;
  catch_signals(by);
  unsetenv(RGI_NEWS_MARK);
  pid_t pid = start_launcher(by, command, NULL), ended = -1;
  launcher = pid;
  while (pid > 0 && (ended = waitpid(pid, &status, 0)) < 0 && errno == EINTR)
    continue;
  launcher = 0;
  if (ended != pid || pid < 0)
    return (run_end){.status = 2};
  return judge_end(status, &nothing);
}

int run_interrupted(void) {
  return stop;
}

run_end run_job(const run_launcher *by, char **command) {
  int ends[2], status = 0;
  stderr_listener l = {.launcher = by};
  if (pipe2(ends, O_CLOEXEC) != 0) {
    perror("regroup-run: pipe");
    return (run_end){.status = 2};
  }
  catch_signals(by);
  draw_mark();
  launcher = start_launcher(by, command, ends);
  close(ends[1]);
  int open_still = launcher > 0;
  while (launcher > 0 && waitpid(launcher, &status, WNOHANG) == 0) {
    by->step(launcher);
    check_early(&l);
    if (!open_still || !(open_still = listen_once(&l, ends[0], 100)))
      poll(NULL, 0, 100);
  }
  pid_t started = launcher;
  launcher = 0;
  while (open_still && listen_once(&l, ends[0], 0))
    continue; /* the last lines */
  if (l.n)
    end_line(&l, 0);
  close(ends[0]);
  return started > 0 ? judge_end(status, &l) : (run_end){.status = 2};
}
