/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Several collectives under way at once: on one group, on many, with messages
 * and blocking calls between them, and from several threads. Groups that are freed while
 * collectives are under way on them. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tests/collectives/cases.h"
#include "tests/collectives/suites.h"

#define MANY 12
#define WORDS 3000

/* Begins an allreduce of drawn length; result[i] should be n i + sum of ranks. */
static void begin(rg_group g, int rank, int n, long long *data, rg_request *request) {
  for (int i = 0; i < n; i++)
    data[i] = i + rank;
  RGT_OK(rg_iallreduce(g, MPI_IN_PLACE, data, n, MPI_LONG_LONG, MPI_SUM, request));
}

static int is_sum(const long long *data, int n, int size) {
  for (int i = 0; i < n; i++)
    if (data[i] != (long long)size * i + (long long)size * (size - 1) / 2)
      return 0;
  return 1;
}

/* Many at once; each rank waits for them in another order. */
void test_many_at_once(void) {
  static long long data[MANY][WORDS];
  rg_request requests[MANY];
  int lengths[MANY];
  draw_start(1);
  for (int turn = 0; turn < 10; turn++) {
    for (int i = 0; i < MANY; i++) {
      rg_group g = groups[i % GROUPS];
      int rank;
      rg_group_rank(g, &rank);
      lengths[i] = draw(3) ? draw(20) : draw(WORDS);
      begin(g, rank, lengths[i], data[i], &requests[i]);
    }
    if (turn % 2)
      RGT_OK(rg_wait_all(MANY, requests, NULL));
    for (int i = 0; i < MANY; i++)
      RGT_OK(rg_wait(&requests[(i * 5 + rgt_rank * 7) % MANY], NULL));
    for (int i = 0; i < MANY; i++)
      RGT_TRUE(is_sum(data[i], lengths[i], rgt_size) && requests[i] == NULL);
  }
}

/* A blocking call of all kinds moves what was started before it. */
void test_blocking_between(void) {
  static long long data[WORDS];
  rg_request request;
  for (int turn = 0; turn < 20; turn++) {
    int rank, value = turn, sum = 0;
    rg_group g = groups[turn % GROUPS], other = groups[turn / 2 % GROUPS];
    rg_group_rank(g, &rank);
    begin(g, rank, WORDS, data, &request);
    if (turn % 3 == 0 && rgt_rank % 2) /* some end it before, some after */
      RGT_OK(rg_wait(&request, NULL));
    RGT_OK(rg_bcast(other, &value, 1, MPI_INT, turn % rgt_size));
    RGT_OK(rg_allreduce(g, &value, &sum, 1, MPI_INT, MPI_SUM));
    RGT_OK(rg_wait(&request, NULL));
    RGT_INT(sum, turn * rgt_size);
    RGT_TRUE(is_sum(data, WORDS, rgt_size));
  }
}

/* A wait for a message lets a collective progress, without which the message is not sent. */
void test_message_between(void) {
  static long long data[WORDS];
  int next = (rgt_rank + 1) % rgt_size, before = (rgt_rank - 1 + rgt_size) % rgt_size, got = -1;
  rg_request request, sent;
  begin(groups[WORLD], rgt_rank, WORDS, data, &request);
  if (rgt_rank == 0) {
    RGT_OK(rg_wait(&request, NULL)); /* needs the others, which are in rg_recv */
    RGT_OK(rg_isend(groups[WORLD], &rgt_rank, 1, MPI_INT, next, 5, &sent));
    RGT_OK(rg_recv(groups[WORLD], &got, 1, MPI_INT, before, 5, NULL));
  } else {
    RGT_OK(rg_recv(groups[WORLD], &got, 1, MPI_INT, before, 5, NULL));
    RGT_OK(rg_isend(groups[WORLD], &rgt_rank, 1, MPI_INT, next, 5, &sent));
    RGT_OK(rg_wait(&request, NULL));
  }
  RGT_OK(rg_wait(&sent, NULL));
  RGT_INT(got, before);
  RGT_TRUE(is_sum(data, WORDS, rgt_size));
}

void test_rg_test(void) {
  rg_request request = NULL;
  rg_status status;
  int done = 0, looks = 0;
  RGT_OK(rg_test(&request, &done, NULL));
  RGT_INT(done, 1);
  RGT_OK(rg_ibarrier(groups[WORLD], &request));
  for (done = 0; !done && looks < 100000000; looks++)
    RGT_OK(rg_test(&request, &done, &status));
  RGT_PTR_NULL(request);
  RGT_INT(status.bytes, 0);
}

/* Each thread has groups of its own. */
static void *thread(void *argument) {
  int id = *(int *)argument, rank, size;
  long long *data = malloc(WORDS * sizeof *data);
  for (int turn = 0; turn < 15; turn++) {
    rg_group g;
    rg_request request;
    if (rg_group_create_range(groups[WORLD], 0, rgt_size - 1, 1, 100 + id, &g))
      break;
    rg_group_rank(g, &rank);
    rg_group_size(g, &size);
    begin(g, rank, WORDS / (1 + turn), data, &request);
    long long sum = 0, mine = id;
    RGT_OK(rg_allreduce(g, &mine, &sum, 1, MPI_LONG_LONG, MPI_SUM));
    RGT_INT(sum, (long long)id * size);
    RGT_OK(rg_wait(&request, NULL));
    RGT_TRUE(is_sum(data, WORDS / (1 + turn), size));
    RGT_OK(rg_barrier(g));
    RGT_OK(rg_group_free(&g));
  }
  free(data);
  return NULL;
}

void test_threads(void) {
  pthread_t threads[3];
  int ids[3], provided;
  MPI_Query_thread(&provided);
  if (provided < MPI_THREAD_MULTIPLE)
    return;
  for (int i = 0; i < 3; i++) {
    ids[i] = i;
    pthread_create(&threads[i], NULL, thread, &ids[i]);
  }
  for (int i = 0; i < 3; i++)
    pthread_join(threads[i], NULL);
}

/* New groups, one collective each. */
void test_fresh(void) {
  for (int i = 0; i < 200; i++) {
    rg_group g;
    int value = rgt_rank == i % rgt_size ? i : -1;
    RGT_OK(rg_group_create_range(groups[WORLD], 0, rgt_size - 1, 1, 7, &g));
    RGT_OK(rg_bcast(g, &value, 1, MPI_INT, i % rgt_size));
    RGT_INT(value, i);
    RGT_OK(rg_group_free(&g));
  }
}

/* --- freed groups ------------------------------------------------------------------- */

/* Takes memory that was given back, and writes to it. */
static void use_freed_memory(char *blocks[], int n) {
  for (int i = 0; i < n; i++) {
    size_t bytes = 16 * (1 + (size_t)i % 64);
    blocks[i] = malloc(bytes);
    memset(blocks[i], 0xa5, bytes);
  }
}

typedef struct {
  long long sums[WORDS];
  int word, mine, gathered[RANKS_MOST];
  MPI_Count counts[RANKS_MOST];
  MPI_Aint displs[RANKS_MOST];
  rg_request requests[4];
} freed_operations;

static void begin_operations(rg_group g, int turn, freed_operations *operations) {
  int root = turn % rgt_size;
  operations->word = rgt_rank == root ? turn : -1;
  operations->mine = 10 * rgt_rank + turn;
  for (int r = 0; r < rgt_size; r++) {
    operations->counts[r] = 1;
    operations->displs[r] = rgt_size - 1 - r;
  }
  begin(g, rgt_rank, WORDS, operations->sums, &operations->requests[0]);
  RGT_OK(rg_ibcast(g, &operations->word, 1, MPI_INT, root, &operations->requests[1]));
  RGT_OK(rg_igatherv(g, &operations->mine, 1, MPI_INT, operations->gathered, operations->counts,
                     operations->displs, MPI_INT, root, &operations->requests[2]));
  RGT_OK(rg_ibarrier(g, &operations->requests[3]));
}

static void end_operations(int turn, freed_operations *operations) {
  for (int i = 0; i < 4; i++)
    RGT_OK(rg_wait(&operations->requests[(i + rgt_rank) % 4], NULL));
  RGT_TRUE(is_sum(operations->sums, WORDS, rgt_size));
  RGT_INT(operations->word, turn);
  for (int r = 0; r < rgt_size && rgt_rank == turn % rgt_size; r++)
    RGT_INT(operations->gathered[rgt_size - 1 - r], 10 * r + turn);
}

/* Rank 0 begins when all others have freed the group: their operations are then under way. */
void test_freed_group(void) {
  static freed_operations o;
  char *blocks[256], token = 0;
  for (int turn = 0; turn < 6; turn++) {
    rg_group g;
    MPI_Comm comm;
    RGT_OK(rg_group_create_range(groups[WORLD], 0, rgt_size - 1, 1, 8, &g));
    if (turn % 2)
      RGT_OK(rg_group_comm(g, &comm));
    for (int r = 1; r < rgt_size && rgt_rank == 0; r++)
      RGT_OK(rg_recv(groups[WORLD], &token, 1, MPI_CHAR, r, 8, NULL));
    begin_operations(g, turn, &o);
    RGT_OK(rg_group_free(&g));
    RGT_PTR_NULL(g);
    use_freed_memory(blocks, 256);
    if (rgt_rank > 0)
      RGT_OK(rg_send(groups[WORLD], &token, 1, MPI_CHAR, 0, 8));
    end_operations(turn, &o);
    for (int i = 0; i < 256; i++)
      free(blocks[i]);
  }
}

/* The group of a plain communicator is freed with it. */
void test_freed_comm(void) {
  static freed_operations o;
  char *blocks[256];
  for (int turn = 0; turn < 6; turn++) {
    rg_group g;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    RGT_OK(rg_comm_group(comm, &g));
    begin_operations(g, turn, &o);
    MPI_Comm_free(&comm);
    use_freed_memory(blocks, 256);
    end_operations(turn, &o);
    for (int i = 0; i < 256; i++)
      free(blocks[i]);
  }
}
