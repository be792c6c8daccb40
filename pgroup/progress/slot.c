/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Slots: a hash table of lists in the arena. A process locks a list while it looks for a key or
 * changes the list, and waits for the lock if another process has it; that is why slots are in this
 * room, above shm, which does not wait.
 *
 * The lock names its owner. If the owner has died, the next process takes the lock over. That is
 * safe because a list is whole at every moment: a new slot is filled before one store puts it into
 * the list, and one store takes a slot out. A process killed in between loses at most the memory of
 * one slot.
 *
 * A slot counts for each process of the node how often that is attached. So it is
 * known which of the attached processes have died.
 *
 * A slot that no user uses is freed by any process when the arena is full, although its users are
 * attached and may come back at any moment. They take no lock for that: each group that is formed
 * would take it. A user says in the slot's memory that it does not use it, and before that reads
 * the table's `mark`. A process that frees finds the slot idle, raises the mark, and looks again:
 * at which slots are held, and whether a user has used the slot meanwhile. A user that comes back
 * holds the slot, and then looks at the mark. Both store before they look, sequentially
 * consistent. So the process that frees sees the hold, or, after the hold has ended, the use; or
 * the user sees another mark, and looks for the slot in its list, with the lock. */
#include "progress/slot.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "base/error.h"
#include "progress/wait.h"
#include "shm/arena.h"
#include "shm/node.h"
#include "shm/pages.h"
#include "shm/process.h"

#define BUCKETS 65536

/* Half of the places stay free, so every search ends. */
#define SHORT_PLACES 4096
#define SHORT_MOST (SHORT_PLACES / 2)

typedef struct {
  _Atomic uint32_t owner; /* place of the process that has the lock, plus 1; 0: it is free */
  uint32_t unused;
  uint64_t first;
} slot_bucket;

/* What fills the head's line up. */
#define FEW ((RGI_LINE - 3 * sizeof(uint64_t) - 2 * sizeof(int32_t)) / sizeof(uint16_t))

typedef struct {
  uint64_t next, key, bytes;
  int32_t users;
  _Atomic int32_t kept;   /* it is looked at when the arena is full */
  uint16_t attached[FEW]; /* of a node with so many processes; otherwise behind the memory */
  char memory[];
} slot;

typedef struct {
  _Atomic int64_t kept;  /* slots that are noted */
  _Atomic uint64_t mark; /* changes before one of them is freed */
  _Atomic uint64_t shortages;
  char pad[RGI_LINE - sizeof(int64_t) - 2 * sizeof(uint64_t)];
  _Atomic uint64_t group[SHORT_PLACES]; /* for which there was no memory: a hash table */
  slot_bucket bucket[BUCKETS];
} slot_table;

static slot_table *table;

void rgi_slots_open(void *memory) {
  static rgi_arena_cache cache = {.give_back = rgi_slots_give_back};
  table = memory;
  rgi_arena_add_cache(&cache);
}

size_t rgi_slot_table_bytes(void) {
  return sizeof(slot_table);
}

static slot_bucket *bucket_of(uint64_t key) {
  return &table->bucket[key % BUCKETS];
}

static int take_over_bucket(slot_bucket *b, uint32_t dead) {
  return atomic_compare_exchange_strong(&b->owner, &dead, (uint32_t)rgi_node.me + 1);
}

static int lock_bucket(slot_bucket *b) {
  rgi_wait w;
  uint32_t free = 0;
  if (atomic_compare_exchange_strong(&b->owner, &free, (uint32_t)rgi_node.me + 1))
    return RG_SUCCESS;
  rgi_wait_start_unscoped(&w, "attaching to a group", rgi_node.ranks[free - 1]);
  w.alone = 1; /* the owner needs nothing of this process */
  for (free = 0; !atomic_compare_exchange_weak(&b->owner, &free, (uint32_t)rgi_node.me + 1);
       free = 0) {
    if (free && rgi_process_is_dead(rgi_node.ranks[free - 1]) && take_over_bucket(b, free))
      return RG_SUCCESS;
    RGI_TRY(rgi_wait_more(&w));
  }
  return RG_SUCCESS;
}

static void unlock_bucket(slot_bucket *b) {
  atomic_store(&b->owner, 0);
}

static uint64_t find_slot(const slot_bucket *b, uint64_t key) {
  uint64_t at = b->first;
  while (at && ((slot *)rgi_arena_at(at))->key != key)
    at = ((slot *)rgi_arena_at(at))->next;
  return at;
}

static size_t padded(size_t bytes) {
  return (bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t) * sizeof(uint64_t);
}

/* Of a slot with that memory. */
static size_t slot_bytes(size_t bytes) {
  size_t behind = (size_t)rgi_node.n > FEW ? (size_t)rgi_node.n * sizeof(uint16_t) : 0;
  return sizeof(slot) + padded(bytes) + behind;
}

/* How often each process of the node is attached. */
static uint16_t *attached(slot *s) {
  return (size_t)rgi_node.n > FEW ? (void *)(s->memory + padded(s->bytes)) : s->attached;
}

/* More of them than there is room for count for all groups. */
static int had_shortage(uint64_t group) {
  uint64_t n = group ? atomic_load(&table->shortages) : 0, found = 1;
  for (uint64_t at = group; n && n <= SHORT_MOST && found && found != group; at++)
    found = atomic_load(&table->group[at % SHORT_PLACES]);
  return n > SHORT_MOST || (n && found);
}

static void note_shortage(uint64_t group) {
  if (!group || atomic_fetch_add(&table->shortages, 1) >= SHORT_MOST)
    return;
  for (uint64_t at = group, none = 0;
       !atomic_compare_exchange_strong(&table->group[at % SHORT_PLACES], &none, group); at++)
    none = 0;
}

/* The caller has the list's lock: what is noted here is seen by the next one that has it. */
static int make_slot(slot_bucket *b, const rgi_slot_wanted *w, uint64_t *at) {
  const size_t bytes = w->bytes;
  const int users = w->users;
  if (had_shortage(w->group))
    return rgi_error(RG_ERR_NOMEM, "another member had no memory for the group's flags");
  rgi_arena_purpose purpose = rgi_arena_get_purpose();
  rgi_placement placed = {
      .parts = users, .each = slot_bytes(bytes) / (uint64_t)users, .node = w->nodes};
  int error =
      rgi_arena_alloc_placed(purpose > RGI_ARENA_TELL ? purpose : RGI_ARENA_TELL, "a group's flags",
                             slot_bytes(bytes), w->nodes ? &placed : NULL, at);
  if (error) {
    note_shortage(w->group);
    return error;
  }
  slot *s = rgi_arena_at(*at);
  memset(s, 0, slot_bytes(bytes));
  s->key = w->key;
  s->bytes = bytes;
  s->users = users;
  s->next = b->first;
  b->first = *at;
  return RG_SUCCESS;
}

int rgi_slot_attach_wanted(const rgi_slot_wanted *w, uint64_t *at, void **memory) {
  slot_bucket *b = bucket_of(w->key);
  RGI_TRY(lock_bucket(b));
  uint64_t found = find_slot(b, w->key);
  int error = found ? RG_SUCCESS : make_slot(b, w, &found);
  slot *s = rgi_arena_at(found);
  if (!error && (s->users != w->users || s->bytes != w->bytes))
    error = rgi_error(RG_ERR_MISMATCH, "members of a group disagree about its members");
  if (!error && attached(s)[rgi_node.me] == UINT16_MAX)
    error = rgi_error(RG_ERR_LIMIT, "more than %d handles of one group", UINT16_MAX);
  if (!error)
    attached(s)[rgi_node.me]++;
  unlock_bucket(b);
  if (error)
    return error;
  *at = found;
  *memory = s->memory;
  return RG_SUCCESS;
}

int rgi_slot_attach(uint64_t key, int users, size_t bytes, uint64_t *at, void **memory) {
  rgi_slot_wanted wanted = {key, users, bytes, NULL, 0};
  return rgi_slot_attach_wanted(&wanted, at, memory);
}

static void remove_slot(slot_bucket *b, uint64_t at) {
  uint64_t *link = &b->first;
  while (*link != at)
    link = &((slot *)rgi_arena_at(*link))->next;
  *link = ((slot *)rgi_arena_at(at))->next;
}

static int is_attached(slot *s, int living) {
  for (int i = 0; i < rgi_node.n; i++)
    if (attached(s)[i] && !(living && rgi_process_is_dead(rgi_node.ranks[i])))
      return 1;
  return 0;
}

static int detach_slot(uint64_t at, int living, int (*finished)(const void *memory, int users)) {
  slot *s = rgi_arena_at(at);
  slot_bucket *b = bucket_of(s->key);
  if (lock_bucket(b))
    return 0; /* the slot stays: without the lock the list must not be changed */
  attached(s)[rgi_node.me]--;
  int last = !is_attached(s, living) && finished(s->memory, s->users);
  if (last)
    remove_slot(b, at);
  unlock_bucket(b);
  if (last) {
    atomic_fetch_sub(&table->kept, atomic_load(&s->kept));
    rgi_arena_free_placed(at, slot_bytes(s->bytes));
  }
  return last;
}

int rgi_slot_detach(uint64_t at, int (*finished)(const void *memory, int users)) {
  return detach_slot(at, 0, finished);
}

int rgi_slot_detach_surviving(uint64_t at, int (*finished)(const void *memory, int users)) {
  return detach_slot(at, 1, finished);
}

/* --- what is kept ------------------------------------------------------------------------- */

static const rgi_slot_giving *giving;

void rgi_slots_set_giving(const rgi_slot_giving *g) {
  giving = g;
}

void rgi_slot_note_kept(uint64_t at) {
  slot *s = rgi_arena_at(at);
  if (!atomic_load_explicit(&s->kept, memory_order_relaxed) && !atomic_exchange(&s->kept, 1))
    atomic_fetch_add(&table->kept, 1);
}

uint64_t rgi_slots_mark(void) {
  return atomic_load(&table->mark);
}

static _Atomic uint64_t *held_by(int place) {
  return &rgi_node.processes[place].kept.slot;
}

/* Whether it is in its list, and not another one in the same place. */
static int is_there(uint64_t key, uint64_t at) {
  slot_bucket *b = bucket_of(key);
  if (lock_bucket(b))
    return 0; /* if it is there it stays so: its user is attached */
  int there = find_slot(b, key) == at && attached(rgi_arena_at(at))[rgi_node.me] > 0;
  unlock_bucket(b);
  return there;
}

int rgi_slot_hold(uint64_t key, uint64_t at, uint64_t mark) {
  atomic_store(held_by(rgi_node.me), at);
  if (atomic_load(&table->mark) == mark || is_there(key, at))
    return 1;
  rgi_slot_let_go();
  return 0;
}

void rgi_slot_let_go(void) {
  atomic_store_explicit(held_by(rgi_node.me), 0, memory_order_release);
}

/* The caller may be in the middle of an allocation for a slot, and have a list locked itself; nor
 * may it do anything else while it waits. So it looks a limited number of times. */
static int try_lock_bucket(slot_bucket *b) {
  for (int look = 0; look < 100; look++) {
    uint32_t free = 0;
    if (atomic_compare_exchange_strong(&b->owner, &free, (uint32_t)rgi_node.me + 1))
      return 1;
    if (free == (uint32_t)rgi_node.me + 1)
      return 0;
    sched_yield();
  }
  return 0;
}

static int is_held(uint64_t at) {
  for (int i = 0; i < rgi_node.n; i++)
    if (atomic_load(held_by(i)) == at && !rgi_process_is_dead(rgi_node.ranks[i]))
      return 1;
  return 0;
}

static int free_idle(slot_bucket *b, uint64_t at) {
  slot *s = rgi_arena_at(at);
  uint32_t before = giving->idle(s->memory, s->users);
  if (!before)
    return 0;
  atomic_fetch_add(&table->mark, 1);
  if (is_held(at) || giving->idle(s->memory, s->users) != before)
    return 0;
  remove_slot(b, at);
  atomic_fetch_sub(&table->kept, 1);
  rgi_arena_free_placed(at, slot_bytes(s->bytes));
  return 1;
}

static int give_back_in(slot_bucket *b) {
  int given = 0;
  if (!b->first || !try_lock_bucket(b))
    return 0;
  for (uint64_t at = b->first, next; at; at = next) {
    slot *s = rgi_arena_at(at);
    next = s->next;
    if (atomic_load(&s->kept))
      given += giving->give(s->memory, s->users) + free_idle(b, at);
  }
  unlock_bucket(b);
  return given;
}

int rgi_slots_give_back(void) {
  int given = 0;
  for (int i = 0; i < BUCKETS && giving && atomic_load(&table->kept) > 0; i++)
    given += give_back_in(&table->bucket[i]);
  return given;
}

/* --- what is set aside --------------------------------------------------------------------- */

/* Groups whose flags are there when the arena is full; and of survivors. */
#define GROUPS_TELL 4
#define GROUPS_SURVIVORS 16

/* Rounds of decisions at once, besides one for each four processes. */
#define ROUNDS 16

static size_t at_least(size_t a, size_t b) {
  return a > b ? a : b;
}

static size_t whole_pages(size_t bytes) {
  return (bytes + RGI_PAGE - 1) / RGI_PAGE * RGI_PAGE;
}

/* A proposal lists nodes and dead ranks, 9 bytes for each; a round has a byte for each member. */
void rgi_slot_set_aside(int n, int world, size_t aside[]) {
  size_t flags = whole_pages(RGI_SLOT_HEAD_BYTES + (size_t)n * RGI_SLOT_MEMBER_BYTES);
  size_t round = whole_pages(RGI_SLOT_HEAD_BYTES + (size_t)n * 16 + (size_t)world) +
                 whole_pages(RGI_SLOT_HEAD_BYTES + (size_t)world * 9);
  aside[RGI_ARENA_ANY] = 0;
  aside[RGI_ARENA_TELL] = at_least(GROUPS_TELL * flags, (size_t)128 << 10);
  aside[RGI_ARENA_SURVIVORS] = GROUPS_SURVIVORS * flags;
  aside[RGI_ARENA_DECISION] = ((size_t)n / 4 + ROUNDS) * round;
}
