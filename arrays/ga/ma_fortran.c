/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * MA for Fortran, whose indices count from 1. */
#include <macdecls.h>
#include <regroup/error.h>
#include <string.h>

/* A copy of a name that ends with a zero, without the blanks at the end. */
static const char *text_of(const char *name, size_t length, char copy[MA_NAMESIZE]) {
  while (length > 0 && name[length - 1] == ' ')
    length--;
  if (length >= MA_NAMESIZE)
    length = MA_NAMESIZE - 1;
  memcpy(copy, name, length);
  copy[length] = '\0';
  return copy;
}

#define NONE(result, fortran, c)                                                                   \
  RG_API result fortran(void);                                                                     \
  result fortran(void) {                                                                           \
    return c();                                                                                    \
  }
#define VALUE(fortran, c)                                                                          \
  RG_API Integer fortran(const Integer *value);                                                    \
  Integer fortran(const Integer *value) {                                                          \
    return c(*value);                                                                              \
  }
#define VALUES(fortran, c)                                                                         \
  RG_API Integer fortran(const Integer *x, const Integer *y);                                      \
  Integer fortran(const Integer *x, const Integer *y) {                                            \
    return c(*x, *y);                                                                              \
  }
#define NAMED(fortran, c)                                                                          \
  RG_API Integer fortran(const Integer *datatype, const Integer *nelem, const char *name,          \
                         Integer *memhandle, size_t length);                                       \
  Integer fortran(const Integer *datatype, const Integer *nelem, const char *name,                 \
                  Integer *memhandle, size_t length) {                                             \
    char copy[MA_NAMESIZE];                                                                        \
    return c(*datatype, *nelem, text_of(name, length, copy), memhandle);                           \
  }
#define INDEXED(fortran, c)                                                                        \
  RG_API Integer fortran(const Integer *datatype, const Integer *nelem, const char *name,          \
                         Integer *memhandle, MA_AccessIndex *index, size_t length);                \
  Integer fortran(const Integer *datatype, const Integer *nelem, const char *name,                 \
                  Integer *memhandle, MA_AccessIndex *index, size_t length) {                      \
    char copy[MA_NAMESIZE];                                                                        \
    Integer made = c(*datatype, *nelem, text_of(name, length, copy), memhandle, index);            \
    *index += made != MA_FALSE;                                                                    \
    return made;                                                                                   \
  }

INDEXED(ma_alloc_get_, MA_alloc_get)
INDEXED(ma_push_get_, MA_push_get)
NAMED(ma_allocate_heap_, MA_allocate_heap)
NAMED(ma_push_stack_, MA_push_stack)
VALUE(ma_chop_stack_, MA_chop_stack)
VALUE(ma_pop_stack_, MA_pop_stack)
VALUE(ma_free_heap_, MA_free_heap)
VALUES(ma_free_heap_piece_, MA_free_heap_piece)
VALUE(ma_inquire_avail_, MA_inquire_avail)
VALUE(ma_inquire_heap_, MA_inquire_heap)
VALUE(ma_inquire_heap_check_stack_, MA_inquire_heap_check_stack)
VALUE(ma_inquire_heap_no_partition_, MA_inquire_heap_no_partition)
VALUE(ma_inquire_stack_, MA_inquire_stack)
VALUE(ma_inquire_stack_check_heap_, MA_inquire_stack_check_heap)
VALUE(ma_inquire_stack_no_partition_, MA_inquire_stack_no_partition)
VALUE(ma_set_auto_verify_, MA_set_auto_verify)
VALUE(ma_set_error_print_, MA_set_error_print)
VALUE(ma_set_hard_fail_, MA_set_hard_fail)
VALUE(ma_set_numalign_, MA_set_numalign)
VALUE(ma_sizeof_overhead_, MA_sizeof_overhead)
NONE(Integer, ma_initialized_, MA_initialized)
NONE(Integer, ma_verify_allocator_stuff_, MA_verify_allocator_stuff)
NONE(void, ma_summarize_allocated_blocks_, MA_summarize_allocated_blocks)

RG_API Integer ma_init_(const Integer *datatype, const Integer *stack, const Integer *heap);
Integer ma_init_(const Integer *datatype, const Integer *stack, const Integer *heap) {
  return MA_init(*datatype, *stack, *heap);
}

RG_API Integer ma_sizeof_(const Integer *datatype1, const Integer *nelem1,
                          const Integer *datatype2);
Integer ma_sizeof_(const Integer *datatype1, const Integer *nelem1, const Integer *datatype2) {
  return MA_sizeof(*datatype1, *nelem1, *datatype2);
}

RG_API Integer ma_get_index_(const Integer *memhandle, MA_AccessIndex *index);
Integer ma_get_index_(const Integer *memhandle, MA_AccessIndex *index) {
  Integer found = MA_get_index(*memhandle, index);
  *index += found != MA_FALSE;
  return found;
}

RG_API Integer ma_init_memhandle_iterator_(Integer *ithandle);
Integer ma_init_memhandle_iterator_(Integer *ithandle) {
  return MA_init_memhandle_iterator(ithandle);
}

RG_API Integer ma_get_next_memhandle_(Integer *ithandle, Integer *memhandle);
Integer ma_get_next_memhandle_(Integer *ithandle, Integer *memhandle) {
  return MA_get_next_memhandle(ithandle, memhandle);
}

RG_API Integer ma_get_numalign_(Integer *value);
Integer ma_get_numalign_(Integer *value) {
  return MA_get_numalign(value);
}

RG_API void ma_print_stats_(const Integer *routines);
void ma_print_stats_(const Integer *routines) {
  MA_print_stats(*routines);
}

RG_API void ma_trace_(const Integer *value);
void ma_trace_(const Integer *value) {
  MA_trace(*value);
}
