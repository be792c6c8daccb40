/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The balancer's own state in a process. Ranks are ranks in the balancer's group. */
#ifndef RGI_WALKERS_BALANCER_H
#define RGI_WALKERS_BALANCER_H

#include <regroup/balance.h>
#include <regroup/request.h>

/* A walker without a group. */
typedef struct {
  int64_t id, least, most;
  double left, unit;
  int64_t moved;   /* how often it has gone to another node */
  uint64_t state;  /* a block of the node's arena (on the board), or 0 */
  uint64_t record; /* its place in the vault, or 0: then state and memory are not used */
  void *memory;    /* or memory of this process */
  size_t bytes;    /* of either */
  int ended;       /* it is an outcome */
} rgi_entry;

/* Walkers that wait, the longest first. */
typedef struct {
  rgi_entry *at;
  int count, room;
} rgi_entries;

typedef enum { RGI_NEW, RGI_RUNNING, RGI_DONE, RGI_ENDED, RGI_BROKEN } rgi_stage;

/* The group that the process is in. */
typedef struct {
  rg_group group, own; /* the application's, and the library's with the same members */
  int *ranks;          /* of the members, the leader's first */
  int n, me;
  int lowest, together; /* the lowest rank; whether they are consecutive */
} rgi_crew;

/* What was wrong, at most. */
#define RGI_TEXT 256

/* The walker that the group works on. */
typedef struct {
  int working;
  rg_walker walker;
  rgi_entry entry; /* what is known of it (state and memory unused) */
  double started;
  double left;  /* after the last unit */
  int may;      /* what the application says after the last unit */
  double unit;  /* seconds, at the present size; or RG_UNKNOWN */
  rg_pace pace; /* the leader's */
  int new_size; /* the last unit was the first one on so many processes */
  int skip;     /* units until the members agree again, if they are alike */
  int pending;  /* an error that handing over is to tell, and its text */
  char text[RGI_TEXT];
  int in_unit;      /* a unit is being done: walkers may be added */
  rgi_entries born; /* by this process in this unit */
} rgi_work;

typedef struct {
  rg_outcome *at;
  int count, room;
} rgi_outcomes;

/* A message that is under way. */
typedef struct rgi_letter_out {
  struct rgi_letter_out *next;
  rg_request request;
  int64_t words[];
} rgi_letter_out;

/* A group that has asked to join. */
typedef struct {
  int leader, n;
  int *ranks;
} rgi_joiner;

/* What an idle group is told by its leader. */
enum { RGI_JOIN = 1, RGI_START, RGI_SPLIT, RGI_END };

/* What a part of an idle group is to do. */
typedef struct {
  int64_t ranks;
  int64_t target; /* the leader whose group it joins, or -1 */
  int64_t stamp;  /* of that group's walker */
  int64_t starts; /* whether it starts this walker */
  int64_t credit; /* that comes with it from another node, or -1 */
  rgi_entry entry;
} rgi_part;

typedef struct {
  rgi_part part; /* what this group's leader has been told to do next */
  int asked;     /* the leader that was asked and has not answered, or -1 */
  int64_t seen;  /* version of the board that was looked at */
  int told;      /* a command is being waited for */
  int n;         /* members of the group to join */
  int *ranks;
  rg_request request;
  int64_t command[2];
  double since; /* when it became idle */
} rgi_idle;

/* What a process tells at the end of a synchronous round. */
typedef struct {
  rg_load load; /* of its group */
  int32_t leader, lowest, born;
  double arrived;
} rgi_told;

/* Records of the vault by their keys. */
typedef struct {
  struct {
    uint64_t key, offset;
  } * at;
  size_t room, count;
  uint64_t head; /* of the node's list, as far as it was read */
} rgi_index;

/* Packed records, one after another. */
typedef struct {
  char *memory;
  size_t bytes, room;
} rgi_copies;

/* Who keeps what this process's walkers are, on another node. */
typedef struct {
  int rank;        /* or -1 */
  int open;        /* copies that have not been answered */
  double last;     /* when one was sent */
  rgi_copies mine; /* what the next one has besides */
} rgi_keeper;

struct rg_balancer_s {
  unsigned magic;
  rgi_stage stage;
  rg_group all;
  int rank, size;
  rg_walker_kind kind;
  rg_balance_options options;
  rg_policy policy;
  int policy_error; /* it was wrong, and is not asked any more */
  char policy_text[RGI_TEXT];
  rgi_entries list; /* as added; the walkers that wait in synchronous balancing */
  rgi_crew crew;
  rgi_work work;
  rgi_idle idle;
  rg_plan plan;
  rg_waiting waiting[64];
  rgi_entry taken[64];
  rgi_part *parts; /* an idle leader's, on the way to its group */
  int group_size;  /* at first */
  rg_load *rows;   /* for the policy; the groups after the last synchronous round */
  int row_count;
  int64_t *row_stamps;
  int place, *place_of; /* on the board */
  struct rgi_board *board;
  struct rgi_nodes *nodes;
  uint64_t slot;
  int64_t stamp; /* counts this process's walkers as a leader */
  rgi_letter_out *out;
  rgi_joiner *joiners;
  int joiner_count, joiner_room;
  /* Synchronous balancing: */
  int units;        /* in this round */
  rg_request round; /* its end */
  rgi_told tells, *told;
  int *leader_of; /* of each rank */
  double merge;
  rgi_outcomes outcomes;
  /* In a job that survives deaths: */
  int survives, filled; /* filled: the vault has all walkers */
  int first_size;       /* of the group at first, and its context */
  uint64_t first_context;
  int *first_rank_of; /* ranks in it of those who are left; NULL: all are */
  int first_rank;     /* this process's */
  rg_group first;     /* that group */
  struct rgi_vault *vault;
  uint64_t vault_slot;
  rgi_index index;
  rgi_keeper keeper;
  int locked; /* this process has the board's lock */
  rg_balance_counts counts;
  int64_t formations;
};

/* --- balancer.c ------------------------------------------------------------------ */
int rgi_balancer_check(const char *call, rg_balancer b);
/* Before beginning: all processes say the same; groups and the order of walkers. */
int rgi_balance_agreement(rg_balancer b);
int rgi_balance_prepare(rg_balancer b);
void rgi_mark(rg_balancer b, rg_span_kind kind);
int rgi_entries_add(rgi_entries *e, const rgi_entry *entry);    /* at the end */
int rgi_entries_insert(rgi_entries *e, const rgi_entry *entry); /* where it belongs */
rgi_entry rgi_entries_take(rgi_entries *e, int at);
void rgi_entries_free(rgi_entries *e);
/* At most so many of them as a policy sees them. */
enum { RGI_SHOWN = 64 };
void rgi_entries_show(const rgi_entry *at, int count, rg_waiting waiting[]);

/* --- ask.c ----------------------------------------------------------------------- */

/* The policy's plan, in b->plan; without it where the policy is wrong. */
int rgi_ask_policy(rg_balancer b, const rg_load_table *table);

/* --- crew.c: groups; all members of the new one call ------------------------------ */

/* Becomes the group of these ranks (copied). */
int rgi_crew_form(rg_balancer b, int n, const int ranks[]);
/* The group that the process is in at first. */
int rgi_crew_first(rg_balancer b);
/* The part of the present group from position `first` on, `n` of them. */
int rgi_crew_part(rg_balancer b, int first, int n);
void rgi_crew_free(rgi_crew *c);
/* After an error: the application's group, if it was revoked, is formed anew. */
int rgi_crew_renew(rg_balancer b);
static inline int rgi_leads(const struct rg_balancer_s *b) {
  return b->crew.me == 0;
}

/* --- work.c: a walker on its group; all members call ------------------------------- */

/* Begins a walker. entry, with its memory (freed here), is the leader's; the others get it.
 * *next: RGI_GO_ON; RGI_FINISH, there is nothing left of it; or RGI_FAIL, it has failed. */
int rgi_work_start(rg_balancer b, const rgi_entry *entry, int *next);
/* The group has changed: the members that do not work on it yet get the state from the
 * leader. */
int rgi_work_hand_over(rg_balancer b);
/* Before the members from position `stay` on leave it: those of the group as it is. An error is
 * told when the others are handed the walker. */
int rgi_work_part(rg_balancer b, int stay);
/* One unit. *next: what the leader decided (it is asked by decide). */
enum { RGI_GO_ON, RGI_FINISH, RGI_MERGE, RGI_RELEASE, RGI_FAIL };
typedef struct {
  int64_t kind, count;
} rgi_decision;
int rgi_work_unit(rg_balancer b, int (*decide)(rg_balancer b, rgi_decision *d), rgi_decision *next);
/* The walker has ended well; or, with an error, fails. The group has none then. */
int rgi_work_finish(rg_balancer b);
int rgi_work_fail(rg_balancer b, int error, int rank, const char *text);
/* This process is no longer among those that work on it. */
void rgi_work_leave(rg_balancer b);

/* --- outcome.c --------------------------------------------------------------------- */
int rgi_outcome_add(rg_balancer b, const rg_outcome *o); /* state and text are copied */
int rgi_outcomes_insert(rgi_outcomes *list, const rg_outcome *o);
void rgi_outcomes_free(rgi_outcomes *o);
int rgi_outcome_report(rg_balancer b); /* rg_balance_end's error; every process */

/* --- wire.c: messages between leaders ---------------------------------------------- */
enum { RGI_TAG_REQUEST = 1, RGI_TAG_ANSWER, RGI_TAG_FAR, RGI_TAG_KEEP, RGI_TAG_KEPT };
int rgi_wire_send(rg_balancer b, int to, int tag, int count, const int64_t words[]);
/* Takes a message if there is one: *words is freed by the caller, NULL if none. */
int rgi_wire_take(rg_balancer b, int tag, int *from, int *count, int64_t **words);
int rgi_wire_reap(rg_balancer b);  /* frees what has gone */
int rgi_wire_flush(rg_balancer b); /* waits for all of it */

/* --- async.c, sync.c ---------------------------------------------------------------- */
int rgi_async_begin(rg_balancer b);
int rgi_async_publish(rg_balancer b); /* the walkers born in this unit, on the board */
int rgi_async_step(rg_balancer b, int wait, int *what);
int rgi_async_end(rg_balancer b);
int rgi_sync_begin(rg_balancer b);
int rgi_sync_step(rg_balancer b, int wait, int *what);

#endif
