/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1
 * Small blocks of the arena: offsets up to the largest arena, gathering, and the death of a process
 * between any two instructions: it runs in single steps, and whenever it has changed the table,
 * what is there is looked at as the next process would find it. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shm/blocks.h"
#include "shm/pages.h"
#include "tests/check/check.h"

enum { PAGES = 80, LINES = PAGES * RGI_BLOCKS_PAGE_LINES, PIECE = 64 << 10 };

/* What processes share. owned: by line, whether it is in no block that may be handed out. */
typedef struct {
  rgi_blocks_table table;
  unsigned char owned[LINES];
  _Alignas(RGI_PAGE) char memory[PAGES * RGI_PAGE];
} world;

static rgi_blocks blocks_of(world *w) {
  return (rgi_blocks){w->memory, &w->table};
}

static void own(world *w, uint64_t at, size_t bytes, int owned) {
  memset(w->owned + at / RGI_LINE, owned, bytes / RGI_LINE);
}

/* The last blocks of the largest arena, which is said to end where the memory does. */
static void test_far(void) {
  enum { N = 1000 };
  world *w = aligned_alloc(RGI_PAGE, sizeof *w);
  memset(w, 0, sizeof *w);
  const uint64_t from = RGI_LINE_REACH - sizeof w->memory;
  const rgi_blocks b = {w->memory - from, &w->table};
  for (int turn = 0; turn < 3; turn++) {
    for (uint64_t i = 1; i <= N; i++)
      rgi_blocks_push(&b, 0, RGI_LINE_REACH - i * RGI_LINE);
    for (uint64_t i = N; i >= 1; i--)
      RGT_TRUE(rgi_blocks_pop(&b, 0) == RGI_LINE_REACH - i * RGI_LINE);
    RGT_INT(rgi_blocks_pop(&b, 0), 0);
  }
  rgi_blocks_set_piece(&b, 3, from, sizeof w->memory);
  for (uint64_t at = from; at < RGI_LINE_REACH; at += 4 * RGI_LINE)
    RGT_TRUE(rgi_blocks_cut(&b, 3) == at);
  RGT_INT(rgi_blocks_cut(&b, 3), 0);
  free(w);
}

/* Hands out all that there is: no line twice, and none that is owned. Returns how many lines. */
static int hand_out_all(world *w, int *wrong) {
  const rgi_blocks b = blocks_of(w);
  int lines = 0;
  for (int c = 0; c < RGI_BLOCKS_CLASSES; c++)
    for (uint64_t at; (at = rgi_blocks_pop(&b, c)) || (at = rgi_blocks_cut(&b, c));)
      for (uint64_t i = 0; i < rgi_blocks_bytes(c) / RGI_LINE; i++, lines++) {
        int out = at / RGI_LINE + i >= LINES;
        *wrong += out || w->owned[at / RGI_LINE + i];
        if (out || lines > LINES)
          return lines;
        w->owned[at / RGI_LINE + i] = 1;
      }
  return lines;
}

/* A block of a class, from a new piece if need be. The first page is not used: 0 is no block. */
static uint64_t take(world *w, int c, uint64_t *pieces) {
  const rgi_blocks b = blocks_of(w);
  uint64_t at = rgi_blocks_pop(&b, c);
  if (!at)
    at = rgi_blocks_cut(&b, c);
  if (!at && *pieces + PIECE <= sizeof w->memory) {
    rgi_blocks_set_piece(&b, c, *pieces, PIECE);
    *pieces += PIECE;
    at = rgi_blocks_cut(&b, c);
  }
  return at;
}

/* Random blocks, some of which are freed: the pages without the others are found, and the rest can
 * still be had. */
static void gather_once(world *w, int keep) {
  const rgi_blocks b = blocks_of(w);
  uint64_t pieces = RGI_PAGE, at, pages = PAGES, want = 0;
  int wrong = 0, rest = 0;
  memset(w, 0, sizeof *w);
  own(w, 0, RGI_PAGE, 1);
  uint64_t held[LINES];
  int class[LINES], n = 0, fails = 0;
  while (fails < 50) {
    int c = (int)(random() % RGI_BLOCKS_CLASSES);
    if (!(at = take(w, c, &pieces))) {
      fails++;
      continue;
    }
    held[n] = at;
    class[n++] = c;
  }
  for (int i = 0; i < n; i++)
    if (random() % 100 < keep)
      own(w, held[i], rgi_blocks_bytes(class[i]), 1);
    else
      rgi_blocks_push(&b, class[i], held[i]);
  own(w, pieces, sizeof w->memory - pieces, 1);
  unsigned char *lines = rgi_blocks_gather(&b, 0, &pages);
  RGT_PTR_NOT_NULL(lines);
  for (uint64_t p = 0; lines && p < PAGES; p++) {
    int owned = 0;
    for (int i = 0; i < RGI_BLOCKS_PAGE_LINES; i++)
      owned += w->owned[p * RGI_BLOCKS_PAGE_LINES + (uint64_t)i];
    want += owned == 0;
    rest += owned ? RGI_BLOCKS_PAGE_LINES - owned : 0;
    wrong += (p < pages && lines[p] == RGI_BLOCKS_PAGE_LINES) != (owned == 0);
    if (!owned)
      own(w, p * RGI_PAGE, RGI_PAGE, 1);
  }
  free(lines);
  RGT_INT(wrong, 0);
  RGT_TRUE(keep || want == pieces / RGI_PAGE - 1);
  pages = PAGES;
  RGT_PTR_NULL(rgi_blocks_gather(&b, 0, &pages)); /* nothing has been freed since */
  RGT_INT(hand_out_all(w, &wrong), rest);
  RGT_INT(wrong, 0);
}

static void test_gather(void) {
  world *w = aligned_alloc(RGI_PAGE, sizeof *w);
  srandom((unsigned)rgt_seed());
  for (int turn = 0; turn < 40; turn++)
    gather_once(w, turn % 4 * 20);
  free(w);
}

/* --- death ------------------------------------------------------------------- */

/* The memory between the two pieces is somebody else's. */
static void work(world *w) {
  const rgi_blocks b = blocks_of(w);
  const uint64_t low = RGI_PAGE, high = low + 2 * PIECE;
  const int c = 20, small = 6;
  uint64_t pages = PAGES, got[4];
  own(w, high, PIECE, 0);
  rgi_blocks_set_piece(&b, c, high, PIECE);
  for (int i = 0; i < 4; i++) {
    got[i] = rgi_blocks_cut(&b, c);
    own(w, got[i], rgi_blocks_bytes(c), 1);
  }
  own(w, low, PIECE, 0);
  rgi_blocks_set_piece(&b, c, low, PIECE);
  for (int i = 0; i < 3; i++) {
    own(w, got[i], rgi_blocks_bytes(c), 0);
    rgi_blocks_push(&b, c, got[i]);
  }
  got[0] = rgi_blocks_split(&b, small);
  own(w, got[0], rgi_blocks_bytes(small), 1);
  got[1] = rgi_blocks_pop(&b, c);
  own(w, got[1], rgi_blocks_bytes(c), 1);
  free(rgi_blocks_gather(&b, 0, &pages));
}

/* As if the process that works had been killed now. */
static int wrong_after_death(const world *w, world *copy) {
  int wrong = 0;
  memcpy(copy, w, sizeof *w);
  hand_out_all(copy, &wrong);
  return wrong;
}

static void test_death(void) {
  world *w = mmap(NULL, sizeof *w, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  world *copy = aligned_alloc(RGI_PAGE, sizeof *copy);
  static rgi_blocks_table seen;
  int status = 0, wrong = 0, changes = 0;
  memset(w->owned, 1, sizeof w->owned);
  pid_t pid = fork();
  if (pid == 0) {
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
      _exit(77);
    raise(SIGSTOP);
    work(w);
    _exit(0);
  }
  while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
    if (memcmp(&seen, &w->table, sizeof seen) != 0) {
      memcpy(&seen, &w->table, sizeof seen);
      wrong += wrong_after_death(w, copy);
      changes++;
    }
    if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) != 0)
      break;
  }
  RGT_TRUE(WIFEXITED(status));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
    fprintf(stderr, "no process can be traced here: deaths are not tested\n");
  } else {
    RGT_INT(WEXITSTATUS(status), 0);
    RGT_INT(wrong, 0);
    RGT_TRUE(changes > 20);
  }
  free(copy);
  munmap(w, sizeof *w);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {
      {"far", test_far}, {"gather", test_gather}, {"death", test_death}, {NULL, NULL}};
  return rgt_main(argc, argv, "blocks", tests);
}
