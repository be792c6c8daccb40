/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1 2 3 4 7 16
 * On which memory nodes the pages of shared objects are put: against a reference that looks at each
 * byte, and on a pretended machine of two memory nodes, where each call that would bind pages is
 * written down. Where the system can bind, its answer is asked for. */
#include <errno.h>
#include <hwloc.h>
#include <mpi.h>
#include <regroup.h>
#include <regroup/array.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "machine/machine.h"
#include "progress/slot.h"
#include "runtime/node_memory.h"
#include "shm/arena.h"
#include "shm/node.h"
#include "shm/pages.h"
#include "tests/check/check.h"

/* --- the rule ------------------------------------------------------------------------------- */

enum { PARTS = 12, BYTES = 20 * 4096 };

/* The node of the page at `page` of an object at `offset`: counted byte by byte. */
static int reference(const rgi_placement *placement, const uint64_t *end, uint64_t offset,
                     uint64_t page) {
  uint64_t count[PARTS] = {0};
  int best = -1;
  for (uint64_t at = page; at < page + RGI_PAGE; at++)
    for (int i = 0; i < placement->parts && at >= offset; i++)
      if (at - offset < end[i]) {
        count[i]++;
        break;
      }
  for (int i = 0; i < placement->parts; i++)
    if (count[i] && (best < 0 || count[i] > count[best]))
      best = i;
  return best < 0 ? RGI_PLACEMENT_ANY : placement->node[best];
}

static void check_ranges(const rgi_placement *placement, const uint64_t *end, uint64_t offset) {
  uint64_t at = offset / RGI_PAGE * RGI_PAGE, last = offset + end[placement->parts - 1];
  rgi_placement_range r = {.end = 0};
  int before = -2, wrong = 0;
  while (rgi_placement_next(placement, offset, &r)) {
    wrong += r.begin != at || r.end <= r.begin || r.node == before || r.end % RGI_PAGE != 0;
    for (at = r.begin; at < r.end; at += RGI_PAGE)
      wrong += reference(placement, end, offset, at) != r.node;
    before = r.node;
  }
  wrong += at != (last + RGI_PAGE - 1) / RGI_PAGE * RGI_PAGE && last > offset;
  RGT_INT(wrong, 0);
}

static void test_rule(void) {
  unsigned seed = (unsigned)rgt_seed() + (unsigned)rgt_rank;
  for (int turn = 0; turn < 40; turn++) {
    uint64_t end[PARTS], equal[PARTS], offset = (uint64_t)(rand_r(&seed) % 20000), at = 0;
    int16_t node[PARTS];
    rgi_placement p = {.parts = 1 + rand_r(&seed) % PARTS, .end = end, .node = node};
    int most = turn % 3 ? 600 : BYTES / PARTS; /* small parts share pages */
    p.each = (uint64_t)(1 + rand_r(&seed) % most);
    for (int i = 0; i < p.parts; i++) {
      end[i] = at += (uint64_t)(rand_r(&seed) % most);
      equal[i] = p.each * (uint64_t)(i + 1);
      node[i] = (int16_t)(rand_r(&seed) % 3 - 1);
    }
    end[p.parts - 1]++;
    check_ranges(&p, end, offset);
    p.end = NULL;
    check_ranges(&p, equal, offset);
  }
}

static void test_rule_large(void) {
  const uint64_t end[3] = {(uint64_t)1 << 40, ((uint64_t)1 << 40) + 1, (uint64_t)3 << 40};
  const int16_t node[3] = {0, 1, 2};
  rgi_placement p = {.parts = 3, .end = end, .node = node};
  rgi_placement_range r = {.end = 0};
  RGT_INT(rgi_placement_next(&p, 0, &r), 1);
  RGT_TRUE(r.begin == 0 && r.end == end[0] && r.node == 0);
  RGT_INT(rgi_placement_next(&p, 0, &r), 1);
  RGT_TRUE(r.end == end[2] && r.node == 2);
  RGT_INT(rgi_placement_next(&p, 0, &r), 0);
  p.parts = 0;
  r.end = 0;
  RGT_INT(rgi_placement_next(&p, 0, &r), 0);
}

/* --- on a pretended machine ------------------------------------------------------------------- */

enum { NOTES = 4096 };
static struct {
  uint64_t begin, end;
  int node, dirty;
} note[NOTES];
static int notes;

/* Pages that are bound have no memory yet: mincore tells of a segment in memory. */
static void write_down(void *at, size_t bytes, int node) {
  unsigned char in[64];
  int dirty = 0;
  for (size_t done = 0; node >= 0 && done < bytes; done += sizeof in * RGI_PAGE) {
    size_t left = bytes - done, most = sizeof in * RGI_PAGE, now = left < most ? left : most;
    if (mincore((char *)at + done, now, in) != 0)
      break;
    for (size_t i = 0; i < (now + RGI_PAGE - 1) / RGI_PAGE; i++)
      dirty |= in[i] & 1;
  }
  if (notes < NOTES) {
    note[notes].begin = rgi_arena_offset(at);
    note[notes].end = rgi_arena_offset(at) + bytes;
    note[notes].node = node;
    note[notes].dirty = dirty;
    notes++;
  }
}

/* The node to which the byte was bound last by this process; -2: it was not. */
static int bound_to(const void *byte) {
  uint64_t at = rgi_arena_offset(byte);
  for (int i = notes - 1; i >= 0; i--)
    if (at >= note[i].begin && at < note[i].end)
      return note[i].node;
  return -2;
}

static rg_group world;

/* So many members' state of collectives is no small block, where they share processors. */
enum { LARGE_STATE = 13 };

static void begin(void) {
  char machine[64];
  snprintf(machine, sizeof machine, "pack:2 [numa] core:%d pu:1", (rgt_size + 1) / 2);
  setenv("RG_TOPOLOGY", machine, 1);
  setenv("RG_BIND", "compact", 1);
  RGT_OK(rg_init(MPI_COMM_WORLD, "timeout=60"));
  RGT_OK(rg_group_world(&world));
  notes = 0;
  rgi_placement_set_binder(rgi_node.memory ? write_down : NULL);
}

static void end(void) {
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
  unsetenv("RG_TOPOLOGY");
  unsetenv("RG_BIND");
  rgi_machine_forget();
}

static int node_of_rank(int rank) {
  return rank < (rgt_size + 1) / 2 ? 0 : 1;
}

static void test_processes(void) {
  begin();
  if (rgt_size == 1) {
    RGT_PTR_NULL(rgi_node.memory);
    RGT_PTR_NULL(rgi_node_memory_inboxes());
  } else {
    RGT_INT(rgi_node_memory_inboxes()->parts, rgt_size);
    for (int i = 0; i < rgt_size; i++)
      RGT_INT(rgi_node.memory[i], node_of_rank(i));
  }
  end();
  RGT_PTR_NULL(rgi_node.memory);
}

/* What this process has bound of others' parts, seen by all. Only the maker of an object binds. */
static void expect_bound(const char *mine, size_t bytes) {
  int *all = malloc((size_t)rgt_size * sizeof *all);
  uint64_t *part = malloc((size_t)rgt_size * sizeof *part), offset = rgi_arena_offset(mine);
  MPI_Allgather(&offset, 1, MPI_UINT64_T, part, 1, MPI_UINT64_T, MPI_COMM_WORLD);
  int wrong = 0, makers;
  for (int i = 0; i < rgt_size; i++) {
    uint64_t first = (part[i] + RGI_PAGE - 1) / RGI_PAGE * RGI_PAGE;
    int seen = bound_to(rgi_arena_at(first));
    all[i] = seen != -2;
    for (uint64_t at = first; at + RGI_PAGE <= part[i] + bytes && all[i]; at += RGI_PAGE)
      wrong += bound_to(rgi_arena_at(at)) != node_of_rank(i);
  }
  for (int i = 0; i < notes; i++)
    wrong += note[i].dirty;
  RGT_INT(wrong, 0);
  MPI_Allreduce(all, &makers, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  RGT_INT(makers, rgt_size > 1);
  free(all);
  free(part);
}

/* The pages have been another object's before. */
static void use_pages(void) {
  uint64_t block;
  if (rgt_rank == 0) {
    RGT_OK(rgi_arena_alloc("a test", (size_t)3 << 20, &block));
    memset(rgi_arena_at(block), 7, (size_t)3 << 20);
    rgi_arena_free(block, (size_t)3 << 20);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static void test_array(void) {
  int64_t each = 25000, shape = each * rgt_size, first, last;
  rg_array a;
  void *mine;
  begin();
  use_pages();
  RGT_OK(rg_array_create_simple(world, RG_TYPE_INT64, 1, &shape, &a));
  RGT_OK(rg_array_sync(a));
  RGT_OK(rg_array_distribution(a, rgt_rank, &first, &last));
  RGT_OK(rg_array_access(a, &first, &last, RG_ACCESS_WRITE, &mine, NULL));
  memset(mine, 1, (size_t)each * 8);
  expect_bound(mine, (size_t)each * 8);
  RGT_OK(rg_array_release(a, &first, &last));
  int before = notes;
  RGT_OK(rg_array_free(&a));
  int freed = notes - before, all;
  MPI_Allreduce(&freed, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  RGT_TRUE(rgt_size < LARGE_STATE ? all == (rgt_size > 1) : all >= 1);
  end();
}

/* Long data of a collective go through the group's shared buffer. */
static void test_shared_buffer(void) {
  enum { N = 3000 };
  static double in[N], out[N];
  int any, bound = 0;
  begin();
  use_pages();
  for (int i = 0; i < N; i++)
    in[i] = rgt_rank + i;
  RGT_OK(rg_allreduce(world, in, out, N, MPI_DOUBLE, MPI_SUM));
  for (int i = 0; i < N; i++)
    RGT_DBL(out[i], rgt_size * (rgt_size - 1) / 2 + (double)rgt_size * i, 0);
  for (int i = 0; i < notes; i++)
    bound |= note[i].node >= 0 ? 1 << note[i].node : 0;
  MPI_Allreduce(&bound, &any, 1, MPI_INT, MPI_BOR, MPI_COMM_WORLD);
  RGT_INT(any, rgt_size > 1 ? 3 : 0);
  for (int i = 0; i < notes; i++)
    RGT_INT(note[i].dirty, 0);
  end();
}

/* A slot of more than a small block, with a part for each process. */
static int is_finished(const void *memory, int users) {
  (void)memory;
  (void)users;
  return 1;
}

static void test_slot(void) {
  enum { EACH = 5 * 4096 };
  size_t bytes = (size_t)rgt_size * EACH;
  uint64_t slot;
  void *memory;
  begin();
  use_pages();
  rgi_slot_wanted wanted = {
      .key = 12345, .users = rgt_size, .bytes = bytes, .nodes = rgi_node.memory};
  RGT_OK(rgi_slot_attach_wanted(&wanted, &slot, &memory));
  /* The slot's own words before the memory move the parts by less than a page. */
  expect_bound((char *)memory + (size_t)rgt_rank * EACH + RGI_PAGE, EACH - 2 * RGI_PAGE);
  MPI_Barrier(MPI_COMM_WORLD);
  int before = notes, all;
  rgi_slot_detach(slot, is_finished);
  int freed = notes - before;
  MPI_Allreduce(&freed, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  RGT_INT(all, rgt_size > 1);
  end();
}

/* The state of a group's collectives is a slot: of 16 members on fewer processors a large one. Its
 * first member's entry lies on that member's node, and the last one's on that one's. */
static void test_shared_state(void) {
  int bound = 0, any;
  setenv("RG_OVERSUBSCRIBED", "yes", 1);
  begin();
  use_pages();
  RGT_OK(rg_barrier(world));
  for (int i = 0; i < notes; i++)
    if (note[i].node >= 0)
      bound |= note[i].node == (i == 0 ? 0 : 1) ? 1 << note[i].node : 4;
  MPI_Allreduce(&bound, &any, 1, MPI_INT, MPI_BOR, MPI_COMM_WORLD);
  RGT_INT(any, rgt_size < LARGE_STATE ? 0 : 3);
  unsetenv("RG_OVERSUBSCRIBED");
  end();
}

/* Inboxes are bound while the segment is made. */
static void test_inboxes(void) {
  enum { N = 40 };
  const int16_t node[N] = {[16] = 1, [17] = 1, [18] = 1, [19] = 1, [39] = 1};
  rgi_placement p = {.parts = N, .each = sizeof(rgi_node_process), .node = node};
  rgi_arena_sizes sizes = {.bytes = 1 << 20, .roots = N * sizeof(rgi_node_process), .placed = &p};
  rgi_arena_address address;
  notes = 0;
  rgi_placement_set_binder(write_down);
  RGT_OK(rgi_arena_make(&sizes, &address));
  RGT_TRUE(notes > 0);
  rgi_placement_range r = {.end = 0};
  uint64_t roots = rgi_arena_offset(rgi_arena_roots());
  for (int i = 0; rgi_placement_next(&p, roots, &r); i++)
    RGT_TRUE(note[i].begin == r.begin && note[i].end == r.end && note[i].node == r.node);
  rgi_placement_set_binder(NULL);
  rgi_arena_close();
}

/* --- on this machine -------------------------------------------------------------------------- */

static void test_real(void) {
  hwloc_topology_t t;
  hwloc_membind_policy_t policy;
  char *page = mmap(NULL, RGI_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  RGT_TRUE(page != MAP_FAILED);
  hwloc_topology_init(&t);
  hwloc_topology_load(t);
  int last = hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_NUMANODE) - 1;
  hwloc_obj_t o = last < 0 ? NULL : hwloc_get_obj_by_type(t, HWLOC_OBJ_NUMANODE, (unsigned)last);
  hwloc_nodeset_t set = hwloc_bitmap_alloc();
  if (o && hwloc_set_area_membind(t, page, RGI_PAGE, o->nodeset, HWLOC_MEMBIND_DEFAULT,
                                  HWLOC_MEMBIND_BYNODESET) == 0) {
    rgi_machine_bind_memory(page, RGI_PAGE, last);
    RGT_INT(hwloc_get_area_membind(t, page, RGI_PAGE, set, &policy, HWLOC_MEMBIND_BYNODESET), 0);
    RGT_TRUE(policy == HWLOC_MEMBIND_BIND && hwloc_bitmap_isequal(set, o->nodeset));
    page[0] = 1;
    RGT_INT(hwloc_get_area_memlocation(t, page, RGI_PAGE, set, HWLOC_MEMBIND_BYNODESET), 0);
    RGT_TRUE(hwloc_bitmap_isequal(set, o->nodeset));
    rgi_machine_bind_memory(page, RGI_PAGE, RGI_PLACEMENT_ANY);
    RGT_INT(hwloc_get_area_membind(t, page, RGI_PAGE, set, &policy, HWLOC_MEMBIND_BYNODESET), 0);
    RGT_TRUE(policy != HWLOC_MEMBIND_BIND);
  } else {
    fprintf(stderr, "memory cannot be bound here: nothing tested\n");
  }
  rgi_machine_forget();
  hwloc_bitmap_free(set);
  hwloc_topology_destroy(t);
  munmap(page, RGI_PAGE);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"rule", test_rule},
                                   {"rule_large", test_rule_large},
                                   {"processes", test_processes},
                                   {"array", test_array},
                                   {"shared_buffer", test_shared_buffer},
                                   {"slot", test_slot},
                                   {"shared_state", test_shared_state},
                                   {"inboxes", test_inboxes},
                                   {"real", test_real},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "placement", tests);
}
