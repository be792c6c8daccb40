/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "engine/served.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/pause.h"
#include "noded/line.h"
#include "noded/mesh.h"
#include "progress/request.h"
#include "runtime/runtime.h"
#include "shm/arena.h"
#include "shm/node.h"

/* A broken connection comes from the loss of the node, which is known soon after. */
#define DEATH_SECONDS 5.0
#define LOOKS 100 /* before the first sleep, where there are processors for all */

struct rgi_served_op {
  rgi_line_op line; /* first */
  rgi_remote_job job;
  rgi_far_run *runs; /* the job's, where they are needed at the end */
  char *copy;        /* data that are not sent from, or read to, the caller's buffer */
  int64_t word;      /* a short answer */
  int done, error, dropped;
  rgi_row rows[];
};

typedef struct rgi_served_op operation;
typedef rgi_remote_job job;

static struct {
  pthread_mutex_t lock; /* of all below */
  rgi_line *lines;      /* with each node of the mesh */
  int *lost;            /* for each: the error of what its process had not waited for */
  int *place;           /* of each rank of the world among its node's */
  int nodes;
} served = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- start and stop --------------------------------------------------------------------- */

int rgi_served_there(void) {
  return served.lines != NULL;
}

static void find_places(void) {
  for (int i = 0; i < rgi_rt.size; i++)
    served.place[i] = served.lost[rgi_mesh_node_of(i)]++;
  memset(served.lost, 0, (size_t)served.nodes * sizeof *served.lost);
}

int rgi_served_open(void) {
  served.nodes = rgi_mesh_here()->nodes;
  served.lines = calloc((size_t)served.nodes, sizeof *served.lines);
  served.lost = calloc((size_t)served.nodes, sizeof *served.lost);
  served.place = calloc((size_t)rgi_rt.size, sizeof *served.place);
  if (!served.lines || !served.lost || !served.place) {
    rgi_served_close();
    return rgi_error(RG_ERR_NOMEM, "rg_init: no memory for %d connections", rgi_node.count);
  }
  for (int i = 0; i < served.nodes; i++)
    served.lines[i] = (rgi_line){.node = i, .fd = -1};
  find_places();
  return RG_SUCCESS;
}

static void destroy(operation *o) {
  free(o->runs);
  free(o->copy);
  free(o);
}

void rgi_served_close(void) {
  for (int i = 0; served.lines && i < served.nodes; i++) {
    rgi_line *l = &served.lines[i];
    rgi_line_close(l);
    for (rgi_line_op *o; (o = rgi_line_give_up(l));)
      destroy((operation *)o);
  }
  free(served.lines);
  free(served.lost);
  free(served.place);
  served.lines = NULL;
  served.lost = served.place = NULL;
}

/* --- the caller's side of an operation -------------------------------------------------- */

static void copy_patch(const rgi_far_patch *p, int d, char *near, char **packed, int in) {
  if (d == p->dims - 1) {
    memcpy(in ? *packed : near, in ? near : *packed, (size_t)p->extent[d]);
    *packed += p->extent[d];
    return;
  }
  for (int64_t i = 0; i < p->extent[d]; i++)
    copy_patch(p, d + 1, near + i * p->near_stride[d], packed, in);
}

/* Into the packed data, or out of them. */
static void copy(const job *j, char *packed, int in) {
  if (!j->runs)
    copy_patch(&j->patch, 0, j->near, &packed, in);
  for (int i = 0; j->runs && i < j->n; i++) {
    char *near = j->near + j->runs[i].near;
    memcpy(in ? packed : near, in ? near : packed, (size_t)j->runs[i].bytes);
    packed += j->runs[i].bytes;
  }
}

/* The caller's bytes if they are one piece and as they are wanted, else NULL. */
static char *plain(const job *j) {
  if (j->alpha)
    return NULL;
  if (j->runs)
    return j->n == 1 ? j->near + j->runs[0].near : NULL;
  return rgi_remote_contiguous(&j->patch, j->patch.near_stride) ? j->near : NULL;
}

static int keep_runs(operation *o) {
  size_t bytes = (size_t)o->job.n * sizeof *o->runs;
  if (!o->job.runs || o->job.kind != RGI_REMOTE_GET)
    return 1;
  o->runs = malloc(bytes);
  if (!o->runs)
    return 0;
  memcpy(o->runs, o->job.runs, bytes);
  o->job.runs = o->runs;
  return 1;
}

/* Where what is sent comes from and what is read goes. */
static int set_data(operation *o, int64_t bytes) {
  int get = o->job.kind == RGI_REMOTE_GET;
  char *data = plain(&o->job);
  if (!data) {
    data = o->copy = malloc((size_t)bytes + 1);
    if (!data || !keep_runs(o))
      return 0;
    if (!get && o->job.alpha)
      rgi_remote_scaled(&o->job, data);
    else if (!get)
      copy(&o->job, data, 1);
  }
  o->line.data = data;
  o->line.answer = get ? data : (char *)&o->word;
  return 1;
}

static void finish(operation *o, int error) {
  if (!error && o->job.kind == RGI_REMOTE_GET && o->copy)
    copy(&o->job, o->copy, 0);
  o->error = error;
  o->done = 1;
}

/* --- questions ---------------------------------------------------------------------------- */

static uint32_t number(rg_type type) {
  switch (type) {
  case RG_INT32:
    return RGI_NUMBER_INT32;
  case RG_INT64:
    return RGI_NUMBER_INT64;
  case RG_FLOAT:
  case RG_FLOAT_COMPLEX:
    return RGI_NUMBER_FLOAT;
  default:
    return RGI_NUMBER_DOUBLE;
  }
}

static uint64_t in_annex(int target, uint64_t offset) {
  return (uint64_t)served.place[target] * rgi_remote.size + offset;
}

static operation *make(const job *j, int rows) {
  operation *o = calloc(1, sizeof *o + (size_t)rows * sizeof *o->rows);
  if (!o)
    return NULL;
  o->job = *j;
  o->line.rows = o->rows;
  o->line.ask = (rgi_ask){.number = number(j->type), .offset = in_annex(j->target, j->offset)};
  return o;
}

_Static_assert(RG_MAX_DIMS + 1 == RGI_ASK_DIMS, "the servers take every patch");

static operation *make_move(const job *j, int64_t bytes) {
  static const uint32_t kinds[] = {[RGI_REMOTE_GET] = RGI_ASK_GET,
                                   [RGI_REMOTE_PUT] = RGI_ASK_PUT,
                                   [RGI_REMOTE_ACC] = RGI_ASK_ADD};
  int rows = j->runs ? j->n : j->patch.dims;
  operation *o = make(j, rows);
  if (!o)
    return NULL;
  for (int i = 0; i < rows; i++)
    o->rows[i] = j->runs ? (rgi_row){j->runs[i].far, j->runs[i].bytes}
                         : (rgi_row){j->patch.far_stride[i], j->patch.extent[i]};
  o->line.ask.kind = kinds[j->kind];
  o->line.ask.bytes = (uint64_t)bytes;
  *(j->runs ? &o->line.ask.runs : &o->line.ask.dims) = (uint32_t)rows;
  if (set_data(o, bytes))
    return o;
  destroy(o);
  return NULL;
}

/* --- on the way --------------------------------------------------------------------------- */

static rgi_line *line_of(int target) {
  return &served.lines[rgi_mesh_node_of(target)];
}

/* Of what nobody waits for only the error is remembered. */
static void end(rgi_line *l, operation *o, int error) {
  finish(o, error);
  if (error && o->dropped)
    served.lost[l->node] = error;
  if (o->dropped)
    destroy(o);
}

/* What has become of the node with which the line is broken; RG_SUCCESS: not known yet. */
static int why_broken(rgi_line *l) {
  if (rgi_line_gone(l))
    return RG_ERR_PROC_FAILED;
  return l->fd < 0 && l->broken && rgi_now() - l->broken > DEATH_SECONDS ? RG_ERR_SYSTEM
                                                                         : RG_SUCCESS;
}

static void advance(rgi_line *l) {
  for (rgi_line_op *o; (o = rgi_line_step(l));)
    end(l, (operation *)o, RG_SUCCESS);
  int error = l->first ? why_broken(l) : RG_SUCCESS;
  for (rgi_line_op *o; error && (o = rgi_line_give_up(l));)
    end(l, (operation *)o, error);
}

static int complain(int error, const char *call, int node) {
  int first = rgi_mesh_nodes(rgi_mesh_here())[node].first;
  if (error == RG_ERR_PROC_FAILED)
    return rgi_error(error, "%s: all processes of the node of rank %d of the world have died", call,
                     first);
  return rgi_error(error, "%s: the connection with the node of rank %d of the world is broken",
                   call, first);
}

/* With the lock. A line that broke a moment ago tells why in a moment. */
static int submit_locked(operation *o, rgi_line *l, const char *call) {
  int error = rgi_line_gone(l) ? RG_ERR_PROC_FAILED : RG_SUCCESS;
  while (!error && !rgi_line_open(l)) {
    error = why_broken(l);
    if (!error)
      rgi_sleep(1e-3);
  }
  if (error)
    return complain(error, call, l->node);
  rgi_line_queue(l, &o->line);
  advance(l);
  return RG_SUCCESS;
}

/* With an error it is destroyed. */
static int submit(operation *o, const char *call) {
  int target = o->job.target;
  if (rgi_node_find(target) >= 0) {
    rgi_line_op *line = &o->line;
    rgi_ask_do(&line->ask, line->rows, rgi_arena_annex(), line->data, line->answer);
    finish(o, RG_SUCCESS);
    return RG_SUCCESS;
  }
  pthread_mutex_lock(&served.lock);
  int error = submit_locked(o, line_of(target), call);
  pthread_mutex_unlock(&served.lock);
  if (error)
    destroy(o);
  return error;
}

/* --- for the engine --------------------------------------------------------------------------- */

int rgi_served_start(const job *j, int64_t bytes, rgi_served *op) {
  const char *call = rgi_remote_calls[j->kind];
  operation *o = make_move(j, bytes);
  if (!o)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %lld bytes", call, (long long)bytes);
  RGI_TRY(submit(o, call));
  *op = o;
  return RG_SUCCESS;
}

/* Whether it needs nothing more of its owner's when it is sent. */
static int may_leave(const operation *o) {
  return o->line.ask.kind == RGI_ASK_PUT || o->line.ask.kind == RGI_ASK_ADD;
}

int rgi_served_test(rgi_served o, const char *call, int *done) {
  int node = rgi_mesh_node_of(o->job.target);
  pthread_mutex_lock(&served.lock);
  if (!o->done)
    advance(&served.lines[node]);
  *done = o->done || (o->line.sent && may_leave(o));
  int error = o->error;
  pthread_mutex_unlock(&served.lock);
  return error ? complain(error, call, node) : RG_SUCCESS;
}

void rgi_served_drop(rgi_served o) {
  pthread_mutex_lock(&served.lock);
  o->dropped = 1;
  if (o->done)
    destroy(o);
  pthread_mutex_unlock(&served.lock);
}

/* The socket wakes who sleeps; others' messages need a look now and then. */
int rgi_served_pause(rgi_wait *w, int target) {
  if (!rgi_node.oversubscribed && w->pause.looks++ < LOOKS) {
    rgi_relax();
    return RG_SUCCESS;
  }
  pthread_mutex_lock(&served.lock);
  const rgi_line *l = line_of(target);
  struct pollfd p = {l->fd, (short)(POLLIN | (l->sending ? POLLOUT : 0)), 0};
  pthread_mutex_unlock(&served.lock);
  if (poll(&p, 1, rgi_wait_meanwhile ? 0 : 1) == 0)
    RGI_TRY(rgi_progress_all());
  return rgi_wait_check(w);
}

static int wait_for(operation *o, const char *call) {
  rgi_wait w;
  int done;
  rgi_wait_start_unscoped(&w, call, o->job.target);
  for (;;) {
    RGI_TRY(rgi_served_test(o, call, &done));
    if (done)
      return RG_SUCCESS;
    RGI_TRY(rgi_served_pause(&w, o->job.target));
  }
}

int rgi_served_word(const char *call, int kind, int target, uint64_t offset, rg_type type,
                    int64_t a, int64_t b, int64_t *before) {
  const job j = {.kind = RGI_REMOTE_ACC, .target = target, .offset = offset, .type = type};
  operation *o = make(&j, 0);
  if (!o)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory", call);
  o->line.ask.kind = (uint32_t)kind;
  o->line.ask.bytes = type == RG_INT32 ? 4 : 8;
  o->line.ask.a = a;
  o->line.ask.b = b;
  o->line.answer = (char *)&o->word;
  RGI_TRY(submit(o, call));
  int error = wait_for(o, call);
  if (!error)
    *before = o->word;
  rgi_served_drop(o);
  return error;
}

/* Whether all has been answered, or is lost. */
static int is_empty(rgi_line *l, int *error) {
  pthread_mutex_lock(&served.lock);
  advance(l);
  int empty = !l->first;
  *error = empty && served.lost[l->node] == RG_ERR_SYSTEM ? RG_ERR_SYSTEM : RG_SUCCESS;
  if (*error)
    served.lost[l->node] = RG_SUCCESS;
  pthread_mutex_unlock(&served.lock);
  return empty;
}

static int fence_one(int node) {
  rgi_wait w;
  int error, target = rgi_mesh_nodes(rgi_mesh_here())[node].first;
  rgi_wait_start_unscoped(&w, "rg_array_fence", target);
  while (!is_empty(&served.lines[node], &error))
    RGI_TRY(rgi_served_pause(&w, target));
  return error ? complain(error, "rg_array_fence", node) : RG_SUCCESS;
}

int rgi_served_fence(int target) {
  int error = RG_SUCCESS;
  if (target >= 0)
    return fence_one(rgi_mesh_node_of(target));
  for (int i = 0; i < served.nodes; i++) {
    int failed = fence_one(i);
    error = error ? error : failed;
  }
  return error;
}

int rgi_served_lost(int target) {
  int node = rgi_mesh_node_of(target);
  pthread_mutex_lock(&served.lock);
  int lost = served.lost[node] == RG_ERR_PROC_FAILED;
  if (lost)
    served.lost[node] = RG_SUCCESS;
  pthread_mutex_unlock(&served.lock);
  return lost;
}

void rgi_served_progress(void) {
  if (pthread_mutex_trylock(&served.lock) != 0)
    return;
  for (int i = 0; i < served.nodes; i++)
    if (served.lines[i].first)
      advance(&served.lines[i]);
  pthread_mutex_unlock(&served.lock);
}
