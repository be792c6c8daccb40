/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * regroup-run's command line: its own options come first, all others go to mpiexec. Without
 * --restart it becomes mpiexec by exec, and has no part in the job any more. */
#include <regroup/version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recovery/run/run.h"

#define OFTEN 3 /* starts again, where --restart has no number */

static const char help[] =
    "Usage: regroup-run [--restart[=N]] [--stopped=SECONDS] [MPIEXEC-OPTION...] PROGRAM\n"
    "                   [ARGUMENT...]\n"
    "\n"
    "Starts PROGRAM as mpiexec does, with all of mpiexec's options, so that the job\n"
    "continues when one of its processes is killed: a program that uses Regroup notices,\n"
    "shrinks its group and continues. A program without Regroup is started as usual.\n"
    "\n"
    "      --restart[=N]  Start the job again, at most N times (3), when mpiexec has lost\n"
    "                     it: a machine or a proxy of mpiexec's is gone, mpiexec itself was\n"
    "                     killed, or all ranks were. Hosts that are named on the command line\n"
    "                     and do not answer are left out. RG_RESTARTS tells the program how\n"
    "                     many times the job was started again. It is not when the program\n"
    "                     ended with a status of its own, nor after an interrupt.\n"
    "      --stopped=SECONDS\n"
    "                     A process that has been stopped for so long, by a signal or in a\n"
    "                     debugger, is killed, and the job survives it as any other failure.\n"
    "                     Without this option a process may stay stopped for any time.\n"
    "  -h, --help         Show this help and end\n"
    "  -V, --version      Show the version and end\n"
    "\n"
    "The exit status is mpiexec's, of the last start: 0 if the survivors ended well; 128\n"
    "and the signal if mpiexec was killed.\n"
    "\n"
    "RG_MPIEXEC names another launcher (mpiexec.mpich, else mpiexec); it must be MPICH's,\n"
    "or speak the same protocol. UCX_TLS is set to tcp,self unless it is set already: a\n"
    "process that is killed while it sends through UCX's shared memory can leave its\n"
    "receiver unable to receive. What Regroup moves inside a node does not use UCX.\n";

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

static char *find_launcher(void) {
  static char mpich[] = "mpiexec.mpich", any[] = "mpiexec";
  const char *named = getenv("RG_MPIEXEC");
  if (named && named[0]) {
    char *copy = strdup(named);
    unsetenv("RG_MPIEXEC"); /* it is no option of the library's */
    return copy;
  }
  return is_on_path(mpich) ? mpich : is_on_path(any) ? any : NULL;
}

/* Open MPI's launcher uses another protocol than the guards. */
static int is_openmpi(const char *launcher) {
  char text[200] = "";
  setenv("RG_RUN_LAUNCHER", launcher, 1); /* the shell then needs no quoting of its name */
  FILE *f = popen("\"$RG_RUN_LAUNCHER\" --version 2>/dev/null", "r");
  unsetenv("RG_RUN_LAUNCHER");
  if (!f)
    return 0;
  text[fread(text, 1, sizeof text - 1, f)] = 0;
  while (fgetc(f) != EOF)
    continue;
  pclose(f);
  return strstr(text, "OpenRTE") || strstr(text, "Open MPI");
}

/* Starts the job, and again at most `most` times while it is lost. */
static int run_again(char **command, int most) {
  for (int n = 0;; n++) {
    char text[16];
    snprintf(text, sizeof text, "%d", n);
    setenv("RG_RESTARTS", text, 1);
    run_end end = run_job(command);
    if (!end.lost || end.interrupted)
      return end.status;
    if (n == most) {
      fprintf(stderr, "regroup-run: the job is lost, and has been started again %d times\n", n);
      return end.status;
    }
    sleep(1); /* the rest of the lost job ends */
    if (run_check_hosts(&command) == 0) {
      fprintf(stderr, "regroup-run: the job is lost, and no host answers\n");
      return end.status;
    }
    fprintf(stderr, "regroup-run: the job is lost (status %d): it is started again, %d of %d\n",
            end.status, n + 1, most);
  }
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

/* Reads this program's own options. Returns how many there are; -1: one of them is wrong. */
static int read_options(char **argv, int *most) {
  double seconds;
  *most = -1;
  for (int i = 1;; i++) {
    int times = argv[i] ? read_restart(argv[i]) : -1;
    if (times >= 0) {
      *most = times;
    } else if (times == -2) {
      fprintf(stderr, "regroup-run: %s: N must be a number of times\n", argv[i]);
      return -1;
    } else if (!argv[i] || !read_stopped(argv[i], &seconds)) {
      return i - 1;
    } else if (seconds < 0) {
      fprintf(stderr, "regroup-run: %s: SECONDS must be a number\n", argv[i]);
      return -1;
    } else {
      setenv("RG_STOPPED", strchr(argv[i], '=') + 1, 1);
    }
  }
}

int main(int argc, char **argv) {
  if (argc == 1 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
    return fputs(help, stdout) < 0;
  if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))
    return puts("regroup-run " RG_VERSION) < 0;
  int most, own = read_options(argv, &most);
  if (own < 0)
    return 2;
  char **command = argv + own;
  command[0] = find_launcher();
  if (!command[0]) {
    fprintf(stderr, "regroup-run: there is no mpiexec; RG_MPIEXEC names one\n");
    return 2;
  }
  if (is_openmpi(command[0])) {
    fprintf(stderr,
            "regroup-run: %s is Open MPI's; only a job of MPICH's can continue after a death: "
            "RG_MPIEXEC=mpiexec.mpich, and a program that is built with MPICH\n",
            command[0]);
    return 2;
  }
  setenv("RG_SURVIVE", "1", 1);
  setenv("UCX_TLS", "tcp,self", 0);
  if (most >= 0)
    return run_again(command, most);
  execvp(command[0], command);
  fprintf(stderr, "regroup-run: cannot start %s\n", command[0]);
  return 2;
}
