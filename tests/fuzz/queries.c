/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What needs no group: names, options, inter-communicators without one, the reserve without one. */
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "draw.h"
#include "fuzz.h"
#include "tests/check/check.h"

static void names(void) {
  FUZZ_TRUE(rg_error_string(draw_int()) != NULL);
  FUZZ_TRUE(rg_error_name(draw_int()) != NULL);
  rg_comm_method_name((rg_comm_method)draw_int());
  rg_inter_kind_name((rg_inter_kind)draw_int());
  rg_operation_name((rg_operation)draw_int());
  rg_inter_help();
  FUZZ(rg_version(NULL, NULL, NULL));
  FUZZ(rg_initialized(fuzz_out(sizeof(int))));
}

static void options(void) {
  const char **text = fuzz_out_some(sizeof *text);
  FUZZ(rg_option_count(fuzz_out(sizeof(int))));
  FUZZ(rg_option_get(draw_near(30), text, NULL, NULL, NULL, NULL, NULL));
  FUZZ(rg_restart_count(fuzz_out(sizeof(int64_t))));
  FUZZ(rg_polite_active(fuzz_out(sizeof(int))));
  FUZZ(rg_polite_counts(NULL, NULL, NULL));
}

static void inter_parse(void) {
  static const char *const words[] = {"--split", "--split=", "--spawn=", "--connect=", "--",
                                      "1",       "-1",       "=",        "--spawn",    NULL};
  enum { MOST = 5, ROOM = 40 };
  char *argv[MOST + 2] = {NULL}, *before[MOST + 2];
  int argc = 1 + draw_below(MOST), given = argc;
  rg_inter_options *how = fuzz_in(sizeof *how);
  how->size = draw_chance(8) ? (size_t)draw_below(8) : sizeof *how;
  for (int i = 0; i < argc; i++)
    draw_text(words, argv[i] = fuzz_in(ROOM), ROOM);
  memcpy(before, argv, sizeof argv);
  if (FUZZ(rg_inter_parse(draw_chance(24) ? NULL : &argc, draw_chance(24) ? NULL : argv, how)))
    FUZZ_TRUE(argc == given && memcmp(before, argv, sizeof argv) == 0);
  else
    FUZZ_TRUE(argc >= 1 && argc <= given && !argv[argc]);
}

static void inter_numbers(void) {
  int rank = draw_near(rgt_size), *out = fuzz_out(sizeof *out);
  int64_t *wide = fuzz_out(sizeof *wide);
  FUZZ(rg_inter_root(rank, out));
  FUZZ(rg_inter_lookup_rank(rank, out));
  FUZZ(rg_inter_lookup_global_rank(rank, out));
  FUZZ(rg_inter_lookup_is_initiator(rank, out));
  FUZZ(rg_inter_lookup_is_responder(rank, out));
  FUZZ(rg_inter_lookup_local_size(rank, out));
  FUZZ(rg_inter_lookup_remote_size(rank, out));
  FUZZ(rg_inter_has_initiator_rank(rank, out));
  FUZZ(rg_inter_has_responder_rank(rank, out));
  FUZZ(rg_inter_global_rank(out));
  FUZZ(rg_inter_rank(out));
  FUZZ(rg_inter_initiator_size(out));
  FUZZ(rg_inter_responder_size(out));
  FUZZ(rg_inter_local_size(out));
  FUZZ(rg_inter_remote_size(out));
  FUZZ(rg_inter_larger_size(out));
  FUZZ(rg_inter_global_size(out));
  FUZZ(rg_inter_combined_size(wide));
  FUZZ(rg_inter_maximum_size(wide));
}

static void inter_view(void) {
  static const char *const words[] = {"scan", "MPI_", "Iexscan", "bcast", NULL};
  char text[60];
  rg_inter_view *view = fuzz_in(sizeof *view);
  view->size = draw_chance(4) ? (size_t)draw_below(8) : sizeof *view;
  draw_text(words, text, sizeof text);
  FUZZ(rg_inter_get_view(draw_chance(8) ? NULL : view));
  FUZZ(rg_inter_check(draw_chance(8) ? NULL : text));
  FUZZ(rg_inter_world(fuzz_out(sizeof(MPI_Comm))));
  FUZZ(rg_inter_benchmark(fuzz_out(sizeof(MPI_Comm))));
  FUZZ(rg_inter_local(fuzz_out(sizeof(MPI_Comm))));
  FUZZ(rg_inter_global(fuzz_out(sizeof(MPI_Comm))));
  FUZZ(rg_inter_is_inter(fuzz_out(sizeof(int))));
  FUZZ(rg_inter_is_initiator(fuzz_out(sizeof(int))));
  FUZZ(rg_inter_is_responder(fuzz_out(sizeof(int))));
  FUZZ(rg_inter_io(fuzz_out(sizeof(int))));
  FUZZ(rg_inter_get_kind(fuzz_out(sizeof(rg_inter_kind))));
}

/* Only by dividing the world: MPI would start programs. */
static void inter_start(void) {
  rg_inter_options how = {.size = sizeof how, .kind = RG_INTER_SPLIT, .n = draw_near(rgt_size)};
  if (draw_chance(4))
    how.kind = draw_chance(2) ? (rg_inter_kind)(4 + draw_below(100)) : RG_INTER_NONE;
  if (draw_chance(8))
    how.size = (size_t)draw_below(8);
  int *part = fuzz_out(sizeof *part);
  if (!FUZZ(rg_inter_start(draw_chance(8) ? NULL : &how, part)))
    FUZZ(rg_inter_lookup_rank(draw_near(rgt_size), fuzz_out(sizeof(int))));
  FUZZ(rg_inter_end());
}

static void spawn(void) {
  MPI_Comm *inter = fuzz_out(sizeof *inter);
  int n = draw_chance(2) ? -draw_below(9) : INT_MIN;
  FUZZ(rg_intercomm_spawn(draw_chance(8) ? MPI_COMM_NULL : MPI_COMM_WORLD,
                          draw_chance(8) ? NULL : "/nonexistent/program", NULL, n, inter));
}

static void reserve(void) {
  static const int wrong[] = {INT_MAX, INT_MIN, -2};
  rg_group *outside = fuzz_out(sizeof *outside);
  rg_acquisition *drawn = fuzz_in(sizeof *drawn);
  drawn->size = draw_chance(4) ? (size_t)draw_below(8) : sizeof *drawn;
  FUZZ(rg_reserve_open(draw_chance(4) ? rgt_size : wrong[draw_below(3)], outside));
  FUZZ(rg_reserve_count(fuzz_out(sizeof(int))));
  FUZZ(rg_reserve_acquisition(draw_chance(8) ? NULL : drawn));
  FUZZ(rg_reserve_park(draw_chance(8) ? NULL : drawn));
  FUZZ(rg_reserve_leave());
}

/* Each object is freed once, and NULL as often as one likes. */
static void frees(void) {
  rg_group g = NULL;
  rg_array a = NULL;
  rg_mutexes m = NULL;
  rg_counter c = NULL;
  rg_tasks t = NULL;
  rg_balancer b = NULL;
  rg_timeline line = NULL;
  int null = draw_chance(2);
  FUZZ(rg_group_free(null ? NULL : &g));
  FUZZ(rg_array_free(null ? NULL : &a));
  FUZZ(rg_mutexes_free(null ? NULL : &m));
  FUZZ(rg_counter_free(null ? NULL : &c));
  FUZZ(rg_tasks_free(null ? NULL : &t));
  FUZZ(rg_balance_free(null ? NULL : &b));
  FUZZ(rg_timeline_free(null ? NULL : &line));
  FUZZ(rg_plan_free(NULL));
}

const fuzz_case fuzz_query_cases[] = {{"query_names", names, FUZZ_LOCAL},
                                      {"query_options", options, FUZZ_LOCAL},
                                      {"query_inter_parse", inter_parse, FUZZ_LOCAL},
                                      {"query_inter_numbers", inter_numbers, FUZZ_LOCAL},
                                      {"query_inter_view", inter_view, FUZZ_LOCAL},
                                      {"query_inter_start", inter_start, FUZZ_SAME},
                                      {"query_spawn", spawn, FUZZ_SAME},
                                      {"query_reserve", reserve, FUZZ_SAME},
                                      {"query_frees", frees, FUZZ_LOCAL},
                                      {0}};
