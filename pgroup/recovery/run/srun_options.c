/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A word that does not begin with '-' is the program, unless the option before it has a value. All
 * of srun's long options have one but those listed here; so have the single characters listed here.
 */
#include "recovery/run/run.h"

#include <stdlib.h>
#include <string.h>

static const char with_value[] = "ABcCdDeFGiJLmMnNopPqrStTUwWx";

/* No value, or one that only "=" can bring. */
static const char *const without_value[] = {"help",
                                            "usage",
                                            "version",
                                            "verbose",
                                            "quiet",
                                            "hold",
                                            "immediate",
                                            "no-kill",
                                            "label",
                                            "kill-on-bad-exit",
                                            "overcommit",
                                            "oversubscribe",
                                            "share",
                                            "unbuffered",
                                            "disable-status",
                                            "no-allocate",
                                            "preserve-env",
                                            "contiguous",
                                            "exclusive",
                                            "exact",
                                            "overlap",
                                            "whole",
                                            "debugger-test",
                                            "multi-prog",
                                            "pty",
                                            "nice",
                                            "propagate",
                                            "reboot",
                                            "spread-job",
                                            "use-min-nodes",
                                            "test-only",
                                            "interactive",
                                            "quit-on-interrupt",
                                            "resv-ports",
                                            "bcast",
                                            "compress",
                                            "send-libs",
                                            "get-user-env",
                                            "parallel-launch",
                                            NULL};

static int has_value(const char *name) {
  if (strchr(name, '='))
    return 0;
  for (int i = 0; without_value[i]; i++)
    if (!strcmp(name, without_value[i]))
      return 0;
  return 1;
}

/* Of an option: how many words it takes. *character: the last one of a group of single characters,
 * which alone can have a value; 0: it is a long option. *value: or NULL. */
static int read_option(char **at, char *character, const char **value) {
  const char *word = at[0];
  *character = 0;
  *value = NULL;
  if (word[1] == '-') {
    *value = strchr(word, '=') ? strchr(word, '=') + 1 : has_value(word + 2) ? at[1] : NULL;
    return 1 + has_value(word + 2);
  }
  for (int i = 1; word[i]; i++) {
    *character = word[i];
    if (!strchr(with_value, word[i]))
      continue;
    *value = word[i + 1] ? word + i + 1 : at[1];
    return 1 + !word[i + 1];
  }
  return 1;
}

static int is_long(const char *word, const char *name) {
  size_t n = strlen(name);
  return !strncmp(word, "--", 2) && !strncmp(word + 2, name, n) &&
         (!word[2 + n] || word[2 + n] == '=');
}

/* In a group of single characters, of which the last one may have a value. */
static int has_character(const char *group, char character) {
  for (int i = 1; character && group[i]; i++) {
    if (group[i] == character)
      return 1;
    if (strchr(with_value, group[i]))
      return 0;
  }
  return 0;
}

/* The place of the program, or of the end. *found: of the last option of these names, or 0. */
static int find_program(char **command, char character, const char *name, int *found) {
  int i = 1;
  *found = 0;
  while (command[i] && command[i][0] == '-' && command[i][1]) {
    const char *value;
    char last;
    int words = read_option(command + i, &last, &value);
    if (last ? has_character(command[i], character) : is_long(command[i], name))
      *found = i;
    if (words > 1 && !command[i + 1])
      return i + 1;
    i += words;
  }
  return i;
}

const char *run_srun_option(char **command, char character, const char *name) {
  const char *value = NULL;
  char last;
  int at;
  find_program(command, character, name, &at);
  if (at)
    read_option(command + at, &last, &value);
  return value;
}

int run_srun_flag(char **command, char character, const char *name) {
  int at;
  find_program(command, character, name, &at);
  return at > 0;
}

char **run_srun_add(char **command, char **words) {
  int n = 0, more = 0, unused, at = find_program(command, 0, "", &unused);
  while (command[n])
    n++;
  while (words[more])
    more++;
  char **all = calloc((size_t)(n + more + 1), sizeof *all);
  if (!all)
    return command;
  memcpy(all, command, (size_t)at * sizeof *all);
  memcpy(all + at, words, (size_t)more * sizeof *all);
  memcpy(all + at + more, command + at, (size_t)(n - at) * sizeof *all);
  return all;
}
