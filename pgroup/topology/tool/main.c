/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * regroup-topo: which ranks share what hardware. */
#include <mpi.h>
#include <regroup.h>

#include "formation/errhandler.h"
#include "runtime/program/program.h"
#include "tool.h"
#include "topology/level_call.h"

enum { MOST = 10000 };

static topo_job_options pretended = {.ranks = TOPO_JOB_DEFAULT, .nodes = TOPO_JOB_DEFAULT};
static char *filter_words, *svg_path, *json_path;

static const struct poptOption options[] = {
    {"machine", 'm', POPT_ARG_STRING, &pretended.machine, 0,
     "Pretend a machine: \"pack:2 l3:1 core:4 pu:1\", or a file that lstopo wrote (this one)",
     "MACHINE"},
    {"ranks", 'n', POPT_ARG_INT, &pretended.ranks, 0, "Pretend so many ranks (one for each thread)",
     "N"},
    {"nodes", 'N', POPT_ARG_INT, &pretended.nodes, 0, "Pretend so many nodes of this kind (1)",
     "N"},
    {"bind", 'b', POPT_ARG_STRING, &pretended.bind, 0,
     "Pretend a binding: compact, scatter, none, or a list like \"0,1;2-3;none\" (compact)", "HOW"},
    {"filter", 'f', POPT_ARG_STRING, &filter_words, 0,
     "Only levels of these kinds: network, memory, compute, all (all)", "WORDS"},
    {"svg", 's', POPT_ARG_STRING, &svg_path, 0, "Write a picture to FILE", "FILE"},
    {"json", 'j', POPT_ARG_STRING, &json_path, 0, "Write the result to FILE", "FILE"},
    POPT_TABLEEND};

static int check_options(const char *const argv[], char text[RGP_TEXT]);

static const rgp_program program = {
    .name = "regroup-topo",
    .summary = "Draws the levels of the hardware with the ranks in them: of the job that it runs "
               "in\n(mpiexec -n 8 regroup-topo), or of a pretended one, without mpiexec\n"
               "(regroup-topo --machine \"pack:2 l3:1 core:4 pu:1\" --ranks 8).",
    .arguments = "[OPTION...]",
    .options = options,
    .check = check_options};

static int check_options(const char *const argv[], char text[RGP_TEXT]) {
  int filter;
  (void)argv;
  if (pretended.ranks != TOPO_JOB_DEFAULT && (pretended.ranks < 1 || pretended.ranks > MOST))
    snprintf(text, RGP_TEXT, "--ranks %d: expected 1 to %d", pretended.ranks, MOST);
  else if (pretended.nodes != TOPO_JOB_DEFAULT && (pretended.nodes < 1 || pretended.nodes > MOST))
    snprintf(text, RGP_TEXT, "--nodes %d: expected 1 to %d", pretended.nodes, MOST);
  else if (filter_words && rgi_level_filter_parse("--filter", filter_words, &filter))
    snprintf(text, RGP_TEXT, "%s", rg_error_detail());
  return text[0] != 0;
}

static int write_svg(const topo_job *job, const topo_tree_level *root, FILE *f) {
  if (!f)
    return 1;
  int good = topo_draw_svg(f, job, root);
  if (fclose(f) == 0 && good)
    return 1;
  fprintf(stderr, "%s: %s could not be written\n", program.name, svg_path);
  return 0;
}

static int is_pretended(void) {
  return pretended.machine || pretended.bind || pretended.ranks != TOPO_JOB_DEFAULT ||
         pretended.nodes != TOPO_JOB_DEFAULT;
}

static int report_job(const topo_job *job) {
  int filter = RG_LEVEL_ALL;
  FILE *svg, *json = NULL;
  if (!rgp_open(&program, svg_path, &svg))
    return RGP_FAILED;
  if (!rgp_open(&program, json_path, &json)) {
    if (svg)
      fclose(svg);
    return RGP_FAILED;
  }
  if (filter_words)
    rgi_level_filter_parse(program.name, filter_words, &filter);
  topo_tree_level *root = topo_tree_build(job, filter);
  if (!root) {
    fprintf(stderr, "%s: no memory\n", program.name);
    return RGP_FAILED;
  }
  topo_draw_text(stdout, job, root);
  if (!is_pretended() && !topo_tree_depth(root) && !rgi_machine_is_bound(program.name))
    puts("\nRank 0 is bound to no part of the machine: " RGI_MACHINE_HOW_TO_BIND);
  int good = write_svg(job, root, svg);
  good &= rgp_write_json(&program, json_path, json, topo_draw_json(job, root));
  topo_tree_free(root);
  return good ? RGP_OK : RGP_FAILED;
}

/* The job to be drawn; on the ranks that do not draw it is empty. */
static int find_job(int rank, topo_job *job) {
  *job = (topo_job){0};
  if (is_pretended())
    return rank == 0 ? topo_job_pretended(program.name, &pretended, job) : RG_SUCCESS;
  int entry = rgi_errhandler_begin(MPI_COMM_WORLD);
  int error = topo_job_running(program.name, job);
  rgi_errhandler_end(entry, MPI_COMM_NULL);
  return error;
}

static int draw_job(int rank) {
  topo_job job;
  int status = RGP_OK, error = find_job(rank, &job);
  if (error && rank == 0)
    fprintf(stderr, "%s\n", rg_error_detail());
  if (error)
    return error == RG_ERR_OPTION || error == RG_ERR_ARG ? RGP_USAGE : RGP_FAILED;
  if (rank == 0) {
    status = report_job(&job);
    topo_job_free(&job);
  }
  return status;
}

int main(int argc, char **argv) {
  int rank, status = RGP_OK;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rgp_parse(&program, argc, argv, rank, &status))
    status = draw_job(rank);
  MPI_Finalize();
  return status;
}
