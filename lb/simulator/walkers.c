/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "walkers.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { SHOWN = 64 }; /* waiting walkers that a policy sees */

int sim_walkers_start(sim_walkers *s, const sim_setup *setup) {
  int64_t n = setup->pattern.walkers;
  *s = (sim_walkers){.setup = setup,
                     .count = n,
                     .line = malloc((size_t)(n + 1) * sizeof *s->line),
                     .shown = malloc(SHOWN * sizeof *s->shown)};
  if (setup->meetings)
    s->one = calloc((size_t)n, sizeof *s->one);
  if (!s->line || !s->shown || (setup->meetings && !s->one))
    return rgi_error(RG_ERR_NOMEM, "simulation: no memory for %lld walkers", (long long)n);
  for (int64_t i = 0; i < n; i++)
    s->line[i] = i;
  return RG_SUCCESS;
}

void sim_walkers_free(sim_walkers *s) {
  free(s->line);
  free(s->shown);
  free(s->one);
}

/* --- those that wait ---------------------------------------------------------------------- */

static int64_t all_units(const sim_walkers *s, int64_t walker) {
  return sim_walkers_units(s, walker) + sim_walkers_later(s, walker);
}

/* The longest first; of equal ones the first that came. */
static void put_in_line(sim_walkers *s, int64_t walker) {
  int64_t units = all_units(s, walker), low = s->first, high = s->first + s->count;
  while (low < high) {
    int64_t middle = (low + high) / 2;
    if (all_units(s, s->line[middle]) >= units)
      low = middle + 1;
    else
      high = middle;
  }
  if (s->first > 0) {
    s->first--;
    low--;
    memmove(s->line + s->first, s->line + s->first + 1, (size_t)(low - s->first) * sizeof *s->line);
  } else
    memmove(s->line + low + 1, s->line + low, (size_t)(s->count - low) * sizeof *s->line);
  s->line[low] = walker;
  s->count++;
}

void sim_walkers_sort(sim_walkers *s) {
  int64_t count = s->count;
  if (!s->one)
    return;
  memmove(s->line, s->line + s->first, (size_t)count * sizeof *s->line);
  s->first = 0;
  for (s->count = 0; s->count < count;)
    put_in_line(s, s->line[s->count]);
}

int64_t sim_walkers_waiting(const sim_walkers *s, double time) {
  return time < s->setup->late ? 0 : s->count;
}

void sim_walkers_show(sim_walkers *s, double time, rg_load_table *t) {
  int64_t waiting = sim_walkers_waiting(s, time);
  t->waiting = s->shown;
  t->waiting_count = waiting < SHOWN ? waiting : SHOWN;
  for (int64_t i = 0; i < t->waiting_count; i++) {
    int64_t walker = s->line[s->first + i];
    double unit = s->one ? s->one[walker].unit : 0;
    s->shown[i] = (rg_waiting_walker){.id = walker,
                                      .least = s->setup->least,
                                      .most = s->setup->most,
                                      .left = (double)all_units(s, walker),
                                      .unit = unit > 0 ? unit : s->setup->unit,
                                      .awaited = s->one ? s->one[walker].awaited : 0};
  }
}

int64_t sim_walkers_take_first(sim_walkers *s) {
  s->count--;
  return s->line[s->first++];
}

int64_t sim_walkers_take_shown(sim_walkers *s, int64_t at) {
  int64_t walker = s->shown[at].id, *line = s->line + s->first, i = 0;
  while (line[i] != walker)
    i++;
  memmove(line + 1, line, (size_t)i * sizeof *line);
  line[0] = walker;
  return sim_walkers_take_first(s);
}

/* --- rounds and meetings ------------------------------------------------------------------ */

/* Where a walker's round is in the arrays of the plan. */
static int64_t place_of(const sim_walkers *s, int64_t walker) {
  return s->one[walker].round * s->setup->meetings->walkers + walker;
}

int64_t sim_walkers_units(const sim_walkers *s, int64_t walker) {
  return s->one ? s->setup->meetings->units[place_of(s, walker)] : s->setup->pattern.units[walker];
}

int64_t sim_walkers_later(const sim_walkers *s, int64_t walker) {
  return s->one ? sim_meetings_units(s->setup->meetings, walker, s->one[walker].round + 1) : 0;
}

double sim_walkers_unit(const sim_walkers *s, int64_t walker) {
  return s->one ? s->setup->unit * s->setup->meetings->cost[place_of(s, walker)] : s->setup->unit;
}

sim_walkers_next sim_walkers_end_round(sim_walkers *s, int64_t walker) {
  const sim_meetings *m = s->setup->meetings;
  if (!s->one || s->one[walker].round == m->rounds - 1)
    return SIM_WALKERS_ENDS;
  if (m->next[place_of(s, walker)] != walker)
    return SIM_WALKERS_MEETS;
  s->one[walker].round++;
  return SIM_WALKERS_GOES_ON;
}

int sim_walkers_set_aside(sim_walkers *s, int64_t walker) {
  int64_t round = s->one[walker].round;
  const int32_t *next = s->setup->meetings->next + round * s->setup->meetings->walkers;
  int64_t others = 0, here = 0;
  s->one[walker].aside = 1;
  for (int64_t w = next[walker]; w != walker; w = next[w]) {
    s->one[w].awaited++;
    others++;
    here += s->one[w].aside && s->one[w].round == round;
  }
  if (here < others)
    return 0;
  for (int64_t w = next[walker];; w = next[w]) {
    s->one[w].awaited -= others;
    s->one[w].aside = 0;
    s->one[w].round++;
    put_in_line(s, w);
    if (w == walker)
      return 1;
  }
}
