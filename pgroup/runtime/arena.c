/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "runtime/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/error.h"

/* Four sizes for each doubling, from a line up: at most a fifth is wasted. */
#define CLASSES 128
/* Small blocks are cut from pieces of this size. */
#define PIECE ((size_t)64 << 10)

/* A stack of free blocks: the offset of the top in lines (an arena has at most
 * 2^31 of them), and a count that changes with every push so that an old top is
 * never taken for a new one. */
#define TOP_BITS 32
#define TOP_MASK (((uint64_t)1 << TOP_BITS) - 1)

typedef struct {
  uint64_t magic, size;
  pthread_mutex_t growing; /* robust: its owner may die */
  _Atomic uint64_t grown;  /* the segment is handed out up to here */
  _Atomic uint64_t used;
  struct {
    _Atomic uint64_t top;
    _Atomic uint64_t piece, end; /* what is left of the current piece; under growing */
  } class[CLASSES];
} header;

static struct {
  header *base;
  int fd;
  uint64_t roots;
} arena = {.fd = -1};

#define MAGIC 0x7265677261726e61u

void *rgi_arena_at(uint64_t offset) {
  return (char *)arena.base + offset;
}

void *rgi_arena_roots(void) {
  return rgi_arena_at(arena.roots);
}

/* --- sizes ----------------------------------------------------------------- */

/* Class c holds blocks of (4 + c % 4) << (c / 4) quarter lines ... in lines:
 * 1 2 3 4 5 6 7 8 10 12 14 16 20 ... */
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

static uint64_t pop(int c) {
  _Atomic uint64_t *top = &arena.base->class[c].top;
  uint64_t old = atomic_load_explicit(top, memory_order_acquire), next;
  do {
    if (!(old & TOP_MASK))
      return 0;
    /* Another process may take the block and write here meanwhile: then the
     * count has changed and what was read is not used. */
    next = atomic_load_explicit(link_of(old & TOP_MASK), memory_order_relaxed);
  } while (!atomic_compare_exchange_weak_explicit(top, &old, (old & ~TOP_MASK) | (next & TOP_MASK),
                                                  memory_order_acquire, memory_order_acquire));
  return (old & TOP_MASK) * RGI_LINE;
}

static void push(int c, uint64_t offset) {
  _Atomic uint64_t *top = &arena.base->class[c].top;
  uint64_t lines = offset / RGI_LINE, old = atomic_load_explicit(top, memory_order_relaxed);
  do
    atomic_store_explicit(link_of(lines), old & TOP_MASK, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(top, &old,
                                                ((old & ~TOP_MASK) + TOP_MASK + 1) | lines,
                                                memory_order_release, memory_order_relaxed));
}

/* --- growing ----------------------------------------------------------------- */

static int grow(const char *what, size_t bytes, uint64_t *offset) {
  header *h = arena.base;
  uint64_t at = atomic_load(&h->grown);
  if (bytes > h->size - at)
    return rgi_error(RG_ERR_NOMEM,
                     "%s: the node's arena is full (%zu of %zu MiB handed out): set RG_ARENA_SIZE "
                     "higher, or free groups and arrays",
                     what, (size_t)at >> 20, (size_t)h->size >> 20);
  /* Without this a page that cannot be had would be a SIGBUS at its first use. */
  if (fallocate(arena.fd, 0, (off_t)at, (off_t)bytes) != 0)
    return rgi_error(RG_ERR_NOMEM, "%s: the node has no memory for %zu bytes more: %s", what, bytes,
                     strerror(errno));
  atomic_store(&h->grown, at + bytes);
  *offset = at;
  return RG_SUCCESS;
}

/* A block of a small class is cut from a piece, of a large one it is a piece.
 * Whoever dies between two stores leaves at most a piece that nobody uses: so the
 * beginning of a new piece is stored before its end. */
static int grow_class(const char *what, int c, uint64_t *offset) {
  size_t bytes = class_lines(c) * RGI_LINE;
  if (bytes > PIECE / 4)
    return grow(what, bytes, offset);
  _Atomic uint64_t *piece = &arena.base->class[c].piece, *end = &arena.base->class[c].end;
  uint64_t at = atomic_load(piece);
  if (at + bytes > atomic_load(end)) {
    size_t left = arena.base->size - atomic_load(&arena.base->grown);
    size_t cut = left >= bytes && left < PIECE ? left : PIECE;
    RGI_TRY(grow(what, cut, &at));
    atomic_store(piece, at);
    atomic_store(end, at + cut);
  }
  atomic_store(piece, at + bytes);
  *offset = at;
  return RG_SUCCESS;
}

/* When the arena cannot grow: a larger free block is cut up. What is left of it
 * becomes free blocks of other sizes. 0: there is none. */
static uint64_t split(int c) {
  for (int large = c + 1; large < CLASSES; large++) {
    uint64_t got = pop(large);
    size_t rest = class_lines(large) - class_lines(c), at = got + class_lines(c) * RGI_LINE;
    for (int k = large; got && rest; k--)
      for (; class_lines(k) <= rest; rest -= class_lines(k)) {
        push(k, at);
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

int rgi_arena_take(const char *what, size_t bytes, uint64_t *offset) {
  if (bytes > arena.base->size)
    return rgi_error(RG_ERR_NOMEM, "%s: %zu bytes are more than the node's arena of %zu MiB", what,
                     bytes, (size_t)arena.base->size >> 20);
  int c = class_of(bytes), error = RG_SUCCESS;
  uint64_t got = pop(c);
  if (!got) {
    lock_growing();
    got = pop(c);
    if (!got)
      error = grow_class(what, c, &got);
    if (error && (got = split(c)))
      error = RG_SUCCESS;
    pthread_mutex_unlock(&arena.base->growing);
  }
  if (error)
    return error;
  atomic_fetch_add_explicit(&arena.base->used, class_lines(c) * RGI_LINE, memory_order_relaxed);
  *offset = got;
  return RG_SUCCESS;
}

void rgi_arena_give(uint64_t offset, size_t bytes) {
  int c = class_of(bytes);
  atomic_fetch_sub_explicit(&arena.base->used, class_lines(c) * RGI_LINE, memory_order_relaxed);
  push(c, offset);
}

void rgi_arena_ask(rgi_arena_usage *usage) {
  usage->size = arena.base->size;
  usage->grown = atomic_load(&arena.base->grown);
  usage->used = atomic_load(&arena.base->used);
}

/* --- the segment --------------------------------------------------------------- */

/* How the first process's segment is found by the others. */
typedef struct {
  long pid;
  int fd, error;
  uint64_t size;
} invitation;

static int map(size_t bytes) {
  void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, arena.fd, 0);
  if (base == MAP_FAILED)
    return rgi_error(RG_ERR_SYSTEM, "rg_init: the node's arena cannot be mapped (%zu MiB): %s",
                     bytes >> 20, strerror(errno));
  arena.base = base;
  return RG_SUCCESS;
}

static void prepare(size_t bytes, size_t first) {
  header *h = arena.base;
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&h->growing, &attributes);
  pthread_mutexattr_destroy(&attributes);
  h->size = bytes;
  h->grown = first;
  h->magic = MAGIC;
}

/* Beyond the limit of file sizes (ulimit -f) the system would send a signal as
 * well as an error. */
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

static int make(size_t bytes, size_t first) {
  arena.fd = memfd_create("regroup", MFD_CLOEXEC);
  if (arena.fd < 0 || set_size(arena.fd, bytes) != 0 ||
      fallocate(arena.fd, 0, 0, (off_t)first) != 0)
    return rgi_error(RG_ERR_SYSTEM, "rg_init: no shared memory for the node's arena (%zu MiB): %s",
                     bytes >> 20, strerror(errno));
  RGI_TRY(map(bytes));
  prepare(bytes, first);
  return RG_SUCCESS;
}

static int join(const invitation *i) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%ld/fd/%d", i->pid, i->fd);
  arena.fd = open(path, O_RDWR | O_CLOEXEC);
  if (arena.fd < 0)
    return rgi_error(RG_ERR_SYSTEM, "rg_init: the node's arena (%s) cannot be opened: %s", path,
                     strerror(errno));
  RGI_TRY(map(i->size));
  if (arena.base->magic != MAGIC || arena.base->size != i->size)
    return rgi_error(RG_ERR_SYSTEM, "rg_init: %s is not the node's arena", path);
  return RG_SUCCESS;
}

static size_t round_up(size_t bytes, size_t to) {
  return (bytes + to - 1) / to * to;
}

int rgi_arena_open(MPI_Comm node, size_t bytes, size_t roots) {
  invitation i = {.pid = getpid()};
  int rank, error = RG_SUCCESS, worst;
  MPI_Comm_rank(node, &rank);
  arena.roots = round_up(sizeof(header), RGI_LINE);
  size_t first = round_up(arena.roots + roots, PIECE);
  i.size = first + round_up(bytes, PIECE);
  if (rank == 0)
    error = make(i.size, first);
  i.fd = arena.fd;
  i.error = error;
  RGI_TRY_MPI(MPI_Bcast(&i, (int)sizeof i, MPI_BYTE, 0, node));
  if (rank != 0)
    error =
        i.error ? rgi_error(i.error, "rg_init: no shared memory for the node's arena") : join(&i);
  RGI_TRY_MPI(MPI_Allreduce(&error, &worst, 1, MPI_INT, MPI_MAX, node));
  if (worst && !error)
    error = rgi_error(worst, "rg_init: a process of this node could not join the arena");
  if (error)
    rgi_arena_close();
  return error;
}

void rgi_arena_close(void) {
  if (arena.base)
    munmap(arena.base, arena.base->size);
  if (arena.fd >= 0)
    close(arena.fd);
  arena.base = NULL;
  arena.fd = -1;
}
