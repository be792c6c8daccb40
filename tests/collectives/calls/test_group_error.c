/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The error of one member as that of all: over a group and over a communicator, of any member and
 * of several, also of calls within calls. */
#include <mpi.h>
#include <regroup.h>
#include <stdlib.h>

#include "base/error_report.h"
#include "collectives/calls/group_error.h"
#include "progress/mpi_error.h"
#include "tests/check/reported.h"

static rg_group world;

static void test_start(void) {
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_group_world(&world));
}

static void test_words(void) {
  static const int codes[] = {RG_ERR_ARG, RG_ERR_INTERNAL, RG_ERR_USER, INT32_MAX};
  static const int ranks[] = {0, 1, 77, INT32_MAX - 1};
  int64_t last = INT64_MAX;
  RGT_INT(rgi_error_report_word(RG_SUCCESS, 5), 0);
  for (int r = 0; r < 4; r++) {
    int64_t least = last;
    for (int c = 0; c < 4; c++) {
      int64_t word = rgi_error_report_word(codes[c], ranks[r]);
      RGT_INT(rgi_error_report_code(word), codes[c]);
      RGT_INT(rgi_error_report_rank(word), ranks[r]);
      RGT_TRUE(word > 0 && word < last);
      least = word < least ? word : least;
    }
    last = least;
  }
}

static int share(int over_comm, const char *call, int error) {
  return over_comm ? rgi_mpi_error_share(MPI_COMM_WORLD, call, error)
                   : rgi_group_error_share(world, call, error);
}

static void test_none(void) {
  for (int c = 0; c < 2; c++)
    RGT_OK(share(c, "call", RG_SUCCESS));
}

/* Each rank, with a code of the library's and one of the application's. */
static void test_one(void) {
  for (int from = 0; from < rgt_size; from++)
    for (int c = 0; c < 4; c++) {
      int code = c & 2 ? RG_ERR_USER + from : RG_ERR_NOMEM, own = RG_SUCCESS;
      if (rgt_rank == from)
        own = rgi_error(code, "call: no %d left", from);
      expect_reported(share(c & 1, "call", own), code, rgt_rank, from, "no ");
      RGT_TRUE(strstr(rg_error_detail(), "call: ") == rg_error_detail());
      RGT_PTR_NULL(strstr(rg_error_detail() + 1, "call: "));
    }
}

/* The lowest rank wins. The others that failed keep their own text: alone if they have the same
 * code. */
static void test_several(void) {
  int first = rgt_size > 2;
  for (int c = 0; c < 2; c++) {
    int own = RG_SUCCESS;
    if (rgt_rank >= first)
      own = rgi_error(RG_ERR_USER + rgt_rank, "call: my %d", rgt_rank);
    expect_reported(share(c, "call", own), RG_ERR_USER + first, rgt_rank, first,
                    first ? "my 1" : "my 0");
    char mine[32];
    snprintf(mine, sizeof mine, "my %d", rgt_rank);
    RGT_INT(strstr(rg_error_detail(), mine) != NULL, rgt_rank >= first);
    own = rgt_rank >= first ? rgi_error(RG_ERR_NOMEM, "call: my %d", rgt_rank) : RG_SUCCESS;
    RGT_INT(share(c, "call", own), RG_ERR_NOMEM);
    RGT_INT(strstr(rg_error_detail(), "reported") != NULL, rgt_rank < first);
  }
}

/* A call within a call shares the error a second time: the text stays. */
static void test_nested(void) {
  int from = rgt_size - 1;
  for (int c = 0; c < 2; c++) {
    int own = rgt_rank == from ? rgi_error(RG_ERR_FILE, "call: no file") : RG_SUCCESS;
    own = share(c, "call", own);
    expect_reported(share(c, "call", own), RG_ERR_FILE, rgt_rank, from, "no file");
  }
}

/* A text as long as texts can be is cut, on all ranks; and the call may name another group. */
static void test_long(void) {
  char text[2000];
  memset(text, 'x', sizeof text - 1);
  text[sizeof text - 1] = '\0';
  for (int c = 0; c < 2; c++) {
    int own = rgt_rank == 0 ? rgi_error(RG_ERR_ARG, "%s", text) : RG_SUCCESS;
    expect_reported(share(c, "call: in the other group", own), RG_ERR_ARG, rgt_rank, 0, "xxx");
    RGT_INT(strlen(rg_error_detail()), RGI_ERROR_TEXT - 1);
  }
}

/* After a death or a revocation no text is sent. */
static void test_death(void) {
  for (int c = 0; c < 2; c++) {
    int own = rgt_rank == 0 ? rgi_error(RG_ERR_PROC_FAILED, "call: gone") : RG_SUCCESS;
    expect_reported(share(c, "call", own), RG_ERR_PROC_FAILED, rgt_rank, 0,
                    rgt_rank == 0 ? "gone" : rg_error_string(RG_ERR_PROC_FAILED));
  }
}

static void test_finalize(void) {
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"start", test_start},       {"words", test_words},
                                   {"none", test_none},         {"one", test_one},
                                   {"several", test_several},   {"nested", test_nested},
                                   {"long", test_long},         {"death", test_death},
                                   {"finalize", test_finalize}, {NULL, NULL}};
  return rgt_main(argc, argv, "group_error", tests);
}
