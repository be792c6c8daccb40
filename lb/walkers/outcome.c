/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include <regroup/collectives.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "formation/group.h"
#include "shm/process.h"
#include "walkers/balancer.h"
#include "walkers/vault.h"

static void forget(const rg_outcome *o) {
  free((void *)(uintptr_t)o->text);
  free((void *)(uintptr_t)o->state);
}

void rgi_outcomes_free(rgi_outcomes *o) {
  for (int i = 0; i < o->count; i++)
    forget(&o->at[i]);
  free(o->at);
  *o = (rgi_outcomes){0};
}

static int add(rgi_outcomes *list, const rg_outcome *o) {
  if (list->count == list->room) {
    int room = list->room ? 2 * list->room : 8;
    rg_outcome *more = realloc(list->at, (size_t)room * sizeof *more);
    if (!more)
      return rgi_error(RG_ERR_NOMEM, "no memory for %d outcomes", room);
    list->at = more;
    list->room = room;
  }
  rg_outcome copy = *o;
  void *state = o->state ? malloc(o->bytes ? o->bytes : 1) : NULL;
  copy.text = strdup(o->text);
  if (!copy.text || (o->state && !state)) {
    free(state);
    free((void *)(uintptr_t)copy.text);
    return rgi_error(RG_ERR_NOMEM, "no memory for the outcome of walker %lld", (long long)o->id);
  }
  if (state)
    memcpy(state, o->state, o->bytes);
  copy.state = state;
  list->at[list->count++] = copy;
  return RG_SUCCESS;
}

static int by_id(const void *a, const void *b) {
  const rg_outcome *x = a, *y = b;
  return (x->id > y->id) - (x->id < y->id);
}

int rgi_outcomes_insert(rgi_outcomes *list, const rg_outcome *o) {
  RGI_TRY(add(list, o));
  int i = list->count - 1;
  for (; i > 0 && by_id(&list->at[i - 1], &list->at[i]) > 0; i--) {
    rg_outcome later = list->at[i - 1];
    list->at[i - 1] = list->at[i];
    list->at[i] = later;
  }
  return RG_SUCCESS;
}

int rgi_outcome_add(rg_balancer b, const rg_outcome *o) {
  return rgi_outcomes_insert(&b->outcomes, o);
}

int rg_balance_outcomes(rg_balancer b, int *count, const rg_outcome **outcomes) {
  RGI_TRY(rgi_balancer_check(__func__, b));
  RGI_REQUIRE(count);
  RGI_REQUIRE(outcomes);
  *count = b->outcomes.count;
  *outcomes = b->outcomes.at;
  return RG_SUCCESS;
}

/* --- the error of the whole --------------------------------------------------------- */

typedef struct {
  int error;
  char text[RGI_TEXT];
} report;

/* The error of this rank, on every process. */
static int tell_all(rg_balancer b, int rank, int error, const char *text) {
  report said = {0};
  if (rank == b->rank) {
    said.error = error;
    snprintf(said.text, RGI_TEXT, "%s", text);
  }
  RGI_TRY(rg_bcast(b->all, &said, sizeof said, MPI_BYTE, rank));
  return rgi_error(said.error, "%s", said.text);
}

/* Whether the policy was wrong somewhere. */
static int policy_report(rg_balancer b) {
  int rank = b->policy_error ? b->rank : b->size;
  RGI_TRY(rg_allreduce(b->all, MPI_IN_PLACE, &rank, 1, MPI_INT, MPI_MIN));
  return rank < b->size ? tell_all(b, rank, b->policy_error, b->policy_text) : RG_SUCCESS;
}

int rgi_outcome_report(rg_balancer b) {
  int64_t least[2] = {INT64_MAX, INT64_MAX}; /* id, and the rank that has it */
  const rg_outcome *mine = NULL;
  for (int i = 0; i < b->outcomes.count && !mine; i++)
    if (b->outcomes.at[i].error)
      mine = &b->outcomes.at[i];
  least[0] = mine ? mine->id : INT64_MAX;
  int64_t id = least[0];
  RGI_TRY(rg_allreduce(b->all, MPI_IN_PLACE, &id, 1, MPI_INT64_T, MPI_MIN));
  least[1] = mine && mine->id == id ? b->rank : INT64_MAX;
  RGI_TRY(rg_allreduce(b->all, MPI_IN_PLACE, &least[1], 1, MPI_INT64_T, MPI_MIN));
  if (least[1] == INT64_MAX)
    return policy_report(b);
  return tell_all(b, (int)least[1], mine ? mine->error : 0, mine ? mine->text : "");
}

/* --- gathering ------------------------------------------------------------------------ */

typedef struct {
  rg_outcome o; /* its pointers are worth nothing on another process */
  int64_t text, has_state;
} record;

typedef struct {
  MPI_Count *bytes;
  MPI_Aint *at;
  char *all;
} gathering;

static void end_gathering(gathering *g) {
  free(g->bytes);
  free(g->at);
  free(g->all);
}

/* All processes' bytes, one after another, on the root. */
static int gather_bytes(rg_balancer b, int root, const void *mine, size_t bytes, gathering *g,
                        size_t *total) {
  MPI_Count n = (MPI_Count)bytes;
  int here = b->rank == root, error = RG_SUCCESS;
  *g = (gathering){0};
  *total = 0;
  if (here) {
    g->bytes = calloc((size_t)b->size, sizeof *g->bytes);
    g->at = calloc((size_t)b->size, sizeof *g->at);
  }
  if (here && (!g->bytes || !g->at))
    error = rgi_error(RG_ERR_NOMEM, "rg_balance_gather: no memory for %d processes", b->size);
  RGI_TRY(rg_allreduce(b->all, MPI_IN_PLACE, &error, 1, MPI_INT, MPI_MAX));
  if (error)
    return error;
  RGI_TRY(rg_gather(b->all, &n, 1, MPI_COUNT, g->bytes, 1, MPI_COUNT, root));
  for (int r = 0; here && r < b->size; r++) {
    g->at[r] = (MPI_Aint)*total;
    *total += (size_t)g->bytes[r];
  }
  g->all = here ? malloc(*total ? *total : 1) : NULL;
  if (here && !g->all)
    error = rgi_error(RG_ERR_NOMEM, "rg_balance_gather: no memory for %zu bytes", *total);
  RGI_TRY(rg_allreduce(b->all, MPI_IN_PLACE, &error, 1, MPI_INT, MPI_MAX));
  if (error)
    return error;
  return rg_gatherv(b->all, mine, n, MPI_BYTE, g->all, g->bytes, g->at, MPI_BYTE, root);
}

/* A record, its text and its state for each outcome. */
static size_t packed_bytes(const rgi_outcomes *list) {
  size_t bytes = 0;
  for (int i = 0; i < list->count; i++)
    bytes += sizeof(record) + strlen(list->at[i].text) + 1 + list->at[i].bytes;
  return bytes;
}

static void pack(const rgi_outcomes *list, char *to) {
  for (int i = 0; i < list->count; i++) {
    const rg_outcome *o = &list->at[i];
    record r = {.o = *o, .text = (int64_t)strlen(o->text) + 1, .has_state = o->state != NULL};
    memcpy(to, &r, sizeof r);
    memcpy(to + sizeof r, o->text, (size_t)r.text);
    if (o->bytes)
      memcpy(to + sizeof r + r.text, o->state, o->bytes);
    to += sizeof r + (size_t)r.text + o->bytes;
  }
}

static int unpack(const char *from, size_t bytes, rgi_outcomes *list) {
  for (const char *end = from + bytes; from < end;) {
    record r;
    memcpy(&r, from, sizeof r);
    r.o.text = from + sizeof r;
    r.o.state = r.has_state ? from + sizeof r + r.text : NULL;
    RGI_TRY(add(list, &r.o));
    from += sizeof r + (size_t)r.text + r.o.bytes;
  }
  if (list->count > 0)
    qsort(list->at, (size_t)list->count, sizeof *list->at, by_id);
  return RG_SUCCESS;
}

/* From the vault: nobody else is needed. */
static int read_vault(rg_balancer b, int root) {
  rgi_outcomes all = {0};
  if (rgi_process_is_dead(rgi_members_at(b->first->members, root)))
    return rgi_error(RG_ERR_PROC_FAILED, "rg_balance_gather: the root, rank %d, has died", root);
  if (b->first_rank != root)
    return RG_SUCCESS;
  int error = rgi_vault_outcomes(b, 1, &all);
  if (error) {
    rgi_outcomes_free(&all);
    return error;
  }
  rgi_outcomes_free(&b->outcomes);
  b->outcomes = all;
  return RG_SUCCESS;
}

int rg_balance_gather(rg_balancer b, int root) {
  gathering g = {0};
  size_t total;
  RGI_TRY(rgi_balancer_check(__func__, b));
  if (root < 0 || root >= b->first_size)
    return rgi_error(RG_ERR_RANK, "%s: root %d; the group's ranks go from 0 to %d", __func__, root,
                     b->first_size - 1);
  if (b->stage != RGI_ENDED)
    return rgi_error(RG_ERR_ARG, "%s: the walkers have not ended: call rg_balance_end first",
                     __func__);
  if (b->survives)
    return read_vault(b, root);
  size_t bytes = packed_bytes(&b->outcomes);
  char *mine = malloc(bytes ? bytes : 1);
  int error = mine ? RG_SUCCESS : rgi_error(RG_ERR_NOMEM, "%s: no memory", __func__);
  if (mine)
    pack(&b->outcomes, mine);
  RGI_TRY(rg_allreduce(b->all, MPI_IN_PLACE, &error, 1, MPI_INT, MPI_MAX));
  if (!error)
    error = gather_bytes(b, root, mine, bytes, &g, &total);
  rgi_outcomes all = {0};
  if (!error && b->rank == root)
    error = unpack(g.all, total, &all);
  free(mine);
  end_gathering(&g);
  if (error || b->rank != root) {
    rgi_outcomes_free(&all);
    return error;
  }
  rgi_outcomes_free(&b->outcomes);
  b->outcomes = all;
  return RG_SUCCESS;
}
