/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What network_soak.py starts, with RG_SURVIVE=1 on several nodes: worlds SECONDS FOLDER. Rounds in
 * which each process needs each other one in turn: by messages, by accesses of its elements, by a
 * sum over the group, and by an agreement at the end of each round. The sum of a round depends on
 * nothing but its number, and each process checks it, and what it has read. After a death the
 * survivors shrink their group and do the round again.
 *
 * Each rank makes the file FOLDER/start-RANK when all have come out of rg_init, and FOLDER/end-RANK
 * when it has the result: "WORLD rounds checksum members time", members as bits, time by the
 * system's monotonic clock. The first survivor prints the line, too. All files of a run must agree
 * but for the time: others would be those of a second world. */
#include "ranks.h"

#define PAUSE_MICROSECONDS 1000 /* in each round */

enum { COUNT, CELL, WIDTH = 64 }; /* the elements that each member has */

static rg_group team;
static rg_array array;
static int64_t rounds_of_array; /* that all members have done on it */
static uint64_t checksum;
static int is_over; /* the time is, for some member */

static uint64_t piece(int round, int rank) {
  return mix((uint64_t)round * 64 + (uint64_t)rank);
}

/* --- a round ---------------------------------------------------------------------------------- */

static int make_array(void) {
  const int64_t elements = (int64_t)size_of(team) * WIDTH;
  if (array)
    return RG_SUCCESS;
  TRY(rg_array_create_simple(team, RG_TYPE_INT64, 1, &elements, &array));
  TRY(rg_array_zero(array));
  rounds_of_array = 0;
  return RG_SUCCESS;
}

/* My neighbours in this round: each pair of members comes to be one. */
static void find_neighbours(int *left, int *right) {
  int n = size_of(team), me = rank_in(team), distance = 1 + round_now % (n > 1 ? n - 1 : 1);
  *right = (me + distance) % n;
  *left = (me + n - distance % n) % n;
}

static int exchange(int left, int right) {
  uint64_t mine = piece(round_now, rank_in(team)), got = 0;
  TRY(rg_sendrecv(team, &mine, 1, MPI_UINT64_T, right, 1, &got, 1, MPI_UINT64_T, left, 1, NULL));
  must(got == piece(round_now, left), "another neighbour's message");
  return RG_SUCCESS;
}

static int write_elements(int right) {
  const int64_t one = 1, count = (int64_t)right * WIDTH + COUNT, after = count + 1;
  const int64_t cell = (int64_t)right * WIDTH + CELL, end = (int64_t)(right + 1) * WIDTH;
  int64_t values[WIDTH - CELL];
  for (int i = 0; i < WIDTH - CELL; i++)
    values[i] = (int64_t)piece(round_now, rank_in(team)) + i;
  TRY(rg_array_acc(array, &count, &after, &one, NULL, NULL));
  TRY(rg_array_put(array, &cell, &end, values, NULL));
  return rg_array_sync(array);
}

/* What is at the left neighbour was written by its own left neighbour. */
static int read_elements(int left) {
  int n = size_of(team), distance = (rank_in(team) + n - left) % n,
      writer = (left + n - distance) % n;
  const int64_t lo = (int64_t)left * WIDTH, hi = lo + WIDTH;
  int64_t got[WIDTH];
  TRY(rg_array_get(array, &lo, &hi, got, NULL));
  must(got[COUNT] == rounds_of_array + 1, "what was accumulated");
  for (int i = 0; i < WIDTH - CELL; i++)
    must(got[CELL + i] == (int64_t)piece(round_now, writer) + i, "what was put");
  return RG_SUCCESS;
}

/* The work of the dead is done by others. */
static int sum_up(double until, uint64_t *sum) {
  int n = size_of(team), me = rank_in(team);
  uint64_t mine[2] = {0, now() > until}, all[2], right = 0;
  for (int rank = 0; rank < world_size; rank++) {
    right += piece(round_now, rank);
    mine[0] += rank % n == me ? piece(round_now, rank) : 0;
  }
  TRY(rg_allreduce(team, mine, all, 2, MPI_UINT64_T, MPI_SUM));
  must(all[0] == right, "the sum is wrong");
  is_over = all[1] > 0;
  *sum = all[0];
  return RG_SUCCESS;
}

static int step(double until, uint64_t *sum) {
  int left, right;
  TRY(make_array());
  find_neighbours(&left, &right);
  TRY(exchange(left, right));
  TRY(write_elements(right));
  TRY(read_elements(left));
  return sum_up(until, sum);
}

/* --- all rounds ---------------------------------------------------------------------------- */

static void work(double until) {
  while (!is_over) {
    uint64_t sum = 0;
    int over_before = is_over;
    if (is_done(&team, step(until, &sum))) {
      round_now++;
      rounds_of_array++;
      checksum += sum;
    } else {
      is_over = over_before;
      must(!rg_array_free(&array), "rg_array_free");
    }
    usleep(PAUSE_MICROSECONDS);
  }
}

static void print(rg_group g, char *text) {
  int members[64];
  uint64_t bits = 0;
  must(!rg_group_members(g, members), "rg_group_members");
  for (int i = 0; i < size_of(g); i++)
    bits |= (uint64_t)1 << members[i];
  snprintf(text, LINE, "WORLD %d %016llx %llx\n", round_now, (unsigned long long)checksum,
           (unsigned long long)bits);
}

static void make_file(const char *folder, const char *name, const char *text) {
  char path[4096], hidden[4096];
  snprintf(path, sizeof path, "%s/%s-%d", folder, name, my_rank);
  snprintf(hidden, sizeof hidden, "%s/.%s-%d", folder, name, my_rank);
  FILE *f = fopen(hidden, "w");
  must(f && fputs(text, f) >= 0 && !fclose(f) && !rename(hidden, path), path);
}

int main(int argc, char **argv) {
  char text[LINE], line[2 * LINE];
  team = enter_world(&argc, &argv);
  must(argc == 3 && world_size <= 64, "two arguments, up to 64 ranks");
  all_here(team);
  make_file(argv[2], "start", "");
  work(now() + atof(argv[1]));
  tell_last(&team, print);
  print(team, text);
  snprintf(line, sizeof line, "%.*s %.3f\n", (int)strcspn(text, "\n"), text, now());
  make_file(argv[2], "end", line);
  must(!rg_array_free(&array), "rg_array_free");
  leave_world(&team);
  return 0;
}
