/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1 2 3
 * The log: a callback gets the lines, with the names of groups in reports. */
#include <mpi.h>
#include <pthread.h>
#include <regroup.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "tests/check/check.h"

typedef struct {
  int lines, levels;
  char last[1024];
} record;

static void keep_line(int level, const char *line, void *context) {
  record *r = context;
  r->lines++;
  r->levels |= 1 << level;
  strncpy(r->last, line, sizeof r->last - 1);
}

static void test_callback(void) {
  record r = {0};
  RGT_OK(rg_log_set(keep_line, &r));
  RGT_OK(rg_init(MPI_COMM_WORLD, "log=info"));
  RGT_INT(r.lines > 0, rgt_rank == 0); /* its own configuration */
  RGT_TRUE(!strchr(r.last, '\n') && !strstr(r.last, "[regroup"));
  r = (record){0};
  rgi_log(RGI_LOG_WARN, "%d is too many", 7);
  RGT_STR(r.last, "7 is too many");
  rgi_log(RGI_LOG_DEBUG, "below the level");
  RGT_INT(r.lines, 1);
  RGT_INT(r.levels, 1 << RG_LOG_WARN);
  RGT_OK(rg_finalize());
  r = (record){0};
  RGT_OK(rg_log_set(NULL, NULL));
  rgi_log(RGI_LOG_ERROR, "this line of a test goes to standard error");
  RGT_INT(r.lines, 0);
}

static void *log_often(void *unused) {
  for (int i = 0; i < 500; i++)
    rgi_log(RGI_LOG_ERROR, "line %d", i);
  return unused;
}

/* One line at a time, whichever thread it is from: keep_line needs no lock. */
static void test_threads(void) {
  pthread_t threads[3];
  record r = {0};
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_log_set(keep_line, &r));
  for (int i = 0; i < 3; i++)
    pthread_create(&threads[i], NULL, log_often, NULL);
  for (int i = 0; i < 3; i++)
    pthread_join(threads[i], NULL);
  RGT_OK(rg_log_set(NULL, NULL));
  RGT_INT(r.lines, 1500);
  RGT_OK(rg_finalize());
}

/* Rank 0 waits for a message that no member sends: the report and the error name the group. */
static void test_stall(void) {
  record r = {0};
  rg_group g;
  int data;
  RGT_OK(rg_log_set(keep_line, &r));
  RGT_OK(rg_init(MPI_COMM_WORLD, "timeout=0.6,stall_report=0.2"));
  RGT_OK(rg_group_world(&g));
  RGT_OK(rg_group_set_name(g, "all of us"));
  if (rgt_rank == 0) {
    RGT_FAILS(rg_recv(g, &data, 1, MPI_INT, rgt_size - 1, 3, NULL), RG_ERR_TIMEOUT);
    RGT_TRUE(strstr(rg_error_detail(), "rg_recv (group \"all of us\"): ") != NULL);
    RGT_INT(r.lines, 1);
    RGT_TRUE(strncmp(r.last, "rg_recv (group \"all of us\") has been waiting", 44) == 0);
    RGT_OK(rg_group_set_name(g, ""));
    RGT_FAILS(rg_recv(g, &data, 1, MPI_INT, rgt_size - 1, 3, NULL), RG_ERR_TIMEOUT);
    RGT_TRUE(strstr(rg_error_detail(), "all of us") == NULL);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  RGT_OK(rg_group_free(&g));
  RGT_OK(rg_finalize());
  RGT_OK(rg_log_set(NULL, NULL));
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {
      {"callback", test_callback}, {"threads", test_threads}, {"stall", test_stall}, {NULL, NULL}};
  return rgt_main(argc, argv, "log", tests);
}
