/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "runtime/program/program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int in_path(const char *name) {
  char file[4096];
  const char *dir = getenv("PATH");
  for (; dir && *dir; dir += strcspn(dir, ":"), dir += *dir == ':') {
    snprintf(file, sizeof file, "%.*s/%s", (int)strcspn(dir, ":"), dir, name);
    if (access(file, X_OK) == 0)
      return 1;
  }
  return 0;
}

int rgp_gnuplot_possible(const char *program, const char *path) {
  FILE *f;
  if (!path)
    return 1;
  if (!in_path("gnuplot")) {
    fprintf(stderr,
            "%s: --svg needs gnuplot, which is not installed; on Debian it comes with the package "
            "gnuplot-nox\n",
            program);
    return 0;
  }
  f = fopen(path, "a");
  if (!f) {
    fprintf(stderr, "%s: %s cannot be written: %s\n", program, path, strerror(errno));
    return 0;
  }
  fclose(f);
  return 1;
}

void rgp_gnuplot_quote(FILE *f, const char *text) {
  fputc('\'', f);
  for (; *text; text++)
    fputs(*text == '\'' ? "''" : (char[]){*text, 0}, f);
  fputc('\'', f);
}
