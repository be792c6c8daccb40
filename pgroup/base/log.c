/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A line is made in one piece and given to the callback of rg_log_set, or written to standard error
 * by one call of the system. */
#include "base/log.h"

#include <pthread.h>
#include <regroup/runtime.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "base/c_locale.h"

_Static_assert((int)RGI_LOG_NONE == RG_LOG_NONE && (int)RGI_LOG_ERROR == RG_LOG_ERROR &&
                   (int)RGI_LOG_WARN == RG_LOG_WARN && (int)RGI_LOG_INFO == RG_LOG_INFO &&
                   (int)RGI_LOG_DEBUG == RG_LOG_DEBUG,
               "the callback gets these levels");

static atomic_int limit;     /* lines above this level are not written */
static atomic_int rank = -1; /* in the world; -1: the library has not been started */

/* The lock is held during a call of the callback: it runs in one thread at a time, and is not
 * called any more after rg_log_set has replaced it. */
static struct {
  pthread_mutex_t lock;
  void (*callback)(int level, const char *line, void *context);
  void *context;
} receiver = {.lock = PTHREAD_MUTEX_INITIALIZER};

void rgi_log_limit(rgi_log_level level) {
  limit = (int)level;
}

void rgi_log_start(int world_rank) {
  rank = world_rank;
}

void rgi_log_stop(void) {
  rank = -1;
}

int rg_log_set(void (*callback)(int level, const char *line, void *context), void *context) {
  pthread_mutex_lock(&receiver.lock);
  receiver.callback = callback;
  receiver.context = context;
  pthread_mutex_unlock(&receiver.lock);
  return RG_SUCCESS;
}

/* Returns 0 if there is no callback. */
static int call_back(rgi_log_level level, const char *text) {
  pthread_mutex_lock(&receiver.lock);
  int there = receiver.callback != NULL;
  if (there)
    receiver.callback((int)level, text, receiver.context);
  pthread_mutex_unlock(&receiver.lock);
  return there;
}

static void write_line(rgi_log_level level, const char *text) {
  static const char *const names[] = {"", "error", "warning", "info", "debug"};
  char line[1100];
  int n = rank >= 0 ? snprintf(line, sizeof line, "[regroup %d] %s: %s\n", rank, names[level], text)
                    : snprintf(line, sizeof line, "[regroup] %s: %s\n", names[level], text);
  if (write(STDERR_FILENO, line, (size_t)n) < 0)
    return; /* there is no other place to report it */
}

void rgi_log(rgi_log_level level, const char *format, ...) {
  char text[1024];
  va_list args;
  if ((int)level > limit)
    return;
  va_start(args, format);
  locale_t before = rgi_c_locale_enter();
  vsnprintf(text, sizeof text, format, args);
  rgi_c_locale_leave(before);
  va_end(args);
  if (!call_back(level, text))
    write_line(level, text);
}
