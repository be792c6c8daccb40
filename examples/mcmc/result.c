/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Counts and times of all ranks are reduced to the first; the first rank then writes the table and
 * the JSON. */
#include "result.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "kernel.h"
#include "placement.h"

/* The time that the run took. On one node, where all ranks read the same clock, it starts when the
 * last rank came to the barrier; else each rank counts from when it left the barrier. */
static int take_elapsed(const mcmc_run *run, mcmc_result *result) {
  double times[2] = {run->entered, run->ended}, last[2];
  int one;
  TRY(rg_allreduce(run->survivors.group, times, last, 2, MPI_DOUBLE, MPI_MAX));
  TRY(mcmc_placement_one_node(run->survivors.group, &one));
  if (one) {
    result->origin = last[0];
    result->seconds = last[1] > last[0] ? last[1] - last[0] : 0;
    return RG_SUCCESS;
  }
  double own = run->ended > run->began ? run->ended - run->began : 0;
  result->origin = run->began;
  return rg_allreduce(run->survivors.group, &own, &result->seconds, 1, MPI_DOUBLE, MPI_MAX);
}

static int count_formations(const mcmc_run *run, mcmc_result *result) {
  rg_balance_statistics counts = {.size = sizeof counts};
  int ranks;
  TRY(rg_balance_get_statistics(run->balancer, &counts));
  TRY(rg_group_size(run->survivors.group, &ranks));
  int64_t n = counts.groups, sums[2] = {n, n * n}, ends[2] = {n, -n};
  TRY(rg_allreduce(run->survivors.group, MPI_IN_PLACE, sums, 2, MPI_INT64_T, MPI_SUM));
  TRY(rg_allreduce(run->survivors.group, MPI_IN_PLACE, ends, 2, MPI_INT64_T, MPI_MAX));
  result->mean = (double)sums[0] / ranks;
  double variance = (double)sums[1] / ranks - result->mean * result->mean;
  result->sd = variance > 0 ? sqrt(variance) : 0;
  result->most = ends[0];
  result->least = -ends[1];
  return RG_SUCCESS;
}

/* Adds up the final states of all walkers. */
static int add_up(const mcmc_run *run, mcmc_result *result) {
  int64_t count;
  const rg_balance_outcome *ended;
  TRY(rg_balance_outcomes(run->balancer, &count, &ended));
  for (int64_t i = 0; run->survivors.first && i < count; i++) {
    const mcmc_kernel_state *w = ended[i].state;
    result->checksum += mcmc_walk_fingerprint((uint64_t)ended[i].id, w->position);
    result->visits_checksum += mcmc_walk_visits_fingerprint((uint64_t)ended[i].id, w->visits);
    for (int cell = 0; cell < MCMC_WALK_CELLS; cell++)
      result->visits += w->visits[cell];
    result->left += w->samples - w->done;
  }
  return rg_bcast(run->survivors.group, &result->left, 1, MPI_INT64_T, 0);
}

/* What the walkers have without balancing: each living rank does a part of them alone. */
static int expect(const mcmc_run *run, mcmc_result *result) {
  int rank, ranks;
  TRY(rg_group_rank(run->survivors.group, &rank));
  TRY(rg_group_size(run->survivors.group, &ranks));
  if (result->left > 0)
    return RG_SUCCESS;
  mcmc_kernel_expect(run, rank, ranks, result->expected);
  return rg_allreduce(run->survivors.group, MPI_IN_PLACE, result->expected, 2, MPI_UINT64_T,
                      MPI_SUM);
}

/* All living ranks gather first: a step before it might fail on some of them only, and the others
 * would wait for these in it. */
int mcmc_result_collect(const mcmc_run *run, mcmc_result *result) {
  int processors = 0, root;
  *result = (mcmc_result){.samples = mcmc_plan_total(&run->plan)};
  TRY(common_survivors_root(&run->survivors, run->world, &root));
  TRY(rg_balance_gather(run->balancer, root));
  if (run->o.spin)
    TRY(mcmc_placement_processors(run->survivors.group, &processors));
  for (int64_t w = 0; w < run->plan.walkers; w++)
    result->units += mcmc_plan_units(&run->plan, w);
  result->executed = run->executed;
  TRY(rg_allreduce(run->survivors.group, MPI_IN_PLACE, &result->executed, 1, MPI_UINT64_T,
                   MPI_SUM));
  TRY(add_up(run, result));
  TRY(expect(run, result));
  TRY(take_elapsed(run, result));
  result->baseline = mcmc_plan_baseline(&run->plan, processors);
  result->ideal = mcmc_plan_ideal(&run->plan, processors);
  result->efficiency =
      result->samples == 0 || result->seconds == 0 ? 1 : result->ideal / result->seconds;
  return count_formations(run, result);
}

void mcmc_result_print(const mcmc_run *run, const mcmc_result *result) {
  const mcmc_plan *p = &run->plan;
  printf("%d ranks in %d groups of %d, %" PRId64 " walkers, %" PRId64 " samples, balance %s",
         p->ranks, p->groups, p->group, p->walkers, result->samples, run->o.balance);
  if (run->o.policy.interval > 0)
    printf(" every %d units", (int)run->o.policy.interval);
  printf("\n");
  printf("  time                    %9.3f s\n", result->seconds);
  printf("  without balancing       %9.3f s\n", result->baseline);
  printf("  ideal                   %9.3f s\n", result->ideal);
  if (result->samples == 0)
    printf("  no walker has any work: with more groups or another pattern some have\n");
  else if (result->ideal == 0)
    printf("  the samples take no time: there is no efficiency\n");
  else
    printf("  efficiency              %9.1f %%\n", 100 * result->efficiency);
  printf("  regroupings per process %9.2f   (sd %.2f, min %" PRId64 ", max %" PRId64 ")\n",
         result->mean, result->sd, result->least, result->most);
  printf("  checksum         %016" PRIx64 "\n", result->checksum);
  printf("  visits           %016" PRIx64 "   (%" PRId64 " units in %d cells)\n",
         result->visits_checksum, result->visits, MCMC_WALK_CELLS);
  if (run->deaths.count > 0)
    printf("  %d of %d ranks died, %.3f s lost from noticing to going on; the checksums are those "
           "of an undisturbed run\n",
           run->deaths.count, p->ranks, run->deaths.lost);
  if (run->o.trace)
    printf("  timeline in %s\n", run->o.trace);
}

json_t *mcmc_result_json(const mcmc_run *run, const mcmc_result *result) {
  const mcmc_plan *p = &run->plan;
  char checksum[17], visits[17];
  snprintf(checksum, sizeof checksum, "%016" PRIx64, result->checksum);
  snprintf(visits, sizeof visits, "%016" PRIx64, result->visits_checksum);
  return json_pack(
      "{s:i, s:s, s:i, s:f, s:f, s:f, s:f, s:{s:f, s:f, s:I, s:I}, s:I, s:I, s:s, s:i, s:I, s:I, "
      "s:f, s:f, s:s, s:I, s:s, s:I, s:s, s:i, s:f}",
      "ranks", p->ranks, "policy", run->o.balance, "interval", (int)run->o.policy.interval,
      "seconds", result->seconds, "baseline_seconds", result->baseline, "ideal_seconds",
      result->ideal, "efficiency", result->efficiency, "regroupings", "mean", result->mean, "sd",
      result->sd, "min", (json_int_t)result->least, "max", (json_int_t)result->most, "walkers",
      (json_int_t)p->walkers, "samples", (json_int_t)result->executed, "checksum", checksum,
      "group", p->group, "samples_per_step", (json_int_t)p->samples, "unit", (json_int_t)p->unit,
      "sample_seconds", p->sample, "time_scale", run->o.scale, "work",
      run->o.spin ? "spin" : "sleep", "seed", (json_int_t)run->o.seed, "pattern",
      run->o.pattern ? run->o.pattern : "", "visits", (json_int_t)result->visits, "visits_checksum",
      visits, "deaths", run->deaths.count, "lost_seconds", run->deaths.lost);
}
