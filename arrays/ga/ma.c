/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * MA: blocks of elements on a heap and on a stack. Their memory is malloc's; what heap and stack
 * may hold is counted. */
#include "ga/ma.h"

#include <macdecls.h>
#include <regroup/error.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 32 /* the longest element, and what the arrays that indices count from have */
#define DEFAULT_BYTES (512 << 10)
#define MARK UINT64_C(0x5a7e17ed0b10c4ed) /* before and after a block's elements */

struct block {
  struct block *below; /* of the same part, made before this one */
  char name[MA_NAMESIZE];
  Integer handle, type, count;
  bool on_stack;
  char *data;
};

/* A part: what it was made for, what it holds. */
struct part {
  struct block *top;
  long capacity, used, most_used, blocks, most_blocks;
};

static struct {
  bool ready, traces, verifies, hard;
  bool prints;
  Integer alignment; /* the power of two */
  struct part heap, stack;
  struct block **table; /* by handle */
  Integer table_size;
  void (*callback)(char *text, int code);
} ma = {.prints = true};

/* Says what is wrong, and ends the program where that was asked for. */
__attribute__((format(printf, 3, 4))) static Boolean fail(const char *call, bool fatal,
                                                          const char *format, ...) {
  static char aborting[] = "MA aborting";
  if (fatal || ma.hard || ma.prints) {
    char text[512];
    va_list words;
    va_start(words, format);
    vsnprintf(text, sizeof text, format, words);
    va_end(words);
    fflush(stdout);
    fprintf(stderr, "MA %s: %s: %s\n",
            fatal     ? "fatal error"
            : ma.hard ? "hard failure"
                      : "error",
            call, text); /* in one piece */
  }
  if (!fatal && !ma.hard)
    return MA_FALSE;
  if (!ma.callback)
    exit(1);
  ma.callback(aborting, 0);
  return MA_FALSE;
}

static long bytes_of(const struct block *block) {
  return block->count * (long)rgi_ma_size(block->type);
}

/* --- the blocks ----------------------------------------------------------------------------------
 */

static bool is_marked(const struct block *block) {
  uint64_t before, after;
  memcpy(&before, block->data - sizeof before, sizeof before);
  memcpy(&after, block->data + bytes_of(block), sizeof after);
  return before == MARK && after == MARK;
}

static void mark(struct block *block) {
  uint64_t value = MARK;
  memcpy(block->data - sizeof value, &value, sizeof value);
  memcpy(block->data + bytes_of(block), &value, sizeof value);
}

/* The block of a handle, if it is in order. */
static struct block *block_of(const char *call, Integer handle) {
  struct block *block = handle >= 0 && handle < ma.table_size ? ma.table[handle] : NULL;
  if (!block)
    fail(call, false, "memhandle %ld is none of a block", (long)handle);
  else if (!is_marked(block)) {
    fail(call, false, "block '%s': something was written before its start or after its end",
         block->name);
    return NULL;
  }
  return block;
}

static struct block *block_in(const char *call, Integer handle, bool on_stack) {
  struct block *block = block_of(call, handle);
  if (block && block->on_stack != on_stack) {
    fail(call, false, "block '%s' is not %s", block->name,
         on_stack ? "on the stack" : "in the heap");
    return NULL;
  }
  return block;
}

/* A handle for the block; -1 without memory. */
static Integer enter(struct block *block) {
  Integer handle = 0;
  while (handle < ma.table_size && ma.table[handle])
    handle++;
  if (handle == ma.table_size) {
    Integer size = handle ? 2 * handle : 64;
    struct block **larger = realloc(ma.table, (size_t)size * sizeof(struct block *));
    if (!larger)
      return -1;
    memset(larger + handle, 0, (size_t)(size - handle) * sizeof(struct block *));
    ma.table = larger;
    ma.table_size = size;
  }
  ma.table[handle] = block;
  return handle;
}

/* The place of the elements: a whole number of them away from the base of their type. */
static char *align(char *memory, long type) {
  uintptr_t step = (uintptr_t)1 << ma.alignment;
  if (step < ALIGNMENT)
    step = ALIGNMENT;
  uintptr_t place = ((uintptr_t)memory + sizeof(uint64_t) + step - 1) / step * step;
  return (char *)place + (uintptr_t)rgi_ma_base(type) % rgi_ma_size(type);
}

static struct block *new_block(Integer type, Integer count, const char *name, bool on_stack) {
  size_t more =
      sizeof(struct block) + 2 * sizeof(uint64_t) + 2 * ALIGNMENT + ((size_t)1 << ma.alignment);
  struct block *block = malloc(more + (size_t)count * rgi_ma_size(type));
  if (!block)
    return NULL;
  *block = (struct block){.type = type, .count = count, .on_stack = on_stack};
  snprintf(block->name, sizeof block->name, "%s", name);
  block->data = align((char *)(block + 1), type);
  block->handle = enter(block);
  if (block->handle >= 0) {
    mark(block);
    return block;
  }
  free(block);
  return NULL;
}

static void count_in(struct part *part, long bytes, long blocks) {
  part->used += bytes;
  part->blocks += blocks;
  if (part->used > part->most_used)
    part->most_used = part->used;
  if (part->blocks > part->most_blocks)
    part->most_blocks = part->blocks;
}

static long room_left(void) {
  return ma.heap.capacity + ma.stack.capacity - ma.heap.used - ma.stack.used;
}

static bool verified(void) {
  return !ma.verifies || MA_verify_allocator_stuff();
}

static Boolean make(const char *call, bool on_stack, Integer type, Integer count, const char *name,
                    Integer *handle) {
  if (!verified())
    return MA_FALSE;
  if (ma.traces)
    printf("MA: %s '%s' (%ld)\n", on_stack ? "pushing" : "allocating", name, (long)count);
  if (!ma.ready)
    return fail(call, false, "block '%s', MA not yet initialized", name);
  if (!rgi_ma_size(type))
    return fail(call, false, "block '%s', invalid datatype: %ld", name, (long)type);
  if (count < 0)
    return fail(call, false, "block '%s', invalid nelem: %ld", name, (long)count);
  struct part *part = on_stack ? &ma.stack : &ma.heap;
  struct block *block =
      count > room_left() / (long)rgi_ma_size(type) ? NULL : new_block(type, count, name, on_stack);
  if (!block)
    return fail(call, false, "block '%s', not enough space for %ld elements of %ld bytes", name,
                (long)count, (long)rgi_ma_size(type));
  block->below = part->top;
  part->top = block;
  count_in(part, bytes_of(block), 1);
  *handle = block->handle;
  return MA_TRUE;
}

static void discard(struct block **link) {
  struct block *block = *link;
  *link = block->below;
  ma.table[block->handle] = NULL;
  count_in(block->on_stack ? &ma.stack : &ma.heap, -bytes_of(block), -1);
  free(block);
}

/* --- what programs call --------------------------------------------------------------------------
 */

static long capacity(Integer type, Integer count) {
  return count < 0 ? DEFAULT_BYTES : count * (long)rgi_ma_size(type);
}

RG_API Boolean MA_init(Integer datatype, Integer nominal_stack, Integer nominal_heap) {
  if (ma.ready)
    return fail("MA_init", false, "MA already initialized");
  if (!rgi_ma_size(datatype))
    return fail("MA_init", false, "invalid datatype: %ld", (long)datatype);
  ma.stack.capacity = capacity(datatype, nominal_stack);
  ma.heap.capacity = capacity(datatype, nominal_heap);
  ma.ready = true;
  return MA_TRUE;
}

RG_API Boolean MA_initialized(void) {
  return ma.ready;
}

RG_API Boolean MA_allocate_heap(Integer datatype, Integer nelem, const char *name,
                                Integer *memhandle) {
  return make("MA_allocate_heap", false, datatype, nelem, name, memhandle);
}

RG_API Boolean MA_push_stack(Integer datatype, Integer nelem, const char *name,
                             Integer *memhandle) {
  return make("MA_push_stack", true, datatype, nelem, name, memhandle);
}

RG_API Boolean MA_alloc_get(Integer datatype, Integer nelem, const char *name, Integer *memhandle,
                            MA_AccessIndex *index) {
  return make("MA_alloc_get", false, datatype, nelem, name, memhandle) &&
         MA_get_index(*memhandle, index);
}

RG_API Boolean MA_push_get(Integer datatype, Integer nelem, const char *name, Integer *memhandle,
                           MA_AccessIndex *index) {
  return make("MA_push_get", true, datatype, nelem, name, memhandle) &&
         MA_get_index(*memhandle, index);
}

RG_API Boolean MA_free_heap(Integer memhandle) {
  struct block *block = verified() ? block_in("MA_free_heap", memhandle, false) : NULL;
  if (!block)
    return MA_FALSE;
  if (ma.traces)
    printf("MA: freeing '%s'\n", block->name);
  struct block **link = &ma.heap.top;
  while (*link != block)
    link = &(*link)->below;
  discard(link);
  return MA_TRUE;
}

RG_API Boolean MA_free_heap_piece(Integer memhandle, Integer nelem) {
  struct block *block = verified() ? block_in("MA_free_heap_piece", memhandle, false) : NULL;
  if (!block)
    return MA_FALSE;
  if (nelem < 0)
    return fail("MA_free_heap_piece", false, "block '%s', invalid nelem: %ld", block->name,
                (long)nelem);
  if (nelem >= block->count)
    return MA_free_heap(memhandle);
  block->count -= nelem;
  mark(block);
  count_in(&ma.heap, -nelem * (long)rgi_ma_size(block->type), 0);
  return MA_TRUE;
}

RG_API Boolean MA_pop_stack(Integer memhandle) {
  struct block *block = verified() ? block_in("MA_pop_stack", memhandle, true) : NULL;
  if (!block)
    return MA_FALSE;
  if (block != ma.stack.top)
    return fail("MA_pop_stack", false, "block '%s' is not on top of the stack: '%s' is",
                block->name, ma.stack.top->name);
  if (ma.traces)
    printf("MA: popping '%s'\n", block->name);
  discard(&ma.stack.top);
  return MA_TRUE;
}

RG_API Boolean MA_chop_stack(Integer memhandle) {
  struct block *block = verified() ? block_in("MA_chop_stack", memhandle, true) : NULL;
  if (!block)
    return MA_FALSE;
  struct block *below = block->below;
  while (ma.stack.top != below)
    discard(&ma.stack.top);
  return MA_TRUE;
}

RG_API Boolean MA_get_index(Integer memhandle, MA_AccessIndex *index) {
  struct block *block = verified() ? block_of("MA_get_index", memhandle) : NULL;
  return block && rgi_ma_index(block->type, block->data, index);
}

RG_API Boolean MA_get_pointer(Integer memhandle, void *pointer) {
  struct block *block = verified() ? block_of("MA_get_pointer", memhandle) : NULL;
  if (block)
    memcpy(pointer, &block->data, sizeof block->data);
  return block != NULL;
}

RG_API Boolean MA_init_memhandle_iterator(Integer *ithandle) {
  *ithandle = 0;
  return MA_TRUE;
}

RG_API Boolean MA_get_next_memhandle(Integer *ithandle, Integer *memhandle) {
  while (*ithandle >= 0 && *ithandle < ma.table_size) {
    Integer handle = (*ithandle)++;
    if (ma.table[handle]) {
      *memhandle = handle;
      return MA_TRUE;
    }
  }
  return MA_FALSE;
}

/* --- questions -----------------------------------------------------------------------------------
 */

/* A type's size; 1 after the error for what is no type. */
static long size_for(const char *call, Integer type) {
  if (rgi_ma_size(type))
    return (long)rgi_ma_size(type);
  fail(call, true, "invalid datatype: %ld", (long)type);
  return 1;
}

/* How many elements of the type: what a part was made for and does not hold (or all), but at most
 * what the other one leaves. */
static Integer inquire(const char *call, Integer type, const struct part *part, bool checks) {
  if (!ma.ready)
    return fail(call, false, "MA not yet initialized");
  long left = part ? part->capacity - part->used : room_left();
  if (checks && room_left() < left)
    left = room_left();
  return left < 0 ? 0 : (Integer)(left / size_for(call, type));
}

#define INQUIRY(name, part, checks)                                                                \
  RG_API Integer MA_inquire_##name(Integer datatype) {                                             \
    return inquire("MA_inquire_" #name, datatype, part, checks);                                   \
  }

INQUIRY(avail, NULL, false)
INQUIRY(heap, &ma.heap, false)
INQUIRY(heap_check_stack, &ma.heap, true)
INQUIRY(heap_no_partition, NULL, false)
INQUIRY(stack, &ma.stack, false)
INQUIRY(stack_check_heap, &ma.stack, true)
INQUIRY(stack_no_partition, NULL, false)

RG_API Integer MA_sizeof(Integer datatype1, Integer nelem1, Integer datatype2) {
  long from = size_for("MA_sizeof", datatype1), to = size_for("MA_sizeof", datatype2);
  if (nelem1 < 0)
    fail("MA_sizeof", true, "invalid nelem: %ld", (long)nelem1);
  return (Integer)((nelem1 * from + to - 1) / to);
}

RG_API Integer MA_sizeof_overhead(Integer datatype) {
  size_for("MA_sizeof_overhead", datatype);
  return 0;
}

RG_API Pointer MA_get_mbase(Integer datatype) {
  size_for("MA_get_mbase", datatype);
  return rgi_ma_base(datatype);
}

RG_API Boolean MA_get_numalign(Integer *value) {
  *value = ma.alignment;
  return MA_TRUE;
}

RG_API Boolean MA_set_numalign(Integer value) {
  if (value < 0 || value > 30)
    return fail("MA_set_numalign", false, "invalid alignment: %ld", (long)value);
  ma.alignment = value;
  return MA_TRUE;
}

static Boolean set_flag(bool *flag, Boolean value) {
  Boolean old = *flag;
  *flag = value != MA_FALSE;
  return old;
}

RG_API Boolean MA_set_auto_verify(Boolean value) {
  return set_flag(&ma.verifies, value);
}

RG_API Boolean MA_set_error_print(Boolean value) {
  return set_flag(&ma.prints, value);
}

RG_API Boolean MA_set_hard_fail(Boolean value) {
  return set_flag(&ma.hard, value);
}

RG_API void MA_trace(Boolean value) {
  ma.traces = value != MA_FALSE;
}

RG_API void MA_set_error_callback(void (*func)(char *text, int code)) {
  ma.callback = func;
}

/* --- reports -------------------------------------------------------------------------------------
 */

RG_API void MA_print_stats(Boolean printroutines) {
  (void)printroutines; /* calls are not counted */
  const struct part *heap = &ma.heap, *stack = &ma.stack;
  printf("MA usage statistics:\n\t\t\t\t      heap\t     stack\n"
         "\tcurrent number of blocks\t%10ld\t%10ld\n\tmaximum number of blocks\t%10ld\t%10ld\n"
         "\tcurrent total bytes\t\t%10ld\t%10ld\n\tmaximum total bytes\t\t%10ld\t%10ld\n",
         heap->blocks, stack->blocks, heap->most_blocks, stack->most_blocks, heap->used,
         stack->used, heap->most_used, stack->most_used);
}

static void print_blocks(const struct part *part, const char *where) {
  for (const struct block *block = part->top; block; block = block->below) {
    long index;
    rgi_ma_index(block->type, block->data, &index);
    printf("%s block '%s', handle %ld: %ld elements of type %ld, %ld bytes at %p, index %ld\n",
           where, block->name, (long)block->handle, (long)block->count, (long)block->type,
           bytes_of(block), (void *)block->data, index);
  }
}

RG_API void MA_summarize_allocated_blocks(void) {
  print_blocks(&ma.heap, "heap");
  print_blocks(&ma.stack, "stack");
  printf("MA_summarize_allocated_blocks: %ld in the heap, %ld on the stack\n", ma.heap.blocks,
         ma.stack.blocks);
}

RG_API Boolean MA_verify_allocator_stuff(void) {
  Integer bad = 0;
  for (Integer i = 0; i < ma.table_size; i++)
    if (ma.table[i] && !is_marked(ma.table[i])) {
      bad++;
      fail("MA_verify_allocator_stuff", false,
           "block '%s': something was written before its start or after its end",
           ma.table[i]->name);
    }
  return bad == 0;
}
