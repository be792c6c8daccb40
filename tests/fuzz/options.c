/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * rg_init with options, in its string and in the environment, that are drawn: also where only one
 * rank has them, all return the same. */
#include "options.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "draw.h"
#include "fuzz.h"
#include "tests/check/check.h"

/* Not those that are read before main, and no short RG_TIMEOUT. */
static const char *const variables[] = {
    "RG_LOG",         "RG_STALL_REPORT", "RG_WAIT",         "RG_OVERSUBSCRIBED",
    "RG_CHECK",       "RG_COMM_METHOD",  "RG_ARENA_SIZE",   "RG_RESERVE",
    "RG_ARRAY_SHARE", "RG_END_TIME",     "RG_END_MARGIN",   "RG_PATIENCE",
    "RG_STOPPED",     "RG_RESTARTS",     "RG_NODE_TIMEOUT", "RG_PROGRESS_THREAD",
    "RG_DOMAINS",     "RG_TUNING",       "RG_MPI_REPORT"};
enum { VARIABLES = sizeof variables / sizeof *variables };

static void draw_value(char text[300]) {
  static const char *const words[] = {
      "auto", "none", "info", "yes", "1", "0", "spin", "(r[0-9]+)", "/nonexistent/file", NULL};
  draw_text(words, text, 300);
  if (draw_chance(3))
    snprintf(text, 300, "%s", words[draw_below(9)]);
}

static void draw_string(char text[300]) {
  static const char *const words[] = {"log=",    "none",         "wait=", "arena_size=",  ",", "64",
                                      "check=1", "comm_method=", "auto",  "array_share=", NULL};
  draw_text(words, text, 300);
}

/* A file with costs, which rank 0 writes, and reads for all. All draw: the calls that follow are
 * the same on all. */
static void write_costs(char path[RGT_PATH]) {
  static const char *const words[] = {"between.t_s", "inside.t_w", "shared.t_c", " ", " = ",
                                      "\n",          "# text\n",   "1e-6",       NULL};
  char text[600];
  draw_text(words, text, sizeof text);
  if (rgt_rank > 0)
    return;
  rgt_temporary(path);
  int fd = mkstemp(path);
  if (fd >= 0) {
    RGT_TRUE(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
  }
}

void options_run(void) {
  char path[RGT_PATH] = "", value[300], string[300];
  const char *variable = variables[draw_below(VARIABLES)];
  int one = draw_chance(3) ? draw_below(rgt_size) : -1;
  draw_value(value);
  draw_string(string);
  if (strcmp(variable, "RG_TUNING") == 0) {
    write_costs(path);
    snprintf(value, sizeof value, "%s", path);
  }
  if (one < 0 || one == rgt_rank)
    setenv(variable, value, 1);
  if (!FUZZ(rg_init(MPI_COMM_WORLD, draw_chance(2) ? NULL : string))) {
    FUZZ(rg_option_get(draw_near(40), NULL, fuzz_out(8), NULL, NULL, NULL, NULL));
    FUZZ(rg_restart_count(fuzz_out(sizeof(int64_t))));
    RGT_OK(rg_finalize());
  }
  unsetenv(variable);
  if (path[0])
    unlink(path);
}
