/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Blocks of up to 16 KiB (SMALL) have one of 28 sizes, classes. Each class has a stack of free
 * blocks in the segment, which any process pops from and pushes to without a lock; the first word
 * of a free block names the next one. The word that holds the top also holds a count of pushes, so
 * that a process that was interrupted between reading the top and replacing it notices any change.
 * A pop acquires and a push releases: what the last owner wrote is visible to the next one. When a
 * stack is empty the process locks `growing` and cuts a block from the class's current piece, or
 * from a new piece of 64 KiB.
 *
 * Larger blocks, and pieces, are pages side by side, which pages.h finds under the same lock.
 * Memory for pages is committed by fallocate before they are handed out (the segment is sparse),
 * and given back by a hole when much is free.
 *
 * The last pages are set aside, a range for each purpose. A block there is whole pages, however
 * small it is, and is never cut into others: so it is known by its place, and what is freed there
 * serves the same purposes again.
 *
 * A process may be killed at any point. The lock is robust: the next process that takes it goes on
 * with the table as it is. Stores are in such an order that at worst some memory stays unused:
 * pages are taken before they are written down as a piece, a piece's beginning is stored before its
 * end, and a block leaves its stack before it is used. */
#include "shm/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "shm/pages.h"

/* Four classes for each doubling, from one line up: at most a fifth of a block is wasted. */
#define SMALL ((size_t)16 << 10)
#define CLASSES 28 /* the last one's blocks are SMALL */
#define PIECE ((size_t)64 << 10)

/* Free pages keep their memory up to so many bytes; above that, ranges of at least RETURNED go back
 * to the system. */
#define AT_HAND ((size_t)64 << 20)
#define RETURNED ((size_t)1 << 20)

/* The top of a stack: its offset in lines (an arena has fewer than 2^36 of them), and a count that
 * changes with every push. */
#define TOP_BITS 36
#define TOP_MASK (((uint64_t)1 << TOP_BITS) - 1)

typedef struct {
  uint64_t number, size; /* drawn for this segment; bytes of all but the heap */
  uint64_t mapped;
  uint64_t first, pages;              /* where blocks begin, and where the table of pages is */
  uint64_t limit[RGI_ARENA_PURPOSES]; /* where the pages end that each purpose may take */
  pthread_mutex_t growing;            /* robust */
  _Atomic uint64_t used;
  struct {
    _Atomic uint64_t top;
    _Atomic uint64_t piece, end; /* the rest of the current piece; under growing */
  } class[CLASSES];
} arena_header;

static struct {
  arena_header *base;
  int fd;
} arena = {.fd = -1};

static _Thread_local rgi_arena_purpose purpose_now;

#define MAGIC 0x7265677261726e61u /* where the system has no random numbers */

static size_t round_up(size_t bytes, size_t to) {
  return (bytes + to - 1) / to * to;
}

#define ROOTS round_up(sizeof(arena_header), RGI_LINE)

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

/* --- sizes ----------------------------------------------------------------- */

/* Lines of a block, by class: 1 2 3 4 5 6 7 8 10 12 14 16 20 ... */
static size_t class_lines(int c) {
  return c < 8 ? (size_t)c + 1 : (size_t)(5 + (c - 8) % 4) << ((c - 8) / 4 + 1);
}

static int class_of(size_t bytes) {
  size_t lines = bytes ? (bytes - 1) / RGI_LINE + 1 : 1;
  if (lines <= 8)
    return (int)lines - 1;
  int shift = 63 - __builtin_clzll((unsigned long long)(lines - 1)) - 2;
  return 8 + 4 * (shift - 1) + (int)((lines - 1) >> shift) - 4;
}

/* --- free blocks ------------------------------------------------------------- */

static _Atomic uint64_t *link_of(uint64_t lines) {
  return rgi_arena_at(lines * RGI_LINE);
}

static uint64_t pop_block(int c) {
  _Atomic uint64_t *top = &arena.base->class[c].top;
  uint64_t old = atomic_load_explicit(top, memory_order_acquire), next;
  do {
    if (!(old & TOP_MASK))
      return 0;
    /* Another process may pop the block and write to it meanwhile: then the exchange fails, and
     * what was read is not used. */
    next = atomic_load_explicit(link_of(old & TOP_MASK), memory_order_relaxed);
  } while (!atomic_compare_exchange_weak_explicit(top, &old, (old & ~TOP_MASK) | (next & TOP_MASK),
                                                  memory_order_acquire, memory_order_acquire));
  return (old & TOP_MASK) * RGI_LINE;
}

static void push_block(int c, uint64_t offset) {
  _Atomic uint64_t *top = &arena.base->class[c].top;
  uint64_t lines = offset / RGI_LINE, old = atomic_load_explicit(top, memory_order_relaxed);
  do
    atomic_store_explicit(link_of(lines), old & TOP_MASK, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(top, &old,
                                                ((old & ~TOP_MASK) + TOP_MASK + 1) | lines,
                                                memory_order_release, memory_order_relaxed));
}

/* --- growing ----------------------------------------------------------------- */

/* Without this a page for which there is no memory would be a SIGBUS at its first use. */
static int commit_memory(const char *what, uint64_t at, size_t bytes) {
  if (fallocate(arena.fd, 0, (off_t)at, (off_t)bytes) != 0)
    return rgi_error(RG_ERR_NOMEM, "%s: the node has no memory for %zu bytes more: %s", what, bytes,
                     strerror(errno));
  return RG_SUCCESS;
}

static rgi_pages *page_table(void) {
  return rgi_arena_at(arena.base->pages);
}

static uint64_t page_at(uint64_t page) {
  return arena.base->first + page * RGI_PAGE;
}

static int back_pages(const char *what, uint64_t first, uint64_t n) {
  for (uint64_t at = first, end = first + n; rgi_pages_bare(page_table(), &at, &end);
       at = end, end = first + n) {
    RGI_TRY(commit_memory(what, page_at(at), (end - at) * RGI_PAGE));
    rgi_pages_back(page_table(), at, end - at);
  }
  return RG_SUCCESS;
}

/* Pages side by side. */
static int alloc_pages(const char *what, uint64_t n, uint64_t *offset) {
  uint64_t first;
  if (!rgi_pages_alloc(page_table(), n, (rgi_pages_range){0, arena.base->limit[RGI_ARENA_ANY]},
                       &first))
    return rgi_error(RG_ERR_NOMEM,
                     "%s: the node's arena is full (%zu of %zu MiB are taken; wanted: %zu bytes in "
                     "one piece): set RG_ARENA_SIZE higher, or free groups and arrays",
                     what, (size_t)(atomic_load(&arena.base->used) >> 20),
                     (size_t)(arena.base->size >> 20), (size_t)n * RGI_PAGE);
  int error = back_pages(what, first, n);
  if (error)
    rgi_pages_free(page_table(), first, n);
  else
    *offset = page_at(first);
  return error;
}

int rgi_arena_is_aside(uint64_t offset) {
  return offset >= page_at(arena.base->limit[RGI_ARENA_ANY]);
}

static void free_pages(uint64_t offset, uint64_t n) {
  uint64_t first = (offset - arena.base->first) / RGI_PAGE;
  rgi_pages_free(page_table(), first, n);
  if (rgi_arena_is_aside(offset) || n * RGI_PAGE < RETURNED ||
      page_table()->spare * RGI_PAGE <= AT_HAND)
    return;
  if (fallocate(arena.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset,
                (off_t)(n * RGI_PAGE)) == 0)
    rgi_pages_unback(page_table(), first, n);
}

/* A piece of PIECE bytes, or a smaller one when there is no room. */
static int alloc_piece(const char *what, size_t bytes, uint64_t *at, size_t *cut) {
  for (*cut = PIECE; alloc_pages(what, *cut / RGI_PAGE, at); *cut /= 2)
    if (*cut / 2 < bytes || *cut / 2 < RGI_PAGE)
      return RG_ERR_NOMEM;
  return RG_SUCCESS;
}

/* The beginning of a new piece is stored before its end: a process killed between the two stores
 * leaves at most one unused piece. */
static int cut_piece(const char *what, int c, uint64_t *offset) {
  size_t bytes = class_lines(c) * RGI_LINE, cut;
  _Atomic uint64_t *piece = &arena.base->class[c].piece, *end = &arena.base->class[c].end;
  uint64_t at = atomic_load(piece);
  if (at + bytes > atomic_load(end)) {
    RGI_TRY(alloc_piece(what, bytes, &at, &cut));
    atomic_store(piece, at);
    atomic_store(end, at + cut);
  }
  atomic_store(piece, at + bytes);
  *offset = at;
  return RG_SUCCESS;
}

/* When there are no pages: cuts a block off a larger free one, and makes free blocks of other
 * classes of the rest. 0: there is none. */
static uint64_t split_block(int c) {
  for (int large = c + 1; large < CLASSES; large++) {
    uint64_t got = pop_block(large);
    size_t rest = class_lines(large) - class_lines(c), at = got + class_lines(c) * RGI_LINE;
    for (int k = large; got && rest; k--)
      for (; class_lines(k) <= rest; rest -= class_lines(k)) {
        push_block(k, at);
        at += class_lines(k) * RGI_LINE;
      }
    if (got)
      return got;
  }
  return 0;
}

static void lock_growing(void) {
  if (pthread_mutex_lock(&arena.base->growing) == EOWNERDEAD)
    pthread_mutex_consistent(&arena.base->growing);
}

static int alloc_small(const char *what, int c, uint64_t *offset) {
  int error = RG_SUCCESS;
  uint64_t got = pop_block(c);
  if (!got) {
    lock_growing();
    got = pop_block(c);
    if (!got)
      error = cut_piece(what, c, &got);
    if (error && (got = split_block(c)))
      error = RG_SUCCESS;
    pthread_mutex_unlock(&arena.base->growing);
  }
  *offset = got;
  return error;
}

static int alloc_large(const char *what, uint64_t n, uint64_t *offset) {
  lock_growing();
  int error = alloc_pages(what, n, offset);
  pthread_mutex_unlock(&arena.base->growing);
  return error;
}

/* Of what is set aside for the purpose and those before it. 0: there is none. */
static int alloc_aside(rgi_arena_purpose purpose, uint64_t n, uint64_t *offset) {
  uint64_t first;
  const rgi_pages_range range = {arena.base->limit[RGI_ARENA_ANY], arena.base->limit[purpose]};
  lock_growing();
  int found = rgi_pages_alloc(page_table(), n, range, &first);
  pthread_mutex_unlock(&arena.base->growing);
  if (found)
    *offset = page_at(first);
  return found;
}

static uint64_t pages_of(size_t bytes) {
  return bytes ? (bytes - 1) / RGI_PAGE + 1 : 1;
}

/* What a block of so many bytes takes up. */
static size_t size_of(size_t bytes) {
  return bytes <= SMALL ? class_lines(class_of(bytes)) * RGI_LINE : pages_of(bytes) * RGI_PAGE;
}

int rgi_arena_alloc_for(rgi_arena_purpose purpose, const char *what, size_t bytes,
                        uint64_t *offset) {
  uint64_t got;
  if (bytes > arena.base->size)
    return rgi_error(RG_ERR_NOMEM,
                     "%s: %zu bytes are more than the node's arena of %zu MiB (RG_ARENA_SIZE)",
                     what, bytes, (size_t)arena.base->size >> 20);
  int error = bytes <= SMALL ? alloc_small(what, class_of(bytes), &got)
                             : alloc_large(what, pages_of(bytes), &got);
  if (error && !alloc_aside(purpose, pages_of(bytes), &got))
    return error;
  atomic_fetch_add_explicit(&arena.base->used, size_of(bytes), memory_order_relaxed);
  *offset = got;
  return RG_SUCCESS;
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
  atomic_fetch_sub_explicit(&arena.base->used, size_of(bytes), memory_order_relaxed);
  if (bytes <= SMALL && !rgi_arena_is_aside(offset)) {
    push_block(class_of(bytes), offset);
    return;
  }
  lock_growing();
  free_pages(offset, pages_of(bytes));
  pthread_mutex_unlock(&arena.base->growing);
}

void rgi_arena_get_usage(rgi_arena_usage *usage) {
  usage->size = arena.base->size;
  usage->grown = page_table()->backed * RGI_PAGE;
  usage->used = atomic_load(&arena.base->used);
}

void *rgi_arena_heap(void) {
  return rgi_arena_at(arena.base->size);
}

size_t rgi_arena_heap_size(void) {
  return arena.base->mapped - arena.base->size;
}

int rgi_arena_heap_commit(const char *what, uint64_t offset, size_t bytes) {
  return commit_memory(what, arena.base->size + offset, bytes);
}

/* --- the segment --------------------------------------------------------------- */

static int map_segment(size_t bytes) {
  void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, arena.fd, 0);
  if (base == MAP_FAILED)
    return rgi_error(RG_ERR_SYSTEM, "rg_init: the node's arena cannot be mapped (%zu MiB): %s",
                     bytes >> 20, strerror(errno));
  arena.base = base;
  return RG_SUCCESS;
}

/* Where the parts of the segment are. */
typedef struct {
  size_t pages, first, aside, end; /* the table; the blocks; those set aside; the heap */
} layout;

static layout layout_of(const rgi_arena_sizes *sizes) {
  layout at = {.pages = round_up(ROOTS + sizes->roots, RGI_LINE)};
  size_t blocks = round_up(sizes->bytes, PIECE), aside = 0;
  for (int i = 0; i < RGI_ARENA_PURPOSES; i++)
    aside += round_up(sizes->aside[i], RGI_PAGE);
  aside = round_up(aside, PIECE);
  at.first = round_up(at.pages + rgi_pages_bytes((blocks + aside) / RGI_PAGE), PIECE);
  at.aside = at.first + blocks;
  at.end = at.aside + aside;
  return at;
}

/* The pages that are set aside have memory already. */
static void prepare_pages(const rgi_arena_sizes *sizes, const layout *at) {
  arena_header *h = arena.base;
  uint64_t limit = (at->aside - at->first) / RGI_PAGE;
  page_table()->count = (at->end - at->first) / RGI_PAGE;
  rgi_pages_back(page_table(), limit, page_table()->count - limit);
  page_table()->spare = page_table()->backed;
  for (int i = 0; i < RGI_ARENA_PURPOSES; i++)
    h->limit[i] = limit += round_up(sizes->aside[i], RGI_PAGE) / RGI_PAGE;
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
  h->mapped = at->end + sizes->heap;
  h->first = at->first;
  h->pages = at->pages;
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

static int make_segment(const rgi_arena_sizes *sizes, const layout *at) {
  size_t bytes = at->end + sizes->heap, aside = at->end - at->aside;
  arena.fd = memfd_create("regroup", MFD_CLOEXEC);
  if (arena.fd < 0 || set_size(arena.fd, bytes) != 0 ||
      fallocate(arena.fd, 0, 0, (off_t)at->first) != 0 ||
      (aside && fallocate(arena.fd, 0, (off_t)at->aside, (off_t)aside) != 0))
    return rgi_error(RG_ERR_SYSTEM, "rg_init: no shared memory for the node's arena (%zu MiB): %s",
                     bytes >> 20, strerror(errno));
  RGI_TRY(map_segment(bytes));
  prepare_segment(sizes, at);
  return RG_SUCCESS;
}

int rgi_arena_join(const rgi_arena_address *i, int fd) {
  struct stat s;
  arena.fd = fd;
  if (fstat(fd, &s) != 0 || (uint64_t)s.st_size != i->mapped)
    return rgi_error(RG_ERR_SYSTEM, "rg_init: what was passed is not the node's arena");
  RGI_TRY(map_segment(i->mapped));
  if (arena.base->number != i->number || arena.base->size != i->size)
    return rgi_error(RG_ERR_SYSTEM, "rg_init: what was mapped is not the node's arena");
  return RG_SUCCESS;
}

int rgi_arena_make(const rgi_arena_sizes *sizes, rgi_arena_address *address) {
  const layout at = layout_of(sizes);
  RGI_TRY(make_segment(sizes, &at));
  *address = (rgi_arena_address){
      .number = arena.base->number, .size = at.end, .mapped = at.end + sizes->heap};
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
