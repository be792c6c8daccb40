/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1
 * The daemons of daemon_network.h against an adversary that sees what they have accepted. Paths are
 * cut so that all still hear one another by way of others: so a ballot takes nodes away that vote
 * in it. When as many nodes as drawn have accepted that set, or some have applied it, the adversary
 * cuts the network in two, mostly along the set, and may stop a daemon for a while. No two nodes
 * that run may differ in a decision, whichever part votes anew. */
#include "tests/noded/daemon_network.h"

#include "tests/check/check.h"

static int is_cut_now[NODES][NODES];

static void set_path(int a, int b, int cut) {
  if (a == b || is_cut_now[a][b] == cut)
    return;
  is_cut_now[a][b] = is_cut_now[b][a] = cut;
  if (cut)
    cut_path(a, b);
  else
    heal_path(a, b);
}

/* The nodes that node 0 reaches, also by way of others. */
static unsigned reached_set(void) {
  unsigned set = 0, grown = 1;
  while (set != grown) {
    set = grown;
    for (int i = 0; i < world.n; i++)
      for (int k = 0; k < world.n; k++)
        if (set >> i & 1 && i != k && !is_cut_now[i][k])
          grown |= 1u << k;
  }
  return set;
}

static void cut_some_paths(void) {
  do {
    for (int i = 0; i < world.n; i++)
      for (int k = i + 1; k < world.n; k++)
        set_path(i, k, any(2));
  } while (reached_set() != (1u << world.n) - 1);
}

static void cut_in_two(unsigned part_set) {
  for (int i = 0; i < world.n; i++)
    for (int k = i + 1; k < world.n; k++)
      set_path(i, k, (part_set >> i & 1) != (part_set >> k & 1));
}

static void heal_all(void) {
  cut_in_two(0);
}

static unsigned set_of(const unsigned char bytes[]) {
  unsigned set = 0;
  for (int i = 0; i < world.n; i++)
    set |= (unsigned)(bytes[i] != 0) << i;
  return set;
}

/* The set that some have accepted or applied, and by how many; 0: none. */
static unsigned chosen_set(int *accepted, int *applied) {
  unsigned set = 0;
  *accepted = *applied = 0;
  for (int i = 0; i < world.n; i++) {
    const host *n = &world.of[i];
    *accepted += n->here.voting.accepted > 0;
    *applied += n->here.number > 0;
    if (n->here.voting.accepted || n->here.number)
      set = set_of(n->here.number ? n->applied[1] : n->here.accepted_set);
  }
  return set;
}

static int differ(int a, int b) {
  uint32_t na = world.of[a].here.number, nb = world.of[b].here.number;
  for (uint32_t d = 1; d <= na && d <= nb; d++)
    if (memcmp(world.of[a].applied[d], world.of[b].applied[d], NODES) != 0)
      return 1;
  return world.of[a].lost[b] && world.of[b].lost[a];
}

static int are_two_worlds(void) {
  for (int i = 0; i < world.n; i++)
    for (int k = 0; k < i; k++)
      if (world.of[i].state == RUNNING && world.of[k].state == RUNNING && differ(i, k))
        return 1;
  return 0;
}

static double limit_of_world(void) {
  return world.of[0].overlay.limit;
}

/* Cuts the network in two when so many nodes have accepted the set; behind the last one: when some
 * have applied it and others have not. */
static void strike(int most) {
  int accepted, applied;
  for (double end = world.time + 4 * limit_of_world() + 4; world.time < end;) {
    run_until(world.time + 2e-4);
    unsigned set = chosen_set(&accepted, &applied);
    if (most < world.n ? accepted > most : applied > 0 && applied < world.n) {
      cut_in_two(any(4) ? set : (unsigned)any(1 << world.n));
      return;
    }
  }
}

static int one_run(int n, int witness, int run) {
  int wrong = 0, heals = any(2), stopped = any(3) ? -1 : any(n);
  memset(is_cut_now, 0, sizeof is_cut_now);
  open_world(n, 1 + any(2), witness);
  for (int i = 0; i < n; i++)
    world.of[i].waits = world.time;
  run_until(world.time + limit_of_world());
  cut_some_paths();
  strike(any(n + 1));
  if (stopped >= 0)
    stop_daemon(stopped);
  for (int i = 0; i < 6 && !wrong; i++) {
    if (i == 3 && heals)
      heal_all();
    if (i == 3 && stopped >= 0)
      continue_daemon(stopped);
    run_until(world.time + limit_of_world() + 1);
    wrong = are_two_worlds();
  }
  if (wrong)
    printf("run %d: two worlds of %d nodes%s\n", run, n, witness ? " with a witness" : "");
  close_world();
  return wrong;
}

static void many(int runs, int n, int witness) {
  int failed = 0;
  srandom((unsigned)rgt_seed());
  for (int i = 0; i < runs; i++)
    failed += one_run(n, witness, i);
  RGT_INT(failed, 0);
}

static void test_majority(void) {
  many(700, 5, 0);
}

static void test_halves(void) {
  many(300, 4, 1);
  many(100, 4, 0);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {
      {"five nodes", test_majority}, {"four nodes", test_halves}, {NULL, NULL}};
  return rgt_main(argc, argv, "adversary", tests);
}
