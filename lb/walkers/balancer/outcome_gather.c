/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The outcomes of all processes, on one of them or on all. In a job that survives deaths a process
 * reads them in its walker store, to which the other nodes bring theirs. Otherwise each process
 * packs its own, and a gather brings them to the root, or an allgather to all. Each process also
 * keeps its own, so that another gather begins with the same. */
#include "walkers/balancer/balancer.h"

#include <regroup/collectives.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/error_report.h"
#include "collectives/calls/group_error.h"
#include "walkers/balancer/restart.h"
#include "walkers/state/balancer_state.h"
#include "walkers/work/outcome.h"

/* --- packed outcomes ------------------------------------------------------------------------- */

typedef struct {
  rg_balance_outcome o; /* its pointers mean nothing on another process */
  int64_t text, has_state;
} outcome_header;

/* For each outcome a header, its text and its state. */
static size_t packed_bytes(const rgi_outcome_list *list) {
  size_t bytes = 0;
  for (int i = 0; i < list->count; i++)
    bytes += sizeof(outcome_header) + strlen(list->at[i].text) + 1 + list->at[i].bytes;
  return bytes;
}

static void pack_outcomes(const rgi_outcome_list *list, char *to) {
  for (int i = 0; i < list->count; i++) {
    const rg_balance_outcome *o = &list->at[i];
    outcome_header r = {
        .o = *o, .text = (int64_t)strlen(o->text) + 1, .has_state = o->state != NULL};
    memcpy(to, &r, sizeof r);
    memcpy(to + sizeof r, o->text, (size_t)r.text);
    if (o->bytes)
      memcpy(to + sizeof r + r.text, o->state, o->bytes);
    to += sizeof r + (size_t)r.text + o->bytes;
  }
}

static int unpack_outcomes(const char *from, size_t bytes, rgi_outcome_list *list) {
  for (const char *end = from + bytes; from < end;) {
    outcome_header r;
    memcpy(&r, from, sizeof r);
    r.o.text = from + sizeof r;
    r.o.state = r.has_state ? from + sizeof r + r.text : NULL;
    RGI_TRY(rgi_outcome_list_append(list, &r.o));
    from += sizeof r + (size_t)r.text + r.o.bytes;
  }
  rgi_outcome_list_sort(list);
  return RG_SUCCESS;
}

/* --- the exchange ---------------------------------------------------------------------------- */

/* The packed outcomes of all processes, one after another. */
typedef struct {
  char *mine, *all;
  MPI_Count mine_bytes, *bytes; /* of each process */
  MPI_Aint *at;
  size_t total;
} outcome_bytes;

static void free_bytes(outcome_bytes *g) {
  free(g->mine);
  free(g->bytes);
  free(g->all);
}

static int open_bytes(const rgi_membership *m, const rgi_outcome_list *list, outcome_bytes *g) {
  size_t n = (size_t)m->size, bytes = packed_bytes(list);
  *g = (outcome_bytes){.mine = malloc(bytes ? bytes : 1),
                       .mine_bytes = (MPI_Count)bytes,
                       .bytes = calloc(n, sizeof *g->bytes + sizeof *g->at)};
  if (!g->mine || !g->bytes)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %zu bytes", m->call, bytes);
  g->at = (MPI_Aint *)(void *)(g->bytes + n);
  pack_outcomes(list, g->mine);
  return RG_SUCCESS;
}

/* When the bytes of all are known here: their places, and the memory. */
static int make_places(const rgi_membership *m, outcome_bytes *g) {
  for (int r = 0; r < m->size; r++) {
    g->at[r] = (MPI_Aint)g->total;
    g->total += (size_t)g->bytes[r];
  }
  g->all = malloc(g->total ? g->total : 1);
  return g->all ? RG_SUCCESS
                : rgi_error(RG_ERR_NOMEM, "%s: no memory for %zu bytes", m->call, g->total);
}

static int exchange_outcomes(const rgi_membership *m, int root, int here, outcome_bytes *g) {
  MPI_Count n = g->mine_bytes;
  if (root == RGI_OUTCOME_ALL)
    RGI_TRY(rg_allgather(m->group, &n, 1, MPI_COUNT, g->bytes, 1, MPI_COUNT));
  else
    RGI_TRY(rg_gather(m->group, &n, 1, MPI_COUNT, g->bytes, 1, MPI_COUNT, root));
  RGI_TRY(rgi_group_error_share(m->group, m->call, here ? make_places(m, g) : RG_SUCCESS));
  if (root == RGI_OUTCOME_ALL)
    return rg_allgatherv(m->group, g->mine, n, MPI_BYTE, g->all, g->bytes, g->at, MPI_BYTE);
  return rg_gatherv(m->group, g->mine, n, MPI_BYTE, g->all, g->bytes, g->at, MPI_BYTE, root);
}

static int gather_bytes(rg_balancer b, int root, int here, rgi_outcome_list *all) {
  const rgi_membership *m = &b->members;
  outcome_bytes g;
  int error = rgi_outcome_agree_root(m, root, open_bytes(m, &b->outcomes, &g));
  if (!error)
    error = exchange_outcomes(m, root, here, &g);
  if (!error)
    error = rgi_group_error_share(m->group, m->call,
                                  here ? unpack_outcomes(g.all, g.total, all) : RG_SUCCESS);
  free_bytes(&g);
  return error;
}

static int gather(const char *call, rg_balancer b, int root) {
  rgi_outcome_list all = {0};
  RGI_TRY(rgi_balancer_enter(call, b));
  if (b->stage != RGI_BALANCER_ENDED)
    return rgi_outcome_is_root(&b->members, root)
               ? rgi_error(RG_ERR_ARG, "%s: the walkers have not ended: call rg_balance_end first",
                           call)
               : rgi_error(RG_ERR_RANK, "%s: no such root", call);
  int here = root == RGI_OUTCOME_ALL || root == b->members.first_rank;
  int error = b->members.survives ? rgi_restart_gather(b, root, here ? &all : NULL)
                                  : gather_bytes(b, root, here, &all);
  if (error || !here) {
    rgi_outcome_list_free(&all);
    return rgi_error_report_under(call, error);
  }
  rgi_balancer_forget_gathered(b);
  b->gathered = all;
  b->has_gathered = 1;
  return RG_SUCCESS;
}

int rg_balance_gather(rg_balancer b, int root) {
  return gather(__func__, b, root < 0 ? RGI_OUTCOME_NO_ROOT : root);
}

int rg_balance_gather_all(rg_balancer b) {
  return gather(__func__, b, RGI_OUTCOME_ALL);
}

void rgi_balancer_forget_gathered(rg_balancer b) {
  rgi_outcome_list_free(&b->gathered);
  b->has_gathered = 0;
}

int rg_balance_outcomes(rg_balancer b, int64_t *count, const rg_balance_outcome **outcomes) {
  RGI_TRY(rgi_balancer_check(__func__, b));
  RGI_REQUIRE(count);
  RGI_REQUIRE(outcomes);
  const rgi_outcome_list *list = b->has_gathered ? &b->gathered : &b->outcomes;
  *count = list->count;
  *outcomes = list->at;
  return RG_SUCCESS;
}
