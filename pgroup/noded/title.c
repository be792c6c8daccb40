/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Runs in guards. The kernel shows as command line the memory in which it left the arguments of
 * the program; the environment's strings follow. A title overwrites the arguments. Where they are
 * too short, the title goes on in the environment's memory, which the kernel shows up to the first
 * zero byte when the last byte of the arguments is not zero.
 *
 * /proc/PID/environ shows the environment's memory, and programs look for processes by it. So as
 * little as possible of it is overwritten: the longest variable gives way, and those before it move
 * up. The process itself reads copies of all variables from then on. */
#include "noded/title.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define TITLE_BYTES 32 /* for a name, a rank and the zero byte */
#define ARG_START 48   /* the first of four fields of /proc/self/stat, counted from 1 */

static struct {
  char *begin;
  size_t bytes; /* that a title may fill; 0: none, or not known yet */
} area;

/* The arguments' memory and the environment's. 0: they are not known. */
static int find_memory(uintptr_t at[4]) {
  char text[2048];
  FILE *f = fopen("/proc/self/stat", "r");
  if (!f)
    return 0;
  text[fread(text, 1, sizeof text - 1, f)] = 0;
  fclose(f);
  char *field = strrchr(text, ')'); /* of the second field, the program's name */
  for (int i = 2; field && i < ARG_START; i++)
    field = strchr(field + 1, ' ');
  for (int i = 0; field && i < 4; i++) {
    char *rest;
    at[i] = (uintptr_t)strtoull(field, &rest, 10);
    field = rest > field ? rest : NULL;
  }
  return field && at[0] && at[0] < at[1] && at[1] <= at[2] && at[2] <= at[3];
}

/* Copies the variables that lie from begin to end, so that getenv need not read there. */
static int copy_environment(const char *begin, const char *end) {
  for (char **v = environ; v && *v; v++)
    if (*v >= begin && *v < end && !(*v = strdup(*v)))
      return 0;
  return 1;
}

static char *longest_string(char *begin, const char *end) {
  char *longest = begin;
  for (char *s = begin; s < end; s += strlen(s) + 1)
    if (strlen(s) > strlen(longest))
      longest = s;
  return longest;
}

/* Frees so many bytes at the beginning of the environment's memory. */
static int make_room(char *begin, const char *end, size_t bytes) {
  if (begin == end || end[-1] || !copy_environment(begin, end))
    return 0;
  char *longest = longest_string(begin, end);
  size_t before = (size_t)(longest - begin), length = strlen(longest);
  if (length < bytes)
    return 0;
  memmove(begin + bytes, begin, before);
  memset(begin, 0, bytes);
  memset(begin + bytes + before, 0, length - bytes);
  return 1;
}

static void find_area(void) {
  uintptr_t at[4];
  if (!find_memory(at))
    return;
  area.begin = (char *)at[0];
  area.bytes = at[1] - at[0];
  if (area.bytes < TITLE_BYTES && at[1] == at[2] &&
      make_room((char *)at[2], (char *)at[3], TITLE_BYTES - area.bytes))
    area.bytes = TITLE_BYTES;
}

void rgi_title_set(const char *name, const char *rank) {
  char text[TITLE_BYTES];
  snprintf(text, sizeof text, "%s %s", name, rank); /* rank may lie in what find_area moves */
  if (!area.begin)
    find_area();
  if (area.bytes) {
    memset(area.begin, 0, area.bytes);
    memcpy(area.begin, text, strnlen(text, area.bytes - 1));
  }
  prctl(PR_SET_NAME, name);
}
