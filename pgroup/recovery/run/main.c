/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * regroup-run's command line: its own options come first, all others go to the launcher. Under
 * mpiexec and without --restart it only waits, and tells of a lost guard. */
#include <errno.h>
#include <regroup/version.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recovery/run/run.h"

#define REQUEUE_STATUS 99 /* RG_EXIT_REQUEUE of regroup/checkpoint.h */
#define OFTEN 3           /* starts again, where --restart has no number */

static const char help[] =
    "Usage: regroup-run [--restart[=N]] [--slurm] [--requeue] [--stopped=SECONDS]\n"
    "                   [OPTION OF THE LAUNCHER...] PROGRAM [ARGUMENT...]\n"
    "\n"
    "Starts PROGRAM as mpiexec does, or in a job of Slurm's as srun does, with all of their\n"
    "options, so that the job continues when one of its processes is killed: a program that\n"
    "uses Regroup notices, shrinks its group and continues. Under mpiexec a program without\n"
    "Regroup is started as usual; under srun it is not ended when one of its processes is.\n"
    "\n"
    "      --restart[=N]  Start the job again, at most N times (3), when the launcher has lost\n"
    "                     it: a machine or a proxy of mpiexec's is gone, the launcher itself\n"
    "                     was killed, or all ranks were. Hosts that are named on the command\n"
    "                     line and do not answer are left out; under Slurm those nodes that\n"
    "                     the others have reported lost. RG_RESTARTS tells the program how\n"
    "                     many times the job was started again, by Slurm or by this option.\n"
    "                     It is not when the program ended with a status of its own, nor\n"
    "                     after an interrupt.\n"
    "      --slurm        Use srun also where there is no allocation yet\n"
    "      --requeue      When the program ends with status 99, because it has saved its state\n"
    "                     and wants to be continued, put the batch job back into Slurm's\n"
    "                     queue (scontrol requeue)\n"
    "      --stopped=SECONDS\n"
    "                     A process that has been stopped for so long, by a signal or in a\n"
    "                     debugger, is killed, and the job survives it as any other failure.\n"
    "                     Without this option a process may stay stopped for any time.\n"
    "  -h, --help         Show this help and end\n"
    "  -V, --version      Show the version and end\n"
    "\n"
    "The exit status is that of the launcher's last start: 0 if the survivors ended well; 128\n"
    "and the signal if the launcher was killed. Under Slurm it is the highest one of the\n"
    "survivors, and regroup-run ends a few seconds after they have, also when Slurm does not\n"
    "know yet that a node is lost.\n"
    "\n"
    "Inside an allocation of Slurm's (SLURM_JOB_ID is set) the launcher is srun --mpi=pmi2\n"
    "--no-kill --kill-on-bad-exit=0 --wait=0, else mpiexec.mpich or mpiexec. RG_MPIEXEC names\n"
    "another one; it must be MPICH's, or speak the same protocol. In programs that use Regroup\n"
    "UCX_TLS is set to tcp,self unless it is set already: a process that is killed while it\n"
    "sends through UCX's shared memory can leave its receiver unable to receive. What Regroup\n"
    "moves inside a node does not use UCX.\n";

static int is_on_path(const char *name) {
  char file[4096], *all = strdup(getenv("PATH") ? getenv("PATH") : ""), *rest = NULL;
  int found = 0;
  for (char *p = strtok_r(all, ":", &rest); p && !found; p = strtok_r(NULL, ":", &rest)) {
    snprintf(file, sizeof file, "%s/%s", p, name);
    found = access(file, X_OK) == 0;
  }
  free(all);
  return found;
}

static int is_srun(const char *path) {
  const char *name = strrchr(path, '/');
  return !strcmp(name ? name + 1 : path, run_srun.name);
}

/* The launcher that the user names; srun inside an allocation of Slurm's, or if it is wanted; else
 * mpiexec. *path: its program, or NULL. */
static const run_launcher *find_launcher(int want_slurm, char **path) {
  static char srun[] = "srun", mpich[] = "mpiexec.mpich", any[] = "mpiexec";
  const char *named = getenv("RG_MPIEXEC");
  if (named && named[0]) {
    *path = strdup(named);
    unsetenv("RG_MPIEXEC"); /* it is no option of the library's */
    return is_srun(*path) ? &run_srun : &run_mpiexec;
  }
  *path = is_on_path(srun) ? srun : NULL;
  if (want_slurm || (*path && getenv("SLURM_JOB_ID")))
    return &run_srun;
  *path = is_on_path(mpich) ? mpich : is_on_path(any) ? any : NULL;
  return &run_mpiexec;
}

/* The launcher's options come before the user's. */
static char **make_command(const run_launcher *launcher, char *path, char **words) {
  int options = 0, n = 0;
  while (launcher->options[options])
    options++;
  while (words[n])
    n++;
  char **command = calloc((size_t)(options + n) + 2, sizeof *command);
  if (!command)
    return NULL;
  command[0] = path;
  memcpy(command + 1, launcher->options, (size_t)options * sizeof *command);
  memcpy(command + 1 + options, words, (size_t)n * sizeof *command);
  return command;
}

/* The library's rg_restart_count: Slurm counts how often it has started the whole batch job again.
 */
static void tell_restarts(int n) {
  char text[16];
  const char *batch = getenv("SLURM_RESTART_COUNT");
  snprintf(text, sizeof text, "%d", n + (batch ? atoi(batch) : 0));
  setenv("RG_RESTARTS", text, 1);
}

/* Starts the job, and again at most `most` times while it is lost. */
static int run_again(const run_launcher *launcher, char ***command, int most) {
  for (int n = 0;; n++) {
    tell_restarts(n);
    run_end end = run_job(launcher, *command);
    if (!end.lost || end.interrupted || most < 0)
      return end.status;
    if (n == most) {
      fprintf(stderr, "regroup-run: the job is lost, and has been started again %d times\n", n);
      return end.status;
    }
    sleep(1); /* the rest of the lost job ends */
    if (run_interrupted())
      return 128 + run_interrupted();
    if (launcher->next(command) == 0) {
      fprintf(stderr, "regroup-run: the job is lost, and no host answers\n");
      return end.status;
    }
    fprintf(stderr, "regroup-run: the job is lost (status %d): it is started again, %d of %d\n",
            end.status, n + 1, most);
  }
}

/* For a program that has saved its state because its time is over. */
static void put_back(void) {
  const char *job = getenv("SLURM_JOB_ID");
  pid_t pid = job ? fork() : -1;
  int status = 1;
  if (pid == 0) {
    signal(SIGTERM, SIG_IGN); /* the requeue ends the job's processes, this one among them */
    execlp("scontrol", "scontrol", "requeue", job, (char *)NULL);
    _exit(127);
  }
  pid_t ended = -1;
  while (pid > 0 && (ended = waitpid(pid, &status, 0)) < 0 && errno == EINTR)
    continue;
  if (ended != pid || pid < 0 || status != 0)
    fprintf(stderr, "regroup-run: --requeue: %s\n",
            job ? "scontrol requeue has failed" : "there is no SLURM_JOB_ID");
}

/* The number of --restart=N; -1: the word is another one; -2: N is no number. */
static int read_restart(const char *word) {
  char *rest;
  if (strncmp(word, "--restart", 9) != 0 || (word[9] && word[9] != '='))
    return -1;
  if (!word[9])
    return OFTEN;
  long n = strtol(word + 10, &rest, 10);
  return word[10] && !*rest && n >= 0 && n <= 1000000 ? (int)n : -2;
}

/* Whether the word is --stopped. *seconds: its number, or a negative one if it has none. */
static int read_stopped(const char *word, double *seconds) {
  static const char name[] = "--stopped";
  size_t n = sizeof name - 1;
  char *rest;
  if (strncmp(word, name, n) != 0 || (word[n] && word[n] != '='))
    return 0;
  *seconds = word[n] ? strtod(word + n + 1, &rest) : -1;
  if (word[n] && (!word[n + 1] || *rest || !(*seconds >= 0 && *seconds <= 1e9)))
    *seconds = -1;
  return 1;
}

typedef struct {
  int most; /* of --restart; -1: it is not there */
  int slurm, requeue;
} run_options;

/* Returns whether the word is an option of this program's own; -1: it is wrong. */
static int read_option(const char *word, run_options *options) {
  double seconds;
  int times = read_restart(word);
  if (times >= 0) {
    options->most = times;
  } else if (times == -2) {
    fprintf(stderr, "regroup-run: %s: N must be a number of times\n", word);
    return -1;
  } else if (!strcmp(word, "--slurm")) {
    options->slurm = 1;
  } else if (!strcmp(word, "--requeue")) {
    options->requeue = 1;
  } else if (!read_stopped(word, &seconds)) {
    return 0;
  } else if (seconds < 0) {
    fprintf(stderr, "regroup-run: %s: SECONDS must be a number\n", word);
    return -1;
  } else {
    setenv("RG_STOPPED", strchr(word, '=') + 1, 1);
  }
  return 1;
}

static int run_program(const run_launcher *launcher, char ***command, const run_options *options) {
  setenv("RG_SURVIVE", "1", 1);
  if (options->most < 0 && !launcher->must_hear() && !options->requeue)
    return run_job_unheard(launcher, *command).status;
  int status = run_again(launcher, command, options->most);
  if (options->requeue && status == REQUEUE_STATUS)
    put_back();
  return status;
}

int main(int argc, char **argv) {
  run_options options = {.most = -1};
  int own = 1, is_own = 1;
  char *path;
  static char **command; /* until the end */
  if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
    return fputs(help, stdout) < 0;
  if (argc > 1 && (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")))
    return puts("regroup-run " RG_VERSION) < 0;
  while (argv[own] && (is_own = read_option(argv[own], &options)) > 0)
    own++;
  if (is_own > 0) { /* no word is left */
    fputs("regroup-run: there is no program to start; --help shows how one is named\n", stderr);
    return 2;
  }
  if (is_own < 0)
    return 2;
  const run_launcher *launcher = find_launcher(options.slurm, &path);
  command = path ? make_command(launcher, path, argv + own) : NULL;
  if (!command) {
    fprintf(stderr, "regroup-run: there is no %s; RG_MPIEXEC names one\n", launcher->name);
    return 2;
  }
  return launcher->open(command) ? run_program(launcher, &command, &options) : 2;
}
