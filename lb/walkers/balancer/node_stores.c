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

static int share_error(rg_balancer balancer, int error) {
  return rgi_group_error_share(balancer->members.group, balancer->members.call, error);
}

/* The number of a rank's node in the exchange. */
static int node_of(const struct rg_balancer_s *balancer, const rgi_record_exchange *exchange,
                   int rank) {
  int of = rgi_membership_node_of(&balancer->members, rank), node = 0;
  while (rgi_membership_node_of(&balancer->members, exchange->ranks[node]) != of)
    node++;
  return node;
}

/* The node where walker i of the list begins: its group's, or the one that it waits on. */
static int home_of(const struct rg_balancer_s *balancer, const rgi_record_exchange *exchange,
                   int i) {
  int starting = rgi_first_starting(balancer);
  return i < starting ? node_of(balancer, exchange, i * balancer->team.first_size)
                      : rgi_node_loads_first(exchange->nodes, i - starting);
}

/* Reads the list of walkers and works out the groups at first, from the same records on each
 * process. Leaders of nodes: *homes is where each walker begins. */
static int read_list(rg_balancer balancer, const rgi_record_exchange *exchange, int **homes) {
  rgi_record_index_clear(&balancer->survival.index);
  RGI_TRY(rgi_store_read(&balancer->survival.store, &balancer->list));
  RGI_TRY(rgi_first_make(balancer));
  if (!exchange->nodes)
    return RG_SUCCESS;
  *homes = malloc((size_t)(balancer->list.count + 1) * sizeof **homes);
  if (!*homes)
    return rgi_error(RG_ERR_NOMEM, "no memory for %d walkers", balancer->list.count);
  for (int i = 0; i < balancer->list.count; i++)
    (*homes)[i] = home_of(balancer, exchange, i);
  return RG_SUCCESS;
}

/* An exchange on the leaders of the nodes; elsewhere it is empty. */
static int open_exchange(rg_balancer balancer, rgi_record_exchange *exchange) {
  rgi_balancer_survival *survival = &balancer->survival;
  int error = RG_SUCCESS;
  if (rgi_membership_leads_node(&balancer->members))
    error = rgi_record_exchange_open(exchange, &survival->index, &survival->traffic);
  return share_error(balancer, error);
}

static void close_exchange(rgi_record_exchange *exchange) {
  if (exchange->index)
    rgi_record_exchange_close(exchange);
}

static int read_stores(rg_balancer balancer) {
  rgi_record_exchange exchange = {0};
  int *homes = NULL;
  int error = open_exchange(balancer, &exchange);
  if (!error)
    error = share_error(balancer,
                        exchange.nodes ? rgi_record_write_settle(exchange.index) : RG_SUCCESS);
  if (!error)
    error =
        share_error(balancer, exchange.nodes ? rgi_record_exchange_agree(&exchange) : RG_SUCCESS);
  if (!error)
    error = share_error(balancer, read_list(balancer, &exchange, &homes));
  if (!error && exchange.nodes)
    error = rgi_record_exchange_move(&exchange, &balancer->list, homes);
  free(homes);
  close_exchange(&exchange);
  return error;
}

int rgi_node_stores_lay_out(rg_balancer balancer) {
  if (balancer->survival.store.filled)
    return read_stores(balancer);
  RGI_TRY(rgi_first_agree(balancer));
  RGI_TRY(rgi_first_share_paces(balancer));
  RGI_TRY(rgi_store_open(&balancer->survival.store, &balancer->list));
  return rgi_membership_leads_node(&balancer->members)
             ? rgi_store_fill(&balancer->survival.store, &balancer->list, balancer->work.run)
             : RG_SUCCESS;
}

void rgi_node_stores_filled(rg_balancer balancer) {
  rgi_store_filled(&balancer->survival.store, &balancer->list);
  for (int i = 0; i < balancer->list.count; i++) {
    free(balancer->list.at[i].memory);
    balancer->list.at[i].memory = NULL;
    balancer->list.at[i].bytes = 0;
  }
}

int rgi_node_stores_gather(rg_balancer balancer, int rank) {
  rgi_record_exchange exchange = {0};
  int error = open_exchange(balancer, &exchange);
  if (!error && exchange.nodes)
    error =
        rgi_record_exchange_gather(&exchange, rank < 0 ? -1 : node_of(balancer, &exchange, rank));
  close_exchange(&exchange);
  return share_error(balancer, error);
}
