/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * For the first level each process knows only its own node's places, so all exchange their parts.
 * Further levels lie within one node, and each process works out the parts of all. */
#include "topology/level_call.h"

#include <regroup/topology.h>
#include <string.h>

#include "base/error.h"
#include "base/error_report.h"

rgi_level_call rgi_level_call_of(const char *call, int filter, int key, int max, int rooted) {
  rgi_level_call c = {.call = call,
                      .choice.filter = filter,
                      .key = key,
                      .most = max,
                      .rooted = rooted,
                      .error = rgi_level_filter_check(call, filter)};
  if (max > RG_LEVELS_MOST)
    c.most = RG_LEVELS_MOST;
  if (max < 1) {
    c.error = rgi_error(RG_ERR_ARG, "%s: room for %d levels; at least 1 is needed", call, max);
    c.most = 1;
  }
  return c;
}

rgi_level_call rgi_level_call_named(const char *call, const char *type, int key) {
  rgi_level_call c = {.call = call, .key = key, .most = 1};
  c.error = rgi_machine_find_type(call, type, &c.choice.type);
  return c;
}

void rgi_level_call_tell_none(const rgi_level_call *split, int rank) {
  if (!split->choice.filter)
    rgi_machine_tell_without(split->call, split->choice.type);
  else if (rank == 0)
    rgi_machine_tell_unbound(split->call);
}

static int first_below(const rgi_places *places, int row, rgi_places_choice choice) {
  rgi_places_level level;
  return rgi_places_level_below(places, row, choice, &level) ? level.first : -1;
}

rgi_level_call_part rgi_level_call_mine(const rgi_level_call *split, const rgi_places *places) {
  return (rgi_level_call_part){
      .error = split->error,
      .choice = split->choice,
      .shape = 2 * split->most + split->rooted,
      .key = split->key,
      .first = split->error ? -1 : first_below(places, places->me, split->choice)};
}

void rgi_level_call_below(const rgi_level_call *split, const rgi_places *places,
                          rgi_level_call_part all[]) {
  for (int r = 0; r < places->size; r++)
    all[r] = (rgi_level_call_part){.first = first_below(places, r, split->choice)};
}

int64_t rgi_level_call_word(const rgi_level_call_part all[], int size) {
  for (int r = 0; r < size; r++)
    if (all[r].error)
      return rgi_error_report_word(all[r].error, r);
  return 0;
}

int rgi_level_call_check(const rgi_level_call *split, const rgi_level_call_part all[], int size) {
  for (int r = 0; r < size; r++) {
    rgi_places_choice own = all[r].choice, first = all[0].choice;
    if (own.filter && first.filter && own.filter != first.filter)
      return rgi_error(RG_ERR_MISMATCH, "%s: rank %d has the filter %d, rank 0 has %d", split->call,
                       r, own.filter, first.filter);
    if (!own.filter && !first.filter && own.type != first.type)
      return rgi_error(RG_ERR_MISMATCH, "%s: rank %d asks for %s, rank 0 for %s", split->call, r,
                       hwloc_obj_type_string(own.type), hwloc_obj_type_string(first.type));
    if (own.filter != first.filter || all[r].shape != all[0].shape)
      return rgi_error(RG_ERR_MISMATCH,
                       "%s: rank %d and rank 0 made different calls, or ask for different numbers "
                       "of levels or roots",
                       split->call, r);
  }
  return RG_SUCCESS;
}

int rgi_level_call_siblings(const rgi_level_call_part all[], int size, int first, int *index) {
  int siblings = 0;
  *index = 0;
  for (int r = 0; r < size; r++)
    if (all[r].first == r) {
      siblings++;
      *index += r < first;
    }
  return siblings;
}

int rgi_level_filter_check(const char *call, int filter) {
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

int rgi_level_filter_parse(const char *call, const char *words, int *filter) {
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
