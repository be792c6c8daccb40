/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * MA, the memory allocator of Global Arrays' interface.
 *
 * tier: quick
 * ranks: 1 */
#include <macdecls.h>
#include <stdint.h>
#include <string.h>

#include "check.h"

enum { STACK = 1000, HEAP = 500 };

static const struct {
  Integer type;
  long size;
  char *base;
} types[] = {{MT_C_CHAR, 1, ma_cb_char},
             {MT_C_INT, sizeof(int), (char *)ma_cb_int},
             {MT_C_LONGINT, sizeof(long), (char *)ma_cb_long},
             {MT_C_LONGLONG, sizeof(long long), (char *)ma_cb_longlong},
             {MT_C_FLOAT, sizeof(float), (char *)ma_cb_float},
             {MT_C_DBL, sizeof(double), (char *)ma_cb_dbl},
             {MT_C_LDBL, sizeof(long double), (char *)ma_cb_ldbl},
             {MT_C_SCPL, 2 * sizeof(float), (char *)ma_cb_scpl},
             {MT_C_DCPL, 2 * sizeof(double), (char *)ma_cb_dcpl},
             {MT_C_LDCPL, 4 * sizeof(double), (char *)ma_cb_ldcpl}};

static void test_start(void) {
  Integer handle;
  MA_set_error_print(MA_FALSE);
  RGT_INT(MA_initialized(), MA_FALSE);
  RGT_INT(MA_push_stack(MT_DBL, 1, "early", &handle), MA_FALSE);
  RGT_INT(MA_inquire_avail(MT_DBL), 0);
  RGT_INT(MA_init(MT_BASE - 1, 1, 1), MA_FALSE);
  RGT_INT(MA_init(MT_DBL, STACK, HEAP), MA_TRUE);
  RGT_INT(MA_initialized(), MA_TRUE);
  RGT_INT(MA_init(MT_DBL, STACK, HEAP), MA_FALSE);
}

/* Of each type a block whose elements are where index and pointer say. */
static void test_types(void) {
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
    Integer handle = -1;
    MA_AccessIndex index = 0;
    char *data = NULL;
    RGT_INT(MA_push_get(types[i].type, 3, "typed", &handle, &index), MA_TRUE);
    RGT_INT(MA_get_pointer(handle, &data), MA_TRUE);
    RGT_TRUE(data == types[i].base + index * types[i].size);
    RGT_TRUE(MA_get_mbase(types[i].type) == types[i].base);
    RGT_INT(MA_sizeof(types[i].type, 8, MT_CHAR), 8 * types[i].size);
    memset(data, -1, (size_t)(3 * types[i].size));
    RGT_INT(MA_verify_allocator_stuff(), MA_TRUE);
    RGT_INT(MA_pop_stack(handle), MA_TRUE);
  }
  RGT_INT(MA_sizeof(MT_CHAR, 9, MT_DBL), 2);
  RGT_INT(MA_sizeof(MT_F_INT, 1, MT_CHAR), sizeof(Integer));
  RGT_INT(MA_sizeof_overhead(MT_DBL), 0);
}

static void test_room(void) {
  Integer stack, heap, more;
  RGT_INT(MA_inquire_avail(MT_DBL), STACK + HEAP);
  RGT_INT(MA_push_stack(MT_DBL, 300, "stack", &stack), MA_TRUE);
  RGT_INT(MA_allocate_heap(MT_DBL, 100, "heap", &heap), MA_TRUE);
  RGT_INT(MA_inquire_stack(MT_DBL), STACK - 300);
  RGT_INT(MA_inquire_heap(MT_DBL), HEAP - 100);
  RGT_INT(MA_inquire_heap_no_partition(MT_DBL), STACK + HEAP - 400);
  RGT_INT(MA_inquire_stack_no_partition(MT_REAL), 2 * (STACK + HEAP - 400));
  /* The heap takes what the stack has not used. */
  RGT_INT(MA_allocate_heap(MT_DBL, STACK + HEAP - 400, "more", &more), MA_TRUE);
  RGT_INT(MA_inquire_heap(MT_DBL), 0);
  RGT_INT(MA_inquire_stack(MT_DBL), STACK - 300);
  RGT_INT(MA_inquire_stack_check_heap(MT_DBL), 0);
  RGT_INT(MA_push_stack(MT_CHAR, 1, "none left", &more), MA_FALSE);
  RGT_INT(MA_free_heap(more), MA_TRUE);
  RGT_INT(MA_free_heap_piece(heap, 60), MA_TRUE);
  RGT_INT(MA_inquire_heap_check_stack(MT_DBL), HEAP - 40);
  RGT_INT(MA_free_heap_piece(heap, 40), MA_TRUE);
  RGT_INT(MA_pop_stack(stack), MA_TRUE);
  RGT_INT(MA_inquire_avail(MT_DBL), STACK + HEAP);
}

/* The stack's order, and handles of the other part. */
static void test_order(void) {
  Integer handles[4], heap, other, count = 0;
  for (int i = 0; i < 4; i++)
    RGT_INT(MA_push_stack(MT_INT, i, "level", &handles[i]), MA_TRUE);
  RGT_INT(MA_allocate_heap(MT_INT, 5, "heap", &heap), MA_TRUE);
  RGT_INT(MA_pop_stack(handles[1]), MA_FALSE);
  RGT_INT(MA_pop_stack(heap), MA_FALSE);
  RGT_INT(MA_free_heap(handles[3]), MA_FALSE);
  RGT_INT(MA_init_memhandle_iterator(&other), MA_TRUE);
  for (Integer handle; MA_get_next_memhandle(&other, &handle); count++)
    ;
  RGT_INT(count, 5);
  RGT_INT(MA_chop_stack(handles[1]), MA_TRUE);
  RGT_INT(MA_pop_stack(handles[2]), MA_FALSE);
  RGT_INT(MA_pop_stack(handles[0]), MA_TRUE);
  RGT_INT(MA_free_heap(heap), MA_TRUE);
  RGT_INT(MA_inquire_avail(MT_DBL), STACK + HEAP);
}

/* Wrong numbers, and what is written outside a block. */
static void test_errors(void) {
  Integer handle;
  char *data = NULL;
  RGT_INT(MA_push_stack(MT_LAST + 1, 1, "type", &handle), MA_FALSE);
  RGT_INT(MA_push_stack(MT_DBL, -1, "count", &handle), MA_FALSE);
  RGT_INT(MA_free_heap(12345), MA_FALSE);
  RGT_INT(MA_free_heap(-1), MA_FALSE);
  RGT_INT(MA_set_numalign(31), MA_FALSE);
  RGT_INT(MA_push_stack(MT_DBL, 2, "damaged", &handle), MA_TRUE);
  RGT_INT(MA_get_pointer(handle, &data), MA_TRUE);
  char kept = data[2 * sizeof(double)];
  data[2 * sizeof(double)] = (char)(kept + 1);
  RGT_INT(MA_verify_allocator_stuff(), MA_FALSE);
  RGT_INT(MA_pop_stack(handle), MA_FALSE);
  data[2 * sizeof(double)] = kept;
  RGT_INT(MA_verify_allocator_stuff(), MA_TRUE);
  RGT_INT(MA_pop_stack(handle), MA_TRUE);
}

static void test_alignment(void) {
  Integer handle, power;
  char *data = NULL;
  RGT_INT(MA_set_numalign(12), MA_TRUE);
  RGT_INT(MA_get_numalign(&power), MA_TRUE);
  RGT_INT(power, 12);
  RGT_INT(MA_push_stack(MT_CHAR, 5, "aligned", &handle), MA_TRUE);
  RGT_INT(MA_get_pointer(handle, &data), MA_TRUE);
  RGT_INT((uintptr_t)data % 4096, 0);
  RGT_INT(MA_pop_stack(handle), MA_TRUE);
  RGT_INT(MA_set_numalign(0), MA_TRUE);
}

static int ends;

static void end(char *text, int code) {
  (void)text;
  ends += code + 1;
}

static void test_ends(void) {
  RGT_INT(MA_set_hard_fail(MA_TRUE), MA_FALSE);
  MA_set_error_callback(end);
  RGT_INT(MA_free_heap(99), MA_FALSE);
  RGT_INT(ends, 1);
  RGT_INT(MA_set_hard_fail(MA_FALSE), MA_TRUE);
  RGT_INT(MA_sizeof(MT_BASE - 1, 1, MT_CHAR), 1);
  RGT_INT(ends, 2);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"start", test_start},   {"types", test_types},
                                   {"room", test_room},     {"order", test_order},
                                   {"errors", test_errors}, {"alignment", test_alignment},
                                   {"ends", test_ends},     {NULL, NULL}};
  return rgt_main(argc, argv, "ma", tests);
}
