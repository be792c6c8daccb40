/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "runtime/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "runtime/options.h"
#include "runtime/runtime.h"

void rgi_log(rgi_log_level level, const char *format, ...) {
  static const char *const names[] = {"", "error", "warning", "info", "debug"};
  char line[1024];
  va_list args;
  if ((int)level > rgi_option_choice(RGI_OPT_LOG))
    return;
  int n = rgi_rt.started
              ? snprintf(line, sizeof line, "[regroup %d] %s: ", rgi_rt.rank, names[level])
              : snprintf(line, sizeof line, "[regroup] %s: ", names[level]);
  va_start(args, format);
  int more = vsnprintf(line + n, sizeof line - (size_t)n - 1, format, args);
  va_end(args);
  n += more < (int)sizeof line - n - 1 ? more : (int)sizeof line - n - 2;
  line[n++] = '\n';
  if (write(STDERR_FILENO, line, (size_t)n) < 0)
    return; /* nowhere left to say so */
}
