/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "recovery/run/nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recovery/run/run.h"

/* Names, separated by commas. */
typedef struct {
  char *text;
  int n;
} name_list;

static name_list lost;      /* in any start */
static name_list ended;     /* in this start: they live, but have no part in the job */
static int lost_now;        /* nodes in this start */
static unsigned char *gone; /* for each rank: it was on one of these */
static long ranks;          /* of gone */
static int total;           /* nodes of the last start and lost ones; 0: not known */
static name_list kept;      /* the nodes of the last start, if only these were known to live */

static int has_name(const name_list *names, const char *name) {
  size_t n = strlen(name);
  for (const char *at = names->text; at && (at = strstr(at, name)); at += n)
    if ((at == names->text || at[-1] == ',') && (at[n] == ',' || !at[n]))
      return 1;
  return 0;
}

static void add_name(name_list *names, const char *name) {
  size_t before = names->text ? strlen(names->text) : 0;
  char *text = has_name(names, name) ? NULL : realloc(names->text, before + strlen(name) + 2);
  if (!text)
    return;
  sprintf(text + before, "%s%s", names->n ? "," : "", name);
  names->text = text;
  names->n++;
}

static void drop_names(name_list *names) {
  free(names->text);
  *names = (name_list){NULL, 0};
}

/* --- ranks ---------------------------------------------------------------------------------- */

static void lose_rank(long rank) {
  if (rank >= ranks) {
    long more = 2 * rank + 64;
    unsigned char *all = realloc(gone, (size_t)more);
    if (!all)
      return;
    memset(all + ranks, 0, (size_t)(more - ranks));
    gone = all;
    ranks = more;
  }
  gone[rank] = 1;
}

/* Reads "4-7," or "4," and moves on. 0: there is none. */
static int read_range(const char **list, long *first, long *last) {
  char *rest;
  *first = *last = strtol(*list, &rest, 10);
  if (rest == *list || *first < 0)
    return 0;
  if (*rest == '-')
    *last = strtol(rest + 1, &rest, 10);
  *list = rest + (*rest == ',');
  return *last < 1L << 30;
}

int run_nodes_are_lost(const char *list) {
  long first, last;
  int read = 0;
  for (; read_range(&list, &first, &last); read = 1)
    for (long i = first; i <= last; i++)
      if (i >= ranks || !gone[i])
        return 0;
  return read;
}

/* --- what is heard -------------------------------------------------------------------------- */

void run_nodes_lose(const char *name, const char *list) {
  long first, last;
  int before = lost.n;
  add_name(&lost, name); /* it may have been told before */
  lost_now += lost.n - before;
  while (read_range(&list, &first, &last))
    for (long i = first; i <= last; i++)
      lose_rank(i);
}

int run_nodes_hear(const char *line) {
  char name[RUN_LINE];
  int at = 0;
  const char *own = strstr(line, "regroup: ");
  if (!own)
    return 0;
  if (sscanf(own, "regroup: the node of rank %*d (%4095[^)]) ends: ", name) == 1) {
    add_name(&ended, name);
    return 1;
  }
  if (sscanf(own, "regroup: node %4095s is lost (ranks %n", name, &at) == 1 && at)
    run_nodes_lose(name, own + at);
  return 0;
}

int run_nodes_lost(void) {
  return lost_now > 0;
}

/* Those of the names that are not lost. */
static name_list find_left(const name_list *of) {
  name_list left = {NULL, 0};
  char *copy = strdup(of->text ? of->text : ""), *rest = NULL;
  for (char *name = strtok_r(copy, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
    if (!has_name(&lost, name))
      add_name(&left, name);
  free(copy);
  return left;
}

int run_nodes_ended(void) {
  name_list left = find_left(&ended);
  int n = left.n;
  drop_names(&left);
  return n > 0;
}

/* --- the next start ------------------------------------------------------------------------- */

/* Of the command line, or of the allocation. */
static int count_nodes(char **command) {
  const char *text = run_srun_option(command, 'N', "nodes");
  if (!text)
    text = getenv("SLURM_JOB_NUM_NODES");
  return text ? atoi(text) : 0;
}

static void forget_start(void) {
  drop_names(&ended);
  lost_now = 0;
  if (gone)
    memset(gone, 0, (size_t)ranks);
}

/* What the user leaves out, or an earlier start did, and the lost ones. */
static char *leave_out_also(const char *before) {
  char *text = NULL;
  if (before && asprintf(&text, "%s,%s", before, lost.text) < 0)
    return NULL;
  return before ? text : strdup(lost.text);
}

/* Of the nodes that the user wants, those that are not lost; NULL: there are none, or they are in a
 * file. */
static char *find_wanted(const char *wanted) {
  char name[RUN_LINE];
  name_list all = {NULL, 0};
  if (!wanted || strchr(wanted, '/'))
    return NULL;
  setenv("RG_RUN_NODES", wanted, 1); /* the shell then needs no quoting of it */
  FILE *f = popen("scontrol show hostnames \"$RG_RUN_NODES\"", "r");
  unsetenv("RG_RUN_NODES");
  while (f && fscanf(f, "%4095s", name) == 1)
    add_name(&all, name);
  if (f)
    pclose(f);
  name_list left = find_left(&all);
  drop_names(&all);
  return left.text;
}

/* If nodes have ended by themselves, because they were no majority, the job starts on these: no
 * other is known to live. Else on all but those that are lost. The number of ranks stays; the step
 * that was lost may still hold processors; in a new allocation Slurm chooses other nodes. */
int run_nodes_leave_out(char ***command) {
  static char number[16], overlap[] = "--overlap", most[] = "--overcommit", nodes[] = "-N",
                          with[] = "-w", without[] = "-x";
  int inside = getenv("SLURM_JOB_ID") != NULL, before = lost.n - lost_now;
  name_list left = find_left(ended.n ? &ended : &kept);
  total = total ? total : count_nodes(*command) + before;
  int n = left.n ? left.n : total ? total - lost.n : -1;
  char *add[10] = {NULL}, *wanted;
  int k = 0;
  kept = left;
  if (left.n) {
    add[k++] = with;
    add[k++] = left.text;
  } else if (lost.n) {
    add[k++] = without;
    add[k++] = leave_out_also(run_srun_option(*command, 'x', "exclude"));
    if ((wanted = find_wanted(run_srun_option(*command, 'w', "nodelist")))) {
      add[k++] = with;
      add[k++] = wanted;
    }
  }
  if (inside) {
    add[k++] = overlap;
    add[k++] = most;
    unsetenv("SLURM_NTASKS_PER_NODE");
    snprintf(number, sizeof number, "%d", n);
    if (n > 0) {
      add[k++] = nodes;
      add[k++] = number;
    }
  }
  char **old = *command;
  *command = run_srun_add(old, add);
  if (*command != old)
    free(old);
  forget_start();
  return inside ? n : -1;
}
