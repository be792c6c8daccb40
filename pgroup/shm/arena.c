/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Blocks of up to 16 KiB are cut from pieces of 64 KiB (blocks.h). Larger blocks, and pieces, are
 * pages side by side, which pages.h finds under the lock `growing`. Memory for pages is added
 * before they are handed out (the segment is sparse), and given back when much is free. For more
 * than a piece both are done without the lock, while the pages are taken: they may last seconds,
 * and others need the lock for their messages.
 *
 * The last pages are set aside, a range for each purpose. A block there is whole pages, however
 * small it is, and is never cut into others: so it is known by its place, and what is freed there
 * serves the same purposes again.
 *
 * A process may be killed at any point. The lock is robust: the next process that takes it goes on
 * with the table as it is. Stores are in such an order that at worst some memory stays unused:
 * pages are taken before they are written down as a piece, and are marked as without memory before
 * it is given back. */
#include "shm/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "shm/backing.h"
#include "shm/blocks.h"
#include "shm/huge.h"
#include "shm/pages.h"

#define SMALL RGI_BLOCKS_LARGEST
#define PIECE ((size_t)64 << 10)

/* Free pages keep their memory up to so many bytes for each process of the node, for these free and
 * allocate at the same time; but from the second process on no more than that part of the arena.
 * Above that, ranges of at least RETURNED go back to the system. */
#define AT_HAND ((size_t)64 << 20)
#define AT_HAND_PART 8
#define RETURNED ((size_t)1 << 20)

/* From so many bytes on a block begins with a huge page. */
#define LARGE (2 * RGI_HUGE)

/* In a full arena all free pages give their memory back, so many bytes at a time under the lock. */
#define DROPPED ((size_t)4 << 20)

/* Bytes in blocks, less those that were freed: what the processes that share a line have added.
 * What one allocates another may free: only the sum of all lines is a number of bytes. */
typedef struct {
  _Alignas(RGI_LINE) _Atomic uint64_t bytes;
} used_line;

#define USED_LINES 64

typedef struct {
  uint64_t number, size;              /* drawn for this segment; bytes of all but the heap */
  uint64_t heap, mapped;              /* where the heap begins and ends */
  uint64_t first, pages;              /* where blocks begin, and where the table of pages is */
  uint64_t at_hand;                   /* bytes of free pages that keep their memory */
  _Atomic uint64_t promised;          /* bytes in promised blocks */
  uint64_t limit[RGI_ARENA_PURPOSES]; /* where the pages end that each purpose may take */
  pthread_mutex_t growing;            /* robust */
  used_line used[USED_LINES];
  rgi_blocks_table blocks;
} arena_header;

static struct {
  arena_header *base;
  int fd;
  int line; /* of `used`: by the process's id, which neighbours have in a row */
} arena = {.fd = -1};

static rgi_arena_cache *caches;

static _Thread_local rgi_arena_purpose purpose_now;

#define MAGIC 0x7265677261726e61u /* where the system has no random numbers */

static size_t round_up(size_t bytes, size_t to) {
  return (bytes + to - 1) / to * to;
}

#define ROOTS rgi_lines_whole(sizeof(arena_header))

void *rgi_arena_at(uint64_t offset) {
  return (char *)arena.base + offset;
}

void *rgi_arena_roots(void) {
  return rgi_arena_at(ROOTS);
}

uint64_t rgi_arena_offset(const void *at) {
  return at ? (uint64_t)((const char *)at - (const char *)arena.base) : 0;
}

int rgi_arena_fd(void) {
  return arena.fd;
}

static void count_used(size_t bytes) {
  atomic_fetch_add_explicit(&arena.base->used[arena.line].bytes, bytes, memory_order_relaxed);
}

static uint64_t sum_used(void) {
  uint64_t sum = 0;
  for (int i = 0; i < USED_LINES; i++)
    sum += atomic_load_explicit(&arena.base->used[i].bytes, memory_order_relaxed);
  return sum > INT64_MAX ? 0 : sum; /* others allocate and free meanwhile */
}

/* --- pages ------------------------------------------------------------------- */

static void lock_growing(void) {
  if (pthread_mutex_lock(&arena.base->growing) == EOWNERDEAD)
    pthread_mutex_consistent(&arena.base->growing);
}

static void unlock_growing(void) {
  pthread_mutex_unlock(&arena.base->growing);
}

/* Without this a page for which there is no memory would be a SIGBUS at its first use. The range
 * has no memory before. */
static int commit_memory(const char *what, uint64_t at, size_t bytes) {
  rgi_huge_touch(rgi_arena_at(at), bytes);
  int code = rgi_backing_add(arena.fd, at, bytes);
  if (!code)
    return RG_SUCCESS;
  rgi_backing_drop(arena.fd, at, bytes);
  return rgi_error(RG_ERR_NOMEM, "%s: the node has no memory for %zu bytes more: %s", what, bytes,
                   strerror(code));
}

static rgi_pages *page_table(void) {
  return rgi_arena_at(arena.base->pages);
}

static uint64_t page_at(uint64_t page) {
  return arena.base->first + page * RGI_PAGE;
}

static uint64_t aside_page(void) {
  return arena.base->limit[RGI_ARENA_ANY];
}

/* The caller holds the lock; for more than a piece it is released meanwhile. */
static int back_pages(const char *what, uint64_t first, uint64_t n) {
  const int release = n * RGI_PAGE > PIECE;
  int error = RG_SUCCESS;
  for (uint64_t at = first, end = first + n; !error && rgi_pages_bare(page_table(), &at, &end);
       at = end, end = first + n) {
    if (release)
      unlock_growing();
    error = commit_memory(what, page_at(at), (end - at) * RGI_PAGE);
    if (release)
      lock_growing();
    if (!error)
      rgi_pages_back(page_table(), at, end - at);
  }
  return error;
}

/* Takes pages side by side. Those of a large object begin with a huge page if there is room. The
 * caller holds the lock. */
static int take_pages(uint64_t n, uint64_t *first) {
  const rgi_pages_range all = {0, aside_page()};
  uint64_t more = n * RGI_PAGE < LARGE ? 0 : RGI_HUGE / RGI_PAGE - 1;
  if (!more || !rgi_pages_alloc(page_table(), n + more, all, first))
    return rgi_pages_alloc(page_table(), n, all, first);
  uint64_t before = (round_up(page_at(*first), RGI_HUGE) - page_at(*first)) / RGI_PAGE;
  if (before)
    rgi_pages_free(page_table(), *first, before);
  if (more > before)
    rgi_pages_free(page_table(), *first + before + n, more - before);
  *first += before;
  return 1;
}

/* The caller holds the lock. Gives memory of pages back to the system; of taken ones without the
 * lock. */
static void drop_pages(uint64_t first, uint64_t n, int taken) {
  rgi_pages_unback(page_table(), first, n);
  if (taken)
    unlock_growing();
  int code = rgi_backing_drop(arena.fd, page_at(first), n * RGI_PAGE);
  if (taken)
    lock_growing();
  if (code)
    rgi_pages_back(page_table(), first, n);
}

/* Pages side by side. placed: NULL, or they are bound while they have no memory. The caller holds
 * the lock; for more than a piece it is released meanwhile. */
static int alloc_pages(const char *what, uint64_t n, const rgi_placement *placed,
                       uint64_t *offset) {
  uint64_t first;
  if (!take_pages(n, &first))
    return rgi_error(RG_ERR_NOMEM,
                     "%s: the node's arena is full (%zu of %zu MiB are taken; wanted: %zu bytes in "
                     "one piece): set RG_ARENA_SIZE higher, or free groups and arrays",
                     what, (size_t)(sum_used() >> 20), (size_t)(arena.base->size >> 20),
                     (size_t)n * RGI_PAGE);
  if (placed) {
    drop_pages(first, n, 1);
    rgi_placement_bind(placed, page_at(first), arena.base);
  }
  int error = back_pages(what, first, n);
  if (error && placed)
    rgi_placement_unbind(page_at(first), n * RGI_PAGE, arena.base);
  if (error)
    rgi_pages_free(page_table(), first, n);
  else
    *offset = page_at(first);
  return error;
}

int rgi_arena_is_aside(uint64_t offset) {
  return offset >= page_at(aside_page());
}

static void free_pages(uint64_t offset, uint64_t n) {
  uint64_t first = (offset - arena.base->first) / RGI_PAGE;
  lock_growing();
  if (!rgi_arena_is_aside(offset) && n * RGI_PAGE >= RETURNED &&
      (page_table()->spare + n) * RGI_PAGE > arena.base->at_hand)
    drop_pages(first, n, 1);
  rgi_pages_free(page_table(), first, n);
  unlock_growing();
}

/* --- small blocks ------------------------------------------------------------ */

static rgi_blocks small_blocks(void) {
  return (rgi_blocks){(char *)arena.base, &arena.base->blocks};
}

/* Cuts a block from a new piece of PIECE bytes, or from a smaller one when there is no room. */
static int cut_new_piece(const char *what, int c, uint64_t *offset) {
  const rgi_blocks blocks = small_blocks();
  uint64_t at;
  size_t bytes = PIECE;
  for (; alloc_pages(what, bytes / RGI_PAGE, NULL, &at); bytes /= 2)
    if (bytes / 2 < rgi_blocks_bytes(c) || bytes / 2 < RGI_PAGE)
      return RG_ERR_NOMEM;
  rgi_blocks_set_piece(&blocks, c, at, bytes);
  *offset = rgi_blocks_cut(&blocks, c);
  return RG_SUCCESS;
}

static int alloc_small(const char *what, int c, uint64_t *offset) {
  const rgi_blocks blocks = small_blocks();
  int error = RG_SUCCESS;
  uint64_t got = rgi_blocks_pop(&blocks, c);
  if (!got) {
    lock_growing();
    got = rgi_blocks_pop(&blocks, c);
    if (!got)
      got = rgi_blocks_cut(&blocks, c);
    if (!got && (error = cut_new_piece(what, c, &got)) && (got = rgi_blocks_split(&blocks, c)))
      error = RG_SUCCESS;
    unlock_growing();
  }
  *offset = got;
  return error;
}

/* --- in a full arena --------------------------------------------------------- */

/* Makes free pages of the small blocks that are free. */
static int gather_pages(void) {
  const rgi_blocks blocks = small_blocks();
  uint64_t n = aside_page();
  int any = 0;
  lock_growing();
  unsigned char *lines = rgi_blocks_gather(&blocks, arena.base->first, &n);
  for (uint64_t at = 0, end; lines && at < n; at = end) {
    for (end = at; end < n && lines[end] == RGI_BLOCKS_PAGE_LINES; end++)
      continue;
    if (end > at)
      rgi_pages_free(page_table(), at, end - at);
    any |= end > at;
    end += end == at;
  }
  unlock_growing();
  free(lines);
  return any;
}

/* Gives the memory of free pages back to the system. */
static int drop_spare(void) {
  int any = 0, found = 1;
  for (uint64_t at = 0, end; found; at = end) {
    lock_growing();
    end = aside_page();
    found = page_table()->spare && rgi_pages_idle(page_table(), &at, &end);
    if (found) {
      end = end - at > DROPPED / RGI_PAGE ? at + DROPPED / RGI_PAGE : end;
      drop_pages(at, end - at, 0);
    }
    unlock_growing();
    any |= found;
  }
  return any;
}

/* All that is kept for later. Returns whether there was any. */
static int give_back_kept(void) {
  int any = 0;
  for (rgi_arena_cache *c = caches; c; c = c->next)
    any |= c->give_back() > 0;
  any |= gather_pages();
  return drop_spare() || any;
}

void rgi_arena_add_cache(rgi_arena_cache *cache) {
  rgi_arena_cache **at = &caches;
  while (*at && *at != cache)
    at = &(*at)->next;
  *at = cache;
}

/* --- blocks ------------------------------------------------------------------ */

static uint64_t pages_of(size_t bytes) {
  return bytes ? (bytes - 1) / RGI_PAGE + 1 : 1;
}

/* From what any purpose may take. */
static int alloc_any(const char *what, size_t bytes, const rgi_placement *placed,
                     uint64_t *offset) {
  if (bytes <= SMALL)
    return alloc_small(what, rgi_blocks_class(bytes), offset);
  lock_growing();
  int error = alloc_pages(what, pages_of(bytes), placed, offset);
  unlock_growing();
  return error;
}

/* Of what is set aside for the purpose and those before it. 0: there is none. */
static int alloc_aside(rgi_arena_purpose purpose, uint64_t n, uint64_t *offset) {
  uint64_t first;
  const rgi_pages_range range = {aside_page(), arena.base->limit[purpose]};
  lock_growing();
  int found = rgi_pages_alloc(page_table(), n, range, &first);
  unlock_growing();
  if (found)
    *offset = page_at(first);
  return found;
}

/* What a block of so many bytes takes up. */
static size_t size_of(size_t bytes) {
  return bytes <= SMALL ? rgi_blocks_bytes(rgi_blocks_class(bytes)) : pages_of(bytes) * RGI_PAGE;
}

/* brief: what is set aside comes before what is kept, which takes a walk through all of it. */
typedef struct {
  rgi_arena_purpose purpose;
  int brief;
  const rgi_placement *placed;
} arena_wish;

static int alloc_block(const arena_wish *wish, const char *what, size_t bytes, uint64_t *offset) {
  uint64_t got;
  if (bytes > arena.base->size)
    return rgi_error(RG_ERR_NOMEM,
                     "%s: %zu bytes are more than the node's arena of %zu MiB (RG_ARENA_SIZE)",
                     what, bytes, (size_t)arena.base->size >> 20);
  int error = alloc_any(what, bytes, wish->placed, &got);
  if (error && wish->brief && alloc_aside(wish->purpose, pages_of(bytes), &got))
    error = RG_SUCCESS;
  if (error && give_back_kept())
    error = alloc_any(what, bytes, wish->placed, &got);
  if (error && !alloc_aside(wish->purpose, pages_of(bytes), &got))
    return error;
  count_used(size_of(bytes));
  *offset = got;
  return RG_SUCCESS;
}

int rgi_arena_alloc_for(rgi_arena_purpose purpose, const char *what, size_t bytes,
                        uint64_t *offset) {
  return alloc_block(&(arena_wish){.purpose = purpose}, what, bytes, offset);
}

int rgi_arena_alloc_brief(rgi_arena_purpose purpose, const char *what, size_t bytes,
                          uint64_t *offset) {
  const arena_wish wish = {.purpose = purpose, .brief = purpose != RGI_ARENA_ANY};
  return alloc_block(&wish, what, bytes, offset);
}

int rgi_arena_alloc_placed(rgi_arena_purpose purpose, const char *what, size_t bytes,
                           const rgi_placement *placed, uint64_t *offset) {
  const arena_wish wish = {purpose, 0, rgi_placement_is_active() ? placed : NULL};
  return alloc_block(&wish, what, bytes, offset);
}

int rgi_arena_alloc(const char *what, size_t bytes, uint64_t *offset) {
  return rgi_arena_alloc_for(RGI_ARENA_ANY, what, bytes, offset);
}

rgi_arena_purpose rgi_arena_set_purpose(rgi_arena_purpose purpose) {
  rgi_arena_purpose before = purpose_now;
  purpose_now = purpose;
  return before;
}

rgi_arena_purpose rgi_arena_get_purpose(void) {
  return purpose_now;
}

void rgi_arena_free(uint64_t offset, size_t bytes) {
  count_used(0 - size_of(bytes));
  const rgi_blocks blocks = small_blocks();
  if (bytes <= SMALL && !rgi_arena_is_aside(offset))
    rgi_blocks_push(&blocks, rgi_blocks_class(bytes), offset);
  else
    free_pages(offset, pages_of(bytes));
}

void rgi_arena_free_placed(uint64_t offset, size_t bytes) {
  if (rgi_placement_is_active() && bytes > SMALL && !rgi_arena_is_aside(offset)) {
    lock_growing();
    drop_pages((offset - arena.base->first) / RGI_PAGE, pages_of(bytes), 1);
    rgi_placement_unbind(offset, bytes, arena.base);
    unlock_growing();
  }
  rgi_arena_free(offset, bytes);
}

/* --- promised blocks ---------------------------------------------------------- */

/* The system counts all memory of the segment; the table knows what is committed. */
static uint64_t count_kept_promises(void) {
  struct stat s;
  uint64_t committed = arena.base->first + page_table()->backed * RGI_PAGE;
  uint64_t all = fstat(arena.fd, &s) == 0 ? (uint64_t)s.st_blocks * 512 : 0;
  return all > committed ? all - committed : 0;
}

/* What there is for promises, as this thread has seen it last. A reading takes some 200 us, and
 * promises that are kept do not change the sum: so it holds for a while. */
#define ROOM_SECONDS 10e-3

static _Thread_local struct {
  double at; /* 0: never */
  uint64_t kept, there;
} room;

static int has_room(uint64_t promised, double seconds) {
  double now = rgi_clock_now();
  if (room.at == 0 || now - room.at > seconds) {
    room.kept = count_kept_promises();
    room.there = rgi_memory_free("");
    room.at = now;
  }
  return promised <= room.kept || promised - room.kept <= room.there;
}

/* Several processes may promise at the same time: each counts its own before it looks. Nothing is
 * refused by an old reading. */
static int promise(const char *what, uint64_t bytes) {
  uint64_t all = atomic_fetch_add(&arena.base->promised, bytes) + bytes;
  if (has_room(all, ROOM_SECONDS) || has_room(all, -1))
    return RG_SUCCESS;
  atomic_fetch_sub(&arena.base->promised, bytes);
  return rgi_error(RG_ERR_LIMIT,
                   "%s: %zu MiB are wanted, and of the node's %zu MiB of free memory %zu MiB are "
                   "promised to windows and MPI_Alloc_mem already",
                   what, (size_t)(bytes >> 20), (size_t)(room.there >> 20),
                   (size_t)((all - room.kept - bytes) >> 20));
}

static int take_bare_pages(const char *what, uint64_t n, uint64_t *offset) {
  uint64_t first;
  lock_growing();
  int taken = n <= page_table()->count && take_pages(n, &first);
  if (taken) {
    uint64_t at = first, end = first + n;
    if (!rgi_pages_bare(page_table(), &at, &end) || at > first || end < first + n)
      drop_pages(first, n, 1);
    *offset = page_at(first);
  }
  unlock_growing();
  return taken ? RG_SUCCESS
               : rgi_error(RG_ERR_NOMEM, "%s: the node's arena has no room for %zu bytes", what,
                           (size_t)n * RGI_PAGE);
}

int rgi_arena_alloc_promised(const char *what, size_t bytes, uint64_t *offset) {
  const uint64_t n = pages_of(bytes);
  RGI_TRY(promise(what, n * RGI_PAGE));
  int error = take_bare_pages(what, n, offset);
  if (error && give_back_kept())
    error = take_bare_pages(what, n, offset);
  if (error)
    atomic_fetch_sub(&arena.base->promised, n * RGI_PAGE);
  else
    count_used(n * RGI_PAGE);
  return error;
}

void rgi_arena_free_promised(uint64_t offset, size_t bytes) {
  const uint64_t n = pages_of(bytes), first = (offset - arena.base->first) / RGI_PAGE;
  count_used(0 - n * RGI_PAGE);
  lock_growing();
  drop_pages(first, n, 1);
  rgi_pages_free(page_table(), first, n);
  unlock_growing();
  atomic_fetch_sub(&arena.base->promised, n * RGI_PAGE);
}

void rgi_arena_get_usage(rgi_arena_usage *usage) {
  usage->size = arena.base->size;
  usage->grown = page_table()->backed * RGI_PAGE;
  usage->used = sum_used();
}

void *rgi_arena_heap(void) {
  return rgi_arena_at(arena.base->heap);
}

size_t rgi_arena_heap_size(void) {
  return arena.base->mapped - arena.base->heap;
}

int rgi_arena_heap_commit(const char *what, uint64_t offset, size_t bytes) {
  const uint64_t at = arena.base->heap + offset;
  int error = commit_memory(what, at, bytes);
  if (error && give_back_kept())
    error = commit_memory(what, at, bytes);
  return error;
}

/* --- the segment --------------------------------------------------------------- */

static int map_segment(size_t bytes) {
  void *base = rgi_huge_map(arena.fd, bytes);
  if (!base)
    return rgi_error(RG_ERR_SYSTEM, "rg_init: the node's arena cannot be mapped (%zu MiB): %s",
                     bytes >> 20, strerror(errno));
  arena.base = base;
  arena.line = getpid() % USED_LINES;
  return RG_SUCCESS;
}

/* Where the parts of the segment are. */
typedef struct {
  size_t pages, first, aside, end; /* the table; the blocks; those set aside */
  size_t heap;
} layout;

static layout layout_of(const rgi_arena_sizes *sizes) {
  layout at = {.pages = rgi_lines_whole(ROOTS + sizes->roots)};
  size_t blocks = round_up(sizes->bytes, PIECE), aside = 0;
  for (int i = 0; i < RGI_ARENA_PURPOSES; i++)
    aside += round_up(sizes->aside[i], RGI_PAGE);
  aside = round_up(aside, PIECE);
  at.first = round_up(at.pages + rgi_pages_bytes((blocks + aside) / RGI_PAGE), PIECE);
  at.aside = at.first + blocks;
  at.end = at.aside + aside;
  at.heap = round_up(at.end, RGI_HUGE);
  return at;
}

/* The pages that are set aside have memory already. */
static void prepare_pages(const rgi_arena_sizes *sizes, const layout *at) {
  arena_header *h = arena.base;
  uint64_t limit = (at->aside - at->first) / RGI_PAGE;
  page_table()->count = (at->end - at->first) / RGI_PAGE;
  rgi_pages_back(page_table(), limit, page_table()->count - limit);
  for (int i = 0; i < RGI_ARENA_PURPOSES; i++)
    h->limit[i] = limit += round_up(sizes->aside[i], RGI_PAGE) / RGI_PAGE;
}

static uint64_t at_hand(const rgi_arena_sizes *sizes) {
  uint64_t all = AT_HAND * (uint64_t)(sizes->processes > 1 ? sizes->processes : 1),
           most = sizes->bytes / AT_HAND_PART;
  all = all < most ? all : most;
  return all < AT_HAND ? AT_HAND : all;
}

static void prepare_segment(const rgi_arena_sizes *sizes, const layout *at) {
  arena_header *h = arena.base;
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&h->growing, &attributes);
  pthread_mutexattr_destroy(&attributes);
  h->size = at->end;
  h->heap = at->heap;
  h->mapped = at->heap + sizes->heap;
  h->first = at->first;
  h->pages = at->pages;
  h->at_hand = at_hand(sizes);
  prepare_pages(sizes, at);
  if (getrandom(&h->number, sizeof h->number, 0) != (ssize_t)sizeof h->number)
    h->number = MAGIC;
}

/* Beyond the limit of file sizes (ulimit -f) the system sends a signal besides the error: it is
 * blocked and removed. */
static int set_size(int fd, size_t bytes) {
  sigset_t signal, before;
  struct timespec none = {0, 0};
  sigemptyset(&signal);
  sigaddset(&signal, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &signal, &before);
  int failed = ftruncate(fd, (off_t)bytes), code = errno;
  if (failed && !sigismember(&before, SIGXFSZ))
    sigtimedwait(&signal, NULL, &none);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  errno = code;
  return failed;
}

/* Nothing looks at a mapped segment without memory. */
static int no_segment(size_t bytes, int code) {
  if (arena.base)
    munmap(arena.base, bytes);
  arena.base = NULL;
  return rgi_error(RG_ERR_SYSTEM, "rg_init: no shared memory for the node's arena (%zu MiB): %s",
                   bytes >> 20, strerror(code));
}

static int make_segment(const rgi_arena_sizes *sizes, const layout *at) {
  size_t bytes = at->heap + sizes->heap, aside = at->end - at->aside;
  arena.fd = memfd_create("regroup", MFD_CLOEXEC);
  int code = arena.fd < 0 || set_size(arena.fd, bytes) != 0 ? errno : 0;
  if (code)
    return no_segment(bytes, code);
  RGI_TRY(map_segment(bytes));
  if (sizes->placed)
    rgi_placement_bind(sizes->placed, ROOTS, arena.base);
  code = rgi_backing_add(arena.fd, 0, at->first);
  if (!code)
    code = rgi_backing_add(arena.fd, at->aside, aside);
  if (code)
    return no_segment(bytes, code);
  prepare_segment(sizes, at);
  return RG_SUCCESS;
}

int rgi_arena_join(const rgi_arena_address *address, int fd) {
  struct stat s;
  arena.fd = fd;
  if (fstat(fd, &s) != 0 || (uint64_t)s.st_size != address->mapped)
    return rgi_error(RG_ERR_SYSTEM, "rg_init: what was passed is not the node's arena");
  RGI_TRY(map_segment(address->mapped));
  if (arena.base->number != address->number || arena.base->size != address->size)
    return rgi_error(RG_ERR_SYSTEM, "rg_init: what was mapped is not the node's arena");
  return RG_SUCCESS;
}

/* So that each offset of a block fits into RGI_LINE_BITS, in lines. */
static int check_size(size_t bytes) {
  if (bytes <= RGI_LINE_REACH)
    return RG_SUCCESS;
  return rgi_error(
      RG_ERR_OPTION,
      "rg_init: the node's arena would take %zu MiB, and at most %zu MiB are possible: "
      "set RG_ARENA_SIZE lower",
      bytes >> 20, (size_t)RGI_LINE_REACH >> 20);
}

int rgi_arena_make(const rgi_arena_sizes *sizes, rgi_arena_address *address) {
  RGI_TRY(check_size(sizes->bytes));
  const layout at = layout_of(sizes);
  RGI_TRY(check_size(at.end));
  RGI_TRY(make_segment(sizes, &at));
  *address = (rgi_arena_address){
      .number = arena.base->number, .size = at.end, .mapped = at.heap + sizes->heap};
  return RG_SUCCESS;
}

int rgi_arena_attach(int fd) {
  struct stat s;
  rgi_arena_close();
  if (fstat(fd, &s) != 0)
    return 0;
  void *base = mmap(NULL, (size_t)s.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (base == MAP_FAILED)
    return 0;
  arena.fd = fd;
  arena.base = base;
  arena.line = getpid() % USED_LINES;
  return 1;
}

void rgi_arena_close(void) {
  if (arena.base)
    munmap(arena.base, arena.base->mapped);
  if (arena.fd >= 0)
    close(arena.fd);
  arena.base = NULL;
  arena.fd = -1;
}
