/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "topology/filter.h"

#include <regroup/topology.h>
#include <string.h>

#include "base/error.h"

int rgi_filter_check(const char *call, int filter) {
  if (filter > 0 && (filter & ~RG_LEVEL_ALL) == 0)
    return RG_SUCCESS;
  return rgi_error(RG_ERR_ARG, "%s: %d is no filter; add up RG_LEVEL_...", call, filter);
}

/* 0 if the word stands for nothing. */
static int filter_of(const char *word, size_t length) {
  static const struct {
    const char *word;
    int filter;
  } words[] = {{"network", RG_LEVEL_NETWORK},
               {"memory", RG_LEVEL_MEMORY},
               {"compute", RG_LEVEL_COMPUTE},
               {"all", RG_LEVEL_ALL}};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (strlen(words[i].word) == length && strncmp(word, words[i].word, length) == 0)
      return words[i].filter;
  return 0;
}

int rgi_filter_parse(const char *call, const char *words, int *filter) {
  int sum = 0;
  for (const char *word = words;; word++) {
    size_t length = strcspn(word, ",");
    int one = filter_of(word, length);
    if (!one)
      return rgi_error(RG_ERR_ARG,
                       "%s: the filter \"%.100s\": expected words from network, memory, compute, "
                       "all, with commas between them",
                       call, words);
    sum |= one;
    word += length;
    if (!*word)
      break;
  }
  *filter = sum;
  return RG_SUCCESS;
}
