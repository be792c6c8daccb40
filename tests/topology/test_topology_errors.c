/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1 2 3 4 7
 * env: RG_LOG=error
 * Wrong use of hardware levels is an error on all ranks, and afterwards all
 * works; nothing is leaked. */
#include <mpi.h>
#include <regroup.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machine/machine.h"
#include "tests/check/check.h"

#define MACHINE "pack:2 core:4 pu:2"

/* A fresh duplicate of the world, on a pretended machine. */
static MPI_Comm begin(const char *machine, const char *bind) {
  MPI_Comm comm;
  setenv("RG_TOPOLOGY", machine, 1);
  setenv("RG_BIND", bind, 1);
  rgi_machine_forget();
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  return comm;
}

/* comm works: the ranks can be told apart. */
static void expect_works(MPI_Comm comm) {
  MPI_Comm level[RG_LEVELS_MOST];
  int n = -1, size = rgt_size;
  RGT_OK(rg_comm_hierarchy(comm, RG_LEVEL_ALL, RG_LEVELS_MOST, level, NULL, &n));
  RGT_INT(n > 0, rgt_size > 1);
  for (int i = 0; i < n; i++) {
    MPI_Comm_size(level[i], &size);
    MPI_Comm_free(&level[i]);
  }
  RGT_INT(size, 1);
}

static void end(MPI_Comm *comm) {
  expect_works(*comm);
  MPI_Comm_free(comm);
}

static int is_last(void) {
  return rgt_rank == rgt_size - 1;
}

static void test_arguments(void) {
  MPI_Comm comm = begin(MACHINE, "compact"), out = MPI_COMM_SELF, roots = MPI_COMM_SELF;
  int n = 77;
  const char *type = NULL;
  RGT_FAILS(rg_comm_split_topology(MPI_COMM_NULL, RG_LEVEL_ALL, 0, &out), RG_ERR_COMM);
  RGT_FAILS(rg_comm_split_topology(comm, RG_LEVEL_ALL, 0, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_comm_split_topology(comm, 0, 0, &out), RG_ERR_ARG);
  RGT_FAILS(rg_comm_split_topology(comm, 8, 0, &out), RG_ERR_ARG);
  RGT_FAILS(rg_comm_split_level(comm, "Package", 0, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_comm_split_level(comm, NULL, 0, &out), RG_ERR_ARG);
  RGT_FAILS(rg_comm_split_level(comm, "PCIDev", 0, &out), RG_ERR_ARG);
  RGT_FAILS(rg_comm_split_level(comm, "Rack", 0, &out), RG_ERR_ARG);
  RGT_TRUE(strstr(rg_error_detail(), "this machine has ") &&
           strstr(rg_error_detail(), "Package, Core, PU"));
  RGT_FAILS(rg_comm_hsplit_with_roots(comm, MPI_INFO_NULL, &out, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_comm_hierarchy(comm, RG_LEVEL_ALL, 0, &out, NULL, &n), RG_ERR_ARG);
  RGT_FAILS(rg_comm_hierarchy(comm, RG_LEVEL_ALL, 1, NULL, NULL, &n), RG_ERR_ARG);
  RGT_FAILS(rg_comm_hlevel_info(comm, &n, NULL, NULL), RG_ERR_COMM);
  RGT_FAILS(rg_comm_hlevel_info(MPI_COMM_NULL, &n, NULL, NULL), RG_ERR_COMM);
  RGT_FAILS(rg_comm_hlevel_mpi_info(MPI_COMM_WORLD, &(MPI_Info){MPI_INFO_NULL}), RG_ERR_COMM);
  RGT_FAILS(rg_comm_min_hlevel(comm, 1, &rgt_size, &type), RG_ERR_RANK);
  RGT_FAILS(rg_comm_min_hlevel(comm, -1, NULL, &type), RG_ERR_ARG);
  RGT_FAILS(rg_comm_min_hlevel(comm, 1, NULL, &type), RG_ERR_ARG);
  RGT_TRUE(out == MPI_COMM_SELF && roots == MPI_COMM_SELF && n == 77 && !type);
  RGT_OK(rg_comm_min_hlevel(comm, 0, NULL, &type));
  RGT_STR(type, "Unknown");
  end(&comm);
}

static void test_inter_communicator(void) {
  MPI_Comm half, inter, out = MPI_COMM_SELF;
  if (rgt_size < 2)
    return;
  MPI_Comm_split(MPI_COMM_WORLD, rgt_rank % 2, rgt_rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rgt_rank % 2, 7, &inter);
  RGT_FAILS(rg_comm_split_topology(inter, RG_LEVEL_ALL, 0, &out), RG_ERR_COMM);
  RGT_TRUE(out == MPI_COMM_SELF);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

/* One rank alone is wrong: all get an error. */
static void test_one_is_wrong(void) {
  MPI_Comm comm = begin(MACHINE, "compact"), out = MPI_COMM_SELF, roots = MPI_COMM_SELF;
  int n = 77, mismatch = rgt_size > 1 ? RG_ERR_MISMATCH : RG_SUCCESS;
  RGT_FAILS(rg_comm_split_topology(comm, is_last() ? 64 : RG_LEVEL_ALL, 0, &out), RG_ERR_ARG);
  RGT_FAILS(rg_comm_split_level(comm, is_last() ? "Rack" : "Core", 0, &out), RG_ERR_ARG);
  RGT_FAILS(rg_comm_hierarchy(comm, RG_LEVEL_ALL, is_last() ? -5 : 3, &out, NULL, &n), RG_ERR_ARG);
  if (mismatch) {
    RGT_FAILS(rg_comm_split_level(comm, is_last() ? "Core" : "Package", 0, &out), mismatch);
    RGT_FAILS(is_last() ? rg_comm_split_level(comm, "Machine", 0, &out)
                        : rg_comm_split_topology(comm, RG_LEVEL_ALL, 0, &out),
              mismatch);
    RGT_FAILS(rg_comm_split_topology(comm, is_last() ? RG_LEVEL_MEMORY : RG_LEVEL_ALL, 0, &out),
              mismatch);
    RGT_FAILS(is_last() ? rg_comm_hsplit_with_roots(comm, MPI_INFO_NULL, &out, &roots)
                        : rg_comm_split_topology(comm, RG_LEVEL_ALL, 0, &out),
              mismatch);
  }
  RGT_TRUE(out == MPI_COMM_SELF && roots == MPI_COMM_SELF && n == 77);
  end(&comm);
}

static void test_info(void) {
  static const struct {
    const char *filter;
    int error;
  } cases[] = {{"memory", RG_SUCCESS},  {"network,compute", RG_SUCCESS}, {"all", RG_SUCCESS},
               {"memory,", RG_ERR_ARG}, {"memory,,compute", RG_ERR_ARG}, {"mem", RG_ERR_ARG},
               {" all", RG_ERR_ARG}};
  MPI_Comm comm = begin("pack:2 [numa] l3:1 core:4 pu:2", "scatter"), level, roots;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "rg_level_filter", is_last() ? cases[i].filter : "all");
    level = roots = MPI_COMM_SELF;
    int error = rg_comm_hsplit_with_roots(comm, info, &level, &roots);
    int want = cases[i].error                                        ? cases[i].error
               : rgt_size > 1 && strcmp(cases[i].filter, "all") != 0 ? RG_ERR_MISMATCH
                                                                     : RG_SUCCESS;
    if (want)
      RGT_FAILS(error, want);
    else
      RGT_OK(error);
    RGT_TRUE(!want || (level == MPI_COMM_SELF && roots == MPI_COMM_SELF));
    if (!error && level != MPI_COMM_NULL)
      MPI_Comm_free(&level);
    if (!error && roots != MPI_COMM_NULL)
      MPI_Comm_free(&roots);
    MPI_Info_free(&info);
  }
  end(&comm);
}

/* A file of a later hwloc: the error names the file and the version. */
static void test_later_file(void) {
  char name[RGT_PATH];
  rgt_temporary(name);
  int fd = mkstemp(name);
  FILE *f = fdopen(fd, "w");
  fputs("<?xml version=\"1.0\"?>\n<topology version=\"9.0\">\n</topology>\n", f);
  fclose(f);
  rgi_machine machine;
  int error = rgi_machine_open("test", name, &machine);
  RGT_INT(error, RG_ERR_OPTION);
  RGT_TRUE(strstr(rg_error_detail(), name) && strstr(rg_error_detail(), "version 9.0"));
  unlink(name);
}

/* A machine or a binding that one rank cannot understand. */
static void test_options(void) {
  static const struct {
    const char *machine, *bind;
  } bad[] = {{"pack:2 nonsense:3", "compact"},
             {"/nonexistent/machine.xml", "compact"},
             {"docs/building.md", "compact"},
             {"pack:2147483647", "compact"},
             {"[numa]2147483647", "compact"},
             {"pack:2 [numa] core:0x7fffffff", "compact"},
             {"0268435455pu:1", "compact"},
             {MACHINE, "sideways"},
             {MACHINE, "0;16"},
             {MACHINE, "0;3-1"},
             {MACHINE, "0,"},
             {MACHINE, "0;;1"},
             {MACHINE, "99999999999999999999"},
             {MACHINE, "1-"}};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    MPI_Comm out = MPI_COMM_SELF,
             comm = begin(is_last() ? bad[i].machine : MACHINE, is_last() ? bad[i].bind : "none");
    const char *type;
    RGT_FAILS(rg_comm_split_topology(comm, RG_LEVEL_ALL, 0, &out), RG_ERR_OPTION);
    RGT_FAILS(rg_comm_min_hlevel(comm, 1, &rgt_rank, &type), RG_ERR_OPTION);
    RGT_TRUE(out == MPI_COMM_SELF);
    setenv("RG_TOPOLOGY", MACHINE, 1);
    setenv("RG_BIND", "compact", 1);
    rgi_machine_forget();
    end(&comm);
  }
}

/* Where ranks of a node see different machines the node stays whole. */
static void test_different_machines(void) {
  MPI_Comm comm = begin(is_last() ? MACHINE : "pack:4 core:2 pu:2", "compact"), level;
  const char *type;
  RGT_OK(rg_comm_split_topology(comm, RG_LEVEL_ALL, 0, &level));
  RGT_TRUE(level == MPI_COMM_NULL);
  RGT_OK(rg_comm_min_hlevel(comm, 1, &rgt_rank, &type));
  RGT_STR(type, rgt_size > 1 ? "Machine" : "PU");
  MPI_Comm_free(&comm);
}

/* Takes all communicators that this rank has left, without communicating. */
static int fill_up(MPI_Comm dups[], int most) {
  int n = 0;
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  while (n < most && MPI_Comm_dup(MPI_COMM_SELF, &dups[n]) == MPI_SUCCESS)
    n++;
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
  return n;
}

static void empty(MPI_Comm dups[], int *n, int down_to) {
  while (*n > down_to)
    MPI_Comm_free(&dups[--*n]);
}

/* Makes the hierarchy with its roots and frees it. It is there on all ranks or on
 * none, for want of room. */
static int try_hierarchy(MPI_Comm comm) {
  MPI_Comm level[8], roots[8];
  int levels = 0, others, error = rg_comm_hierarchy(comm, RG_LEVEL_ALL, 8, level, roots, &levels);
  MPI_Allreduce(&error, &others, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  RGT_INT(error, others);
  RGT_TRUE(error == RG_SUCCESS || error == RG_ERR_LIMIT);
  for (int i = 0; i < levels && !error; i++) {
    MPI_Comm_free(&level[i]);
    if (roots[i] != MPI_COMM_NULL)
      MPI_Comm_free(&roots[i]);
  }
  return error;
}

enum { MOST = 4096 };

/* With a few communicators available; afterwards exactly as many are available as
 * before. Open MPI has more than a test can make. */
static void test_limit(void) {
#ifdef OPEN_MPI
  return;
#endif
  static MPI_Comm dups[MOST];
  MPI_Comm comm = begin("pack:2 [numa] l2:4 core:1 pu:1", "scatter");
  int error = RG_ERR_LIMIT, n = fill_up(dups, MOST), all = n;
  RGT_TRUE(n < MOST);
  for (int left = 0; left < 8 && error; left++) {
    empty(dups, &n, all - left);
    error = try_hierarchy(comm);
    n += fill_up(dups + n, MOST - n);
    RGT_INT(n, all);
  }
  RGT_INT(error, RG_SUCCESS);
  empty(dups, &n, 0);
  end(&comm);
}

/* One rank alone runs out of communicators: the descent fails at a low level in its part of the
 * machine and goes on in the others'. */
static void test_limit_of_one(void) {
  static MPI_Comm dups[MOST];
  MPI_Comm comm = begin("pack:2 [numa] l2:4 core:1 pu:1", "scatter");
  int error = RG_ERR_LIMIT, n = is_last() ? fill_up(dups, MOST) : 0, all = n;
  for (int left = 0; left < 8 && error; left++) {
    empty(dups, &n, all > left ? all - left : 0);
    error = try_hierarchy(comm);
  }
  RGT_INT(error, RG_SUCCESS);
  empty(dups, &n, 0);
  end(&comm);
}

static void test_error_handler(void) {
  MPI_Comm comm = begin(MACHINE, "compact"), level[8], roots[8];
  int n = 0;
  for (int returns = 0; returns < 2; returns++) {
    MPI_Errhandler want = returns ? MPI_ERRORS_RETURN : MPI_ERRORS_ARE_FATAL, have;
    MPI_Comm_set_errhandler(comm, want);
    RGT_OK(rg_comm_hierarchy(comm, RG_LEVEL_ALL, 8, level, roots, &n));
    MPI_Comm_get_errhandler(comm, &have);
    RGT_TRUE(have == want);
    MPI_Errhandler_free(&have);
    for (int i = 0; i < n; i++) {
      MPI_Comm_get_errhandler(level[i], &have);
      RGT_TRUE(have == want);
      MPI_Errhandler_free(&have);
      MPI_Comm_free(&level[i]);
      if (roots[i] != MPI_COMM_NULL) {
        MPI_Comm_get_errhandler(roots[i], &have);
        RGT_TRUE(have == want);
        MPI_Errhandler_free(&have);
        MPI_Comm_free(&roots[i]);
      }
    }
  }
  end(&comm);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"arguments", test_arguments},
                                   {"inter-communicator", test_inter_communicator},
                                   {"one is wrong", test_one_is_wrong},
                                   {"info", test_info},
                                   {"file of a later hwloc", test_later_file},
                                   {"options", test_options},
                                   {"different machines", test_different_machines},
                                   {"limit", test_limit},
                                   {"limit of one rank", test_limit_of_one},
                                   {"error handler", test_error_handler},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "topology_errors", tests);
}
