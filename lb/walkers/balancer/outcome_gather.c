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
#include "base/spare.h"
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
    const rg_balance_outcome *outcome = &list->at[i];
    outcome_header header = {.o = *outcome,
                             .text = (int64_t)strlen(outcome->text) + 1,
                             .has_state = outcome->state != NULL};
    memcpy(to, &header, sizeof header);
    memcpy(to + sizeof header, outcome->text, (size_t)header.text);
    if (outcome->bytes)
      memcpy(to + sizeof header + header.text, outcome->state, outcome->bytes);
    to += sizeof header + (size_t)header.text + outcome->bytes;
  }
}

static int unpack_outcomes(const char *from, size_t bytes, rgi_outcome_list *list) {
  for (const char *end = from + bytes; from < end;) {
    outcome_header header;
    memcpy(&header, from, sizeof header);
    header.o.text = from + sizeof header;
    header.o.state = header.has_state ? from + sizeof header + header.text : NULL;
    RGI_TRY(rgi_outcome_list_append(list, &header.o));
    from += sizeof header + (size_t)header.text + header.o.bytes;
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

static void free_bytes(outcome_bytes *bytes) {
  rgi_spare_free(bytes->mine);
  rgi_spare_free(bytes->bytes);
  rgi_spare_free(bytes->all);
}

static int open_bytes(const rgi_membership *members, const rgi_outcome_list *list,
                      outcome_bytes *bytes) {
  size_t n = (size_t)members->size, packed = packed_bytes(list);
  *bytes =
      (outcome_bytes){.mine = rgi_spare_alloc(packed ? packed : 1),
                      .mine_bytes = (MPI_Count)packed,
                      .bytes = rgi_spare_alloc_zeroed(n, sizeof *bytes->bytes + sizeof *bytes->at)};
  if (!bytes->mine || !bytes->bytes)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %zu bytes", members->call, packed);
  bytes->at = (MPI_Aint *)(void *)(bytes->bytes + n);
  pack_outcomes(list, bytes->mine);
  return RG_SUCCESS;
}

/* When the bytes of all are known here: their places, and the memory. */
static int make_places(const rgi_membership *members, outcome_bytes *bytes) {
  for (int r = 0; r < members->size; r++) {
    bytes->at[r] = (MPI_Aint)bytes->total;
    bytes->total += (size_t)bytes->bytes[r];
  }
  bytes->all = rgi_spare_alloc(bytes->total ? bytes->total : 1);
  return bytes->all
             ? RG_SUCCESS
             : rgi_error(RG_ERR_NOMEM, "%s: no memory for %zu bytes", members->call, bytes->total);
}

static int exchange_outcomes(const rgi_membership *members, int root, int here,
                             outcome_bytes *bytes) {
  MPI_Count n = bytes->mine_bytes;
  if (root == RGI_OUTCOME_ALL)
    RGI_TRY(rg_allgather(members->group, &n, 1, MPI_COUNT, bytes->bytes, 1, MPI_COUNT));
  else
    RGI_TRY(rg_gather(members->group, &n, 1, MPI_COUNT, bytes->bytes, 1, MPI_COUNT, root));
  RGI_TRY(rgi_group_error_share(members->group, members->call,
                                here ? make_places(members, bytes) : RG_SUCCESS));
  if (root == RGI_OUTCOME_ALL)
    return rg_allgatherv(members->group, bytes->mine, n, MPI_BYTE, bytes->all, bytes->bytes,
                         bytes->at, MPI_BYTE);
  return rg_gatherv(members->group, bytes->mine, n, MPI_BYTE, bytes->all, bytes->bytes, bytes->at,
                    MPI_BYTE, root);
}

static int gather_bytes(rg_balancer balancer, int root, int here, rgi_outcome_list *all) {
  const rgi_membership *members = &balancer->members;
  outcome_bytes bytes;
  int error =
      rgi_outcome_agree_root(members, root, open_bytes(members, &balancer->outcomes, &bytes));
  if (!error)
    error = exchange_outcomes(members, root, here, &bytes);
  if (!error)
    error = rgi_group_error_share(members->group, members->call,
                                  here ? unpack_outcomes(bytes.all, bytes.total, all) : RG_SUCCESS);
  free_bytes(&bytes);
  return error;
}

static int gather(const char *call, rg_balancer balancer, int root) {
  rgi_outcome_list all = {0};
  RGI_TRY(rgi_balancer_enter(call, balancer));
  if (balancer->stage != RGI_BALANCER_ENDED)
    return rgi_outcome_is_root(&balancer->members, root)
               ? rgi_error(RG_ERR_ARG, "%s: the walkers have not ended: call rg_balance_end first",
                           call)
               : rgi_error(RG_ERR_RANK, "%s: no such root", call);
  int here = root == RGI_OUTCOME_ALL || root == balancer->members.first_rank;
  int error = balancer->members.survives ? rgi_restart_gather(balancer, root, here ? &all : NULL)
                                         : gather_bytes(balancer, root, here, &all);
  if (error || !here) {
    rgi_outcome_list_free(&all);
    return rgi_error_report_under(call, error);
  }
  rgi_balancer_forget_gathered(balancer);
  balancer->gathered = all;
  balancer->has_gathered = 1;
  return RG_SUCCESS;
}

int rg_balance_gather(rg_balancer balancer, int root) {
  return gather(__func__, balancer, root < 0 ? RGI_OUTCOME_NO_ROOT : root);
}

int rg_balance_gather_all(rg_balancer balancer) {
  return gather(__func__, balancer, RGI_OUTCOME_ALL);
}

void rgi_balancer_forget_gathered(rg_balancer balancer) {
  rgi_outcome_list_free(&balancer->gathered);
  balancer->has_gathered = 0;
}

int rg_balance_outcomes(rg_balancer balancer, int64_t *count, const rg_balance_outcome **outcomes) {
  RGI_TRY(rgi_balancer_check(__func__, balancer));
  RGI_REQUIRE(count);
  RGI_REQUIRE(outcomes);
  const rgi_outcome_list *list = balancer->has_gathered ? &balancer->gathered : &balancer->outcomes;
  *count = list->count;
  *outcomes = list->at;
  return RG_SUCCESS;
}
