/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * MPI_Intercomm_create between two leaders, one at a time for each pair of
 * processes. MPICH's leaders exchange their members under a tag of MPICH's own,
 * so that two threads that meet the same peer with different tags would read one
 * another's lists. With MPI_THREAD_MULTIPLE the low leader therefore takes the
 * pair's turn and lets the high one go, in two messages with the caller's tag. */
#include <pthread.h>

#include "formation/comm.h"
#include "runtime/error.h"
#include "runtime/wait.h"

#define TURNS 64 /* pairs are spread over so many locks: sharing one is no harm */
static struct {
  pthread_mutex_t lock;
  pthread_cond_t freed;
  char taken[TURNS];
} turns = {.lock = PTHREAD_MUTEX_INITIALIZER, .freed = PTHREAD_COND_INITIALIZER};

static int turn_of(int remote_leader) {
  return remote_leader % TURNS;
}

static void take_turn(int t) {
  pthread_mutex_lock(&turns.lock);
  while (turns.taken[t])
    pthread_cond_wait(&turns.freed, &turns.lock);
  turns.taken[t] = 1;
  pthread_mutex_unlock(&turns.lock);
}

static void end_turn(int t) {
  pthread_mutex_lock(&turns.lock);
  turns.taken[t] = 0;
  pthread_cond_broadcast(&turns.freed);
  pthread_mutex_unlock(&turns.lock);
}

static int threads_may_meet(void) {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  return level == MPI_THREAD_MULTIPLE;
}

static int wait_for(const rgi_creation *c, int peer) {
  MPI_Request request;
  RGI_TRY_MPI(MPI_Irecv(NULL, 0, MPI_BYTE, peer, c->tag, c->comm, &request));
  return rgi_wait_request(&request, c->call, peer);
}

static int tell(const rgi_creation *c, int peer) {
  RGI_TRY_MPI(MPI_Send(NULL, 0, MPI_BYTE, peer, c->tag, c->comm));
  return RG_SUCCESS;
}

int rgi_intercomm(const rgi_creation *c, MPI_Comm local, int is_leader, int remote_leader, int low,
                  MPI_Comm *inter) {
  int ordered = is_leader && threads_may_meet();
  if (ordered && low) {
    RGI_TRY(wait_for(c, remote_leader));
    take_turn(turn_of(remote_leader));
    int error = tell(c, remote_leader);
    if (error) {
      end_turn(turn_of(remote_leader));
      return error;
    }
  } else if (ordered) {
    RGI_TRY(tell(c, remote_leader));
    RGI_TRY(wait_for(c, remote_leader));
  }
  int error = rgi_mpi_error(MPI_Intercomm_create(local, 0, c->comm, remote_leader, c->tag, inter),
                            "MPI_Intercomm_create");
  if (ordered && low)
    end_turn(turn_of(remote_leader));
  return error;
}
