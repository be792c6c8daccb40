/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1
 * Structs that may grow, against shorter and longer ones of programs. */
#include <regroup.h>
#include <stdint.h>
#include <string.h>

#include "base/sized.h"
#include "tests/check/check.h"

typedef struct {
  size_t size;
  int64_t a;
} shorter;

typedef struct {
  size_t size;
  int64_t a, b;
} present;

typedef struct {
  size_t size;
  int64_t a, b, c;
} longer;

static void test_take(void) {
  present own;
  memset(&own, 0xff, sizeof own);
  RGT_OK(rgi_sized_take(&own, sizeof own, &(shorter){sizeof(shorter), 5}, "f: x"));
  RGT_INT(own.a, 5);
  RGT_INT(own.b, 0);
  RGT_INT(own.size, sizeof own);
  RGT_OK(rgi_sized_take(&own, sizeof own, &(longer){sizeof(longer), 6, 7, 0}, "f: x"));
  RGT_INT(own.a, 6);
  RGT_INT(own.b, 7);
  RGT_FAILS(rgi_sized_take(&own, sizeof own, &(longer){sizeof(longer), 6, 7, 8}, "f: x"),
            RG_ERR_UNSUPPORTED);
  RGT_FAILS(rgi_sized_take(&own, sizeof own, NULL, "f: x"), RG_ERR_ARG);
  RGT_FAILS(rgi_sized_take(&own, sizeof own, &(present){0, 1, 2}, "f: x"), RG_ERR_ARG);
  RGT_FAILS(rgi_sized_take(&own, sizeof own, &(present){(size_t)-1, 1, 2}, "f: x"), RG_ERR_ARG);
}

static void test_give(void) {
  struct {
    shorter given;
    int64_t behind;
  } s = {{sizeof(shorter), 1}, 99};
  longer l = {sizeof l, 1, 2, 3};
  const present own = {sizeof own, 5, 6};
  RGT_OK(rgi_sized_give(&s.given, &own, sizeof own, "f: x"));
  RGT_INT(s.given.a, 5);
  RGT_INT(s.given.size, sizeof(shorter));
  RGT_INT(s.behind, 99);
  RGT_OK(rgi_sized_give(&l, &own, sizeof own, "f: x"));
  RGT_INT(l.b, 6);
  RGT_INT(l.c, 0);
  RGT_INT(l.size, sizeof l);
  l.size = 3;
  RGT_FAILS(rgi_sized_give(&l, &own, sizeof own, "f: x"), RG_ERR_ARG);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"take", test_take}, {"give", test_give}, {NULL, NULL}};
  return rgt_main(argc, argv, "sized", tests);
}
