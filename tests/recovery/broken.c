/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What test_broken.py starts, with RG_SURVIVE=1 and ranks distributed in turn over two nodes:
 * broken SEED. Each odd rank sends long messages to the rank before it, on the other
 * node, and a thread kills it after a moment drawn by the seed. The receiver checks every
 * byte that the library says it has received. In "broken lie" MPI says that the message has
 * come before anything of it has, as it may when the sender dies, and then the sender
 * does. In the end rank 0 prints "RESULT survivors". */
#include <pthread.h>

#include "ranks.h"

#define WORDS ((size_t)1 << 17) /* 1 MiB */

static uint64_t words[WORDS];
static volatile int lies, lied; /* receives of so many bytes are to end at once; one has */

static int lie_query(void *bytes, MPI_Status *status) {
  status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
  MPI_Status_set_cancelled(status, 0);
  return MPI_Status_set_elements(status, MPI_BYTE, *(int *)bytes);
}

static int lie_free(void *bytes) {
  (void)bytes;
  return MPI_SUCCESS;
}

static int lie_cancel(void *bytes, int done) {
  (void)bytes;
  (void)done;
  return MPI_SUCCESS;
}

static int lie(MPI_Request *request) {
  static int bytes = sizeof words;
  lied = 1;
  MPI_Grequest_start(lie_query, lie_free, lie_cancel, &bytes, request);
  return MPI_Grequest_complete(*request);
}

/* The library calls this instead of MPI. */
int MPI_Irecv(void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
              MPI_Request *request) {
  return lies && (size_t)count == sizeof words
             ? lie(request)
             : PMPI_Irecv(buf, count, type, source, tag, comm, request);
}

#if MPI_VERSION >= 4
int MPI_Irecv_c(void *buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                MPI_Request *request) {
  return lies && (size_t)count == sizeof words
             ? lie(request)
             : PMPI_Irecv_c(buf, count, type, source, tag, comm, request);
}
#endif

static uint64_t word(uint64_t message, size_t i) {
  return (message + 1) * 0x9e3779b97f4a7c15u ^ i;
}

static void *kill_me(void *moment) {
  usleep(*(useconds_t *)moment);
  raise(SIGKILL);
  return NULL;
}

static void send_until_killed(rg_group pair, unsigned seed) {
  pthread_t thread;
  useconds_t moment = 0;
  for (int i = 0; i <= my_rank; i++) {
    seed = seed * 1103515245u + 12345u;
    moment = (seed >> 8) % 30000;
  }
  must(!pthread_create(&thread, NULL, kill_me, &moment), "pthread_create");
  for (uint64_t message = 0;; message++) {
    for (size_t i = 0; i < WORDS; i++)
      words[i] = word(message, i);
    must(!rg_send(pair, words, WORDS, MPI_UINT64_T, 0, 1), "rg_send");
  }
}

static void receive_until_killed(rg_group pair) {
  for (uint64_t message = 0;; message++) {
    int error = rg_recv(pair, words, WORDS, MPI_UINT64_T, 1, 1, NULL);
    if (error) {
      must(error == RG_ERR_PROC_FAILED, "rg_recv");
      return;
    }
    for (size_t i = 0; i < WORDS; i++)
      if (words[i] != word(message, i)) {
        fprintf(stderr, "rank %d: message %d is damaged from word %zu on\n", my_rank, (int)message,
                i);
        exit(4);
      }
  }
}

/* The receiver tells when MPI has reported a message too early. */
static void send_and_die(rg_group pair) {
  rg_request open;
  int told = 0;
  must(!rg_isend(pair, words, WORDS, MPI_UINT64_T, 0, 1, &open), "rg_isend");
  must(!rg_recv(pair, &told, 1, MPI_INT, 0, 2, NULL), "rg_recv");
  raise(SIGKILL);
}

static void receive_lie(rg_group pair) {
  rg_request open;
  int done = 0;
  lies = 1;
  must(!rg_irecv(pair, words, WORDS, MPI_UINT64_T, 1, 1, &open), "rg_irecv");
  while (!lied && !done)
    must(!rg_test(&open, &done, NULL), "rg_test");
  if (!done)
    must(!rg_test(&open, &done, NULL), "rg_test");
  must(!done, "a message that has not come is said to have");
  must(!rg_send(pair, &done, 1, MPI_INT, 1, 2), "rg_send");
  must(rg_wait(&open, NULL) == RG_ERR_PROC_FAILED, "rg_wait");
}

int main(int argc, char **argv) {
  rg_group g = enter_world(&argc, &argv), pair, next;
  must(argc == 2, "one argument");
  must(!rg_group_split(g, my_rank / 2, my_rank, &pair), "rg_group_split");
  all_here(g); /* with their pair */
  if (strcmp(argv[1], "lie") == 0)
    (my_rank % 2 ? send_and_die : receive_lie)(pair);
  else if (my_rank % 2)
    send_until_killed(pair, (unsigned)atoi(argv[1]));
  else
    receive_until_killed(pair);
  rg_group_free(&pair);
  next = survivors_of(g);
  if (my_rank == 0)
    printf("RESULT %d\n", size_of(next));
  rg_group_free(&next);
  leave_world(&g);
  return 0;
}
