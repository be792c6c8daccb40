/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "meetings.h"

#include <Random123/philox.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { EVERY = 10 }; /* units between two meetings */

static int make_rounds(int64_t walkers, int64_t rounds, sim_meetings *meetings) {
  size_t n = (size_t)walkers * (size_t)rounds;
  *meetings = (sim_meetings){.walkers = walkers,
                             .rounds = rounds,
                             .units = calloc(n, sizeof *meetings->units),
                             .cost = calloc(n, sizeof *meetings->cost),
                             .next = calloc(n, sizeof *meetings->next)};
  if (meetings->units && meetings->cost && meetings->next)
    return RG_SUCCESS;
  sim_meetings_free(meetings);
  return rgi_error(RG_ERR_NOMEM, "simulation: no memory for %lld rounds of %lld walkers",
                   (long long)rounds, (long long)walkers);
}

/* As in examples/tempering, with its random numbers. */
static double tempering_cost(int64_t walker, int64_t round) {
  philox4x64_ctr_t counter = {{(uint64_t)walker, (uint64_t)round, 1000, 13}};
  philox4x64_key_t key = {{2026, 11}};
  double u = ((double)(philox4x64(counter, key).v[0] >> 11) + 0.5) / 9007199254740992.0;
  return 0.5 + 3 * u * u;
}

int sim_meetings_tempering(int64_t walkers, int64_t units, sim_meetings *meetings) {
  if (walkers < 1 || walkers > INT32_MAX / 2 || units < 1)
    return rgi_error(RG_ERR_ARG, "tempering: %lld walkers of %lld units", (long long)walkers,
                     (long long)units);
  RGI_TRY(make_rounds(walkers, (units - 1) / EVERY + 1, meetings));
  for (int64_t r = 0; r < meetings->rounds; r++)
    for (int64_t w = 0; w < walkers; w++) {
      int64_t at = r * walkers + w, with = (w + r) % 2 ? w + 1 : w - 1;
      meetings->units[at] = r < meetings->rounds - 1 ? EVERY : units - r * EVERY;
      meetings->cost[at] = tempering_cost(w, r);
      meetings->next[at] = (int32_t)(with < 0 || with >= walkers ? w : with);
    }
  return RG_SUCCESS;
}

void sim_meetings_free(sim_meetings *meetings) {
  free(meetings->units);
  free(meetings->cost);
  free(meetings->next);
  *meetings = (sim_meetings){0};
}

int64_t sim_meetings_units(const sim_meetings *meetings, int64_t walker, int64_t round) {
  int64_t sum = 0;
  for (int64_t r = round; r < meetings->rounds; r++)
    sum += meetings->units[r * meetings->walkers + walker];
  return sum;
}

/* All walkers of a set are as late as the last one. */
static void meet(const int32_t next[], int64_t walker, double end[]) {
  double last = end[walker];
  for (int64_t w = next[walker]; w != walker; w = next[w])
    last = fmax(last, end[w]);
  end[walker] = last;
  for (int64_t w = next[walker]; w != walker; w = next[w])
    end[w] = last;
}

int sim_meetings_bound(const sim_meetings *meetings, const sim_machine *machine, double unit,
                       int64_t ranks, int64_t each, double *seconds) {
  double work = 0, chain = 0, *end = calloc((size_t)meetings->walkers, sizeof *end);
  if (!end)
    return rgi_error(RG_ERR_NOMEM, "simulation: no memory for %lld walkers",
                     (long long)meetings->walkers);
  for (int64_t r = 0; r < meetings->rounds; r++) {
    int64_t first = r * meetings->walkers;
    for (int64_t w = 0; w < meetings->walkers; w++) {
      double takes = (double)meetings->units[first + w] * meetings->cost[first + w] * unit;
      work += takes;
      end[w] += takes * sim_machine_speed(machine, each);
    }
    for (int64_t w = 0; w < meetings->walkers && r < meetings->rounds - 1; w++)
      meet(meetings->next + first, w, end);
  }
  for (int64_t w = 0; w < meetings->walkers; w++)
    chain = fmax(chain, end[w]);
  free(end);
  *seconds = fmax(work / (double)ranks, chain);
  return RG_SUCCESS;
}
