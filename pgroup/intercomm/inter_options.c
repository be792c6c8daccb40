/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The command-line options --split, --spawn and --connect. */
#include <errno.h>
#include <regroup/intercomm.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/sized.h"
#include "intercomm/spawn.h"

static const char *const names[] = {"none", "split", "spawn", "connect"};

const char *rg_inter_kind_name(rg_inter_kind kind) {
  return (unsigned)kind < sizeof names / sizeof names[0] ? names[kind] : NULL;
}

const char *rg_inter_help(void) {
  return "  --split[=n]   measure between two groups: the highest n ranks are the second one;\n"
         "                without n the odd ranks\n"
         "  --spawn=n     start n more processes: workers\n"
         "  --connect=n   start n more processes: a server, connected to through a port\n";
}

/* The kind that an argument asks for, and its text after "="; or RG_INTER_NONE. */
static rg_inter_kind find_kind(const char *argument, const char **value) {
  *value = NULL;
  if (strncmp(argument, "--", 2) != 0)
    return RG_INTER_NONE;
  for (int kind = RG_INTER_SPLIT; kind <= RG_INTER_CONNECT; kind++) {
    size_t length = strlen(names[kind]);
    if (strncmp(argument + 2, names[kind], length) != 0)
      continue;
    const char *rest = argument + 2 + length;
    *value = *rest == '=' ? rest + 1 : NULL;
    if (*rest == '\0' || *rest == '=')
      return (rg_inter_kind)kind;
  }
  return RG_INTER_NONE;
}

/* How many processes "--kind=value" says. */
static int read_n(rg_inter_kind kind, const char *argument, const char *value, int *n) {
  char *end;
  if (!value) {
    *n = 0;
    return kind == RG_INTER_SPLIT
               ? RG_SUCCESS
               : rgi_error(RG_ERR_ARG, "%s: how many processes? Write %s=n", argument, argument);
  }
  errno = 0;
  long long number = strtoll(value, &end, 10);
  if (*value < '0' || *value > '9' || *end || errno || number < 1 || number > RGI_SPAWN_MOST)
    return rgi_error(RG_ERR_ARG, "%s: '%s' is no number of processes: it goes from 1 to %d",
                     argument, value, RGI_SPAWN_MOST);
  *n = (int)number;
  return RG_SUCCESS;
}

static int read_options(int argc, char **argv, rg_inter_options *how) {
  const char *first = NULL, *value;
  for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
    rg_inter_kind kind = find_kind(argv[i], &value);
    if (kind == RG_INTER_NONE)
      continue;
    if (first)
      return rgi_error(RG_ERR_ARG, "%s and %s exclude each other", first, argv[i]);
    RGI_TRY(read_n(kind, argv[i], value, &how->n));
    how->kind = kind;
    first = argv[i];
  }
  return RG_SUCCESS;
}

static void remove_options(int *argc, char **argv) {
  const char *value;
  int kept = 0, ours = 1;
  for (int i = 0; i < *argc; i++) {
    ours &= i == 0 || strcmp(argv[i], "--") != 0;
    if (i == 0 || !ours || find_kind(argv[i], &value) == RG_INTER_NONE)
      argv[kept++] = argv[i];
  }
  if (kept < *argc)
    argv[kept] = NULL;
  *argc = kept;
}

int rg_inter_parse(int *argc, char **argv, rg_inter_options *how) {
  rg_inter_options read = {.size = sizeof read, .kind = RG_INTER_NONE, .argv = argv};
  RGI_REQUIRE(argc);
  RGI_REQUIRE(argv);
  RGI_TRY(rgi_sized_check(how, "rg_inter_parse: how"));
  RGI_TRY(read_options(*argc, argv, &read));
  remove_options(argc, argv);
  return rgi_sized_give(how, &read, sizeof read, "rg_inter_parse: how");
}
