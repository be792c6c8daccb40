/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What is read of several entries is no picture of one moment, so an acquirer relies only on the
 * words that it has swapped. The end of the reserve needs such a picture: the entries are read
 * twice, and if no word has changed, all of them stood so in between. */
#include "intercomm/reserve_table.h"

#include <string.h>

#include "base/error.h"
#include "base/spare.h"
#include "progress/wait.h"
#include "runtime/runtime.h"
#include "shm/process.h"
#include "shm/revocation.h"

static struct {
  int size, n;
  int outside;                     /* a process that was outside when it was last looked at */
  rgi_reserve_entry *seen, *again; /* as they were read last; for comparison */
} table;

int rgi_reserve_table_open(int size, int n, int spread) {
  table.size = size;
  table.n = n;
  table.outside = rgi_runtime.rank % (size - n);
  table.seen = rgi_spare_alloc_zeroed((size_t)size, sizeof *table.seen);
  table.again = rgi_spare_alloc_zeroed((size_t)size, sizeof *table.again);
  if (!table.seen || !table.again)
    return rgi_error(RG_ERR_NOMEM, "rg_reserve_open: no memory for %d processes", size);
  RGI_TRY(rgi_reserve_entries_open(spread));
  return spread ? RG_SUCCESS : rgi_reserve_table_set(rgi_runtime.rank, RGI_RESERVE_HOLDER);
}

void rgi_reserve_table_close(void) {
  rgi_reserve_entries_close();
  rgi_spare_free(table.seen);
  rgi_spare_free(table.again);
  memset(&table, 0, sizeof table);
}

static int own_part(void) {
  return rgi_reserve_entries_parts() > 1 ? rgi_node.mine : 0;
}

/* --- entries ---------------------------------------------------------------------- */

static rgi_reserve_state state_of(int rank, int64_t word) {
  rgi_reserve_state s = rgi_reserve_word_state(word);
  if (s != RGI_RESERVE_AT_FIRST)
    return s;
  return rank >= table.size - table.n ? RGI_RESERVE_SLEEPING : RGI_RESERVE_WORKING;
}

/* As it was read last. */
static rgi_reserve_state state_seen(int rank) {
  return state_of(rank, table.seen[rank].word);
}

static int acquirer_is_dead(int64_t word) {
  return rgi_process_is_dead(rgi_reserve_word_acquirer(word));
}

/* A node that is lost changes nothing: its processes are dead. */
static int swap_word(int rank, int64_t *word, int64_t next) {
  int error = rgi_reserve_entry_swap(rank, word, next);
  return error == RG_ERR_PROC_FAILED ? RG_SUCCESS : error;
}

/* Replaces what was seen, unless it has changed since. */
static int change_seen(int rank, rgi_reserve_state state, int acquirer) {
  int64_t word = table.seen[rank].word, next = rgi_reserve_word_next(word, state, acquirer);
  RGI_TRY(swap_word(rank, &word, next));
  table.seen[rank].word = word == table.seen[rank].word ? next : word;
  return RG_SUCCESS;
}

/* Swapping a word for itself reads it. */
static int read_word(int rank, int64_t *word) {
  return swap_word(rank, word, *word);
}

int rgi_reserve_table_set(int rank, rgi_reserve_state state) {
  int64_t word = 0, before;
  RGI_TRY(read_word(rank, &word));
  do {
    before = word;
    RGI_TRY(swap_word(rank, &word, rgi_reserve_word_next(word, state, 0)));
  } while (word != before);
  return RG_SUCCESS;
}

int rgi_reserve_table_give_back(int rank, int acquirer) {
  int64_t word = 0;
  RGI_TRY(read_word(rank, &word));
  if (state_of(rank, word) != RGI_RESERVE_ACQUIRED || rgi_reserve_word_acquirer(word) != acquirer)
    return RG_SUCCESS;
  return swap_word(rank, &word, rgi_reserve_word_next(word, RGI_RESERVE_SLEEPING, 0));
}

int rgi_reserve_table_abandoned(uint64_t *number) {
  int rank = rgi_runtime.rank;
  rgi_reserve_entries_read(own_part(), table.seen);
  int acquired = state_seen(rank) == RGI_RESERVE_ACQUIRED;
  *number = acquired ? table.seen[rank].number : 0;
  return (acquired || state_seen(rank) == RGI_RESERVE_CLAIMED) &&
         acquirer_is_dead(table.seen[rank].word);
}

/* --- counting ----------------------------------------------------------------------- */

int rgi_reserve_table_slept(int rank) {
  return rank != rgi_runtime.rank && state_seen(rank) == RGI_RESERVE_SLEEPING &&
         !rgi_process_is_dead(rank);
}

static int count_sleeping(void) {
  int n = 0;
  for (int i = 0; i < table.size; i++)
    n += state_seen(i) == RGI_RESERVE_SLEEPING && !rgi_process_is_dead(i);
  return n;
}

/* Another acquirer may give the process back. */
static int is_claimed(int rank, int64_t word, int acquirer) {
  return state_of(rank, word) == RGI_RESERVE_CLAIMED && !acquirer_is_dead(word) &&
         rgi_reserve_word_acquirer(word) != acquirer;
}

static int count_claimed(int acquirer) {
  int n = 0;
  for (int i = 0; i < table.size; i++)
    n += is_claimed(i, table.seen[i].word, acquirer) && !rgi_process_is_dead(i);
  return n;
}

/* The process was acquired and will sleep again: its acquirer has died, or the operation has been
 * revoked. */
static int comes_back(int rank) {
  const rgi_reserve_entry *e = &table.seen[rank];
  rgi_reserve_state s = state_seen(rank);
  if ((s != RGI_RESERVE_ACQUIRED && s != RGI_RESERVE_CLAIMED) || rgi_process_is_dead(rank))
    return 0;
  return acquirer_is_dead(e->word) ||
         (s == RGI_RESERVE_ACQUIRED && e->number && rgi_revocation_has(e->number));
}

static int count_coming(void) {
  int n = 0;
  for (int i = 0; i < table.size; i++)
    n += comes_back(i);
  return n;
}

int rgi_reserve_table_count(int *sleeping) {
  rgi_process_check_now();
  RGI_TRY(rgi_reserve_entries_read_all(table.seen));
  *sleeping = count_sleeping();
  return RG_SUCCESS;
}

/* --- acquiring ------------------------------------------------------------------------ */

/* *got: the process slept. Waits for another acquirer that has claimed it. */
static int claim_process(int rank, int acquirer, int *got) {
  rgi_wait wait;
  *got = 0;
  rgi_wait_start_unscoped(&wait, "the reserve's directory", rank);
  while (!rgi_process_is_dead(rank)) {
    int64_t *word = &table.seen[rank].word;
    if (is_claimed(rank, *word, acquirer)) {
      RGI_TRY(rgi_wait_more(&wait));
      RGI_TRY(read_word(rank, word));
    } else if (state_seen(rank) == RGI_RESERVE_SLEEPING) {
      RGI_TRY(change_seen(rank, RGI_RESERVE_CLAIMED, acquirer));
      *got =
          state_seen(rank) == RGI_RESERVE_CLAIMED && rgi_reserve_word_acquirer(*word) == acquirer;
      if (*got)
        return RG_SUCCESS;
    } else {
      return RG_SUCCESS;
    }
  }
  return RG_SUCCESS;
}

/* The claimed processes have the state from now on. */
static int settle_claims(const rgi_reserve_table_wish *wish, int found, rgi_reserve_state state) {
  int error = RG_SUCCESS, acquired = state == RGI_RESERVE_ACQUIRED;
  for (int i = 0; i < found; i++) {
    int one = acquired ? rgi_reserve_entry_set_number(wish->ranks[i], wish->number) : RG_SUCCESS;
    if (!one || one == RG_ERR_PROC_FAILED) /* its node is lost */
      one = change_seen(wish->ranks[i], state, acquired ? wish->acquirer : 0);
    error = error ? error : one;
  }
  return error;
}

static int claim_all(rgi_reserve_table_wish *wish, int *found) {
  for (int i = 0, got; i < table.size && *found < wish->n; i++) {
    RGI_TRY(claim_process(i, wish->acquirer, &got));
    if (got)
      wish->ranks[(*found)++] = i;
  }
  return RG_SUCCESS;
}

int rgi_reserve_table_acquire(rgi_reserve_table_wish *wish) {
  int found = 0;
  RGI_TRY(rgi_reserve_table_count(&wish->there));
  wish->coming = count_coming();
  if (wish->there + count_claimed(wish->acquirer) < wish->n)
    return RG_SUCCESS;
  int error = claim_all(wish, &found);
  wish->there = found;
  if (error || found < wish->n) {
    int other = settle_claims(wish, found, RGI_RESERVE_SLEEPING);
    return error ? error : other;
  }
  return settle_claims(wish, found, RGI_RESERVE_ACQUIRED);
}

/* --- the end ------------------------------------------------------------------------------ */

/* As it was read last: the process works, or is about to. */
static int is_outside(int rank) {
  rgi_reserve_state s = state_seen(rank);
  return !rgi_process_is_dead(rank) &&
         (s == RGI_RESERVE_WORKING || s == RGI_RESERVE_CLAIMED || s == RGI_RESERVE_ACQUIRED);
}

static int all_are_inside(void) {
  for (int i = 0; i < table.size; i++)
    if (is_outside(i))
      return 0;
  return 1;
}

/* Asks about the one process that was outside before, and looks for another one only when it is not
 * any more, from its node on: so a look costs a query, while many sleep. */
static int find_outside(int *found) {
  int parts = rgi_reserve_entries_parts(), n;
  int first = parts > 1 ? rgi_node_of(table.outside) : 0;
  RGI_TRY(read_word(table.outside, &table.seen[table.outside].word));
  *found = is_outside(table.outside);
  for (int i = 0; i < parts && !*found; i++) {
    const int *ranks = rgi_reserve_entries_ranks((first + i) % parts, &n);
    RGI_TRY(rgi_reserve_entries_read((first + i) % parts, table.seen));
    for (int k = 0; k < n && !*found; k++)
      if ((*found = is_outside(ranks[k])))
        table.outside = ranks[k];
  }
  return RG_SUCCESS;
}

static int same_words(void) {
  for (int i = 0; i < table.size; i++)
    if (table.seen[i].word != table.again[i].word)
      return 0;
  return 1;
}

int rgi_reserve_table_finished(int *over, int *lost) {
  int found;
  *over = *lost = 0;
  RGI_TRY(find_outside(&found));
  if (found)
    return RG_SUCCESS;
  RGI_TRY(rgi_reserve_entries_read_all(table.seen));
  do {
    memcpy(table.again, table.seen, (size_t)table.size * sizeof *table.seen);
    if (!all_are_inside())
      return RG_SUCCESS;
    RGI_TRY(rgi_reserve_entries_read_all(table.seen));
  } while (!same_words());
  *over = 1;
  *lost = rgi_process_deaths() > 0;
  for (int i = 0; i < table.size; i++)
    *lost &= state_seen(i) != RGI_RESERVE_LEFT;
  return RG_SUCCESS;
}
