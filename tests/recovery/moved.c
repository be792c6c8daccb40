/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What test_moved.py starts, with RG_SURVIVE=1, on nodes of a rank each with a network of their
 * own: each rank works on a walker, each of whose units makes an outcome; a state has MIB MiB. The
 * last rank kills itself, and its node is lost, when all are in their last unit. Each survivor
 * prints what its node has received meanwhile: "MOVED bytes"; the first one "GATHERED bytes" for
 * rg_balance_gather, if all outcomes are right.
 */
#include "ranks.h"
#include "walkers/state/balancer_state.h"

#define UNITS 4 /* of a walker; there is one for each rank */
#define PAUSE 400000

static const char *device;
static int64_t before, moved = -1;
static size_t state_bytes;
static rg_balancer balancer;

/* The bytes that the node has received. */
static int64_t received(void) {
  char line[512];
  long long bytes = -1;
  FILE *f = fopen("/proc/self/net/dev", "r");
  while (f && fgets(line, sizeof line, f)) {
    char *at = strstr(line, device);
    if (at && at[strlen(device)] == ':')
      sscanf(at + strlen(device) + 1, "%lld", &bytes);
  }
  must(f && bytes >= 0 && !fclose(f), "no counter of the network");
  return bytes;
}

/* Copies come and are answered, so that none is left out. */
static void serve_copies(void) {
  for (double end = now() + 1e-6 * PAUSE; now() < end; usleep(1000))
    must(!rgi_buddy_serve(&balancer->survival.buddy), "rgi_buddy_serve");
}

/* In the last unit, when all copies have come: the last rank dies. */
static void die_or_wait(void) {
  before = received();
  usleep(PAUSE);
  if (my_rank == world_size - 1)
    raise(SIGKILL);
  usleep(PAUSE);
}

static int unit(rg_walker *walker, rg_group g, void *context) {
  int64_t *words = walker->state;
  (void)g;
  (void)context;
  serve_copies();
  if (walker->done == UNITS - 1 && moved < 0)
    die_or_wait();
  for (size_t i = 0; i < state_bytes / sizeof *words; i++)
    words[i] += walker->id + (int64_t)i;
  must(!rg_balance_add(balancer,
                       &(rg_walker_new){.size = sizeof(rg_walker_new),
                                        .id = world_size + walker->id * UNITS + walker->done,
                                        .ended = 1,
                                        .state = words,
                                        .bytes = state_bytes}),
       "rg_balance_add");
  return RG_SUCCESS;
}

static double left(const rg_walker *walker, void *context) {
  (void)context;
  return (double)(UNITS - walker->done);
}

static void died(const rg_balance_death *death, void *context) {
  (void)death;
  (void)context;
  usleep(PAUSE);
  moved = received() - before;
}

/* The walkers first, and then what their units have made. */
static void check(const rg_balance_outcome *outcome, int64_t count) {
  must(count == (1 + UNITS) * world_size, "not as many outcomes as there were");
  for (int64_t k = 0; k < count; k++) {
    const int64_t *words = outcome[k].state, made = k - world_size;
    int64_t id = made < 0 ? k : made / UNITS, units = made < 0 ? UNITS : made % UNITS + 1;
    must(outcome[k].id == k && words && outcome[k].bytes == state_bytes, "an outcome is missing");
    for (size_t i = 0; i < state_bytes / sizeof *words; i++)
      must(words[i] == units * (id + (int64_t)i), "a wrong state");
  }
}

int main(int argc, char **argv) {
  int64_t count;
  rg_group world = enter_world(&argc, &argv);
  rg_policy policy = {.size = sizeof policy};
  rg_walker_kind kind = {.size = sizeof kind, .unit = unit, .left = left};
  rg_balance_options o = {.size = sizeof o, .policy = &policy, .group = 1, .died = died};
  const rg_balance_outcome *all;
  device = argc > 2 ? argv[2] : "eth0";
  kind.bytes = state_bytes = (size_t)atoi(argv[1]) << 20;
  must(!rg_policy_parse("none", &policy), "rg_policy_parse");
  must(!rg_balance_create(world, &kind, &o, &balancer), "rg_balance_create");
  for (int w = 0; w < world_size; w++)
    must(!rg_balance_add(balancer,
                         &(rg_walker_new){.size = sizeof(rg_walker_new), .id = w, .left = UNITS}),
         "rg_balance_add");
  must(!rg_balance_run(balancer), "rg_balance_run");
  printf("MOVED %lld\n", (long long)moved);
  fflush(stdout);
  usleep(PAUSE);
  before = received();
  must(!rg_balance_gather(balancer, 0), "rg_balance_gather");
  usleep(PAUSE);
  if (my_rank == 0) {
    must(!rg_balance_outcomes(balancer, &count, &all), "rg_balance_outcomes");
    check(all, count);
    printf("GATHERED %lld\n", (long long)(received() - before));
  }
  must(!rg_balance_free(&balancer), "rg_balance_free");
  leave_world(&world);
  return 0;
}
