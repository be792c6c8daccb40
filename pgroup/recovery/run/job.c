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

static int look_at_early(stderr_listener *listener, const char *line) {
  if (!strstr(line, RGI_NEWS_EARLY))
    return 0;
  sscanf(line, "regroup: rank %d", &listener->early_rank);
  listener->early = listener->early > 0 ? listener->early : rgi_clock_now();
  return 1;
}

/* The others are in MPI_Init, for ever. */
static void check_early(stderr_listener *listener) {
  if (listener->early <= 0 || listener->news.exited ||
      rgi_clock_now() - listener->early < EARLY_SECONDS)
    return;
  fprintf(stderr,
          "regroup-run: all ranks of the node of rank %d have ended with status 0 before MPI_Init: "
          "the job ends\n",
          listener->early_rank);
  listener->news.exited = 1;
  kill(launcher, SIGTERM);
}

/* A guard's line about a rank that has ended when the job could not survive it, or about the end of
 * its node (noded/daemon/guard.c); a daemon's line about the end of the survivors
 * (noded/daemon/daemon.c). */
static int look_at_news(stderr_listener *listener, const char *line) {
  int sign = number_behind(line, " was ended by signal "),
      status = number_behind(line, " has ended with status ");
  if (sign > 0 && listener->news.signal != SIGKILL)
    listener->news.signal = sign;
  if (status >= 0)
    listener->news.exited = status ? status : 1;
  if (look_at_early(listener, line))
    return 0;
  listener->news.well |= strstr(line, "regroup: the job has ended well without ") != NULL;
  listener->news.ended |= strstr(line, "regroup: the node of rank ") != NULL;
  return listener->launcher->hear_news(line);
}

/* Removes the mark. */
static int look_at_line(stderr_listener *listener) {
  listener->line[listener->n] = 0;
  char *at = strstr(listener->line + listener->sent, mark);
  if (!at)
    return listener->launcher->hear(listener->line);
  listener->n -= strlen(mark);
  memmove(at, at + strlen(mark), (size_t)(listener->line + listener->n - at) + 1);
  return look_at_news(listener, at);
}

static void end_line(stderr_listener *listener, int newline) {
  int passes = listener->rest || look_at_line(listener);
  if (newline)
    listener->line[listener->n++] = '\n';
  if (passes)
    pass_on(listener->line + listener->sent, listener->n - listener->sent);
  listener->n = listener->sent = 0;
  listener->rest = !newline;
}

/* The bytes of the line before what may become a mark. */
static size_t unmarked(const stderr_listener *listener) {
  for (size_t i = listener->sent; i < listener->n; i++) {
    size_t n = listener->n - i < strlen(mark) ? listener->n - i : strlen(mark);
    if (!memcmp(listener->line + i, mark, n))
      return i;
  }
  return listener->n;
}

/* What may become a line of the launcher's own, or of a guard's, is kept until it is one. */
static void send_part(stderr_listener *listener) {
  char own[32];
  size_t n = (size_t)snprintf(own, sizeof own, "%s: ", listener->launcher->name),
         end = unmarked(listener);
  if (!listener->rest && !strncmp(listener->line, own, listener->n < n ? listener->n : n))
    return;
  pass_on(listener->line + listener->sent, end - listener->sent);
  listener->sent = end;
}

static void forward_text(stderr_listener *listener, const char *text, ssize_t n) {
  for (ssize_t i = 0; i < n; i++) {
    if (text[i] == '\n') {
      end_line(listener, 1);
      continue;
    }
    if (listener->n + 2 >= sizeof listener->line)
      end_line(listener, 0);
    listener->line[listener->n++] = text[i];
  }
  if (listener->n)
    send_part(listener);
}

/* Reads and passes on what is there. 0: there will be no more. */
static int listen_once(stderr_listener *listener, int fd, int milliseconds) {
  char text[4096];
  struct pollfd p = {fd, POLLIN, 0};
  int ready = poll(&p, 1, milliseconds);
  if (ready <= 0)
    return (ready < 0 && errno == EINTR) || milliseconds > 0;
  ssize_t n = read(fd, text, sizeof text);
  if (n > 0)
    forward_text(listener, text, n);
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

static run_end judge_end(int status, const stderr_listener *listener) {
  run_end end = {.interrupted = stop, .lost = WIFSIGNALED(status)};
  end.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  listener->launcher->judge(&listener->news, &end);
  if (listener->news.exited && end.status == 0)
    end.status = listener->news.exited; /* the others may have ended well before they were told */
  if (stop && end.status == 0)
    end.status = 128 + stop; /* mpiexec sometimes ends with 0 when it has interrupted its ranks */
  if (end.status == SIGKILL && !stop && listener->launcher->dies && !listener->news.signal)
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
  stderr_listener listener = {.launcher = by};
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
    check_early(&listener);
    if (!open_still || !(open_still = listen_once(&listener, ends[0], 100)))
      poll(NULL, 0, 100);
  }
  pid_t started = launcher;
  launcher = 0;
  while (open_still && listen_once(&listener, ends[0], 0))
    continue; /* the last lines */
  if (listener.n)
    end_line(&listener, 0);
  close(ends[0]);
  return started > 0 ? judge_end(status, &listener) : (run_end){.status = 2};
}
