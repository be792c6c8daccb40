/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "job.h"

bench_job bench_all = {
    .comm = MPI_COMM_WORLD, .how.size = sizeof bench_all.how, .view.size = sizeof bench_all.view};

int bench_job_parse(int *argc, char **argv) {
  MPI_Comm_rank(MPI_COMM_WORLD, &bench_all.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &bench_all.ranks);
  if (rg_inter_parse(argc, argv, &bench_all.how) == RG_SUCCESS)
    return 1;
  if (bench_all.rank == 0)
    fprintf(stderr, "regroup-bench: %s\n", rg_error_detail());
  return 0;
}

int bench_job_grouped(void) {
  return bench_all.how.kind != RG_INTER_NONE;
}

const char *bench_job_option(void) {
  static const char *const names[] = {"", "--split", "--spawn", "--connect"};
  return names[bench_all.how.kind];
}

static void use_groups(void) {
  rg_inter_get_view(&bench_all.view);
  bench_all.comm = bench_all.view.global;
  bench_all.rank = bench_all.view.global_rank;
  bench_all.ranks = bench_all.view.global_size;
}

/* The library may run already: a reserve needs it. */
static int start(int *part) {
  int started = 0, error = RG_SUCCESS;
  *part = 1;
  if (bench_job_grouped())
    error = rg_inter_start(&bench_all.how, part);
  if (error || !*part)
    return error;
  if (bench_job_grouped())
    use_groups();
  rg_initialized(&started);
  return started ? RG_SUCCESS : rg_init(MPI_COMM_WORLD, NULL);
}

int bench_job_start(const char *program, int *part) {
  if (start(part) == RG_SUCCESS)
    return 1;
  if (bench_all.rank == 0)
    fprintf(stderr, "%s: %s\n", program, rg_error_detail());
  return 0;
}

/* What the reserve has started it ends itself. */
void bench_job_end(void) {
  int started = 0;
  rg_inter_end();
  rg_initialized(&started);
  if (started)
    rg_finalize();
}

const char *bench_job_contender(void) {
  static const char *const names[] = {"MPI", "MPI split", "MPI spawn", "MPI connect"};
  return names[bench_all.how.kind];
}

void bench_job_tell(json_t *facts) {
  const rg_inter_view *v = &bench_all.view;
  if (!v->is_inter)
    return;
  json_object_set_new(facts, "inter", json_string(rg_inter_kind_name(v->kind)));
  json_object_set_new(facts, "initiators", json_integer(v->initiator_size));
  json_object_set_new(facts, "responders", json_integer(v->responder_size));
}

void bench_job_describe(int ranks, char text[64]) {
  const rg_inter_view *v = &bench_all.view;
  if (v->is_inter)
    snprintf(text, 64, " between %d and %d ranks (%s)", v->initiator_size, v->responder_size,
             rg_inter_kind_name(v->kind));
  else
    snprintf(text, 64, " on %d ranks", ranks);
}
