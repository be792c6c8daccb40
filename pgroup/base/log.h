/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The log: lines up to the level RG_LOG, on standard error or to the application's callback
 * (rg_log_set). */
#ifndef RGI_LOG_H
#define RGI_LOG_H

/* The numbers are those of the choices of RG_LOG. error, warn: anything that a user should act on,
 * from any rank. info: a few lines for a job, from rank 0. debug: lines for every operation of
 * every rank. */
typedef enum {
  RGI_LOG_NONE,
  RGI_LOG_ERROR,
  RGI_LOG_WARN,
  RGI_LOG_INFO,
  RGI_LOG_DEBUG
} rgi_log_level;

/* Sets the level up to which lines are written; none before the first call. */
void rgi_log_limit(rgi_log_level level);

/* From start to stop lines begin with the caller's rank in the world. */
void rgi_log_start(int world_rank);
void rgi_log_stop(void);

/* Writes one line in one call, so that the lines of ranks do not mix. Any thread. */
void rgi_log(rgi_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
