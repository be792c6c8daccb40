/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * regroup-info prints the options with their values, the MPI library, and whether MPI's own waits
 * are polite. */
#include <mpi.h>
#include <regroup.h>
#include <stdlib.h>
#include <string.h>

#include "base/option_table.h"
#include "machine/machine.h"
#include "mpich/mpich.h"
#include "runtime/node_memory.h"
#include "runtime/program/program.h"
#include "shm/node.h"

static int markdown, node;
static char *json_path;

static const struct poptOption options[] = {
    {"markdown", 'm', POPT_ARG_NONE, &markdown, 0,
     "Print the options as the table of docs/environment.md", NULL},
    {"node", 'n', POPT_ARG_NONE, &node, 0,
     "Print how many processes and processors the node of rank 0 has, and where shared memory lies",
     NULL},
    {"json", 'j', POPT_ARG_STRING, &json_path, 0, "Write the result to FILE", "FILE"},
    POPT_TABLEEND};

static const rgp_program program = {
    .name = "regroup-info",
    .summary = "Prints the options of the library with their values, and how MPI waits here.",
    .arguments = "[OPTION...]",
    .options = options};

typedef struct {
  const char *name, *value, *builtin, *values, *meaning, *origin;
} option_info;

static int get_option(int i, option_info *option) {
  return rg_option_get(i, &option->name, &option->value, &option->builtin, &option->values,
                       &option->meaning, &option->origin);
}

/* A | would end the table's cell. */
static void print_values(const char *values) {
  for (const char *c = values; *c; c++)
    fputs(*c == '|' ? ", " : (char[]){*c, 0}, stdout);
}

static void print_markdown(int count) {
  option_info o;
  puts("| variable | values | default | meaning |\n|---|---|---|---|");
  for (int i = 0; i < count && get_option(i, &o) == RG_SUCCESS; i++) {
    printf("| `%s` | ", o.name);
    print_values(o.values);
    printf(*o.builtin ? " | `%s` | %s |\n" : " | none%s | %s |\n", o.builtin, o.meaning);
  }
}

static const char *politeness(int polite) {
  return polite && rgi_mpich_yields_only() ? "polite: they yield, and do not sleep (libfabric)"
         : polite                          ? "polite"
         : strcmp(rgi_option_text(RGI_OPT_POLITE), "0") == 0
             ? "not polite: RG_POLITE=0"
             : "not polite: this MPI does not wait by UCX or libfabric, or MPICH=no was built";
}

static void print_table(int count, int polite) {
  option_info o;
  char mpi[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  MPI_Get_library_version(mpi, &length);
  printf("regroup %s\nMPI     %.*s\nMPI's own waits are %s\na death while "
         "communicators are made is %s\n\n",
         RG_VERSION, (int)strcspn(mpi, "\n"), mpi, politeness(polite),
         rgi_mpich_gives()->can_interrupt
             ? "survived with RG_SURVIVE=1"
             : "not survived: calls of this MPI cannot be interrupted");
  for (int i = 0; i < count && get_option(i, &o) == RG_SUCCESS; i++)
    printf("%-18s %-8s (%s)\n    %s\n    values: %s; default: %s\n", o.name, o.value, o.origin,
           o.meaning, o.values, *o.builtin ? o.builtin : "none");
}

static void print_node(void) {
  char memory[RGI_NODE_MEMORY_TEXT];
  rgi_node_memory_describe(memory);
  printf("processes     %d\nprocessors    %d%s\nbound         %s\nshared memory %s\n", rgi_node.n,
         rgi_node.processors, rgi_node.oversubscribed ? " (oversubscribed)" : "",
         rgi_machine_is_bound(program.name) ? "yes" : "no: " RGI_MACHINE_HOW_TO_BIND, memory);
}

static json_t *as_json(int count, int polite) {
  option_info o;
  json_t *list = json_object();
  for (int i = 0; i < count && get_option(i, &o) == RG_SUCCESS; i++)
    json_object_set_new(list, o.name,
                        json_pack("{ssssssss}", "value", o.value, "default", o.builtin, "values",
                                  o.values, "origin", o.origin));
  return json_pack("{sssbso}", "version", RG_VERSION, "polite", polite, "options", list);
}

static int report_options(void) {
  int count = 0, polite = 0;
  FILE *json;
  if (!rgp_open(&program, json_path, &json))
    return RGP_USAGE;
  rg_option_count(&count);
  rg_polite_active(&polite);
  if (markdown)
    print_markdown(count);
  else if (node)
    print_node();
  else
    print_table(count, polite);
  return rgp_write_json(&program, json_path, json, as_json(count, polite)) ? RGP_OK : RGP_FAILED;
}

int main(int argc, char **argv) {
  int rank, status = RGP_OK;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rgp_parse(&program, argc, argv, rank, &status)) {
    int error = rg_init(MPI_COMM_WORLD, NULL);
    if (error && rank == 0)
      fprintf(stderr, "%s: %s\n", program.name, rg_error_detail());
    if (error)
      status = RGP_USAGE;
    else if (rank == 0)
      status = report_options();
    if (!error)
      rg_finalize();
  }
  MPI_Finalize();
  return status;
}
