/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Cells. The sender fills a cell and puts it into the receiver's inbox, a stack without locks; the
 * receiver takes the whole stack at once and reverses it. Each process keeps some cells of each
 * size that it has received and sends its own messages in them: so in the steady state only the
 * inboxes are shared.
 *
 * The larger cells that a process keeps are stacks in the arena, from which another process takes
 * all when the arena is full. The owner alone pushes, and pops single cells: a top that is
 * the same twice has not changed meanwhile. Small cells, and one of each larger size, are its own:
 * they are some 80 KiB at most, and the two atomic operations would cost their messages 20 ns.
 *
 * An inbox is one word: the offset of the newest cell in lines, how many lines its cells take, and
 * whether a sender waits for it to be emptied (WANTED). One compare-and-swap changes all three,
 * with release, so that the receiver, whose exchange acquires, sees the cells' contents. The
 * receiver never pops single cells, so the stack has no ABA problem. */
#include "message/message_cell.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/spare.h"
#include "message/message_list.h"
#include "runtime/runtime.h"
#include "shm/node.h"

#define TOP_MASK (((uint64_t)1 << RGI_LINE_BITS) - 1)
#define WANTED_SHIFT 63
#define WANTED ((uint64_t)1 << WANTED_SHIFT)
#define LINES_SHIFT RGI_LINE_BITS
#define LINES_MASK ((WANTED - 1) & ~TOP_MASK)

/* Sizes of cells in lines. */
static const uint32_t sizes[] = {1, 3, 8, 32, 128, RGI_MESSAGE_CELL_MOST / RGI_LINE};
#define SIZES ((int)(sizeof sizes / sizeof *sizes))
#define SMALL_SIZES (SIZES - RGI_NODE_CELLS)
#define KEPT_MOST 64 /* cells of one size */
#define QUOTA_MOST ((size_t)1 << 20)
#define FULL_SECONDS 10e-3

/* An inbox holds no more than the quota, or one cell. */
_Static_assert((QUOTA_MOST + RGI_MESSAGE_CELL_MOST) / RGI_LINE <
                   (uint64_t)1 << (WANTED_SHIFT - LINES_SHIFT),
               "the lines in an inbox fit into its word");

static struct {
  struct {
    rgi_message_cell *own; /* a list; of a larger size one cell */
    int n;
  } kept[SIZES];
  size_t kept_lines, quota; /* quota: bytes */
  double full;              /* until when the arena counts as full; 0: it does not */
} cells;

/* --- cells that are kept --------------------------------------------------------------------- */

static rgi_message_cell *cell_at(uint64_t offset) {
  return rgi_arena_at(offset);
}

static uint64_t offset_of(const rgi_message_cell *cell) {
  return (uint64_t)((const char *)cell - (const char *)rgi_arena_at(0));
}

static _Atomic uint64_t *kept_of(int place, int size) {
  return &rgi_node.processes[place].kept.cells[size - SMALL_SIZES];
}

/* All cells of a size that are not the process's own have been taken by another one. */
static void note_taken(int size) {
  int own = cells.kept[size].own != NULL;
  cells.kept_lines -= (size_t)(cells.kept[size].n - own) * sizes[size];
  cells.kept[size].n = own;
}

static rgi_message_cell *pop_kept(int size) {
  rgi_message_cell *cell = cells.kept[size].own;
  if (cell || size < SMALL_SIZES) {
    cells.kept[size].own = cell ? cell->next : NULL;
    return cell;
  }
  _Atomic uint64_t *top = kept_of(rgi_node.me, size);
  uint64_t old = atomic_load_explicit(top, memory_order_relaxed);
  /* If another process takes the cells meanwhile the exchange fails, and what was read of one is
   * not used. */
  while (old && !atomic_compare_exchange_weak_explicit(top, &old, cell_at(old)->previous,
                                                       memory_order_relaxed, memory_order_relaxed))
    continue;
  if (!old)
    note_taken(size);
  return old ? cell_at(old) : NULL;
}

static void push_kept(int size, rgi_message_cell *cell) {
  if (size < SMALL_SIZES || !cells.kept[size].own) {
    cell->next = cells.kept[size].own;
    cells.kept[size].own = cell;
    return;
  }
  _Atomic uint64_t *top = kept_of(rgi_node.me, size);
  uint64_t old = atomic_load_explicit(top, memory_order_relaxed);
  do {
    if (!old)
      note_taken(size);
    cell->previous = old;
  } while (!atomic_compare_exchange_weak_explicit(top, &old, offset_of(cell), memory_order_release,
                                                  memory_order_relaxed));
}

/* In a full arena: frees what all processes keep of the larger sizes. */
static int give_back_cells(void) {
  int n = 0;
  for (int i = 0; rgi_node.processes && i < rgi_node.n * RGI_NODE_CELLS; i++) {
    int size = SMALL_SIZES + i % RGI_NODE_CELLS;
    uint64_t at =
        atomic_exchange_explicit(kept_of(i / RGI_NODE_CELLS, size), 0, memory_order_acquire);
    for (uint64_t next; at; at = next, n++) {
      next = cell_at(at)->previous;
      rgi_arena_free(at, (size_t)sizes[size] * RGI_LINE);
    }
  }
  return n;
}

void rgi_message_cells_close(void) {
  for (int i = 0; i < SIZES; i++) {
    cells.kept[i].own = NULL;
    cells.kept[i].n = 0;
  }
  cells.kept_lines = 0;
  cells.full = 0;
}

int rgi_message_cells_full(void) {
  return cells.full > 0 && rgi_clock_now() < cells.full;
}

void rgi_message_cells_note_full(int full) {
  if (full || cells.full > 0)
    cells.full = full ? rgi_clock_now() + FULL_SECONDS : 0;
}

void rgi_message_cells_open(void) {
  static rgi_arena_cache cache = {.give_back = give_back_cells};
  rgi_arena_usage usage;
  rgi_arena_add_cache(&cache);
  rgi_message_cells_close(); /* after a death an earlier start leaves cells of its closed arena */
  rgi_arena_get_usage(&usage);
  cells.quota = rgi_message_min(QUOTA_MOST, usage.size / 8 / (size_t)rgi_node.n);
}

size_t rgi_message_cells_quota(void) {
  return cells.quota;
}

/* The smallest size for so many lines. */
static int size_for(size_t lines) {
  int i = 0;
  while (lines > sizes[i])
    i++;
  return i;
}

int rgi_message_cell_take(size_t bytes, rgi_message_cell **cell) {
  size_t lines = (sizeof(rgi_message_cell) + bytes + RGI_LINE - 1) / RGI_LINE;
  uint64_t offset;
  int i = size_for(lines);
  *cell = cells.kept[i].n ? pop_kept(i) : NULL;
  if (*cell) {
    cells.kept[i].n--;
    cells.kept_lines -= sizes[i];
    return RG_SUCCESS;
  }
  lines = sizes[i];
  RGI_TRY(rgi_arena_alloc_brief(rgi_arena_get_purpose(), "a message", lines * RGI_LINE, &offset));
  *cell = rgi_arena_at(offset);
  (*cell)->lines = (uint32_t)lines;
  return RG_SUCCESS;
}

void rgi_message_cell_give(rgi_message_cell *cell) {
  int i = size_for(cell->lines);
  if (!cell->lines) {
    rgi_spare_free(cell);
  } else if (cells.kept[i].n < KEPT_MOST &&
             (cells.kept_lines + cell->lines) * RGI_LINE <= cells.quota &&
             !rgi_arena_is_aside(offset_of(cell))) {
    push_kept(i, cell);
    cells.kept[i].n++;
    cells.kept_lines += cell->lines;
  } else {
    rgi_arena_free(offset_of(cell), (size_t)cell->lines * RGI_LINE);
  }
}

static _Atomic uint64_t *inbox_of(int place) {
  return &rgi_node.processes[place].inbox;
}

/* Rendezvous requests do not count: they are few, and a long message that the receiver waits for
 * must always get through. */
static uint64_t cell_weight(const rgi_message_cell *cell) {
  return cell->kind == RGI_MESSAGE_RTS ? 0 : (uint64_t)cell->lines << LINES_SHIFT;
}

int rgi_message_cell_enqueue(int place, rgi_message_cell *cell) {
  _Atomic uint64_t *inbox = inbox_of(place);
  uint64_t old = atomic_load_explicit(inbox, memory_order_relaxed), new, room, top;
  int enqueued;
  room = (uint64_t)(cells.quota / RGI_LINE) << LINES_SHIFT;
  top = offset_of(cell) / RGI_LINE;
  do {
    uint64_t full = old & LINES_MASK;
    enqueued = !cell_weight(cell) || !full || full + cell_weight(cell) <= room;
    cell->previous = (old & TOP_MASK) * RGI_LINE;
    new = enqueued ? (old & WANTED) | (full + cell_weight(cell)) | top : old | WANTED;
  } while (!atomic_compare_exchange_weak_explicit(inbox, &old, new, memory_order_release,
                                                  memory_order_relaxed));
  if (enqueued)
    rgi_node_ring(place);
  return enqueued;
}

int rgi_message_cells_pending(void) {
  return atomic_load_explicit(inbox_of(rgi_node.me), memory_order_relaxed) != 0;
}

rgi_message_cell *rgi_message_cells_collect(void) {
  if (!rgi_message_cells_pending())
    return NULL;
  uint64_t word = atomic_exchange_explicit(inbox_of(rgi_node.me), 0, memory_order_acquire);
  rgi_message_cell *first = NULL;
  for (uint64_t at = (word & TOP_MASK) * RGI_LINE; at;) {
    rgi_message_cell *cell = rgi_arena_at(at);
    at = cell->previous;
    cell->next = first;
    first = cell;
  }
  for (int i = 0; word & WANTED && i < rgi_node.n; i++)
    if (i != rgi_node.me || rgi_runtime.threads)
      rgi_node_ring(i);
  return first;
}
