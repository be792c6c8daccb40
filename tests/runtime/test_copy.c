/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1
 * rgi_copy_block copies what memcpy copies, and nothing beside it, wherever source and target lie.
 * Numbers are stored once: other processes may write them meanwhile. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "access/patch.h"
#include "base/copy.h"
#include "tests/check/check.h"

enum { ROOM = 16384, MOST = 9000 };

static void test_places(void) {
  static const size_t lengths[] = {0, 1, 63, 64, 2047, 2048, 2049, 2111, 4096, 4099, MOST};
  static const size_t behind[] = {0, 1, 8, 16, 31, 32, 62, 63, 64, 100, 4095};
  char *from = aligned_alloc(4096, ROOM), *to = aligned_alloc(4096, ROOM), *like = malloc(ROOM);
  for (size_t i = 0; i < ROOM; i++)
    from[i] = (char)(i * 7 + i / 251);
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
    for (size_t k = 0; k < sizeof behind / sizeof *behind; k++)
      for (size_t at = 0; at < 70; at += 23) {
        memset(to, 'x', ROOM);
        memset(like, 'x', ROOM);
        rgi_copy_block(to + at + behind[k], from + at, lengths[i]);
        memcpy(like + at + behind[k], from + at, lengths[i]);
        RGT_TRUE(memcmp(to, like, ROOM) == 0);
      }
  free(from);
  free(to);
  free(like);
}

#ifdef __x86_64__
enum { PAGE = 4096, TRAP = 1 << 8 };

/* A page that is written by single instructions, which are counted. */
static struct {
  char *page;
  volatile int stores;
} watched;

static void note_store(int number, siginfo_t *info, void *context) {
  greg_t *flags = &((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL];
  int is_store = number == SIGSEGV;
  if (is_store &&
      ((char *)info->si_addr < watched.page || (char *)info->si_addr >= watched.page + PAGE))
    signal(SIGSEGV, SIG_DFL);
  watched.stores += is_store;
  mprotect(watched.page, PAGE, is_store ? PROT_READ | PROT_WRITE : PROT_READ);
  *flags = is_store ? *flags | TRAP : *flags & ~TRAP;
}

/* rows of so many bytes, the first one at byte `at`. */
static int stores_of(const rgi_strided *rows, size_t at) {
  static const char numbers[256] = "numbers";
  const char *volatile from = numbers; /* the compiler knows nothing of its length */
  struct sigaction watch = {.sa_sigaction = note_store, .sa_flags = SA_SIGINFO}, before[2];
  watched.stores = 0;
  sigaction(SIGSEGV, &watch, &before[0]);
  sigaction(SIGTRAP, &watch, &before[1]);
  mprotect(watched.page, PAGE, PROT_READ);
  if (rows->dims == 1)
    rgi_copy_block(watched.page + at, from, (size_t)rows->extent[0]);
  else
    rgi_patch_put(rows, watched.page + at, from);
  mprotect(watched.page, PAGE, PROT_READ | PROT_WRITE);
  sigaction(SIGSEGV, &before[0], NULL);
  sigaction(SIGTRAP, &before[1], NULL);
  return watched.stores;
}

static void test_stored_once(void) {
  watched.page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (int64_t bytes = 1; bytes <= 8; bytes *= 2)
    for (int64_t rows = 1; rows <= 5; rows += 2) {
      rgi_strided numbers = {.dims = rows == 1 ? 1 : 2,
                             .extent = {bytes, rows},
                             .target_stride = {1, 3 * bytes},
                             .origin_stride = {1, bytes}};
      RGT_INT(stores_of(&numbers, 64), rows);
      RGT_INT(memcmp(watched.page + 64, "numbers", (size_t)bytes), 0);
    }
  munmap(watched.page, PAGE);
}
#endif

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"places", test_places},
#ifdef __x86_64__
                                   {"stored once", test_stored_once},
#endif
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "copy", tests);
}
