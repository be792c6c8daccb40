/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What test_freed.py starts, with RG_SURVIVE=1, on several nodes: rounds of long messages between
 * all members and of a broadcast, whose results are checked. Some ranks are killed amid them. A
 * survivor whose call returns an error gives the buffers back at once: they are unmapped, or
 * written over and looked at until the end, since nothing may still read or write them. */
#include <sys/mman.h>

#include "ranks.h"

#define ROUNDS 6 /* at least, and until all have died that are to die */
#define MOST ((size_t)5 << 20)
#define POISON 0x5a
#define KEPT 8

static char *kept[KEPT];
static int kept_count;
static uint64_t seed;

static char *map_buffer(void) {
  char *p = mmap(NULL, MOST, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  must(p != MAP_FAILED, "mmap");
  return p;
}

static void give_back(char *p, int error) {
  if (error && kept_count < KEPT && mix(seed + (uint64_t)round_now) % 2) {
    memset(p, POISON, MOST);
    kept[kept_count++] = p;
  } else {
    munmap(p, MOST);
  }
}

static void check_kept(void) {
  for (int k = 0; k < kept_count; k++)
    for (size_t i = 0; i < MOST; i++)
      must(kept[k][i] == POISON, "a buffer that was given back has been written to");
}

/* Of a message of this round: from 16 KiB on. */
static size_t length_of(int from, int to) {
  uint64_t m = mix(seed + (uint64_t)(round_now * 1000 + from * 30 + to));
  return m % 3 ? 16384 + m % 200000 : 16384 + m % (MOST - 16384);
}

static char value_of(int from, int to, size_t at) {
  return (char)(from * 31 + to * 7 + round_now + (int)(at / 4096));
}

static void fill(char *p, int from, int to) {
  for (size_t i = 0; i < length_of(from, to); i++)
    p[i] = value_of(from, to, i);
}

static void check(const char *p, int from, int to) {
  for (size_t i = 0; i < length_of(from, to); i++)
    must(p[i] == value_of(from, to, i), "wrong data");
}

/* To and from the members at a distance. */
static int exchange(rg_group g, int distance) {
  int me = rank_in(g), n = size_of(g), to = (me + distance) % n, from = (me + n - distance) % n;
  char *out = map_buffer(), *in = map_buffer();
  rg_request r = NULL;
  fill(out, me, to);
  int error = survivable(
      rg_irecv(g, in, (MPI_Count)length_of(from, me), MPI_CHAR, from, distance, &r), "rg_irecv");
  if (!error)
    error = survivable(rg_send(g, out, (MPI_Count)length_of(me, to), MPI_CHAR, to, distance),
                       "rg_send");
  int second = r ? survivable(rg_wait(&r, NULL), "rg_wait") : RG_SUCCESS;
  error = error ? error : second;
  if (!error)
    check(in, from, me);
  give_back(out, error);
  give_back(in, error);
  return error;
}

static int broadcast(rg_group g, int root) {
  int me = rank_in(g);
  char *p = map_buffer();
  if (me == root)
    fill(p, root, root);
  int error =
      survivable(rg_bcast(g, p, (MPI_Count)length_of(root, root), MPI_CHAR, root), "rg_bcast");
  if (!error)
    check(p, root, root);
  give_back(p, error);
  return error;
}

static int work(rg_group g) {
  for (int d = 1; d < size_of(g); d++)
    TRY(exchange(g, d));
  return broadcast(g, round_now % size_of(g));
}

int main(int argc, char **argv) {
  rg_group g = enter_world(&argc, &argv);
  int deaths = atoi(argv[1]);
  seed = strtoull(argv[2], NULL, 0);
  kill_some(deaths, world_size, seed, strtoull(argv[3], NULL, 0));
  for (round_now = 0; round_now < ROUNDS || size_of(g) > world_size - deaths;) {
    double began = now();
    if (is_done(&g, work(g)))
      round_now++;
    else if (now() - began > longest)
      longest = now() - began;
    check_kept();
  }
  tell_last(&g, print_result);
  leave_world(&g);
  return 0;
}
