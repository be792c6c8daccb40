/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * regroup-bench p2p: messages from one rank to another, ours on a group against
 * MPI's on a communicator. */
#include <mpi.h>
#include <regroup.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "job.h"
#include "place.h"
#include "settings.h"
#include "verify.h"

#define SIZES 64
#define WARMUP 5
#define TAG 7
#define WINDOW 16 /* messages of a stream that are under way together */
#define SHORT 4096
#define MOST_BYTES (1 << 26)

typedef enum { PINGPONG, STREAM, KINDS } exchange_kind;
static const char *const kind_names[] = {"pingpong", "stream", NULL};

typedef enum { ENDS, NEIGHBOURS, PAIRINGS } pairing;
static const char *const pairing_names[] = {"ends", "neighbours", NULL};

static struct {
  const char *kinds, *sizes, *ranks, *pairs;
  int kind[KINDS], size[SIZES], place[BENCH_PLACES], pairing[PAIRINGS];
  int kinds_n, sizes_n, places_n;
} given = {.kinds = "pingpong,stream", .sizes = "8,1024,65536,1048576", .pairs = "ends"};

static const struct poptOption options[] = {
    {"kinds", 'k', POPT_ARG_STRING, &given.kinds, 0,
     "pingpong: there and back, half of it is told; stream: 16 at a time, one way "
     "(pingpong,stream)",
     "LIST"},
    {"sizes", 0, POPT_ARG_STRING, &given.sizes, 0, "Bytes of a message (8,1024,65536,1048576)",
     "LIST"},
    {"pairs", 0, POPT_ARG_STRING, &given.pairs, 0,
     "ends: rank 0 with the last one; neighbours: 0 with 1, 2 with 3, ..., all at once; between "
     "two groups those of the same rank (ends)",
     "ends|neighbours"},
    {"ranks", 'n', POPT_ARG_STRING, &given.ranks, 0,
     "Among so many of the job's first ranks, one number after the other (all)", "LIST"},
    BENCH_VERIFY_OPTION,
    POPT_TABLEEND};

static int check(char text[RGP_TEXT]) {
  given.kinds_n = bench_words("--kinds", given.kinds, kind_names, given.kind, text);
  if (given.kinds_n < 0 ||
      bench_words("--pairs", given.pairs, pairing_names, given.pairing, text) < 0)
    return 1;
  if (strchr(given.pairs, ','))
    return snprintf(text, RGP_TEXT, "--pairs: '%.100s' is more than one", given.pairs);
  given.sizes_n = bench_numbers("--sizes", given.sizes, 0, MOST_BYTES, SIZES, given.size, text);
  if (given.sizes_n < 0)
    return 1;
  given.places_n = bench_places(given.ranks, 2, given.place, text);
  return given.places_n < 0;
}

/* --- messages --------------------------------------------------------------------------- */

/* What a rank sends and receives, by one of the contenders. */
typedef struct {
  exchange_kind kind;
  rg_group group; /* NULL: by MPI, in comm */
  MPI_Comm comm;
  int to; /* the partner's rank there */
  int bytes, rounds;
  int me, partner, first; /* in the job; partner -1: takes no part; whether this one begins */
  char *send[WINDOW], *receive[WINDOW];
} exchange;

static int send_one(const exchange *e, int i) {
  if (!e->group)
    return MPI_Send(e->send[i], e->bytes, MPI_BYTE, e->to, TAG, e->comm);
  return rg_send(e->group, e->send[i], e->bytes, MPI_BYTE, e->to, TAG);
}

static int receive_one(const exchange *e, int i) {
  if (!e->group)
    return MPI_Recv(e->receive[i], e->bytes, MPI_BYTE, e->to, TAG, e->comm, MPI_STATUS_IGNORE);
  return rg_recv(e->group, e->receive[i], e->bytes, MPI_BYTE, e->to, TAG, NULL);
}

static int pingpong(const exchange *e, int round) {
  int i = round % WINDOW, error;
  if (e->first)
    error = send_one(e, i) || receive_one(e, i);
  else
    error = receive_one(e, i) || send_one(e, i);
  return error;
}

static int window_by_mpi(const exchange *e) {
  MPI_Request r[WINDOW];
  MPI_Status s[WINDOW];
  for (int i = 0; i < WINDOW; i++)
    if (e->first)
      MPI_Isend(e->send[i], e->bytes, MPI_BYTE, e->to, TAG, e->comm, &r[i]);
    else
      MPI_Irecv(e->receive[i], e->bytes, MPI_BYTE, e->to, TAG, e->comm, &r[i]);
  return MPI_Waitall(WINDOW, r, s);
}

static int window_by_us(const exchange *e) {
  rg_request r[WINDOW];
  rg_group g = e->group;
  int error = RG_SUCCESS, n = 0;
  for (; n < WINDOW && !error; n += !error)
    error = e->first ? rg_isend(g, e->send[n], e->bytes, MPI_BYTE, e->to, TAG, &r[n])
                     : rg_irecv(g, e->receive[n], e->bytes, MPI_BYTE, e->to, TAG, &r[n]);
  int waited = rg_wait_all(n, r, NULL);
  return error ? error : waited;
}

/* The receiver answers when it has all. */
static int stream(const exchange *e) {
  exchange answer = *e;
  answer.bytes = 0;
  int error = e->group ? window_by_us(e) : window_by_mpi(e);
  if (!error)
    error = e->first ? receive_one(&answer, 0) : send_one(&answer, 0);
  return error;
}

static const char *run_exchange(void *context) {
  const exchange *e = context;
  for (int i = 0; i < e->rounds; i++)
    if (e->kind == PINGPONG ? pingpong(e, i) : stream(e))
      return rg_error_detail();
  return NULL;
}

/* --- verified ---------------------------------------------------------------------------- */

static const char *run_clean(void *context) {
  exchange *e = context;
  for (int i = 0; i < WINDOW; i++)
    memset(e->receive[i], 0xA5, (size_t)e->bytes);
  return run_exchange(e);
}

/* The i-th buffer of the partner is in the i-th buffer here. */
static const char *verify(void *context) {
  static char text[128];
  const exchange *e = context;
  int used = e->kind == STREAM ? WINDOW : e->rounds < WINDOW ? e->rounds : WINDOW;
  if (e->kind == STREAM && e->first)
    return NULL;
  for (int i = 0; i < used; i++)
    for (int k = 0; k < e->bytes; k++)
      if ((unsigned char)e->receive[i][k] != bench_byte(i, e->partner, e->me, k)) {
        snprintf(text, sizeof text, "wrong byte %d in message %d from rank %d", k, i, e->partner);
        return text;
      }
  return NULL;
}

/* --- one measurement ---------------------------------------------------------------------- */

/* The rank that this one is paired with. */
static void find_partner(exchange *e, const bench_place *place) {
  int last = place->ranks - 1, rank = e->me = place->rank;
  if (given.pairing[0] == ENDS)
    e->partner = rank == 0 ? last : rank == last ? 0 : -1;
  else
    e->partner = rank % 2 ? rank - 1 : rank < last ? rank + 1 : -1;
  if (!place->member)
    e->partner = -1;
  e->first = rank < e->partner;
}

/* A rank of the other group: the first initiator and the last responder, or those of the
 * same rank in both. */
static void find_partner_across(exchange *e, const rg_inter_view *view) {
  int i = view->rank, last = view->responder_size - 1;
  if (given.pairing[0] == ENDS)
    i = view->is_initiator ? (i == 0 ? last : -1) : (i == last ? 0 : -1);
  else if (i >= view->remote_size)
    i = -1;
  e->me = view->global_rank;
  e->first = view->is_initiator;
  e->partner = i >= 0 && view->is_initiator ? view->initiator_size + i : i;
}

static int begin(exchange *e, const bench_place *place, exchange_kind kind, int bytes) {
  *e = (exchange){.kind = kind, .bytes = bytes, .comm = place->comm};
  e->rounds = bytes > SHORT ? 1 : kind == PINGPONG ? 16 : 4;
  if (bench_all.view.is_inter)
    find_partner_across(e, &bench_all.view);
  else
    find_partner(e, place);
  e->to = e->partner;
  if (e->partner < 0)
    return 1;
  for (int i = 0; i < WINDOW; i++) {
    e->send[i] = malloc((size_t)bytes + 1);
    e->receive[i] = calloc((size_t)bytes + 1, 1);
    if (!e->send[i] || !e->receive[i])
      return 0;
    for (int k = 0; k < bytes; k++)
      e->send[i][k] = (char)bench_byte(i, e->me, e->partner, k);
  }
  return 1;
}

static void end(exchange *e) {
  for (int i = 0; i < WINDOW; i++) {
    free(e->send[i]);
    free(e->receive[i]);
  }
}

enum { CONTENDERS = 3 };

/* Those that send: between two groups MPI in the communicator of all and across, and the
 * library, unless it does not hold both groups (processes that MPI has started). */
typedef struct {
  int n;
  const char *name[CONTENDERS], *among[CONTENDERS];
  exchange each[CONTENDERS];
  rg_group all;
} field;

static exchange *add(field *f, const char *name, const char *among) {
  exchange *e = &f->each[f->n];
  if (f->n)
    *e = f->each[0];
  f->name[f->n] = name;
  f->among[f->n++] = among;
  return e;
}

static void add_across(field *f) {
  const rg_inter_view *v = &bench_all.view;
  int mine = rg_group_from_comm(v->global, &f->all) == RG_SUCCESS, all;
  f->each[0].comm = v->global;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_LAND, bench_all.comm);
  if (all)
    add(f, "rg_send", "global")->group = f->all;
  exchange *e = add(f, bench_job_contender(), "inter");
  e->comm = v->benchmark;
  if (e->partner >= 0)
    e->to = v->is_initiator ? e->partner - v->initiator_size : e->partner;
}

static int begin_field(field *f, const bench_place *place, exchange_kind kind, int bytes) {
  int inter = bench_all.view.is_inter;
  *f = (field){.n = 0};
  if (!begin(add(f, inter ? "MPI global" : "MPI", inter ? "global" : NULL), place, kind, bytes))
    return 0;
  if (inter)
    add_across(f);
  else
    add(f, "rg_send", NULL)->group = place->group;
  return 1;
}

static int measure(const bench_place *place, exchange_kind kind, int bytes, const bench_plan *plan,
                   bench_report *report) {
  const bench_plan few = {.reps = 3, .seconds = 1e6};
  bench_contender list[CONTENDERS];
  bench_measured measured[CONTENDERS] = {0}, unused[CONTENDERS];
  field f;
  int first = report->rows;
  if (!begin_field(&f, place, kind, bytes))
    MPI_Abort(MPI_COMM_WORLD, RGP_FAILED);
  for (int i = 0; i < f.n; i++)
    list[i] = (bench_contender){.name = f.name[i],
                                .takes_part = f.each[i].partner >= 0,
                                .run = run_exchange,
                                .context = &f.each[i],
                                .batch = f.each[i].rounds * (kind == PINGPONG ? 2 : WINDOW)};
  int good = bench_measure(bench_all.comm, plan, f.n, list, measured);
  for (int i = 0; i < f.n && good; i++) {
    good = bench_report_add(report, bytes, f.name[i], &measured[i]);
    report->row[report->rows - 1].among = f.among[i];
    list[i].run = run_clean;
    list[i].finish = verify;
  }
  bench_report_place(report, first, kind_names[kind],
                     bench_all.view.is_inter ? bench_all.ranks : place->ranks);
  if (good && bench_given.verify)
    good = bench_measure(bench_all.comm, &few, f.n, list, unused);
  end(&f.each[0]);
  rg_group_free(&f.all);
  return good;
}

static void tell(bench_report *report) {
  const char *who = given.pairing[0] == ENDS ? "the first and the last rank" : "neighbours";
  char where[64];
  report->x_name = report->x_key = "bytes";
  report->rates = 1;
  json_object_set_new(report->facts, "pairs", json_string(given.pairs));
  json_object_set_new(report->facts, "verified", json_boolean(bench_given.verify));
  bench_job_describe(report->ranks, where);
  if (bench_all.view.is_inter)
    snprintf(report->title, sizeof report->title, "Messages%s", where);
  else
    snprintf(report->title, sizeof report->title, "Messages between %s on a job of %d ranks", who,
             report->ranks);
  snprintf(report->note, sizeof report->note,
           "pingpong: half the time there and back; stream: the time for each message%s",
           bench_all.view.is_inter ? "; all go from one group to the other" : "");
}

static int run(bench_report *report, rgp_progress *progress) {
  double deadline = rgp_now() + bench_given.time_limit;
  int all = given.places_n * given.kinds_n * given.sizes_n, good = 1;
  tell(report);
  for (int i = 0; i < all && good; i++) {
    int at = i / given.sizes_n; /* sizes run fastest, then kinds */
    bench_place place;
    bench_plan plan = bench_plan_for(i, all, WARMUP, deadline, progress);
    if (bench_place_begin(&place, given.place[at / given.kinds_n]))
      MPI_Abort(MPI_COMM_WORLD, RGP_FAILED);
    good = measure(&place, (exchange_kind)given.kind[at % given.kinds_n],
                   given.size[i % given.sizes_n], &plan, report);
    bench_place_end(&place);
  }
  return good;
}

const bench_command bench_p2p = {
    .name = "p2p",
    .summary = "Messages from rank to rank, there and back and in a stream, against MPI's.",
    .options = options,
    .pictured = 1,
    .between = 1,
    .check = check,
    .run = run};
