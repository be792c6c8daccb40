/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Accesses that do not wait for what they start in the engine. */
#include <stdlib.h>

#include "base/error.h"
#include "onesided/access_piece.h"

static int grow_started(const char *call, rgi_access_started *s) {
  if (s->n < s->room)
    return RG_SUCCESS;
  int room = s->room ? 2 * s->room : 4;
  rgi_engine_handle *at = realloc(s->at, (size_t)room * sizeof *at);
  if (!at)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for a request", call);
  s->at = at;
  s->room = room;
  return RG_SUCCESS;
}

int rgi_access_start(const rgi_access *access, rgi_transfer *transfer) {
  rgi_access_started *s = access->started;
  RGI_TRY(grow_started(access->call, s));
  RGI_TRY(rgi_engine_start(transfer, &s->at[s->n]));
  s->n++;
  return RG_SUCCESS;
}
