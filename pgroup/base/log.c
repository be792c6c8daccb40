/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static int limit;     /* lines above this level are not written */
static int rank = -1; /* in the world; -1: the library has not been started */

void rgi_log_limit(rgi_log_level level) {
  limit = (int)level;
}

void rgi_log_start(int world_rank) {
  rank = world_rank;
}

void rgi_log_stop(void) {
  rank = -1;
}

void rgi_log(rgi_log_level level, const char *format, ...) {
  static const char *const names[] = {"", "error", "warning", "info", "debug"};
  char line[1024];
  va_list args;
  if ((int)level > limit)
    return;
  int n = rank >= 0 ? snprintf(line, sizeof line, "[regroup %d] %s: ", rank, names[level])
                    : snprintf(line, sizeof line, "[regroup] %s: ", names[level]);
  va_start(args, format);
  int more = vsnprintf(line + n, sizeof line - (size_t)n - 1, format, args);
  va_end(args);
  n += more < (int)sizeof line - n - 1 ? more : (int)sizeof line - n - 2;
  line[n++] = '\n';
  if (write(STDERR_FILENO, line, (size_t)n) < 0)
    return; /* there is no other place to report it */
}
