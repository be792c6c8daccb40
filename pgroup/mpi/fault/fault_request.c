/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A hash table with lists. MPICH uses the numbers of ended requests again, so that it has as many
 * entries as there have been requests at a time; those that are forgotten are used again. */
#include "mpi/fault/fault_request.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/spare.h"

enum { BUCKETS = 4096 }; /* a power of 2 */

typedef struct request_entry {
  struct request_entry *next;
  MPI_Request request;
  unsigned long number; /* of all notes */
  rgi_fault_request noted;
} request_entry;

static struct {
  pthread_mutex_t lock;
  request_entry *bucket[BUCKETS], *spare;
  atomic_int special;
  atomic_ulong notes;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The last note before this thread has looked at a request: a later one is another thread's, which
 * has got the same number from MPI since this one's request has ended. */
static _Thread_local unsigned long latest_note __attribute__((tls_model("initial-exec")));

void rgi_fault_request_mark(void) {
  latest_note = atomic_load_explicit(&table.notes, memory_order_acquire);
}

static request_entry **place_of(MPI_Request request) {
  request_entry **at = &table.bucket[((unsigned)request * 2654435761u >> 16) % BUCKETS];
  while (*at && (*at)->request != request)
    at = &(*at)->next;
  return at;
}

/* What MPI alone would not end: is noted in any case. */
static int is_ours(const rgi_fault_request *noted) {
  return noted->error || noted->kind == RGI_FAULT_OWN;
}

static request_entry *new_entry(const rgi_fault_request *noted) {
  request_entry *entry = table.spare;
  if (!entry)
    return is_ours(noted) ? rgi_spare_alloc(sizeof *entry) : malloc(sizeof *entry);
  table.spare = entry->next;
  return entry;
}

/* MPICH's test of all calls a partitioned one that has ended an error. */
static int is_special(const rgi_fault_request *noted) {
  return noted->error || noted->finishes || noted->kind == RGI_FAULT_PARTS;
}

/* Returns the state that the entry has used. */
static rgi_fault_comm *remove_entry(request_entry **at) {
  request_entry *entry = *at;
  *at = entry->next;
  entry->next = table.spare;
  table.spare = entry;
  atomic_fetch_sub(&table.special, is_special(&entry->noted));
  return entry->noted.state;
}

static void forget_until(MPI_Request request, unsigned long last) {
  rgi_fault_comm *state = NULL;
  pthread_mutex_lock(&table.lock);
  request_entry **at = place_of(request);
  if (*at && (*at)->number <= last)
    state = remove_entry(at);
  pthread_mutex_unlock(&table.lock);
  if (state)
    rgi_fault_comm_drop(state);
}

void rgi_fault_request_forget(MPI_Request request) {
  forget_until(request, latest_note);
}

static void set_error(request_entry *entry, int error) {
  int before = is_special(&entry->noted);
  entry->noted.error = error;
  atomic_fetch_add(&table.special, is_special(&entry->noted) - before);
}

/* 1: it is a persistent one. */
static int set_active(MPI_Request request, int active, int error) {
  pthread_mutex_lock(&table.lock);
  request_entry *entry = *place_of(request);
  int persistent = entry && entry->noted.persistent && entry->number <= latest_note;
  if (persistent) {
    entry->noted.active = active;
    set_error(entry, error);
  }
  pthread_mutex_unlock(&table.lock);
  return persistent;
}

void rgi_fault_request_start(MPI_Request request, int error) {
  set_active(request, 1, error);
}

void rgi_fault_request_give_up(MPI_Request request) {
  pthread_mutex_lock(&table.lock);
  request_entry *entry = *place_of(request);
  if (entry)
    entry->noted.given_up = 1;
  pthread_mutex_unlock(&table.lock);
}

void rgi_fault_request_fail(MPI_Request request, int error) {
  pthread_mutex_lock(&table.lock);
  request_entry *entry = *place_of(request);
  if (entry)
    set_error(entry, error);
  pthread_mutex_unlock(&table.lock);
}

void rgi_fault_request_end(MPI_Request request) {
  if (!set_active(request, 0, RG_SUCCESS))
    rgi_fault_request_forget(request);
}

void rgi_fault_request_note(MPI_Request request, const rgi_fault_request *noted) {
  forget_until(request, ULONG_MAX); /* one that MPI itself has ended */
  pthread_mutex_lock(&table.lock);
  request_entry **at = place_of(request), *entry = new_entry(noted);
  if (entry) {
    *entry = (request_entry){
        .request = request, .number = atomic_fetch_add(&table.notes, 1) + 1, .noted = *noted};
    *at = entry;
    rgi_fault_comm_use(noted->state);
    atomic_fetch_add(&table.special, is_special(noted));
  }
  pthread_mutex_unlock(&table.lock);
}

rgi_fault_request rgi_fault_request_find(MPI_Request request) {
  rgi_fault_request found = {0};
  rgi_fault_request_mark();
  pthread_mutex_lock(&table.lock);
  request_entry **at = place_of(request);
  if (*at)
    found = (*at)->noted;
  pthread_mutex_unlock(&table.lock);
  return found;
}

int rgi_fault_request_special(void) {
  return atomic_load_explicit(&table.special, memory_order_relaxed);
}

/* --- requests that are complete ----------------------------------------------------------- */

static int query(void *extra, MPI_Status *status) {
  (void)extra;
  PMPI_Status_set_elements(status, MPI_BYTE, 0);
  PMPI_Status_set_cancelled(status, 0);
  return MPI_SUCCESS;
}

static int end_query(void *extra) {
  (void)extra;
  return MPI_SUCCESS;
}

static int cancel_nothing(void *extra, int complete) {
  (void)extra, (void)complete;
  return MPI_SUCCESS;
}

int rgi_fault_request_open(MPI_Request *request) {
  return PMPI_Grequest_start(query, end_query, cancel_nothing, NULL, request);
}

int rgi_fault_request_stand_in(const rgi_fault_request *noted, MPI_Request *request) {
  int code = rgi_fault_request_open(request);
  if (code == MPI_SUCCESS)
    code = PMPI_Grequest_complete(*request);
  if (code == MPI_SUCCESS && noted && noted->error)
    rgi_fault_request_note(*request, noted);
  return code;
}
