/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "walkers.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { SHOWN = 64 }; /* waiting walkers that a policy sees */

int sim_walkers_start(sim_walkers *walkers, const sim_setup *setup) {
  int64_t n = setup->pattern.walkers;
  *walkers = (sim_walkers){.setup = setup,
                           .count = n,
                           .line = malloc((size_t)(n + 1) * sizeof *walkers->line),
                           .shown = malloc(SHOWN * sizeof *walkers->shown)};
  if (setup->meetings)
    walkers->one = calloc((size_t)n, sizeof *walkers->one);
  if (!walkers->line || !walkers->shown || (setup->meetings && !walkers->one))
    return rgi_error(RG_ERR_NOMEM, "simulation: no memory for %lld walkers", (long long)n);
  for (int64_t i = 0; i < n; i++)
    walkers->line[i] = i;
  return RG_SUCCESS;
}

void sim_walkers_free(sim_walkers *walkers) {
  free(walkers->line);
  free(walkers->shown);
  free(walkers->one);
}

/* --- those that wait ---------------------------------------------------------------------- */

static int64_t all_units(const sim_walkers *walkers, int64_t walker) {
  return sim_walkers_units(walkers, walker) + sim_walkers_later(walkers, walker);
}

/* The longest first; of equal ones the first that came. */
static void put_in_line(sim_walkers *walkers, int64_t walker) {
  int64_t units = all_units(walkers, walker), low = walkers->first,
          high = walkers->first + walkers->count;
  while (low < high) {
    int64_t middle = (low + high) / 2;
    if (all_units(walkers, walkers->line[middle]) >= units)
      low = middle + 1;
    else
      high = middle;
  }
  if (walkers->first > 0) {
    walkers->first--;
    low--;
    memmove(walkers->line + walkers->first, walkers->line + walkers->first + 1,
            (size_t)(low - walkers->first) * sizeof *walkers->line);
  } else
    memmove(walkers->line + low + 1, walkers->line + low,
            (size_t)(walkers->count - low) * sizeof *walkers->line);
  walkers->line[low] = walker;
  walkers->count++;
}

void sim_walkers_sort(sim_walkers *walkers) {
  int64_t count = walkers->count;
  if (!walkers->one)
    return;
  memmove(walkers->line, walkers->line + walkers->first, (size_t)count * sizeof *walkers->line);
  walkers->first = 0;
  for (walkers->count = 0; walkers->count < count;)
    put_in_line(walkers, walkers->line[walkers->count]);
}

int64_t sim_walkers_waiting(const sim_walkers *walkers, double time) {
  return time < walkers->setup->late ? 0 : walkers->count;
}

void sim_walkers_show(sim_walkers *walkers, double time, rg_load_table *table) {
  int64_t waiting = sim_walkers_waiting(walkers, time);
  table->waiting = walkers->shown;
  table->waiting_count = waiting < SHOWN ? waiting : SHOWN;
  for (int64_t i = 0; i < table->waiting_count; i++) {
    int64_t walker = walkers->line[walkers->first + i];
    double unit = walkers->one ? walkers->one[walker].unit : 0;
    walkers->shown[i] =
        (rg_waiting_walker){.id = walker,
                            .least = walkers->setup->least,
                            .most = walkers->setup->most,
                            .left = (double)all_units(walkers, walker),
                            .unit = unit > 0 ? unit : walkers->setup->unit,
                            .awaited = walkers->one ? walkers->one[walker].awaited : 0};
  }
}

int64_t sim_walkers_take_first(sim_walkers *walkers) {
  walkers->count--;
  return walkers->line[walkers->first++];
}

int64_t sim_walkers_take_shown(sim_walkers *walkers, int64_t at) {
  int64_t walker = walkers->shown[at].id, *line = walkers->line + walkers->first, i = 0;
  while (line[i] != walker)
    i++;
  memmove(line + 1, line, (size_t)i * sizeof *line);
  line[0] = walker;
  return sim_walkers_take_first(walkers);
}

/* --- rounds and meetings ------------------------------------------------------------------ */

/* Where a walker's round is in the arrays of the plan. */
static int64_t place_of(const sim_walkers *walkers, int64_t walker) {
  return walkers->one[walker].round * walkers->setup->meetings->walkers + walker;
}

int64_t sim_walkers_units(const sim_walkers *walkers, int64_t walker) {
  return walkers->one ? walkers->setup->meetings->units[place_of(walkers, walker)]
                      : walkers->setup->pattern.units[walker];
}

int64_t sim_walkers_later(const sim_walkers *walkers, int64_t walker) {
  return walkers->one
             ? sim_meetings_units(walkers->setup->meetings, walker, walkers->one[walker].round + 1)
             : 0;
}

double sim_walkers_unit(const sim_walkers *walkers, int64_t walker) {
  return walkers->one
             ? walkers->setup->unit * walkers->setup->meetings->cost[place_of(walkers, walker)]
             : walkers->setup->unit;
}

sim_walkers_next sim_walkers_end_round(sim_walkers *walkers, int64_t walker) {
  const sim_meetings *meetings = walkers->setup->meetings;
  if (!walkers->one || walkers->one[walker].round == meetings->rounds - 1)
    return SIM_WALKERS_ENDS;
  if (meetings->next[place_of(walkers, walker)] != walker)
    return SIM_WALKERS_MEETS;
  walkers->one[walker].round++;
  return SIM_WALKERS_GOES_ON;
}

int sim_walkers_set_aside(sim_walkers *walkers, int64_t walker) {
  int64_t round = walkers->one[walker].round;
  const int32_t *next = walkers->setup->meetings->next + round * walkers->setup->meetings->walkers;
  int64_t others = 0, here = 0;
  walkers->one[walker].aside = 1;
  for (int64_t w = next[walker]; w != walker; w = next[w]) {
    walkers->one[w].awaited++;
    others++;
    here += walkers->one[w].aside && walkers->one[w].round == round;
  }
  if (here < others)
    return 0;
  for (int64_t w = next[walker];; w = next[w]) {
    walkers->one[w].awaited -= others;
    walkers->one[w].aside = 0;
    walkers->one[w].round++;
    put_in_line(walkers, w);
    if (w == walker)
      return 1;
  }
}
