/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The groups of the application's communicators, cached on them as an attribute. Unlike
 * rg_comm_group, this is also right where threads first use communicators of the same
 * processes in different orders: rank 0 chooses a number, and broadcasts it, that tells their
 * contexts apart.
 *
 * Calls in which a member need not wait for all others (broadcasts, say) are passed on at first:
 * the members cannot agree in them, since a program may let its root be ahead, and they may be
 * counted differently, since one member may have had an error.
 *
 * At the first other call on a communicator its members agree whether they have the group. A group
 * that one member has no memory for is a group of none: calls are passed on to MPI by all members.
 * If a member has no memory to remember even that, no member does, and the next call tries again.
 * Where a member has not come within RG_TIMEOUT the others have given up an exchange that it may
 * still enter: no later call on the communicator can be made.
 *
 * MPI deletes attributes in an order of its own, and the functions of the application's may call
 * collectives on the communicator. So while a communicator is freed its group is kept here: MPI has
 * deleted the attribute, or must not be asked for it.
 *
 * After an error (members that mean other lengths, say) a group's collectives are no longer usable,
 * but MPI's communicator is. Its members then agree on the call that comes next on all of them: the
 * last one that any of them has come to. From there on they use a new group. A member that is
 * behind has missed the calls before, which have no partner any more: each ends in an error. A
 * member that was in a later call than the one in which another met the error does its call again:
 * it waits for the others there anyway.
 *
 * To ask MPI for the attribute takes longer than a call that has nothing to do. Therefore each
 * thread remembers what it has found last, for as long as no attribute of any communicator is
 * deleted. */
#include <pthread.h>
#include <stdatomic.h>

#include "base/error.h"
#include "base/log.h"
#include "collectives/group/coll_of_group.h"
#include "formation/group.h"
#include "formation/mpi_group.h"
#include "mpi/intercept.h"
#include "mpi/word_exchange.h"

static struct {
  pthread_mutex_t lock;
  _Atomic int key;
  atomic_uint next;     /* a number that no group of this process as rank 0 has had */
  atomic_ulong deleted; /* attributes so far, and 1 */
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER, .key = MPI_KEYVAL_INVALID, .deleted = 1};

/* deleted: of kept, before the thread asked for the group. The library is there from the program's
 * start, so that it may have memory of the first kind, which is found without a call. */
static _Thread_local struct {
  MPI_Comm comm;
  rg_group group;
  unsigned long deleted;
} latest __attribute__((tls_model("initial-exec")));

/* The communicator that this thread frees. group: as its attribute; NULL: it has had none. */
static _Thread_local struct {
  MPI_Comm comm;
  void *group;
  int there; /* the communicator has the attribute */
} leaving = {.comm = MPI_COMM_NULL};

/* Attributes of communicators without a group: of one whose calls are passed on, the first; and of
 * those whose calls end in an error, by its number. */
static char no_group[RG_ERR_INTERNAL + 1];

static int has_group(const void *value) {
  return value &&
         ((const char *)value < no_group || (const char *)value >= no_group + sizeof no_group);
}

/* What a member says at the first call; the least of all members' words holds for all. */
enum { FORGETS, HAS_NO_GROUP, HAS_GROUP };

static void drop_group(void *value) {
  rg_group g = value;
  atomic_fetch_add(&kept.deleted, 1);
  if (has_group(value))
    rg_group_free(&g);
}

static int delete_group(MPI_Comm comm, int key, void *value, void *extra) {
  (void)key, (void)extra;
  if (comm == leaving.comm)
    leaving.there = 0;
  else
    drop_group(value);
  return MPI_SUCCESS;
}

static int key_ready(void) {
  int key = MPI_KEYVAL_INVALID;
  if (kept.key != MPI_KEYVAL_INVALID)
    return 1;
  pthread_mutex_lock(&kept.lock);
  if (kept.key == MPI_KEYVAL_INVALID &&
      PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_group, &key, NULL) == MPI_SUCCESS)
    kept.key = key;
  pthread_mutex_unlock(&kept.lock);
  return kept.key != MPI_KEYVAL_INVALID;
}

/* --- whose calls are passed on in any case ------------------------------------------------- */

/* Where memory lacks, 1: the agreement says so. */
static int is_of_world(MPI_Group mpi) {
  MPI_Group world;
  if (PMPI_Comm_group(rgi_intercept_comm, &world) != MPI_SUCCESS)
    return 1;
  int all = rgi_mpi_group_is_among(mpi, world);
  PMPI_Group_free(&world);
  return all;
}

/* Nothing may be sent on such a communicator: its processes of another world need not have this
 * library. */
static int is_other_comm(MPI_Comm comm) {
  MPI_Group mpi;
  int inter = 1;
  if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter)
    return 1;
  if (PMPI_Comm_group(comm, &mpi) != MPI_SUCCESS)
    return 0; /* no memory: the agreement says so */
  int other = !is_of_world(mpi);
  PMPI_Group_free(&mpi);
  return other;
}

/* --- the first call ---------------------------------------------------------------------- */

static int choose_number(const char *call, MPI_Comm comm, int64_t *number) {
  *number = (int64_t)rgi_runtime.rank << 32 | atomic_fetch_add(&kept.next, 1);
  return rgi_word_exchange_give(call, comm, number);
}

/* The group with the memory that its collectives need. */
static int make_group(MPI_Comm comm, int64_t number, rg_group *g) {
  MPI_Group mpi;
  if (PMPI_Comm_group(comm, &mpi) != MPI_SUCCESS)
    return rgi_error(RG_ERR_NOMEM, "no memory for MPI's group");
  int error = rgi_group_numbered(mpi, (uint64_t)number, g);
  PMPI_Group_free(&mpi);
  RGI_TRY(error);
  if (rgi_intercept_fault.adopt)
    rgi_intercept_fault.adopt(comm, *g);
  error = rgi_coll_attach("collectives", *g);
  if (error)
    rg_group_free(g);
  return error;
}

/* Whether the communicator has the attribute now. To replace its value takes no memory. */
static int remember(MPI_Comm comm, void *value) {
  if (comm == leaving.comm) {
    leaving.group = value;
    return 1;
  }
  return key_ready() && PMPI_Comm_set_attr(comm, kept.key, value) == MPI_SUCCESS;
}

/* The attribute, or NULL. 0: MPI has an error. */
static int recall(MPI_Comm comm, void **value) {
  int flag = 0;
  *value = NULL;
  if (comm == leaving.comm)
    *value = leaving.group;
  else if (kept.key != MPI_KEYVAL_INVALID &&
           PMPI_Comm_get_attr(comm, kept.key, value, &flag) != MPI_SUCCESS)
    return 0;
  else if (!flag)
    *value = NULL;
  return 1;
}

int rgi_intercept_give_group(MPI_Comm comm, rg_group g) {
  void *before;
  if (key_ready() && recall(comm, &before) && has_group(before))
    atomic_fetch_add(&kept.deleted, 1);
  return remember(comm, g);
}

static int say_mine(MPI_Comm comm, int64_t number, rg_group *g) {
  if (!remember(comm, no_group)) {
    rgi_log(RGI_LOG_WARN, "a call is passed on to MPI, which has no memory for an attribute");
    return FORGETS;
  }
  if (make_group(comm, number, g) == RG_SUCCESS)
    return HAS_GROUP;
  rgi_log(RGI_LOG_WARN, "calls on a communicator are passed on to MPI: %s", rg_error_detail());
  return HAS_NO_GROUP;
}

/* This call and all later ones on comm end in the error. */
static void *give_up(MPI_Comm comm, int error) {
  void *mark = no_group + (error <= RG_ERR_INTERNAL ? error : RG_ERR_INTERNAL);
  remember(comm, mark);
  return mark;
}

static void forget(MPI_Comm comm) {
  if (comm == leaving.comm)
    leaving.group = NULL;
  else
    PMPI_Comm_delete_attr(comm, kept.key);
}

/* The group, or in no_group. */
static void *agree_on_group(const char *call, MPI_Comm comm) {
  rg_group g = NULL;
  int64_t number, mine, all;
  int error = choose_number(call, comm, &number);
  if (error)
    return give_up(comm, error);
  all = mine = say_mine(comm, number, &g);
  error = rgi_word_exchange_combine(call, comm, MPI_MIN, &all);
  if (!error && all == HAS_GROUP) {
    remember(comm, g);
    return g;
  }
  if (g)
    rg_group_free(&g);
  if (error)
    return give_up(comm, error);
  if (all == FORGETS && mine != FORGETS)
    forget(comm);
  return no_group;
}

/* --- after an error -------------------------------------------------------------------------- */

/* The error in which the call that begins ends: it is neither served nor passed on. */
static _Thread_local int refused;

static rgi_coll *coll_of(rg_group g) {
  return g->collectives;
}

/* Deaths, time limits and revocations are not mended. */
static int is_mended(int error) {
  return error == RG_ERR_MISMATCH || error == RG_ERR_TRUNCATE || error == RG_ERR_NOMEM;
}

/* A new group in place of one in which an operation has ended in an error. number: of the call that
 * the caller has come to. Or in no_group. */
static void *renew_group(const char *call, MPI_Comm comm, rg_group old, int number) {
  int64_t last = number;
  int error = rgi_word_exchange_combine(call, comm, MPI_MAX, &last);
  void *made = error ? give_up(comm, error) : agree_on_group(call, comm); /* drops the old one */
  if (comm == leaving.comm)
    drop_group(old);
  if (has_group(made))
    coll_of(made)->missed = (int)last - number;
  return made;
}

/* Of numbers of calls, from 1; 0 counts as long ago. */
static int is_before(uint32_t failed, int call) {
  return failed == 0 || (int32_t)(failed - (uint32_t)call) < 0;
}

/* Whether the call on g has no partner. */
static int take_missed(rg_group g) {
  if (coll_of(g)->missed == 0)
    return 0;
  coll_of(g)->missed--;
  return 1;
}

/* The group for the call that begins. If it is the one in which another member has met the error,
 * or an earlier one, it ends in that error: the others need not come to this communicator next. */
static void *group_after_error(const char *call, MPI_Comm comm, void *found) {
  uint32_t failed;
  rg_group g = found;
  if (!is_mended(rgi_coll_error(g, &failed)) || !is_before(failed, *coll_of(g)->sequence + 1))
    return g;
  return renew_group(call, comm, g, *coll_of(g)->sequence);
}

void rgi_intercept_refuse_next(int error) {
  refused = error;
}

int rgi_intercept_refused(rgi_intercept_call call, MPI_Comm comm, int *answer) {
  int error = refused;
  refused = RG_SUCCESS;
  if (error)
    *answer = rgi_intercept_raise(call, comm, error);
  return error != RG_SUCCESS;
}

int rgi_intercept_again(rgi_intercept_call call, MPI_Comm comm, rg_group g, int error, int intact) {
  uint32_t failed;
  latest.comm = MPI_COMM_NULL;
  if (!intact || !is_mended(error) || !is_mended(rgi_coll_error(g, &failed)) || failed == 0 ||
      !is_before(failed, *coll_of(g)->sequence))
    return 0;
  void *fresh = renew_group(rgi_intercept_name(call), comm, g, *coll_of(g)->sequence - 1);
  return !has_group(fresh) || !take_missed(fresh);
}

/* Whether a member may leave the call before another one has come to it. */
static int may_be_ahead(rgi_intercept_call call) {
  return call == RGI_INTERCEPT_BCAST || call == RGI_INTERCEPT_REDUCE ||
         call == RGI_INTERCEPT_GATHER || call == RGI_INTERCEPT_GATHERV ||
         call == RGI_INTERCEPT_SCATTER || call == RGI_INTERCEPT_SCATTERV ||
         call == RGI_INTERCEPT_SCAN || call == RGI_INTERCEPT_EXSCAN;
}

/* In no_group: there is none. */
static void *find_group(rgi_intercept_call call, MPI_Comm comm) {
  void *found = NULL;
  if (comm == MPI_COMM_NULL || (key_ready() && !recall(comm, &found)))
    return no_group;
  if (!found && may_be_ahead(call) && !rgi_word_exchange_has_limit())
    return no_group;
  if (!found && is_other_comm(comm)) {
    remember(comm, no_group);
    return no_group;
  }
  if (!found)
    return agree_on_group(rgi_intercept_name(call), comm);
  if (has_group(found))
    return group_after_error(rgi_intercept_name(call), comm, found);
  if (found != no_group)
    rgi_error((int)((char *)found - no_group),
              "%s: an earlier call on this communicator has ended without all members",
              rgi_intercept_name(call));
  return found;
}

/* NULL: passed on or refused. */
static rg_group group_to_use(rgi_intercept_call call, MPI_Comm comm) {
  void *found = find_group(call, comm);
  refused = has_group(found) ? RG_SUCCESS : (int)((char *)found - no_group);
  if (!has_group(found))
    return NULL;
  if (take_missed(found))
    refused = rgi_error(RG_ERR_MISMATCH,
                        "an earlier call on this communicator has ended in an error, and other "
                        "members are past this one");
  return refused ? NULL : found;
}

/* Not inlined: what it needs would be saved by each call that is answered without it. */
static __attribute__((noinline)) rg_group find_and_remember(rgi_intercept_call call, MPI_Comm comm,
                                                            unsigned long deleted) {
  rg_group g = group_to_use(call, comm);
  if (g) {
    latest.comm = comm;
    latest.group = g;
    latest.deleted = deleted;
  }
  return g;
}

rg_group rgi_intercept_known_group(MPI_Comm comm) {
  unsigned long deleted = atomic_load_explicit(&kept.deleted, memory_order_acquire);
  void *found;
  if (latest.comm == comm && latest.deleted == deleted)
    return latest.group;
  return comm != MPI_COMM_NULL && recall(comm, &found) && has_group(found) ? found : NULL;
}

rg_group rgi_intercept_comm_group(rgi_intercept_call call, MPI_Comm comm) {
  unsigned long deleted = atomic_load_explicit(&kept.deleted, memory_order_acquire);
  if (latest.comm == comm && latest.deleted == deleted)
    return latest.group;
  return find_and_remember(call, comm, deleted);
}

/* --- the last call ------------------------------------------------------------------------- */

typedef int free_fn(MPI_Comm *comm);

/* Where the application refuses that MPI frees the communicator, it keeps its group. */
static void end_leaving(MPI_Comm comm, int freed) {
  void *group = leaving.group;
  leaving.comm = MPI_COMM_NULL;
  if (freed || (group && !leaving.there && !remember(comm, group)))
    drop_group(group);
}

static int leave(MPI_Comm *comm, free_fn *next) {
  MPI_Comm old = comm ? *comm : MPI_COMM_NULL;
  void *found;
  if (old != MPI_COMM_NULL && rgi_intercept_fault.keeps && rgi_intercept_fault.keeps(old)) {
    *comm = MPI_COMM_NULL;
    return MPI_SUCCESS;
  }
  if (old == MPI_COMM_NULL || old == leaving.comm || kept.key == MPI_KEYVAL_INVALID ||
      leaving.comm != MPI_COMM_NULL || !recall(old, &found))
    return next(comm);
  leaving.group = found;
  leaving.there = found != NULL;
  leaving.comm = old;
  int code = next(comm);
  end_leaving(old, code == MPI_SUCCESS);
  return code;
}

/* By both names: a tool behind the library sees the call, and calls the other one. */
RG_API int MPI_Comm_free(MPI_Comm *comm) {
  return leave(comm, RGI_INTERCEPT_NEXT(MPI_Comm_free));
}

RG_API int PMPI_Comm_free(MPI_Comm *comm) {
  return leave(comm, RGI_INTERCEPT_NEXT(PMPI_Comm_free));
}

RG_API int MPI_Comm_disconnect(MPI_Comm *comm) {
  return leave(comm, RGI_INTERCEPT_NEXT(MPI_Comm_disconnect));
}

RG_API int PMPI_Comm_disconnect(MPI_Comm *comm) {
  return leave(comm, RGI_INTERCEPT_NEXT(PMPI_Comm_disconnect));
}
