/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "walkers/board/credit.h"

static int make_digits(rgi_credit *c, int place) {
  int room = 2 * place + 64;
  if (place < c->digits)
    return RG_SUCCESS;
  char *more = realloc(c->sum, (size_t)room);
  if (!more)
    return rgi_error(RG_ERR_NOMEM, "no memory for %d digits", room);
  memset(more + c->digits, 0, (size_t)(room - c->digits));
  c->sum = more;
  c->digits = room;
  return RG_SUCCESS;
}

int rgi_credit_add(rgi_credit *c, int place) {
  RGI_TRY(make_digits(c, place));
  for (; place > 0; place--) {
    c->sum[place] ^= 1;
    if (c->sum[place])
      break;
  }
  c->whole += place == 0;
  return RG_SUCCESS;
}

void rgi_credit_free(rgi_credit *c) {
  free(c->sum);
  *c = (rgi_credit){0};
}
