/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What nodes exchange after a death. Each of up to seven (pretended) nodes has some records of a
 * random tree of walkers, in random versions. All processes know the whole tree, so each works out
 * by itself what must come out: the newest version of each walker, as if all nodes had all records.
 * ranks: 1 2 3 4 7
 * env: MPIR_CVAR_NUM_CLIQUES=7
 * time: 60 */
#include <regroup.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "machine/domain.h"
#include "shm/arena.h"
#include "shm/node.h"
#include "walkers/store/record_exchange.h"
#include "walkers/store/record_index.h"
#include "walkers/store/record_table.h"
#include "walkers/store/store.h"

enum { CASES = 60, MOST = 200, UNITS = 6, NODES = 7, NONE = -1 };

/* Versions are numbered by the units done; units + 1 is the one that has ended. */
typedef struct {
  uint64_t key;
  int parent; /* or NONE */
  int number, depth;
  int units, born[UNITS + 1];
  int outcome; /* it has ended from the beginning */
  size_t bytes;
} walker;

static walker tree[MOST];
static int walkers, first;
static int held[NODES][MOST]; /* the version that each node has */
static int newest[MOST], counts[MOST];
static int nodes, living[NODES], homes_of[MOST];
static uint64_t state, domain[NODES];
static rg_group world;

static uint64_t draw(uint64_t below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (state >> 33) % below;
}

/* --- a random tree ---------------------------------------------------------------------------- */

static int add_walker(int parent, int number, int outcome) {
  walker *w = &tree[walkers];
  *w = (walker){.key = parent == NONE ? (uint64_t)walkers + 1
                                      : (draw(1u << 30) << 30 | (uint64_t)walkers) | 1ull << 63,
                .parent = parent,
                .number = number,
                .depth = parent == NONE ? 0 : tree[parent].depth + 1,
                .units = outcome ? 0 : (int)draw(UNITS + 1),
                .outcome = outcome,
                .bytes = draw(4) ? draw(5000) : 0};
  return walkers++;
}

static void grow_tree(void) {
  walkers = first = 0;
  while (first < 1 + (int)draw(8))
    first = add_walker(NONE, 0, 0) + 1;
  for (int i = 0; i < walkers; i++) {
    walker *w = &tree[i];
    for (int u = 0; u < w->units; u++) {
      int more = walkers < MOST - 2 && w->depth < 3 ? (int)draw(3) : 0;
      for (int k = 0; k < more; k++)
        add_walker(i, w->born[u] + k, (int)draw(2));
      tree[i].born[u + 1] = tree[i].born[u] + more;
    }
  }
}

static int last_version(const walker *w) {
  return w->units + 1;
}

static int first_version(const walker *w) {
  return w->outcome ? 1 : 0;
}

static int units_of(const walker *w, int version) {
  return version < w->units ? version : w->units;
}

/* A node has a version with probability `often` of ten. */
static void deal_versions(int often) {
  for (int n = 0; n < NODES; n++)
    for (int i = 0; i < walkers; i++) {
      const walker *w = &tree[i];
      int lowest = first_version(w), has = (int)draw(10) < often;
      held[n][i] = has             ? lowest + (int)draw((uint64_t)(last_version(w) - lowest) + 1)
                   : w->parent < 0 ? 0
                                   : NONE;
    }
}

/* --- the stores ------------------------------------------------------------------------------- */

static unsigned char byte_of(const walker *w, int version, size_t i) {
  return (unsigned char)((w->key >> 7) + (uint64_t)version * 31 + i * 7);
}

static void write_version(rgi_record_version *v, const walker *w, int version) {
  unsigned char *bytes = malloc(w->bytes + 1);
  for (size_t i = 0; i < w->bytes; i++)
    bytes[i] = byte_of(w, version, i);
  if (w->bytes)
    RGT_OK(rgi_record_set_state(v, bytes, w->bytes));
  v->done = units_of(w, version);
  v->born = w->born[v->done];
  v->left = (double)(w->units - v->done);
  v->ended = version > w->units;
  free(bytes);
}

static void write_child(rgi_store *store, const walker *w, int version) {
  uint64_t at;
  RGT_OK(rgi_arena_alloc("a walker", sizeof(rgi_record), &at));
  rgi_record *r = rgi_record_at(at);
  RGT_OK(rgi_record_fill(r, &(rgi_queue_entry){.id = (int64_t)(w - tree)}, w->key, 0));
  r->parent = tree[w->parent].key;
  r->number = w->number;
  write_version(&r->version[0], w, version);
  rgi_store_push(store, at);
}

/* The walkers at first are added by the application, with their states, on all nodes. */
static void open_store(rgi_store *store, int mine, int leads) {
  rgi_queue list = {0};
  for (int i = 0; i < first; i++)
    RGT_OK(rgi_queue_add(&list, &(rgi_queue_entry){.id = i, .left = tree[i].units}));
  RGT_OK(rgi_store_open(store, &list));
  if (leads)
    RGT_OK(rgi_store_fill(store, &list, 0));
  for (int i = 0; i < walkers && leads; i++)
    if (i >= first && held[mine][i] != NONE) {
      write_child(store, &tree[i], held[mine][i]);
    } else if (i < first) {
      rgi_record *r = rgi_record_at(list.at[i].record);
      write_version(&r->version[0], &tree[i], 0);
      if (held[mine][i] > 0) {
        write_version(rgi_record_begin(r), &tree[i], held[mine][i]);
        rgi_record_switch(r);
      }
    }
  rgi_queue_free(&list);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* --- what must come out ----------------------------------------------------------------------- */

static void find_newest(void) {
  for (int i = 0; i < walkers; i++) {
    newest[i] = NONE;
    for (int n = 0; n < nodes; n++)
      if (living[n] && held[n][i] > newest[i])
        newest[i] = held[n][i];
    const walker *w = &tree[i]; /* parents come before their children */
    counts[i] = newest[i] != NONE &&
                (w->parent == NONE ||
                 (counts[w->parent] &&
                  w->number < tree[w->parent].born[units_of(&tree[w->parent], newest[w->parent])]));
  }
}

static int lacks(int i) {
  int children = 0;
  for (int k = 0; k < walkers; k++)
    children += counts[k] && tree[k].parent == i;
  return counts[i] && children < tree[i].born[units_of(&tree[i], newest[i])];
}

/* Versions that cannot be taken up are nowhere, from now on; nor what does not count. */
static void work_out(void) {
  for (int again = 1, lost[MOST]; again;) {
    again = 0;
    find_newest();
    for (int i = 0; i < walkers; i++)
      again |= lost[i] = lacks(i);
    for (int i = 0; i < walkers; i++)
      for (int n = 0; n < nodes; n++)
        if (living[n] && lost[i] && held[n][i] == newest[i])
          held[n][i] = i < first ? 0 : NONE;
  }
  for (int i = 0; i < walkers; i++)
    for (int n = 0; n < nodes; n++)
      held[n][i] = living[n] && !counts[i] ? NONE : held[n][i];
}

/* Whether nodes in two domains have the newest version; or two nodes, if all are in one domain. */
static int is_apart(int i) {
  int several = 0, apart = 0, any = NONE, has = NONE, holders = 0;
  for (int n = 0; n < nodes; n++) {
    if (!living[n])
      continue;
    several |= any != NONE && domain[n] != domain[any];
    any = n;
    if (held[n][i] == newest[i]) {
      apart |= has != NONE && domain[n] != domain[has];
      has = n;
      holders++;
    }
  }
  return several ? apart : holders > 1;
}

static int lowest_holder(int i) {
  for (int n = 0; n < nodes; n++)
    if (living[n] && held[n][i] == newest[i])
      return n;
  return NONE;
}

/* --- what has come out ------------------------------------------------------------------------ */

static void check_list(const rgi_store *store, rgi_queue *list) {
  int n = 0;
  RGT_OK(rgi_store_read(store, list));
  for (int i = 0; i < walkers; i++)
    n += counts[i] && newest[i] <= tree[i].units;
  if (!RGT_INT(list->count, n))
    return;
  for (int k = 0; k < n; k++) {
    int i = (int)list->at[k].id;
    RGT_TRUE(counts[i] && newest[i] <= tree[i].units);
    RGT_DBL(list->at[k].left, tree[i].units - units_of(&tree[i], newest[i]), 0);
  }
}

static void check_state(const rgi_record_version *version, int i) {
  const walker *w = &tree[i];
  int right = version->done == units_of(w, newest[i]) && version->ended == (newest[i] > w->units) &&
              version->bytes == w->bytes && version->has == (w->bytes > 0);
  const unsigned char *bytes = right && version->has ? rgi_arena_at(version->state) : NULL;
  for (size_t k = 0; bytes && k < w->bytes; k++)
    right &= bytes[k] == byte_of(w, newest[i], k);
  RGT_TRUE(right);
}

/* The record of a walker here, if it has the newest version; checks its bits. */
static rgi_record *newest_here(rgi_record_index *index, int i) {
  uint64_t at;
  RGT_OK(rgi_record_index_find(index, tree[i].key, &at));
  rgi_record *r = at ? rgi_record_at(at) : NULL;
  const rgi_record_version *v = r ? rgi_record_current(r) : NULL;
  if (!v || v->done != units_of(&tree[i], newest[i]) || v->ended != (newest[i] > tree[i].units))
    return NULL;
  check_state(v, i);
  return r;
}

/* The number of a node among the living ones. */
static int number_of(int node) {
  int n = 0;
  for (int k = 0; k < node; k++)
    n += living[k];
  return n;
}

/* Compares what this node has now with what it had, and so what has come: to the node where the
 * walker begins (or to the root), and where one domain has the version alone to one more node. */
static void check_node(rgi_record_exchange *exchange, int mine, int root) {
  int64_t bytes = 0;
  for (int i = 0; i < walkers; i++) {
    rgi_record *r = counts[i] ? newest_here(exchange->index, i) : NULL;
    int ended = newest[i] > tree[i].units, had = held[mine][i] == newest[i];
    int home = ended ? number_of(lowest_holder(i)) : homes_of[i];
    int copied = root == NONE && !is_apart(i) && exchange->mine == exchange->buddies[home] &&
                 exchange->domain[home] == exchange->domain[number_of(lowest_holder(i))];
    int wanted = root == NONE ? (home == exchange->mine || copied) : root == exchange->mine;
    if (counts[i])
      RGT_INT(r != NULL, had || wanted);
    if (!r || had)
      continue;
    uint64_t at;
    rgi_record_pack p = {0};
    RGT_OK(rgi_record_index_find(exchange->index, tree[i].key, &at));
    RGT_OK(rgi_record_pack_add(&p, at));
    bytes += (int64_t)p.bytes;
    rgi_record_pack_free(&p);
  }
  RGT_INT(exchange->traffic->records, bytes);
}

/* All processes learn what the nodes have now. */
static void learn_held(const rgi_record_exchange *exchange, const rgi_membership *membership,
                       int mine) {
  for (int i = 0; i < walkers && exchange->nodes; i++)
    if (counts[i] && newest_here(exchange->index, i))
      held[mine][i] = newest[i];
  for (int n = 0, r; n < nodes; n++) {
    for (r = 0; r < membership->size && rgi_membership_node_of(membership, r) != n;)
      r++;
    if (r < membership->size)
      RGT_OK(rg_bcast(membership->group, held[n], MOST, MPI_INT, r));
  }
}

/* --- a case -------------------------------------------------------------------------------- */

/* Domains by chance instead of RG_DOMAINS. */
static void set_domains(rgi_record_exchange *exchange) {
  int node[NODES], several = 0;
  for (int n = 0; n < nodes; n++)
    if (living[n])
      exchange->domain[number_of(n)] = domain[n];
  for (int i = 0; i < exchange->nodes; i++) {
    node[i] = i;
    several |= exchange->domain[i] != exchange->domain[0];
  }
  for (int i = 0; i < exchange->nodes && !several; i++)
    exchange->domain[i] = (uint64_t)i;
  RGT_OK(rgi_domain_holders(exchange->nodes, node, exchange->nodes, exchange->domain,
                            exchange->buddies));
}

static void open_exchange(rgi_record_exchange *exchange, rgi_record_index *index,
                          rgi_record_exchange_traffic *traffic) {
  *exchange = (rgi_record_exchange){.index = index};
  if (!rgi_membership_leads_node(index->store->members))
    return;
  RGT_OK(rgi_record_exchange_open(exchange, index, traffic));
  set_domains(exchange);
}

/* What follows a death, on the living nodes. */
static void restart(rgi_record_index *index, int mine) {
  const rgi_membership *m = index->store->members;
  rgi_record_exchange x;
  rgi_record_exchange_traffic traffic = {0};
  rgi_queue list = {0};
  int homes[MOST];
  open_exchange(&x, index, &traffic);
  if (x.nodes)
    RGT_OK(rgi_record_exchange_agree(&x));
  RGT_OK(rg_barrier(m->group));
  check_list(index->store, &list);
  for (int k = 0; k < list.count; k++)
    homes[k] = homes_of[list.at[k].id];
  if (x.nodes) {
    RGT_OK(rgi_record_exchange_move(&x, &list, homes));
    check_node(&x, mine, NONE);
  }
  RGT_OK(rg_barrier(m->group));
  learn_held(&x, m, mine);
  rgi_queue_free(&list);
  if (x.nodes)
    rgi_record_exchange_close(&x);
}

static void gather(rgi_record_index *index, int mine, int root) {
  rgi_record_exchange x;
  rgi_record_exchange_traffic traffic = {0};
  int64_t lost = 0;
  for (int i = 0; i < walkers; i++)
    lost += counts[i] && newest[i] <= tree[i].units;
  open_exchange(&x, index, &traffic);
  if (!x.nodes)
    return;
  RGT_OK(rgi_record_exchange_gather(&x, root));
  check_node(&x, mine, root);
  RGT_INT(index->store->shared->lost, lost);
  rgi_record_exchange_close(&x);
}

static int draw_living(void) {
  int n;
  do
    n = (int)draw((uint64_t)nodes);
  while (!living[n]);
  return number_of(n);
}

/* Loses a domain, or a node, but not all. Returns how many live; *one: it was one domain. */
static int lose_nodes(int *one) {
  int lost = (int)draw((uint64_t)nodes), left = 0;
  *one = (int)draw(2);
  for (int n = 0; n < nodes; n++) {
    living[n] = *one ? domain[n] != domain[lost] : n != lost && draw(3) > 0;
    left += living[n];
  }
  if (!left)
    living[lost] = 1, *one = 0;
  *one |= left == nodes - 1;
  return left ? left : 1;
}

/* The processes on living nodes; NULL for the others. */
static rg_group form_living(const rgi_membership *all) {
  int ranks[NODES], n = 0, mine = 0;
  rg_group g = NULL;
  for (int r = 0; r < all->size; r++) {
    if (!living[rgi_membership_node_of(all, r)])
      continue;
    mine |= r == all->rank;
    ranks[n++] = r;
  }
  if (mine)
    RGT_OK(rg_group_create(world, n, ranks, 7, &g));
  return g;
}

static void draw_homes(void) {
  for (int i = 0; i < walkers; i++)
    homes_of[i] = draw_living();
}

/* The nodes find out, move, and some are lost: of one domain nothing but the memory is missing. */
static void lose_and_restart(rgi_record_index *index, const rgi_membership *all, int mine) {
  int before[MOST], one;
  rgi_membership m;
  lose_nodes(&one);
  draw_homes();
  memcpy(before, newest, sizeof before);
  rg_group g = form_living(all);
  int counted[MOST];
  memcpy(counted, counts, sizeof counted);
  work_out();
  for (int i = 0; i < walkers && one; i++)
    RGT_TRUE(!counted[i] || (counts[i] && newest[i] == before[i]));
  int root = draw_living();
  if (!g)
    return;
  RGT_OK(rgi_membership_open(&m, g));
  index->store->members = &m;
  restart(index, mine);
  gather(index, mine, root);
  rgi_membership_close(&m);
  index->store->members = all;
  RGT_OK(rg_group_free(&g));
}

static void run_case(uint64_t seed) {
  rgi_membership m;
  rgi_store store = {0};
  rgi_record_index index = {.store = &store};
  state = seed;
  grow_tree();
  deal_versions(3 + (int)draw(8));
  RGT_OK(rgi_membership_open(&m, world));
  int domains = 1 + (int)draw(4), mine = rgi_membership_node_of(&m, m.rank);
  nodes = rgi_node.count;
  for (int n = 0; n < nodes; n++) {
    living[n] = 1;
    domain[n] = draw((uint64_t)domains);
  }
  store.members = &m;
  open_store(&store, mine, rgi_membership_leads_node(&m));
  draw_homes();
  work_out();
  restart(&index, mine);
  lose_and_restart(&index, &m, mine);
  MPI_Barrier(MPI_COMM_WORLD);
  rgi_record_index_clear(&index);
  rgi_store_close(&store);
  rgi_membership_close(&m);
}

static void test_random(void) {
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_group_world(&world));
  for (uint64_t i = 0; i < CASES; i++)
    run_case(rgt_seed() * 1000 + i);
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"random", test_random}, {NULL, NULL}};
  return rgt_main(argc, argv, "exchange", tests);
}
