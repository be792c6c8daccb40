/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Which of the hosts on mpiexec's command line answer: those on which the launcher of mpiexec (ssh,
 * or a program that stands for it) can start a process. The command line is searched for the option
 * that names hosts or a file of them; it is replaced by -hosts with those that answer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "recovery/run/run.h"

#define PATIENCE 10 /* seconds for an answer */

/* mpiexec's options that are followed by one word; two words follow -env and -genv. */
static const char *const with_word[] = {"n",
                                        "np",
                                        "ppn",
                                        "f",
                                        "hostfile",
                                        "machinefile",
                                        "hosts",
                                        "host",
                                        "launcher",
                                        "rmk",
                                        "bind-to",
                                        "launcher-exec",
                                        "map-by",
                                        "membind",
                                        "iface",
                                        "demux",
                                        "wdir",
                                        "genvlist",
                                        "envlist",
                                        "usize",
                                        "topolib",
                                        "path",
                                        "pmi-port",
                                        "ranks-per-proc",
                                        "configfile",
                                        "profile",
                                        "outfile-pattern",
                                        "errfile-pattern",
                                        "prepend-pattern",
                                        NULL};

static int is_in(const char *option, const char *const list[]) {
  for (int i = 0; list[i]; i++)
    if (!strcmp(option, list[i]))
      return 1;
  return 0;
}

/* The place of the last of these options before the program, or 0. */
static int find_option(char **command, const char *const names[]) {
  int found = 0;
  for (int i = 1; command[i] && command[i][0] == '-';) {
    const char *option = command[i] + (command[i][1] == '-' ? 2 : 1);
    int words = !strcmp(option, "env") || !strcmp(option, "genv") ? 2 : is_in(option, with_word);
    for (int k = 1; k <= words; k++)
      if (!command[i + k])
        return 0;
    if (words == 1 && is_in(option, names))
      found = i;
    i += 1 + words;
  }
  return found;
}

static int is_here(const char *host) {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return !strcmp(host, "localhost") || !strcmp(host, name) || !strncmp(host, "127.", 4);
}

static int ended_well(pid_t pid) {
  struct timespec pause = {0, 20000000};
  for (int i = 0, status; i < PATIENCE * 50; i++) {
    if (waitpid(pid, &status, WNOHANG) == pid)
      return WIFEXITED(status) && WEXITSTATUS(status) == 0;
    nanosleep(&pause, NULL);
  }
  kill(pid, SIGKILL);
  waitpid(pid, NULL, 0);
  return 0;
}

static int host_answers(const char *host, const char *starter) {
  if (!starter && is_here(host))
    return 1;
  pid_t pid = fork();
  if (pid != 0)
    return pid > 0 && ended_well(pid);
  if (!freopen("/dev/null", "r", stdin) || !freopen("/dev/null", "w", stdout) ||
      !freopen("/dev/null", "w", stderr))
    _exit(2);
  if (starter)
    execlp(starter, starter, "-x", host, "true", (char *)NULL);
  else
    execlp("ssh", "ssh", "-x", "-o", "BatchMode=yes", "-o", "ConnectTimeout=5", host, "true",
           (char *)NULL);
  _exit(2);
}

/* The hosts that the option names, separated by commas or lines: HOST or HOST:RANKS each. */
static char *read_hosts(char **command, int at) {
  static const char *const files[] = {"f", "hostfile", "machinefile", NULL};
  const char *option = command[at] + (command[at][1] == '-' ? 2 : 1);
  char *text = NULL;
  size_t room = 0;
  if (!is_in(option, files))
    return strdup(command[at + 1]);
  FILE *f = fopen(command[at + 1], "r");
  if (!f)
    return NULL;
  if (getdelim(&text, &room, 0, f) < 0)
    text = NULL;
  fclose(f);
  return text;
}

/* Appends an entry to the list `left` if its host answers. Returns how many it has appended. */
static int keep_host(char *entry, const char *starter, char *left) {
  char host[256];
  entry[strcspn(entry, "# \t")] = 0;
  if (!entry[0])
    return 0;
  snprintf(host, sizeof host, "%.*s", (int)strcspn(entry, ":"), entry);
  if (!host_answers(host, starter)) {
    fprintf(stderr, "regroup-run: %s does not answer and is left out\n", host);
    return 0;
  }
  sprintf(left + strlen(left), "%s%s", left[0] ? "," : "", entry);
  return 1;
}

int run_check_hosts(char ***command) {
  static const char *const lists[] = {"hosts", "host", "f", "hostfile", "machinefile", NULL};
  static const char *const starters[] = {"launcher-exec", NULL};
  static char option[] = "-hosts";
  int at = find_option(*command, lists), by = find_option(*command, starters), n = 0;
  const char *starter = by ? (*command)[by + 1] : getenv("HYDRA_LAUNCHER_EXEC");
  char *text = at ? read_hosts(*command, at) : NULL, *rest = NULL;
  char *left = text ? calloc(1, strlen(text) + 2) : NULL;
  if (!left)
    return -1;
  for (char *e = strtok_r(text, ",\n", &rest); e; e = strtok_r(NULL, ",\n", &rest))
    n += keep_host(e, starter, left);
  free(text);
  (*command)[at] = option;
  (*command)[at + 1] = left;
  return n;
}
