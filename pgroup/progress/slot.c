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
 * known which of the attached processes have died. */
#include "progress/slot.h"

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
  uint32_t unused;
  uint16_t attached[FEW]; /* of a node with so many processes; otherwise behind the memory */
  char memory[];
} slot;

typedef struct {
  _Atomic uint64_t shortages;
  char pad[RGI_LINE - sizeof(uint64_t)];
  _Atomic uint64_t missed[SHORT_PLACES]; /* keys for which there was no memory: a hash table */
  slot_bucket bucket[BUCKETS];
} slot_table;

static slot_table *table;

void rgi_slots_open(void *memory) {
  table = memory;
}

size_t rgi_slot_table_bytes(void) {
  return sizeof(slot_table);
}

static slot_bucket *bucket_of(uint64_t key) {
  return &table->bucket[key % BUCKETS];
}

static int take_over_bucket(slot_bucket *bucket, uint32_t dead) {
  return atomic_compare_exchange_strong(&bucket->owner, &dead, (uint32_t)rgi_node.me + 1);
}

static int lock_bucket(slot_bucket *bucket) {
  rgi_wait wait;
  uint32_t free = 0;
  if (atomic_compare_exchange_strong(&bucket->owner, &free, (uint32_t)rgi_node.me + 1))
    return RG_SUCCESS;
  rgi_wait_start_unscoped(&wait, "attaching to a group", rgi_node.ranks[free - 1]);
  wait.alone = 1; /* the owner needs nothing of this process */
  for (free = 0; !atomic_compare_exchange_weak(&bucket->owner, &free, (uint32_t)rgi_node.me + 1);
       free = 0) {
    if (free && rgi_process_is_dead(rgi_node.ranks[free - 1]) && take_over_bucket(bucket, free))
      return RG_SUCCESS;
    RGI_TRY(rgi_wait_more(&wait));
  }
  return RG_SUCCESS;
}

static void unlock_bucket(slot_bucket *bucket) {
  atomic_store(&bucket->owner, 0);
}

static uint64_t find_slot(const slot_bucket *bucket, uint64_t key) {
  uint64_t at = bucket->first;
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
static uint16_t *attached(slot *slot) {
  return (size_t)rgi_node.n > FEW ? (void *)(slot->memory + padded(slot->bytes)) : slot->attached;
}

/* More of them than there is room for count for all keys. */
static int had_shortage(uint64_t key) {
  uint64_t n = atomic_load(&table->shortages), found = 1;
  for (uint64_t at = key; n && n <= SHORT_MOST && found && found != key; at++)
    found = atomic_load(&table->missed[at % SHORT_PLACES]);
  return n > SHORT_MOST || (n && found);
}

static void note_shortage(uint64_t key) {
  if (atomic_fetch_add(&table->shortages, 1) >= SHORT_MOST)
    return;
  for (uint64_t at = key, none = 0;
       !atomic_compare_exchange_strong(&table->missed[at % SHORT_PLACES], &none, key); at++)
    none = 0;
}

/* The caller has the list's lock: what is noted here is seen by the next one that has it. */
static int make_slot(slot_bucket *bucket, const rgi_slot_wanted *wanted, uint64_t *at) {
  const size_t bytes = wanted->bytes;
  const int users = wanted->users;
  if (wanted->once && had_shortage(wanted->key))
    return rgi_error(RG_ERR_NOMEM, "another member had no memory for the group's flags; form the "
                                   "group anew (rg_group_dup)");
  rgi_arena_purpose purpose = rgi_arena_get_purpose();
  rgi_placement placed = {
      .parts = users, .each = slot_bytes(bytes) / (uint64_t)users, .node = wanted->nodes};
  int error =
      rgi_arena_alloc_placed(purpose > RGI_ARENA_TELL ? purpose : RGI_ARENA_TELL, "a group's flags",
                             slot_bytes(bytes), wanted->nodes ? &placed : NULL, at);
  if (error) {
    if (wanted->once)
      note_shortage(wanted->key);
    return error;
  }
  slot *s = rgi_arena_at(*at);
  memset(s, 0, slot_bytes(bytes));
  s->key = wanted->key;
  s->bytes = bytes;
  s->users = users;
  s->next = bucket->first;
  bucket->first = *at;
  return RG_SUCCESS;
}

int rgi_slot_attach_wanted(const rgi_slot_wanted *wanted, uint64_t *at, void **memory) {
  slot_bucket *bucket = bucket_of(wanted->key);
  RGI_TRY(lock_bucket(bucket));
  uint64_t found = find_slot(bucket, wanted->key);
  int error = found ? RG_SUCCESS : make_slot(bucket, wanted, &found);
  slot *s = rgi_arena_at(found);
  if (!error && (s->users != wanted->users || s->bytes != wanted->bytes))
    error = rgi_error(RG_ERR_MISMATCH, "members of a group disagree about its members");
  if (!error && attached(s)[rgi_node.me] == UINT16_MAX)
    error = rgi_error(RG_ERR_LIMIT, "more than %d handles of one group", UINT16_MAX);
  if (!error)
    attached(s)[rgi_node.me]++;
  unlock_bucket(bucket);
  if (error)
    return error;
  *at = found;
  *memory = s->memory;
  return RG_SUCCESS;
}

int rgi_slot_attach(uint64_t key, int users, size_t bytes, uint64_t *at, void **memory) {
  rgi_slot_wanted wanted = {.key = key, .users = users, .bytes = bytes};
  return rgi_slot_attach_wanted(&wanted, at, memory);
}

int rgi_slot_attach_found(uint64_t key, uint64_t *at, void **memory) {
  slot_bucket *bucket = bucket_of(key);
  if (!bucket->first || lock_bucket(bucket))
    return 0;
  uint64_t found = find_slot(bucket, key);
  if (found)
    attached(rgi_arena_at(found))[rgi_node.me]++;
  unlock_bucket(bucket);
  if (!found)
    return 0;
  *at = found;
  *memory = ((slot *)rgi_arena_at(found))->memory;
  return 1;
}

static void remove_slot(slot_bucket *bucket, uint64_t at) {
  uint64_t *link = &bucket->first;
  while (*link != at)
    link = &((slot *)rgi_arena_at(*link))->next;
  *link = ((slot *)rgi_arena_at(at))->next;
}

static int is_attached(slot *slot, int living) {
  for (int i = 0; i < rgi_node.n; i++)
    if (attached(slot)[i] && !(living && rgi_process_is_dead(rgi_node.ranks[i])))
      return 1;
  return 0;
}

static int detach_slot(uint64_t at, int living, int (*finished)(const void *memory, int users)) {
  slot *s = rgi_arena_at(at);
  slot_bucket *bucket = bucket_of(s->key);
  if (lock_bucket(bucket))
    return 0; /* the slot stays: without the lock the list must not be changed */
  attached(s)[rgi_node.me]--;
  int last = !is_attached(s, living) && finished(s->memory, s->users);
  if (last)
    remove_slot(bucket, at);
  unlock_bucket(bucket);
  if (last) {
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
