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
static int take_elapsed(const mcmc_run *run, mcmc_result *r) {
  double times[2] = {run->entered, run->ended}, last[2];
  int one;
  TRY(rg_allreduce(run->survivors.group, times, last, 2, MPI_DOUBLE, MPI_MAX));
  TRY(mcmc_placement_one_node(run->survivors.group, &one));
  if (one) {
    r->origin = last[0];
    r->seconds = last[1] > last[0] ? last[1] - last[0] : 0;
    return RG_SUCCESS;
  }
  double own = run->ended > run->began ? run->ended - run->began : 0;
  r->origin = run->began;
  return rg_allreduce(run->survivors.group, &own, &r->seconds, 1, MPI_DOUBLE, MPI_MAX);
}

static int count_formations(const mcmc_run *run, mcmc_result *r) {
  rg_balance_statistics counts = {.size = sizeof counts};
  int ranks;
  TRY(rg_balance_get_statistics(run->balancer, &counts));
  TRY(rg_group_size(run->survivors.group, &ranks));
  int64_t n = counts.groups, sums[2] = {n, n * n}, ends[2] = {n, -n};
  TRY(rg_allreduce(run->survivors.group, MPI_IN_PLACE, sums, 2, MPI_INT64_T, MPI_SUM));
  TRY(rg_allreduce(run->survivors.group, MPI_IN_PLACE, ends, 2, MPI_INT64_T, MPI_MAX));
  r->mean = (double)sums[0] / ranks;
  double variance = (double)sums[1] / ranks - r->mean * r->mean;
  r->sd = variance > 0 ? sqrt(variance) : 0;
  r->most = ends[0];
  r->least = -ends[1];
  return RG_SUCCESS;
}

/* Adds up the final states of all walkers. */
static int add_up(const mcmc_run *run, mcmc_result *r) {
  int64_t count;
  const rg_balance_outcome *ended;
  TRY(rg_balance_outcomes(run->balancer, &count, &ended));
  for (int64_t i = 0; run->survivors.first && i < count; i++) {
    const mcmc_kernel_state *w = ended[i].state;
    r->checksum += mcmc_walk_fingerprint((uint64_t)ended[i].id, w->position);
    r->visits_checksum += mcmc_walk_visits_fingerprint((uint64_t)ended[i].id, w->visits);
    for (int cell = 0; cell < MCMC_WALK_CELLS; cell++)
      r->visits += w->visits[cell];
    r->left += w->samples - w->done;
  }
  return rg_bcast(run->survivors.group, &r->left, 1, MPI_INT64_T, 0);
}

/* What the walkers have without balancing: each living rank does a part of them alone. */
static int expect(const mcmc_run *run, mcmc_result *r) {
  int rank, ranks;
  TRY(rg_group_rank(run->survivors.group, &rank));
  TRY(rg_group_size(run->survivors.group, &ranks));
  if (r->left > 0)
    return RG_SUCCESS;
  mcmc_kernel_expect(run, rank, ranks, r->expected);
  return rg_allreduce(run->survivors.group, MPI_IN_PLACE, r->expected, 2, MPI_UINT64_T, MPI_SUM);
}

/* All living ranks gather first: a step before it might fail on some of them only, and the others
 * would wait for these in it. */
int mcmc_result_collect(const mcmc_run *run, mcmc_result *r) {
  int processors = 0, root;
  *r = (mcmc_result){.samples = mcmc_plan_total(&run->plan)};
  TRY(common_survivors_root(&run->survivors, run->world, &root));
  TRY(rg_balance_gather(run->balancer, root));
  if (run->o.spin)
    TRY(mcmc_placement_processors(run->survivors.group, &processors));
  for (int64_t w = 0; w < run->plan.walkers; w++)
    r->units += mcmc_plan_units(&run->plan, w);
  r->executed = run->executed;
  TRY(rg_allreduce(run->survivors.group, MPI_IN_PLACE, &r->executed, 1, MPI_UINT64_T, MPI_SUM));
  TRY(add_up(run, r));
  TRY(expect(run, r));
  TRY(take_elapsed(run, r));
  r->baseline = mcmc_plan_baseline(&run->plan, processors);
  r->ideal = mcmc_plan_ideal(&run->plan, processors);
  r->efficiency = r->samples == 0 || r->seconds == 0 ? 1 : r->ideal / r->seconds;
  return count_formations(run, r);
}

void mcmc_result_print(const mcmc_run *run, const mcmc_result *r) {
  const mcmc_plan *p = &run->plan;
  printf("%d ranks in %d groups of %d, %" PRId64 " walkers, %" PRId64 " samples, balance %s",
         p->ranks, p->groups, p->group, p->walkers, r->samples, run->o.balance);
  if (run->o.policy.interval > 0)
    printf(" every %d units", (int)run->o.policy.interval);
  printf("\n");
  printf("  time                    %9.3f s\n", r->seconds);
  printf("  without balancing       %9.3f s\n", r->baseline);
  printf("  ideal                   %9.3f s\n", r->ideal);
  if (r->samples == 0)
    printf("  no walker has any work: with more groups or another pattern some have\n");
  else if (r->ideal == 0)
    printf("  the samples take no time: there is no efficiency\n");
  else
    printf("  efficiency              %9.1f %%\n", 100 * r->efficiency);
  printf("  regroupings per process %9.2f   (sd %.2f, min %" PRId64 ", max %" PRId64 ")\n", r->mean,
         r->sd, r->least, r->most);
  printf("  checksum         %016" PRIx64 "\n", r->checksum);
  printf("  visits           %016" PRIx64 "   (%" PRId64 " units in %d cells)\n",
         r->visits_checksum, r->visits, MCMC_WALK_CELLS);
  if (run->deaths.count > 0)
    printf("  %d of %d ranks died, %.3f s lost from noticing to going on; the checksums are those "
           "of an undisturbed run\n",
           run->deaths.count, p->ranks, run->deaths.lost);
  if (run->o.trace)
    printf("  timeline in %s\n", run->o.trace);
}

json_t *mcmc_result_json(const mcmc_run *run, const mcmc_result *r) {
  const mcmc_plan *p = &run->plan;
  char checksum[17], visits[17];
  snprintf(checksum, sizeof checksum, "%016" PRIx64, r->checksum);
  snprintf(visits, sizeof visits, "%016" PRIx64, r->visits_checksum);
  return json_pack(
      "{s:i, s:s, s:i, s:f, s:f, s:f, s:f, s:{s:f, s:f, s:I, s:I}, s:I, s:I, s:s, s:i, s:I, s:I, "
      "s:f, s:f, s:s, s:I, s:s, s:I, s:s, s:i, s:f}",
      "ranks", p->ranks, "policy", run->o.balance, "interval", (int)run->o.policy.interval,
      "seconds", r->seconds, "baseline_seconds", r->baseline, "ideal_seconds", r->ideal,
      "efficiency", r->efficiency, "regroupings", "mean", r->mean, "sd", r->sd, "min",
      (json_int_t)r->least, "max", (json_int_t)r->most, "walkers", (json_int_t)p->walkers,
      "samples", (json_int_t)r->executed, "checksum", checksum, "group", p->group,
      "samples_per_step", (json_int_t)p->samples, "unit", (json_int_t)p->unit, "sample_seconds",
      p->sample, "time_scale", run->o.scale, "work", run->o.spin ? "spin" : "sleep", "seed",
      (json_int_t)run->o.seed, "pattern", run->o.pattern ? run->o.pattern : "", "visits",
      (json_int_t)r->visits, "visits_checksum", visits, "deaths", run->deaths.count, "lost_seconds",
      run->deaths.lost);
}
