/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The outcomes of all processes on one of them. In a job that survives deaths the root reads them
 * in its walker store, to which the other nodes bring theirs. Otherwise each process packs its own
 * and a gather brings them to the root. */
#include <regroup/collectives.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "collectives/group_error.h"
#include "walkers/balancer.h"
#include "walkers/balancer_state.h"
#include "walkers/membership.h"
#include "walkers/outcome_list.h"
#include "walkers/restart.h"
#include "walkers/store.h"

typedef struct {
  rg_balance_outcome o; /* its pointers mean nothing on another process */
  int64_t text, has_state;
} outcome_header;

typedef struct {
  MPI_Count *bytes;
  MPI_Aint *at;
  char *all;
  size_t total;
} outcome_bytes;

static void free_bytes(outcome_bytes *g) {
  free(g->bytes);
  free(g->at);
  free(g->all);
}

/* The bytes of all processes, one after another, on the root. */
static int gather_bytes(const rgi_membership *m, int root, const void *mine, size_t bytes,
                        outcome_bytes *g) {
  MPI_Count n = (MPI_Count)bytes;
  int here = m->rank == root, error = RG_SUCCESS;
  *g = (outcome_bytes){0};
  if (here) {
    g->bytes = calloc((size_t)m->size, sizeof *g->bytes);
    g->at = calloc((size_t)m->size, sizeof *g->at);
  }
  if (here && (!g->bytes || !g->at))
    error = rgi_error(RG_ERR_NOMEM, "rg_balance_gather: no memory for %d processes", m->size);
  RGI_TRY(rgi_group_error_share(m->group, "rg_balance_gather", error));
  RGI_TRY(rg_gather(m->group, &n, 1, MPI_COUNT, g->bytes, 1, MPI_COUNT, root));
  for (int r = 0; here && r < m->size; r++) {
    g->at[r] = (MPI_Aint)g->total;
    g->total += (size_t)g->bytes[r];
  }
  g->all = here ? malloc(g->total ? g->total : 1) : NULL;
  if (here && !g->all)
    error = rgi_error(RG_ERR_NOMEM, "rg_balance_gather: no memory for %zu bytes", g->total);
  RGI_TRY(rgi_group_error_share(m->group, "rg_balance_gather", error));
  return rg_gatherv(m->group, mine, n, MPI_BYTE, g->all, g->bytes, g->at, MPI_BYTE, root);
}

/* Packed: for each outcome a header, its text and its state. */
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

/* The root reads its store, when that has the outcomes of all nodes. */
static int read_store(rg_balancer b, int root) {
  rgi_outcome_list all = {0};
  RGI_TRY(rgi_restart_gather(b, root));
  if (b->members.first_rank != root)
    return RG_SUCCESS;
  int error = rgi_store_outcomes(&b->survival.store, 1, &all);
  if (error) {
    rgi_outcome_list_free(&all);
    return error;
  }
  rgi_outcome_list_free(&b->outcomes);
  b->outcomes = all;
  return RG_SUCCESS;
}

int rg_balance_outcomes(rg_balancer b, int64_t *count, const rg_balance_outcome **outcomes) {
  RGI_TRY(rgi_balancer_check(__func__, b));
  RGI_REQUIRE(count);
  RGI_REQUIRE(outcomes);
  *count = b->outcomes.count;
  *outcomes = b->outcomes.at;
  return RG_SUCCESS;
}

int rg_balance_gather(rg_balancer b, int root) {
  outcome_bytes g = {0};
  RGI_TRY(rgi_balancer_check(__func__, b));
  if (root < 0 || root >= b->members.first_size)
    return rgi_error(RG_ERR_RANK, "%s: root %d; the group's ranks go from 0 to %d", __func__, root,
                     b->members.first_size - 1);
  if (b->stage != RGI_BALANCER_ENDED)
    return rgi_error(RG_ERR_ARG, "%s: the walkers have not ended: call rg_balance_end first",
                     __func__);
  if (b->members.survives)
    return read_store(b, root);
  size_t bytes = packed_bytes(&b->outcomes);
  char *mine = malloc(bytes ? bytes : 1);
  int error = mine ? RG_SUCCESS : rgi_error(RG_ERR_NOMEM, "%s: no memory", __func__);
  if (mine)
    pack_outcomes(&b->outcomes, mine);
  error = rgi_group_error_share(b->members.group, __func__, error);
  if (!error)
    error = gather_bytes(&b->members, root, mine, bytes, &g);
  rgi_outcome_list all = {0};
  if (!error && b->members.rank == root)
    error = unpack_outcomes(g.all, g.total, &all);
  free(mine);
  free_bytes(&g);
  if (error || b->members.rank != root) {
    rgi_outcome_list_free(&all);
    return error;
  }
  rgi_outcome_list_free(&b->outcomes);
  b->outcomes = all;
  return RG_SUCCESS;
}
