/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Every query about an inter-communicator against what it is defined to be. */
#ifndef INTER_CASES_H
#define INTER_CASES_H

#include <mpi.h>
#include <regroup/intercomm.h>
#include <stdlib.h>

#include "check.h"

/* What the test knows: two groups of so many processes, and where the caller is. */
typedef struct {
  rg_inter_kind kind;
  int inter, initiators, responders; /* without inter both are the world */
  int initiates, rank;
} expected;

static int answer(int (*query)(int *)) {
  int value = -77;
  RGT_OK(query(&value));
  return value;
}

static MPI_Comm answer_comm(int (*query)(MPI_Comm *)) {
  MPI_Comm comm = MPI_COMM_NULL;
  RGT_OK(query(&comm));
  return comm;
}

static int64_t answer_long(int (*query)(int64_t *)) {
  int64_t value = -77;
  RGT_OK(query(&value));
  return value;
}

static int look_up(int (*query)(int, int *), int argument) {
  int value = -77;
  RGT_OK(query(argument, &value));
  return value;
}

/* The first number that both divide: slow and sure. */
static int64_t common_multiple(int a, int b) {
  int64_t m = a;
  while (m % b)
    m += a;
  return m;
}

static void check_sizes(const expected *e) {
  int local = e->initiates ? e->initiators : e->responders;
  int remote = e->initiates ? e->responders : e->initiators;
  RGT_INT(answer(rg_inter_initiator_size), e->initiators);
  RGT_INT(answer(rg_inter_responder_size), e->responders);
  RGT_INT(answer(rg_inter_local_size), local);
  RGT_INT(answer(rg_inter_remote_size), remote);
  RGT_INT(answer(rg_inter_larger_size), local > remote ? local : remote);
  RGT_INT(answer(rg_inter_global_size), e->inter ? local + remote : local);
  RGT_INT(answer_long(rg_inter_combined_size), common_multiple(local, remote));
  RGT_INT(answer_long(rg_inter_maximum_size), e->inter ? local * remote : local);
}

static void check_identity(const expected *e) {
  int most = e->initiators + e->responders;
  RGT_INT(answer(rg_inter_is_inter), e->inter);
  RGT_INT(answer(rg_inter_is_initiator), !e->inter || e->initiates);
  RGT_INT(answer(rg_inter_is_responder), !e->inter || !e->initiates);
  RGT_INT(answer(rg_inter_io), e->initiates && e->rank == 0);
  RGT_INT(answer(rg_inter_rank), e->rank);
  RGT_INT(answer(rg_inter_global_rank), e->rank + (e->inter && !e->initiates ? e->initiators : 0));
  for (int r = -1; r <= most; r++) {
    RGT_INT(look_up(rg_inter_has_initiator_rank, r), e->rank == r && e->initiates);
    RGT_INT(look_up(rg_inter_has_responder_rank, r), e->rank == r && (!e->inter || !e->initiates));
  }
  for (int r = 0; r < e->initiators; r++) {
    int root = e->inter && e->initiates ? (r == e->rank ? MPI_ROOT : MPI_PROC_NULL) : r;
    RGT_INT(look_up(rg_inter_root, r), root);
  }
}

static void check_look_ups(const expected *e) {
  int all = e->inter ? e->initiators + e->responders : e->initiators, wrong = -77;
  for (int g = 0; g < all; g++) {
    int initiates = g < e->initiators;
    RGT_INT(look_up(rg_inter_lookup_rank, g), initiates ? g : g - e->initiators);
    RGT_INT(look_up(rg_inter_lookup_is_initiator, g), initiates);
    RGT_INT(look_up(rg_inter_lookup_is_responder, g), !e->inter || !initiates);
    RGT_INT(look_up(rg_inter_lookup_local_size, g), initiates ? e->initiators : e->responders);
    RGT_INT(look_up(rg_inter_lookup_remote_size, g), initiates ? e->responders : e->initiators);
    if (initiates)
      RGT_INT(look_up(rg_inter_lookup_global_rank, g), g);
  }
  RGT_FAILS(rg_inter_lookup_rank(all, &wrong), RG_ERR_RANK);
  RGT_FAILS(rg_inter_lookup_rank(-1, &wrong), RG_ERR_RANK);
  RGT_FAILS(rg_inter_lookup_is_initiator(all, &wrong), RG_ERR_RANK);
  RGT_FAILS(rg_inter_lookup_is_responder(-1, &wrong), RG_ERR_RANK);
  RGT_FAILS(rg_inter_lookup_local_size(all, &wrong), RG_ERR_RANK);
  RGT_FAILS(rg_inter_lookup_remote_size(all, &wrong), RG_ERR_RANK);
  RGT_FAILS(rg_inter_lookup_global_rank(e->initiators, &wrong), RG_ERR_RANK);
  RGT_FAILS(rg_inter_root(e->initiators, &wrong), RG_ERR_RANK);
  RGT_INT(wrong, -77);
}

/* The communicators work and connect the right processes: every process sends the others its
 * role through each of them. */
static void check_communicators(const expected *e) {
  MPI_Comm world = answer_comm(rg_inter_world), bench = answer_comm(rg_inter_benchmark);
  MPI_Comm local = answer_comm(rg_inter_local), global = answer_comm(rg_inter_global);
  int mine[2] = {e->initiates, e->rank}, size, inter;
  int all = e->inter ? e->initiators + e->responders : e->initiators;
  int(*got)[2] = malloc((size_t)all * sizeof *got);
  RGT_TRUE(world != MPI_COMM_NULL);
  MPI_Comm_test_inter(bench, &inter);
  RGT_INT(inter, e->inter);
  MPI_Comm_size(local, &size);
  RGT_INT(size, e->initiates ? e->initiators : e->responders);
  MPI_Allgather(mine, 2, MPI_INT, got, 2, MPI_INT, local);
  for (int i = 0; i < size; i++)
    RGT_TRUE(got[i][0] == e->initiates && got[i][1] == i);
  MPI_Allgather(mine, 2, MPI_INT, got, 2, MPI_INT, bench);
  for (int i = 0; i < (e->initiates ? e->responders : e->initiators); i++)
    RGT_TRUE(got[i][0] == (e->inter ? !e->initiates : e->initiates) && got[i][1] == i);
  MPI_Comm_size(global, &size);
  RGT_INT(size, all);
  MPI_Allgather(mine, 2, MPI_INT, got, 2, MPI_INT, global);
  for (int i = 0; i < all; i++)
    RGT_TRUE(got[i][0] == (i < e->initiators) &&
             got[i][1] == (i < e->initiators ? i : i - e->initiators));
  free(got);
}

/* A broadcast and a reduction with every initiator as root. */
static void check_roots(const expected *e) {
  MPI_Comm bench = answer_comm(rg_inter_benchmark);
  for (int r = 0; r < e->initiators; r++) {
    int root = look_up(rg_inter_root, r), value = e->initiates && e->rank == r ? 100 + r : -1;
    int one = 1, sum = -1, roots = e->initiates && e->rank == r;
    MPI_Bcast(&value, 1, MPI_INT, root, bench);
    RGT_INT(value, e->inter && e->initiates && !roots ? -1 : 100 + r);
    MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, root, bench);
    RGT_INT(sum, roots ? e->responders : -1);
  }
}

static void check_view(const expected *e) {
  rg_inter_view v = {.size = sizeof v};
  rg_inter_kind kind;
  RGT_OK(rg_inter_get_view(&v));
  RGT_OK(rg_inter_get_kind(&kind));
  RGT_TRUE(kind == e->kind && v.kind == e->kind);
  RGT_TRUE(v.world == answer_comm(rg_inter_world) && v.local == answer_comm(rg_inter_local));
  RGT_TRUE(v.benchmark == answer_comm(rg_inter_benchmark));
  RGT_TRUE(v.global == answer_comm(rg_inter_global));
  RGT_INT(v.is_inter, answer(rg_inter_is_inter));
  RGT_INT(v.is_initiator, answer(rg_inter_is_initiator));
  RGT_INT(v.is_responder, answer(rg_inter_is_responder));
  RGT_INT(v.io, answer(rg_inter_io));
  RGT_INT(v.rank, answer(rg_inter_rank));
  RGT_INT(v.global_rank, answer(rg_inter_global_rank));
  RGT_INT(v.initiator_size, answer(rg_inter_initiator_size));
  RGT_INT(v.responder_size, answer(rg_inter_responder_size));
  RGT_INT(v.local_size, answer(rg_inter_local_size));
  RGT_INT(v.remote_size, answer(rg_inter_remote_size));
  RGT_INT(v.larger_size, answer(rg_inter_larger_size));
  RGT_INT(v.global_size, answer(rg_inter_global_size));
  RGT_INT(v.combined_size, answer_long(rg_inter_combined_size));
  RGT_INT(v.maximum_size, answer_long(rg_inter_maximum_size));
}

static void check_exclusion(const expected *e) {
  static const char *const scans[] = {"scan", "exscan", "MPI_Scan", "MPI_Iexscan", "ISCAN"};
  for (int i = 0; i < 5; i++)
    if (e->inter)
      RGT_FAILS(rg_inter_check(scans[i]), RG_ERR_UNSUPPORTED);
    else
      RGT_OK(rg_inter_check(scans[i]));
  RGT_OK(rg_inter_check("MPI_Allreduce"));
  RGT_OK(rg_inter_check("scanner"));
  RGT_FAILS(rg_inter_check(NULL), RG_ERR_ARG);
}

static void check_all(const expected *e) {
  check_sizes(e);
  check_identity(e);
  check_look_ups(e);
  check_communicators(e);
  check_roots(e);
  check_view(e);
  check_exclusion(e);
}

#endif
