/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "base/c_locale.h"

#include <stdlib.h>

/* The C library has this locale: nothing is allocated. */
static locale_t c_locale(void) {
  return newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

double rgi_c_locale_number(const char *text, char **end) {
  locale_t c = c_locale();
  return c ? strtod_l(text, end, c) : strtod(text, end);
}

locale_t rgi_c_locale_enter(void) {
  return uselocale(c_locale());
}

void rgi_c_locale_leave(locale_t before) {
  uselocale(before);
}
