/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "base/option_table.h"

#include <stdlib.h>
#include <string.h>

const rgi_option_row rgi_option_table[RGI_OPT_COUNT] = {
#define RGI_OPTION(id, name, kind, builtin, values, meaning)                                       \
  [RGI_OPT_##id] = {name, RGI_OPTION_##kind, builtin, values, meaning},
#include "base/options.def"
#undef RGI_OPTION
};

const char *rgi_option_text(rgi_options_id id) {
  const char *text = getenv(rgi_option_table[id].name);
  return text && *text ? text : rgi_option_table[id].builtin;
}

int rgi_option_word(rgi_options_id id, const char *text) {
  size_t length = strlen(text);
  int number = 0;
  for (const char *word = rgi_option_table[id].values; word; number++) {
    const char *end = strchr(word, '|');
    size_t n = end ? (size_t)(end - word) : strlen(word);
    if (n == length && strncmp(word, text, n) == 0)
      return number;
    word = end ? end + 1 : NULL;
  }
  return -1;
}
