/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "report.h"

#include <CUnit/CUnit.h>
#include <CUnit/TestRun.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FAILURES = 20, MAX_LINE = 4096 }; /* of each rank, of each failure */

static void *must(void *memory) {
  if (!memory)
    MPI_Abort(MPI_COMM_WORLD, 1);
  return memory;
}

/* The failures of this rank, one line each, without the rank; *size counts the final
 * NUL. */
static char *own_lines(size_t *size) {
  char *text = NULL, line[MAX_LINE];
  FILE *f = must(open_memstream(&text, size));
  int n = 0;
  for (CU_pFailureRecord r = CU_get_failure_list(); r; r = r->pNext) {
    if (++n > MAX_FAILURES)
      continue;
    snprintf(line, sizeof line, "%s:%u %s/%s: %s", r->strFileName ? r->strFileName : "?",
             r->uiLineNumber, r->pSuite ? r->pSuite->pName : "?", r->pTest ? r->pTest->pName : "?",
             r->strCondition ? r->strCondition : "?");
    for (char *c = line; *c; c++) /* a text of several lines stays one */
      if (*c == '\n')
        *c = ' ';
    fprintf(f, "%s\n", line);
  }
  if (n > MAX_FAILURES)
    fprintf(f, "... and %d more\n", n - MAX_FAILURES);
  fputc('\0', f);
  fclose(f);
  return text;
}

/* All ranks' lines on rank 0, one text after the other in rank order. */
static char *gather_lines(MPI_Comm comm, const char *mine, int mine_size, int size) {
  int *counts = must(calloc((size_t)size, sizeof(int)));
  int *starts = must(calloc((size_t)size + 1, sizeof(int)));
  MPI_Gather(&mine_size, 1, MPI_INT, counts, 1, MPI_INT, 0, comm);
  for (int i = 0; i < size; i++)
    starts[i + 1] = starts[i] + counts[i];
  char *all = must(malloc((size_t)starts[size] + 1));
  MPI_Gatherv(mine, mine_size, MPI_CHAR, all, counts, starts, MPI_CHAR, 0, comm);
  free(counts);
  free(starts);
  return all;
}

typedef struct {
  char *text;
  int rank;
  int told;
} entry;

static entry *split_lines(char *all, int size, int *count) {
  entry *entries = must(malloc((size_t)size * (MAX_FAILURES + 1) * sizeof(entry)));
  *count = 0;
  for (int rank = 0; rank < size; rank++) {
    char *end = all + strlen(all);
    for (char *save, *line = strtok_r(all, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
      entries[(*count)++] = (entry){line, rank, 0};
    all = end + 1;
  }
  return entries;
}

/* Prints failure i with the ranks of all entries of the same text: "ranks 0-2,5". */
static void print_failure(entry *e, int i, int count, int size) {
  char *has = must(calloc((size_t)size + 1, 1));
  int ranks = 0;
  for (int k = i; k < count; k++)
    if (!e[k].told && strcmp(e[k].text, e[i].text) == 0) {
      e[k].told = 1;
      ranks += !has[e[k].rank];
      has[e[k].rank] = 1;
    }
  printf("FAIL rank%s ", ranks > 1 ? "s" : "");
  const char *comma = "";
  for (int first = 0; first < size; first++)
    if (has[first]) {
      int last = first;
      while (has[last + 1])
        last++;
      printf(first == last ? "%s%d" : "%s%d-%d", comma, first, last);
      comma = ",";
      first = last;
    }
  printf(" %s\n", e[i].text);
  free(has);
}

static void print_failures(char *all, int size) {
  int count;
  entry *entries = split_lines(all, size, &count);
  for (int i = 0; i < count; i++)
    if (!entries[i].told)
      print_failure(entries, i, count, size);
  if (count)
    printf("RGT seed %llu\n", rgt_seed());
  free(entries);
}

/* How many of the test functions failed on any rank. */
static int count_failed(MPI_Comm comm, const rgt_test *tests, int *total) {
  *total = 0;
  while (tests[*total].name)
    (*total)++;
  int *failed = must(calloc((size_t)*total + 1, sizeof(int))), sum = 0;
  for (CU_pFailureRecord r = CU_get_failure_list(); r; r = r->pNext)
    for (int i = 0; i < *total; i++)
      if (r->pTest && strcmp(r->pTest->pName, tests[i].name) == 0)
        failed[i] = 1;
  MPI_Allreduce(MPI_IN_PLACE, failed, *total, MPI_INT, MPI_MAX, comm);
  for (int i = 0; i < *total; i++)
    sum += failed[i];
  free(failed);
  return sum;
}

int rgt_report(MPI_Comm comm, const char *suite, const rgt_test *tests) {
  int rank, size, total;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  size_t length;
  char *mine = own_lines(&length);
  char *all = gather_lines(comm, mine, (int)length, size);
  int failed = count_failed(comm, tests, &total);
  if (rank == 0) {
    print_failures(all, size);
    printf("RGT %s tests=%d failed=%d\n", suite, total, failed);
    fflush(stdout);
  }
  free(mine);
  free(all);
  return failed;
}
