/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The leaders of the nodes exchange records (record_exchange.c); each process then reads the store
 * of its node. A step that fails on one process fails on all. */
#include <stdlib.h>

#include "base/error.h"
#include "collectives/calls/group_error.h"
#include "walkers/balancer/node_stores.h"
#include "walkers/state/balancer_state.h"
#include "walkers/state/first_groups.h"
#include "walkers/store/record_write.h"

static int share_error(rg_balancer b, int error) {
  return rgi_group_error_share(b->members.group, b->members.call, error);
}

/* The number of a rank's node in the exchange. */
static int node_of(const struct rg_balancer_s *b, const rgi_record_exchange *x, int rank) {
  int of = rgi_membership_node_of(&b->members, rank), node = 0;
  while (rgi_membership_node_of(&b->members, x->ranks[node]) != of)
    node++;
  return node;
}

/* The node where walker i of the list begins: its group's, or the one that it waits on. */
static int home_of(const struct rg_balancer_s *b, const rgi_record_exchange *x, int i) {
  int starting = rgi_first_starting(b);
  return i < starting ? node_of(b, x, i * b->team.first_size)
                      : rgi_node_loads_first(x->nodes, i - starting);
}

/* Reads the list of walkers and works out the groups at first, from the same records on each
 * process. Leaders of nodes: *homes is where each walker begins. */
static int read_list(rg_balancer b, const rgi_record_exchange *x, int **homes) {
  rgi_record_index_clear(&b->survival.index);
  RGI_TRY(rgi_store_read(&b->survival.store, &b->list));
  RGI_TRY(rgi_first_make(b));
  if (!x->nodes)
    return RG_SUCCESS;
  *homes = malloc((size_t)(b->list.count + 1) * sizeof **homes);
  if (!*homes)
    return rgi_error(RG_ERR_NOMEM, "no memory for %d walkers", b->list.count);
  for (int i = 0; i < b->list.count; i++)
    (*homes)[i] = home_of(b, x, i);
  return RG_SUCCESS;
}

static int read_stores(rg_balancer b, rgi_record_exchange *x, int unused) {
  int *homes = NULL;
  (void)unused;
  int error = share_error(b, x->nodes ? rgi_record_write_settle(x->index) : RG_SUCCESS);
  if (!error)
    error = share_error(b, x->nodes ? rgi_record_exchange_agree(x) : RG_SUCCESS);
  if (!error)
    error = share_error(b, read_list(b, x, &homes));
  if (!error && x->nodes)
    error = rgi_record_exchange_move(x, &b->list, homes);
  free(homes);
  return error;
}

/* Does something on all processes, with an exchange on the leaders of the nodes. */
static int with_leaders(rg_balancer b, int (*what)(rg_balancer b, rgi_record_exchange *x, int arg),
                        int arg) {
  rgi_record_exchange x = {0};
  rgi_balancer_survival *s = &b->survival;
  int error = RG_SUCCESS;
  if (rgi_membership_leads_node(&b->members))
    error = rgi_record_exchange_open(&x, &s->index, &s->traffic);
  error = share_error(b, error);
  if (!error)
    error = what(b, &x, arg);
  if (x.index)
    rgi_record_exchange_close(&x);
  return error;
}

int rgi_node_stores_lay_out(rg_balancer b) {
  if (b->survival.store.filled)
    return with_leaders(b, read_stores, 0);
  RGI_TRY(rgi_first_agree(b));
  RGI_TRY(rgi_first_share_paces(b));
  RGI_TRY(rgi_store_open(&b->survival.store, &b->list));
  return rgi_membership_leads_node(&b->members)
             ? rgi_store_fill(&b->survival.store, &b->list, b->work.run)
             : RG_SUCCESS;
}

void rgi_node_stores_filled(rg_balancer b) {
  rgi_store_filled(&b->survival.store, &b->list);
  for (int i = 0; i < b->list.count; i++) {
    free(b->list.at[i].memory);
    b->list.at[i].memory = NULL;
    b->list.at[i].bytes = 0;
  }
}

/* --- outcomes -------------------------------------------------------------------------------- */

static int bring_outcomes(rg_balancer b, rgi_record_exchange *x, int root) {
  return x->nodes ? rgi_record_exchange_gather(x, root < 0 ? -1 : node_of(b, x, root)) : RG_SUCCESS;
}

int rgi_node_stores_gather(rg_balancer b, int rank) {
  return share_error(b, with_leaders(b, bring_outcomes, rank));
}
