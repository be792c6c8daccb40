/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The process's group in each hierarchy is in /proc/self/cgroup: one for each controller in version
 * 1, one for all in version 2. /proc/self/mountinfo tells where a hierarchy is mounted, and from
 * which of its groups on: in a container this may be the container's own group. From the folder of
 * the process's group on, all folders up to the mount may have a limit. */
#include "base/cgroup.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A hierarchy, and the folder of the process's group in it. */
typedef struct {
  const char *root, *controller; /* NULL: version 2 */
  char group[PATH_MAX];          /* as /proc/self/cgroup names it */
  char folder[2 * PATH_MAX];
  size_t top; /* so many characters of it are the mount */
} hierarchy;

static FILE *open_below(const char *root, const char *path) {
  char whole[3 * PATH_MAX];
  int length = snprintf(whole, sizeof whole, "%s%s", root, path);
  return length > 0 && length < (int)sizeof whole ? fopen(whole, "re") : NULL;
}

/* Whether a word is in a list whose words end with commas. */
static int has_word(const char *list, const char *word) {
  size_t length = strlen(word);
  for (const char *at = list; at; at = strchr(at, ','), at += at != NULL)
    if (strncmp(at, word, length) == 0 && (at[length] == ',' || at[length] == 0))
      return 1;
  return 0;
}

/* "NUMBER:CONTROLLERS:GROUP"; version 2 has the number 0 and no controllers. */
static int read_group(hierarchy *hierarchy, char *line) {
  char *list = strchr(line, ':'), *group = list ? strchr(list + 1, ':') : NULL;
  if (!group)
    return 0;
  *group++ = 0;
  group[strcspn(group, "\n")] = 0;
  if (hierarchy->controller ? !has_word(list + 1, hierarchy->controller)
                            : strncmp(line, "0:", 2) || list[1])
    return 0;
  return snprintf(hierarchy->group, sizeof hierarchy->group, "%s", group) <
         (int)sizeof hierarchy->group;
}

/* Blanks and the like are written as three octal digits. */
static void decode_path(char *path) {
  char *to = path;
  for (const char *at = path; *at; at++) {
    unsigned value;
    int coded = *at == '\\' && sscanf(at + 1, "%3o", &value) == 1;
    *to++ = coded ? (char)value : *at;
    at += coded ? 3 : 0;
  }
  *to = 0;
}

/* What follows the mount's group in the process's group; NULL: that is not below it. */
static const char *path_below(const hierarchy *hierarchy, const char *mounted) {
  size_t length = strcmp(mounted, "/") ? strlen(mounted) : 0;
  const char *rest = hierarchy->group + length;
  int is_below = strncmp(hierarchy->group, mounted, length) == 0 && (*rest == '/' || !*rest);
  return is_below && !strstr(rest, "/..") ? rest : NULL;
}

/* "NUMBER PARENT DEVICE GROUP FOLDER OPTIONS... - TYPE SOURCE OPTIONS". A mount that does not hold
 * the process's group still has limits of its own: it is taken for want of a better one. */
static int read_mount(hierarchy *hierarchy, char *line) {
  char mounted[PATH_MAX], folder[PATH_MAX], type[32], options[1024];
  const char *end = strstr(line, " - ");
  if (!end || sscanf(line, "%*s %*s %*s %4095s %4095s", mounted, folder) != 2 ||
      sscanf(end + 3, "%31s %*s %1023s", type, options) != 2)
    return 0;
  if (hierarchy->controller ? strcmp(type, "cgroup") || !has_word(options, hierarchy->controller)
                            : strcmp(type, "cgroup2") != 0)
    return 0;
  decode_path(mounted);
  decode_path(folder);
  const char *rest = path_below(hierarchy, mounted);
  if (!rest && hierarchy->top)
    return 0;
  hierarchy->top = strlen(folder);
  snprintf(hierarchy->folder, sizeof hierarchy->folder, "%s%s", folder,
           rest && strcmp(rest, "/") ? rest : "");
  return rest != NULL;
}

/* Reads lines until one is what is looked for. */
static void read_lines(hierarchy *found, const char *path, int (*take)(hierarchy *, char *)) {
  FILE *f = open_below(found->root, path);
  char *line = NULL;
  size_t bytes = 0;
  while (f && getline(&line, &bytes, f) >= 0 && !take(found, line))
    continue;
  free(line);
  if (f)
    fclose(f);
}

/* 0: the process is in none, or that is not mounted. */
static int find_hierarchy(hierarchy *hierarchy, const char *root, const char *controller) {
  hierarchy->root = root;
  hierarchy->controller = controller;
  hierarchy->group[0] = 0;
  hierarchy->top = 0;
  read_lines(hierarchy, "/proc/self/cgroup", read_group);
  if (hierarchy->group[0])
    read_lines(hierarchy, "/proc/self/mountinfo", read_mount);
  return hierarchy->top > 0;
}

/* To the next folder up. 0: there is none in the mount. */
static int go_up(hierarchy *hierarchy) {
  char *end = strrchr(hierarchy->folder, '/');
  if (!end || (size_t)(end - hierarchy->folder) < hierarchy->top)
    return 0;
  *end = 0;
  return 1;
}

/* Reads numbers from a file of the folder. Returns how many there are. */
static int read_numbers(const hierarchy *hierarchy, const char *file, long long number[2]) {
  char path[2 * PATH_MAX + 64];
  snprintf(path, sizeof path, "%s/%s", hierarchy->folder, file);
  FILE *f = open_below(hierarchy->root, path);
  int n = f ? fscanf(f, "%lld %lld", &number[0], &number[1]) : 0;
  if (f)
    fclose(f);
  return n > 0 ? n : 0;
}

/* --- memory --------------------------------------------------------------------------- */

static uint64_t least_memory(const char *root, const char *controller, const char *file) {
  hierarchy h;
  uint64_t least = UINT64_MAX;
  long long number[2];
  if (!find_hierarchy(&h, root, controller))
    return least;
  do
    if (read_numbers(&h, file, number) > 0 && number[0] >= 0 && (uint64_t)number[0] < least)
      least = (uint64_t)number[0];
  while (go_up(&h));
  return least;
}

uint64_t rgi_cgroup_memory(const char *root) {
  uint64_t one = least_memory(root, "memory", "memory.limit_in_bytes"),
           two = least_memory(root, NULL, "memory.max");
  return one < two ? one : two;
}

/* The names of one version's files. */
typedef struct {
  const char *controller, *limit, *used, *spare; /* spare: a word of memory.stat */
} memory_files;

/* The number behind a word of memory.stat; 0: there is none. */
static uint64_t read_stat(const hierarchy *hierarchy, const char *word) {
  char path[2 * PATH_MAX + 64], name[64];
  unsigned long long value, found = 0;
  snprintf(path, sizeof path, "%s/memory.stat", hierarchy->folder);
  FILE *f = open_below(hierarchy->root, path);
  while (f && !found && fscanf(f, "%63s %llu", name, &value) == 2)
    found = strcmp(name, word) == 0 ? value : 0;
  if (f)
    fclose(f);
  return found;
}

static uint64_t least_free(const char *root, const memory_files *files) {
  hierarchy h;
  uint64_t least = UINT64_MAX;
  long long limit[2], used[2];
  if (!find_hierarchy(&h, root, files->controller))
    return least;
  do {
    if (read_numbers(&h, files->limit, limit) <= 0 || limit[0] < 0 ||
        read_numbers(&h, files->used, used) <= 0)
      continue;
    uint64_t most = (uint64_t)limit[0] + read_stat(&h, files->spare), taken = (uint64_t)used[0];
    uint64_t left = taken < most ? most - taken : 0;
    least = left < least ? left : least;
  } while (go_up(&h));
  return least;
}

uint64_t rgi_cgroup_memory_free(const char *root) {
  static const memory_files first = {.controller = "memory",
                                     .limit = "memory.limit_in_bytes",
                                     .used = "memory.usage_in_bytes",
                                     .spare = "total_inactive_file"},
                            second = {.limit = "memory.max",
                                      .used = "memory.current",
                                      .spare = "inactive_file"};
  uint64_t one = least_free(root, &first), two = least_free(root, &second);
  return one < two ? one : two;
}

/* --- processors ------------------------------------------------------------------------- */

/* Time, and the period for which it is. 0: no limit, which is -1 in version 1 and "max" in 2. */
static int read_time(const hierarchy *hierarchy, long long number[2]) {
  long long period[2];
  if (!hierarchy->controller)
    return read_numbers(hierarchy, "cpu.max", number) == 2;
  if (read_numbers(hierarchy, "cpu.cfs_quota_us", number) < 1 ||
      read_numbers(hierarchy, "cpu.cfs_period_us", period) < 1)
    return 0;
  number[1] = period[0];
  return 1;
}

static uint64_t identify_folder(const hierarchy *hierarchy) {
  char path[3 * PATH_MAX];
  struct stat s;
  snprintf(path, sizeof path, "%s%s", hierarchy->root, hierarchy->folder);
  return stat(path, &s) == 0 ? (uint64_t)s.st_dev << 48 ^ (uint64_t)s.st_ino : 0;
}

static void find_least_quota(const char *root, const char *controller, rgi_cgroup_quota *least) {
  hierarchy h;
  long long number[2];
  if (!find_hierarchy(&h, root, controller))
    return;
  do {
    if (!read_time(&h, number) || number[0] <= 0 || number[1] <= 0)
      continue;
    int64_t processors = number[0] < number[1] ? 1 : number[0] / number[1];
    if (!least->processors || processors < least->processors)
      *least = (rgi_cgroup_quota){.group = identify_folder(&h), .processors = processors};
  } while (go_up(&h));
}

rgi_cgroup_quota rgi_cgroup_processors(const char *root) {
  rgi_cgroup_quota least = {0};
  find_least_quota(root, "cpu", &least);
  find_least_quota(root, NULL, &least);
  return least;
}
