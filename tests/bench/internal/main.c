/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * bench-internal: measurements for developers of the library, on arrays, the engine below
 * them and the loops of reductions. regroup-bench measures what users call. `scons tests` builds
 * this program; it is not installed. */
#include <mpi.h>
#include <regroup.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

enum { COMMANDS = 5, WORDS = 4 };

static const internal_command *const commands[COMMANDS] = {
    &internal_remote, &internal_replica, &internal_math, &internal_combine, &internal_traffic};
static const char *running = "bench-internal";

int internal_rank, internal_size;

void internal_must(int error) {
  if (error) {
    fprintf(stderr, "%s: %s\n", running, rg_error_detail());
    MPI_Abort(MPI_COMM_WORLD, RGP_FAILED);
  }
}

int internal_read_number(const char *word, const char *what, long most, int *value,
                         char text[RGP_TEXT]) {
  char *end;
  long n = word ? strtol(word, &end, 10) : 0;
  if (!word)
    return 0;
  if (*end || end == word || n < 1 || n > most)
    return snprintf(text, RGP_TEXT, "%.100s: the %s must be a number from 1 to %ld", word, what,
                    most);
  *value = (int)n;
  return 0;
}

/* The name of a program is "bench-internal COMMAND". */
static const char *name_of(const internal_command *c) {
  return strchr(c->program.name, ' ') + 1;
}

static const internal_command *find_command(const char *name) {
  for (int i = 0; name && i < COMMANDS; i++)
    if (strcmp(name_of(commands[i]), name) == 0)
      return commands[i];
  return NULL;
}

static int refuse_command(const char *const words[], char text[RGP_TEXT]) {
  int used = snprintf(text, RGP_TEXT, "'%.100s' is no command; there are:", words[0]);
  for (int i = 0; i < COMMANDS; i++)
    used += snprintf(text + used, RGP_TEXT - (size_t)used, " %s", name_of(commands[i]));
  return 1;
}

/* Without a command there is only help, the version, or a mistake. */
static int parse_no_command(int argc, char **argv) {
  static const struct poptOption none[] = {POPT_TABLEEND};
  char summary[2048] = "Measures arrays and their engine from inside. Run it under mpiexec. "
                       "Commands:\n";
  int status = RGP_USAGE;
  size_t used = strlen(summary);
  for (int i = 0; i < COMMANDS; i++)
    used += (size_t)snprintf(summary + used, sizeof summary - used, "  %-8s %s\n",
                             name_of(commands[i]), commands[i]->program.summary);
  const rgp_program program = {.name = "bench-internal",
                               .summary = summary,
                               .arguments = "COMMAND [OPTION...]",
                               .options = none,
                               .min_arguments = 1,
                               .max_arguments = 1,
                               .check = refuse_command};
  rgp_parse(&program, argc, argv, internal_rank, &status);
  return status;
}

static int run_command(const internal_command *c, int argc, char **argv) {
  char *words[WORDS + 1] = {NULL};
  rgp_program program = c->program;
  int status = RGP_USAGE;
  program.words = words;
  running = c->program.name;
  argv[1] = (char *)(size_t)running; /* what the usage line shows */
  if (rgp_parse(&program, argc - 1, argv + 1, internal_rank, &status))
    status = c->run(words);
  for (int i = 0; i < WORDS; i++)
    free(words[i]);
  return status;
}

int main(int argc, char **argv) {
  const internal_command *chosen = argc > 1 ? find_command(argv[1]) : NULL;
  int provided;
  MPI_Init_thread(&argc, &argv, chosen ? chosen->threads : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &internal_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &internal_size);
  int status = chosen ? run_command(chosen, argc, argv) : parse_no_command(argc, argv);
  MPI_Finalize();
  return status;
}
