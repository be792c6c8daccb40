/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Policies and their tables, timelines, and the balancer with walkers that do nothing. */
#include <math.h>
#include <mpi.h>
#include <string.h>

#include "draw.h"
#include "fuzz.h"
#include "tests/check/check.h"

enum { ROWS = 6 };

static rg_load draw_row(void) {
  rg_load l = {.ranks = 1 + draw_below(5), .left = draw_below(20), .unit = draw_double()};
  l.state = draw_chance(16) ? draw_int() : draw_below(8);
  l.pace.count = draw_below(RG_PACE_SIZES + 1);
  for (int i = 0; i < RG_PACE_SIZES; i++) {
    l.pace.ranks[i] = draw_chance(24) ? draw_int64() : 2 * i + 1;
    l.pace.seconds[i] = draw_double();
  }
  switch (draw_below(12)) {
  case 0:
    l.ranks = draw_int64(); /* a plan takes time in proportion to the processes */
    l.ranks = l.ranks > 1000000 && l.ranks <= INT32_MAX ? INT64_C(1) << 31 : l.ranks;
    break;
  case 1:
    l.coming = draw_int64();
    break;
  case 2:
    l.least = draw_int64();
    break;
  case 3:
    l.most = draw_int64();
    break;
  case 4:
    l.left = draw_double();
    break;
  case 5:
    l.pace.count = draw_int();
    break;
  case 6:
    l.done = draw_double();
    break;
  default:
    break;
  }
  return l;
}

static void draw_table(rg_load_table *table) {
  rg_load *rows = fuzz_in(ROWS * sizeof *rows);
  rg_waiting_walker *walkers = fuzz_in(ROWS * sizeof *walkers);
  for (int i = 0; i < ROWS; i++) {
    rows[i] = draw_row();
    walkers[i] = (rg_waiting_walker){.least = draw_chance(4) ? draw_int64() : draw_below(4),
                                     .most = draw_chance(4) ? draw_int64() : 0,
                                     .left = draw_double(),
                                     .unit = draw_double()};
  }
  *table = (rg_load_table){.size = sizeof *table, .load = rows, .waiting = walkers};
  table->count = draw_chance(16) ? -1 : draw_below(ROWS + 1);
  table->self = draw_chance(2) ? RG_LOAD_ALL_ROWS : draw_near64(table->count);
  table->waiting_count = draw_chance(16) ? INT64_MIN : draw_below(ROWS + 1);
  table->merge = draw_double();
  if (draw_chance(24))
    table->load = NULL;
  if (draw_chance(32))
    table->count = INT64_MAX - draw_below(3);
}

static void policies(void) {
  static const char *const words[] = {
      "none", "join-right", "sync",  "most-work", "share-out", "release", "default",
      ":",    "i=",         "cost=", "gain=",     ",",         NULL};
  char text[100];
  rg_policy policy = {.size = draw_chance(24) ? (size_t)draw_int() : sizeof policy};
  rg_load_table table;
  rg_plan plan = {0};
  draw_text(words, text, sizeof text);
  if (policy.size > sizeof policy && policy.size <= 4096)
    policy.size = sizeof policy;
  if (FUZZ(rg_policy_parse(draw_chance(2) ? words[draw_below(7)] : text, &policy))) {
    policy.size = sizeof policy;
    FUZZ(rg_policy_parse(words[draw_below(7)], &policy));
  }
  for (int i = 0; i < 4; i++) {
    draw_table(&table);
    FUZZ(rg_policy_plan(&policy, &table, &plan));
    rg_move move = {draw_near64(ROWS), draw_near64(ROWS), draw_near64(4), draw_near64(ROWS), {0}};
    FUZZ(rg_plan_add(&plan, &move));
    if (table.count <= ROWS)
      FUZZ(rg_plan_check(&plan, &table));
  }
  FUZZ(rg_plan_free(&plan));
  FUZZ(rg_policy_describe(draw_near(7), NULL, NULL, NULL));
  FUZZ(rg_policy_count(fuzz_out(sizeof(int))));
}

static void paces(void) {
  rg_pace pace = draw_row().pace;
  for (int i = 0; i < 10; i++) {
    rg_pace_note(&pace, draw_chance(3) ? draw_int64() : draw_below(100), draw_double());
    rg_pace_at(&pace, draw_chance(3) ? draw_int64() : draw_below(100));
  }
}

static rg_span draw_span(void) {
  rg_span s = {.kind = draw_below(4), .size = 1 + draw_below(4), .key = draw_int64()};
  s.group = draw_int();
  s.first = draw_near(rgt_size);
  s.together = draw_chance(8) ? draw_int() : draw_below(2);
  if (draw_chance(4))
    s.kind = draw_int();
  if (draw_chance(4))
    s.size = draw_int();
  return s;
}

static void draw_words(rg_timeline_words *w) {
  static const char *const words[] = {"title", "<", "&", "\"", "\x80", NULL};
  char *text = fuzz_in(100);
  int *ranks = fuzz_in(8 * sizeof *ranks);
  rg_timeline_death *deaths = fuzz_in(8 * sizeof *deaths);
  draw_text(words, text, 100);
  for (int i = 0; i < 8; i++) {
    ranks[i] = draw_chance(4) ? draw_int() : i;
    deaths[i] = (rg_timeline_death){.rank = draw_near(rgt_size), .when = draw_double()};
  }
  *w = (rg_timeline_words){.size = sizeof *w, .title = text, .subtitle = text};
  w->seconds = draw_double();
  w->ideal = draw_double();
  w->ranks = draw_chance(3) ? draw_below(10) - 1 : 0; /* rows of the picture */
  w->rank_of = draw_chance(3) ? ranks : NULL;
  w->deaths = draw_chance(3) ? draw_below(9) - 1 : 0;
  w->death = draw_chance(8) ? NULL : deaths;
}

static void timelines(void) {
  rg_timeline t = NULL;
  rg_timeline_words *words = fuzz_in(sizeof *words);
  draw_words(words);
  FUZZ(rg_timeline_create(&t));
  for (int i = draw_below(6); i > 0; i--) {
    rg_span span = draw_span();
    FUZZ(rg_timeline_mark_at(draw_chance(24) ? NULL : t, draw_chance(24) ? NULL : &span,
                             draw_double()));
    FUZZ(rg_timeline_mark(t, &span));
  }
  FUZZ(rg_timeline_end(t, draw_double()));
  int root = draw_near(rgt_size);
  if (!FUZZ(rg_timeline_gather(t, draw_chance(24) ? NULL : fuzz.g, draw_double(), root)) &&
      root == rgt_rank) {
    fuzz_differs();
    FUZZ(rg_timeline_spans(t, fuzz_out(8), fuzz_out(8), NULL));
    FUZZ(rg_timeline_write(t, draw_chance(8) ? "/nonexistent/file" : "/dev/null",
                           (rg_timeline_format)draw_near(3), draw_chance(4) ? NULL : words));
  }
  FUZZ(rg_timeline_free(&t));
}

/* --- the balancer ------------------------------------------------------------------- */

static int unit(rg_walker *walker, rg_group group, void *context) {
  (void)group;
  (void)context;
  ++*(int64_t *)walker->state;
  return RG_SUCCESS;
}

static double left(const rg_walker *walker, void *context) {
  (void)context;
  return walker->done < 3 ? (double)(3 - walker->done) : 0;
}

static rg_walker_kind draw_kind(void) {
  rg_walker_kind k = {.size = sizeof k, .bytes = 8, .unit = unit, .left = left};
  if (draw_chance(12))
    k.size = (size_t)draw_below(8);
  if (draw_chance(12))
    k.left = NULL;
  return k;
}

static void add_walkers(rg_balancer b) {
  int64_t state = 0;
  for (int i = 1 + draw_below(4); i > 0; i--) {
    rg_walker_new w = {
        .size = sizeof w, .id = draw_int64(), .left = 3, .state = &state, .bytes = 8};
    switch (draw_below(10)) {
    case 0:
      w.left = draw_double();
      break;
    case 1:
      w.least = draw_int64();
      break;
    case 2:
      w.most = draw_int64();
      break;
    case 3:
      w.bytes = (size_t)draw_below(8);
      break;
    case 4:
      w.unit = draw_double();
      break;
    default:
      break;
    }
    FUZZ(rg_balance_add(b, &w));
  }
}

static void balancer(void) {
  rg_balancer b = NULL;
  rg_policy policy = {.size = sizeof policy};
  rg_walker_kind kind = draw_kind();
  FUZZ(rg_policy_parse(draw_chance(2) ? "sync:i=2" : NULL, &policy));
  rg_balance_options options = {.size = sizeof options, .policy = &policy};
  options.group = draw_chance(3) ? draw_int() : 0;
  options.limit = draw_chance(8) ? draw_double() : 0;
  if (FUZZ(rg_balance_create(draw_chance(24) ? NULL : fuzz.g, &kind, &options, &b)))
    return;
  add_walkers(b);
  FUZZ(rg_balance_gather(b, 0));
  FUZZ(rg_balance_run(b));
  rg_balance_statistics statistics = {.size = draw_chance(8) ? 1 : sizeof statistics};
  rg_load loads[ROWS];
  int64_t *count = fuzz_out(sizeof *count);
  FUZZ(rg_balance_get_statistics(b, &statistics));
  FUZZ(rg_balance_gather(b, draw_near(rgt_size)));
  FUZZ(rg_balance_outcomes(b, count, fuzz_out(sizeof(void *))));
  FUZZ(rg_balance_loads(b, draw_chance(2) ? ROWS : -1, loads, fuzz_out(sizeof(int64_t))));
  FUZZ(rg_balance_end(b));
  FUZZ(rg_balance_free(&b));
}

const fuzz_case fuzz_balance_cases[] = {{"lb_policies", policies, FUZZ_LOCAL},
                                        {"lb_paces", paces, FUZZ_LOCAL},
                                        {"lb_timelines", timelines, FUZZ_SAME},
                                        {"lb_balancer", balancer, FUZZ_SAME},
                                        {0}};
