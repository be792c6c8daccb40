/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Files that are damaged: arrays and checkpoints, also with checksums that are right all the same;
 * and descriptions of machines. */
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arrays.h"
#include "checkpoint/head.h"
#include "draw.h"
#include "file/file.h"
#include "machine/machine.h"
#include "tests/check/check.h"

enum { PATH = 200, LONGEST = 1 << 20 };

/* Of this case, the same on all ranks. */
static void name_file(char path[PATH]) {
  const char *folder = getenv("TMPDIR");
  snprintf(path, PATH, "%s/fuzz-%d-%u", folder ? folder : "/tmp", fuzz.tag, (unsigned)draw_bits());
  MPI_Bcast(path, PATH, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static size_t read_file(const char *path, char *bytes) {
  FILE *f = fopen(path, "rb");
  size_t n = f ? fread(bytes, 1, LONGEST, f) : 0;
  if (f)
    fclose(f);
  return n;
}

static void write_file(const char *path, const char *bytes, size_t n) {
  FILE *f = fopen(path, "wb");
  if (f) {
    FUZZ_TRUE(fwrite(bytes, 1, n, f) == n);
    fclose(f);
  }
}

/* --- damage ------------------------------------------------------------------------- */

/* The header of docs/arrays.md with the checksum that belongs to it. */
static void seal_array(char *bytes, size_t n) {
  enum { HEADER = 96 };
  uint64_t sum = n > HEADER ? rgi_file_hash(bytes, HEADER, RGI_FILE_HASH_START) : 0;
  if (n > HEADER + sizeof sum)
    memcpy(bytes + HEADER, &sum, sizeof sum);
}

static void seal_checkpoint(char *bytes, size_t n) {
  rgi_head_fixed f;
  if (n < sizeof f)
    return;
  memcpy(&f, bytes, sizeof f);
  if (f.words > n || f.state_bytes > n || f.members < 0)
    return;
  size_t body = sizeof f + f.words * sizeof(int64_t) + (f.state_bytes + 7) / 8 * 8 +
                (size_t)f.members * sizeof(rgi_head_segment);
  if (body > n - sizeof(uint64_t))
    return;
  uint64_t sum = rgi_head_hash(bytes, body, RGI_HEAD_HASH_START);
  memcpy(bytes + body, &sum, sizeof sum);
}

/* Rank 0 damages the file, for all. */
static void damage(const char *path, void (*seal)(char *bytes, size_t n)) {
  uint64_t next = draw_bits();
  MPI_Barrier(MPI_COMM_WORLD);
  char *bytes = malloc(LONGEST);
  if (rgt_rank == 0 && bytes) {
    size_t n = read_file(path, bytes);
    draw_damage(bytes, &n);
    if (draw_chance(2))
      seal(bytes, n);
    write_file(path, bytes, n);
  }
  free(bytes);
  draw_start(next, 0, 0);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* --- arrays ------------------------------------------------------------------------- */

static rg_array draw_small(void) {
  rg_array *a = fuzz_out_some(sizeof *a);
  int64_t shape[2] = {1 + draw_below(5), draw_below(5)};
  rg_array_type type = (rg_array_type)draw_below(RG_TYPE_OPAQUE);
  if (FUZZ(rg_array_create_simple(fuzz.g, type, 1 + draw_below(2), shape, a)))
    return NULL;
  FUZZ(rg_array_zero(*a));
  return *a;
}

static void array_file(void) {
  char path[PATH];
  rg_array a = draw_small(), *made = fuzz_out_some(sizeof *made);
  int format = draw_chance(16) ? draw_int() : RG_FILE_NATIVE;
  name_file(path);
  FUZZ(rg_array_save(a,
                     draw_chance(16)   ? NULL
                     : draw_chance(16) ? "/nonexistent/a"
                                       : path,
                     (rg_file_format)format));
  for (int i = 0; i < 4; i++) {
    damage(path, seal_array);
    FUZZ(rg_array_load(a, path));
    if (!FUZZ(rg_array_open(fuzz.g, path, made)))
      FUZZ(rg_array_free(made));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rgt_rank == 0)
    unlink(path);
  FUZZ(rg_array_free(&a));
}

/* --- checkpoints ---------------------------------------------------------------------- */

static void save(const char *path, rg_array a) {
  char *state = fuzz_in(40);
  rg_checkpoint *c = fuzz_out_some(sizeof *c);
  if (!FUZZ(rg_checkpoint_start(fuzz.g, path, 1, &a, state, 40, c)))
    FUZZ(rg_checkpoint_wait(c));
}

static void remove_all(const char *path) {
  static const char *const endings[] = {".0", ".1", ".lock"};
  char name[PATH + 8];
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 3 && rgt_rank == 0; i++) {
    snprintf(name, sizeof name, "%s%s", path, endings[i]);
    unlink(name);
  }
}

static void load(const char *path, rg_array a) {
  int *found = fuzz_out(sizeof *found);
  FUZZ(rg_checkpoint_load(fuzz.g, path, 1, &a, 40, fuzz_in(40), found));
}

static void checkpoint(void) {
  char path[PATH], name[PATH + 8];
  rg_array a = draw_small();
  name_file(path);
  save(path, a);
  for (int i = 0; i < 4; i++) {
    snprintf(name, sizeof name, "%s.%d", path, draw_below(2));
    damage(name, seal_checkpoint);
    load(path, a);
  }
  if (draw_chance(2))
    save(path, a);
  snprintf(name, sizeof name, "%s.lock", path);
  damage(name, seal_array);
  load(path, a);
  remove_all(path);
  FUZZ(rg_array_free(&a));
}

static void checkpoint_arguments(void) {
  static const int64_t wrong[] = {-1, INT64_MIN, 0, 1};
  rg_array a = draw_chance(4) ? NULL : draw_small();
  rg_checkpoint *c = fuzz_out(sizeof *c);
  int64_t n = wrong[draw_below(4)];
  const char *path = draw_chance(3) ? NULL : "/nonexistent/checkpoint";
  void *state = draw_chance(3) ? NULL : fuzz_in(8);
  FUZZ(rg_checkpoint_start(draw_chance(8) ? NULL : fuzz.g, path, n, draw_chance(8) ? NULL : &a,
                           state, 8, c));
  FUZZ(rg_checkpoint_load(draw_chance(8) ? NULL : fuzz.g, path, n, draw_chance(8) ? NULL : &a, 8,
                          state, fuzz_out(sizeof(int))));
  FUZZ(rg_checkpoint_wait(NULL));
  FUZZ(rg_checkpoint_test(NULL, fuzz_out(sizeof(int))));
  FUZZ(rg_checkpoint_due(draw_chance(8) ? NULL : fuzz.g, fuzz_out(sizeof(int))));
  FUZZ(rg_checkpoint_on_signal(draw_chance(2) ? draw_int() : 9, 1));
  FUZZ(rg_array_free(&a));
}

/* --- machines ------------------------------------------------------------------ */

/* Where there is a sanitizer: hwloc forgets some memory of texts that it refuses. */
void __lsan_disable(void) __attribute__((weak));
void __lsan_enable(void) __attribute__((weak));

/* hwloc reads the descriptions; a text that is no file's name is one, too. */
static void machines(void) {
  static const char *const words[] = {"pack:", "[numa]", "l3:1 ", "core:2 ", "pu:1", "numa:2 ",
                                      " ",     ":",      "(",     ")",       NULL};
  char text[300];
  rgi_machine m;
  draw_text(words, text, sizeof text);
  if (__lsan_disable)
    __lsan_disable();
  if (!FUZZ(rgi_machine_open("fuzz", text[0] ? text : ":", &m)))
    rgi_machine_close(&m);
  if (__lsan_enable)
    __lsan_enable();
}

const fuzz_case fuzz_file_cases[] = {{"file_array", array_file, FUZZ_SAME},
                                     {"file_checkpoint", checkpoint, FUZZ_SAME},
                                     {"file_checkpoint_arguments", checkpoint_arguments, FUZZ_SAME},
                                     {"file_machines", machines, FUZZ_LOCAL},
                                     {0}};
