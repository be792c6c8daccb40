/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "progress/progress.h"

#include <regroup/error.h>
#include <stddef.h>

static const rgi_progress_source *source;

void rgi_progress_use(const rgi_progress_source *used) {
  source = used;
}

int rgi_progress_ready(void) {
  return source != NULL;
}

int rgi_progress(void) {
  return source ? source->progress() : RG_SUCCESS;
}

int rgi_progress_attempt(void) {
  return source ? source->attempt() : RG_SUCCESS;
}

int rgi_progress_busy(void) {
  return source && source->busy();
}
