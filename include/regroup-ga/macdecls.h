/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * MA, the memory allocator that comes with Global Arrays: blocks on a heap and on a stack, whose
 * sizes MA_init sets. All calls are local, and none may run beside another one in a second thread.
 *
 * A block is named by its handle. Its memory comes from malloc, aligned to 32 bytes and to what
 * MA_set_numalign asks for (2 to this power, 0 to 30). An index counts elements from the array
 * ma_cb_... of the type, or in Fortran, from 1, from the common block of the type.
 *
 * Calls of type Boolean return MA_TRUE, or MA_FALSE after a text on standard error: the types, the
 * number of elements, the handle or the order of the stack is wrong, a block is damaged, or there
 * is no room. MA_set_error_print turns the texts off. After MA_set_hard_fail(MA_TRUE) an error ends
 * the program, and so does a wrong type in a call that returns a number. */
#ifndef RG_GA_MACDECLS_H
#define RG_GA_MACDECLS_H

#include "macommon.h"
#include "matypes.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MT_CHAR MT_C_CHAR
#define MT_INT MT_C_INT
#define MT_LONGINT MT_C_LONGINT
#define MT_LONGLONG MT_C_LONGLONG
#define MT_REAL MT_C_FLOAT
#define MT_DBL MT_C_DBL
#define MT_LDBL MT_C_LDBL
#define MT_SCPL MT_C_SCPL
#define MT_DCPL MT_C_DCPL
#define MT_LDCPL MT_C_LDCPL
#define MT_C_FIRST MT_CHAR
#define MT_C_LAST MT_LDCPL

/* Sets how many elements of the type the stack and the heap may hold; MA_DEFAULT_SPACE is 512 KiB.
 * One may take what the other has not used. Once in a program. */
extern Boolean MA_init(Integer datatype, Integer nominal_stack, Integer nominal_heap);
extern Boolean MA_initialized(void);

/* A block of the heap; all of it, or its last elements, are given back. */
extern Boolean MA_allocate_heap(Integer datatype, Integer nelem, const char *name,
                                Integer *memhandle);
extern Boolean MA_alloc_get(Integer datatype, Integer nelem, const char *name, Integer *memhandle,
                            MA_AccessIndex *index);
extern Boolean MA_free_heap(Integer memhandle);
extern Boolean MA_free_heap_piece(Integer memhandle, Integer nelem);

/* A block on the stack; the uppermost one, or one with all above it, is given back. */
extern Boolean MA_push_stack(Integer datatype, Integer nelem, const char *name, Integer *memhandle);
extern Boolean MA_push_get(Integer datatype, Integer nelem, const char *name, Integer *memhandle,
                           MA_AccessIndex *index);
extern Boolean MA_pop_stack(Integer memhandle);
extern Boolean MA_chop_stack(Integer memhandle);

/* Where a block lies. pointer: the address of a pointer. */
extern Boolean MA_get_index(Integer memhandle, MA_AccessIndex *index);
extern Boolean MA_get_pointer(Integer memhandle, void *pointer);
extern Pointer MA_get_mbase(Integer datatype);

/* All blocks, one after another; MA_FALSE without a text after the last one. */
extern Boolean MA_init_memhandle_iterator(Integer *ithandle);
extern Boolean MA_get_next_memhandle(Integer *ithandle, Integer *memhandle);

/* Elements for which there is room: in all; within what was asked for the heap or the stack; and of
 * that, or of all, what the other one leaves. */
extern Integer MA_inquire_avail(Integer datatype);
extern Integer MA_inquire_heap(Integer datatype);
extern Integer MA_inquire_heap_check_stack(Integer datatype);
extern Integer MA_inquire_heap_no_partition(Integer datatype);
extern Integer MA_inquire_stack(Integer datatype);
extern Integer MA_inquire_stack_check_heap(Integer datatype);
extern Integer MA_inquire_stack_no_partition(Integer datatype);

/* How many elements of the second type hold the elements of the first. Blocks have no overhead that
 * counts: it is 0. */
extern Integer MA_sizeof(Integer datatype1, Integer nelem1, Integer datatype2);
extern Integer MA_sizeof_overhead(Integer datatype);

extern Boolean MA_get_numalign(Integer *value);
extern Boolean MA_set_numalign(Integer value);

/* Switches; each but MA_trace returns the value that it had. func is called instead of exit. */
extern Boolean MA_set_auto_verify(Boolean value);
extern Boolean MA_set_error_print(Boolean value);
extern Boolean MA_set_hard_fail(Boolean value);
extern void MA_trace(Boolean value);
extern void MA_set_error_callback(void (*func)(char *text, int code));

/* Reports on standard output; whether the words before and after each block are as they were. */
extern void MA_print_stats(Boolean printroutines);
extern void MA_summarize_allocated_blocks(void);
extern Boolean MA_verify_allocator_stuff(void);

extern char ma_cb_char[];
extern int ma_cb_int[];
extern long ma_cb_long[];
extern long long ma_cb_longlong[];
extern float ma_cb_float[];
extern double ma_cb_dbl[];
extern MA_LongDouble ma_cb_ldbl[];
extern MA_SingleComplex ma_cb_scpl[];
extern MA_DoubleComplex ma_cb_dcpl[];
extern MA_LongDoubleComplex ma_cb_ldcpl[];

#ifdef __cplusplus
}
#endif

#endif
