/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What test_timeline_deaths.py starts, with RG_SURVIVE=1: drawn NAME RANK,RANK. The lower and the
 * upper half of the ranks balance, each half by itself and on one timeline, then all that live
 * balance together. The ranks named kill themselves in a unit of their half. The first survivor
 * writes the timeline to NAME.json, NAME.svg and NAME.html. */
#include <regroup/timeline.h>

#include "ranks.h"

enum { UNITS = 12 };

static int dies;

static int unit(rg_walker *walker, rg_group g, void *context) {
  int64_t *done = walker->state;
  (void)context;
  usleep(2000);
  if (dies && *done == UNITS / 2)
    raise(SIGKILL);
  ++*done;
  return rg_barrier(g);
}

static double left(const rg_walker *walker, void *context) {
  (void)context;
  return (double)(UNITS - *(const int64_t *)walker->state);
}

/* Walkers first_id, first_id + 1, ..., one for each group of two at first. */
static void balance(rg_timeline t, rg_group g, int64_t first_id) {
  rg_balancer b;
  rg_walker_kind kind = {.size = sizeof kind, .bytes = sizeof(int64_t), .unit = unit, .left = left};
  rg_balance_options options = {.size = sizeof options, .timeline = t, .group = 2};
  must(!rg_balance_create(g, &kind, &options, &b), "rg_balance_create");
  for (int i = 0; i < (size_of(g) + 1) / 2; i++) {
    rg_walker_new walker = {.size = sizeof walker, .id = first_id + i, .left = UNITS};
    must(!rg_balance_add(b, &walker), "rg_balance_add");
  }
  must(!rg_balance_run(b), "rg_balance_run");
  must(!rg_balance_free(&b), "rg_balance_free");
}

static void write_as(rg_timeline timeline, const char *name, const char *suffix,
                     rg_timeline_format format) {
  char path[500];
  snprintf(path, sizeof path, "%s.%s", name, suffix);
  must(!rg_timeline_write(timeline, path, format, NULL), "rg_timeline_write");
}

int main(int argc, char **argv) {
  rg_group world = enter_world(&argc, &argv), half, living;
  rg_timeline t;
  int middle = world_size / 2, upper = my_rank >= middle;
  for (const char *p = argc > 2 ? argv[2] : ""; *p; p += strcspn(p, ","), p += *p == ',')
    dies |= atoi(p) == my_rank;
  must(!rg_timeline_create(&t), "rg_timeline_create");
  must(!rg_group_create_range(world, upper ? middle : 0, (upper ? world_size : middle) - 1, 1, 1,
                              &half),
       "rg_group_create_range");
  balance(t, half, upper ? 100 : 0);
  must(!rg_group_shrink(world, &living), "rg_group_shrink");
  balance(t, living, 200);
  must(!rg_timeline_gather(t, living, RG_TIMELINE_CLOCK, 0), "rg_timeline_gather");
  if (rank_in(living) == 0) {
    write_as(t, argv[1], "json", RG_TIMELINE_JSON);
    write_as(t, argv[1], "svg", RG_TIMELINE_SVG);
    write_as(t, argv[1], "html", RG_TIMELINE_HTML);
  }
  rg_timeline_free(&t);
  rg_group_free(&half);
  rg_group_free(&living);
  leave_world(&world);
  return 0;
}
