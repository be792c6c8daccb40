/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "walkers/board/credit.h"

static int make_digits(rgi_credit *credit, int place) {
  int room = 2 * place + 64;
  if (place < credit->digits)
    return RG_SUCCESS;
  char *more = realloc(credit->sum, (size_t)room);
  if (!more)
    return rgi_error(RG_ERR_NOMEM, "no memory for %d digits", room);
  memset(more + credit->digits, 0, (size_t)(room - credit->digits));
  credit->sum = more;
  credit->digits = room;
  return RG_SUCCESS;
}

int rgi_credit_add(rgi_credit *credit, int place) {
  RGI_TRY(make_digits(credit, place));
  for (; place > 0; place--) {
    credit->sum[place] ^= 1;
    if (credit->sum[place])
      break;
  }
  credit->whole += place == 0;
  return RG_SUCCESS;
}

void rgi_credit_free(rgi_credit *credit) {
  free(credit->sum);
  *credit = (rgi_credit){0};
}
