/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * mpiexec's exit status alone does not tell whether it has lost the job, since a program may end
 * with the same status: it also prints a line about a connection that was closed. That of MPICH 4.2
 * sometimes ends with 0 where the signal of a rank has ended the job: then the guard's line has the
 * status. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "noded/wire/overlay.h"
#include "recovery/run/run.h"

#define LOST_STATUS 255 /* when the connection to a proxy is gone */

static int lost;    /* such a line has been seen: a node is gone */
static int is_true; /* status 0 of this launcher is never a false one */

/* Of MPICH the versions 4.0 are known to be. */
static int is_true_status(const char *text) {
  const char *hydra = strstr(text, "HYDRA"), *version = hydra ? strstr(hydra, "Version:") : NULL;
  char number[8] = "";
  if (version)
    sscanf(version, "Version: %7s", number);
  return !hydra || !strncmp(number, "4.0", 3);
}

/* Open MPI's launcher uses another protocol than the guards. */
static int open_mpiexec(char **command) {
  char text[200] = "";
  setenv("RG_RUN_LAUNCHER", command[0], 1); /* the shell then needs no quoting of its name */
  FILE *f = popen("\"$RG_RUN_LAUNCHER\" --version 2>/dev/null", "r");
  unsetenv("RG_RUN_LAUNCHER");
  if (!f)
    return 1;
  text[fread(text, 1, sizeof text - 1, f)] = 0;
  while (fgetc(f) != EOF)
    continue;
  pclose(f);
  is_true = is_true_status(text);
  if (!strstr(text, "OpenRTE") && !strstr(text, "Open MPI"))
    return 1;
  fprintf(stderr,
          "regroup-run: %s is Open MPI's; only a job of MPICH's can continue after a death: "
          "RG_MPIEXEC=mpiexec.mpich, and a program that is built with MPICH\n",
          command[0]);
  return 0;
}

static int must_hear(void) {
  return !is_true;
}

static int hear(const char *line) {
  if (!strncmp(line, "[mpiexec@", 9) &&
      (strstr(line, "assert (!closed) failed") ||
       strstr(line, "process manager error waiting for completion")))
    lost = 1;
  return 1;
}

static int hear_news(const char *line) {
  (void)line;
  return 1;
}

static void judge(const run_news *news, run_end *end) {
  if (news->well && end->status == RGI_OVERLAY_ENDED_STATUS)
    end->status = 0;
  if (end->status == 0 && news->signal && !news->well && !end->interrupted)
    end->status = 128 + news->signal;
  end->lost = end->lost || (lost && end->status == LOST_STATUS) ||
              (news->signal == SIGKILL && end->status != 0) ||
              (news->ended && end->status == RGI_OVERLAY_ENDED_STATUS);
  lost = 0;
}

static void step(pid_t launcher) {
  (void)launcher;
}

static const char *const options[] = {NULL};

const run_launcher run_mpiexec = {.name = "mpiexec",
                                  .options = options,
                                  .dies = 1,
                                  .open = open_mpiexec,
                                  .must_hear = must_hear,
                                  .hear = hear,
                                  .hear_news = hear_news,
                                  .step = step,
                                  .judge = judge,
                                  .next = run_check_hosts};
