/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1
 * rgi_copy_block copies what memcpy copies, and nothing beside it, wherever source and target lie.
 */
#include <stdlib.h>
#include <string.h>

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

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"places", test_places}, {NULL, NULL}};
  return rgt_main(argc, argv, "copy", tests);
}
