/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Arrays, access, distributions, groups and messages through Global Arrays' interface. */
#include "ga_cases.h"

#include <ga-mpi.h>
#include <ga.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check/check.h"

void test_start(void) {
  RGT_INT(GA_Initialized(), 0);
  GA_Initialize();
  RGT_INT(GA_Initialized(), 1);
  RGT_INT(GA_Nodeid(), rgt_rank);
  RGT_INT(GA_Nnodes(), rgt_size);
  RGT_INT(GA_Uses_fapi(), 0);
  int size, list[64] = {0};
  MPI_Comm_size(GA_MPI_Comm(), &size);
  RGT_INT(size, rgt_size);
  GA_List_nodeid(list, rgt_size < 64 ? rgt_size : 64);
  RGT_INT(list[rgt_size - 1], rgt_size - 1);
  int nodes = GA_Cluster_nnodes(), sum = 0;
  for (int i = 0; i < nodes; i++)
    sum += GA_Cluster_nprocs(i);
  RGT_INT(sum, rgt_size);
  RGT_INT(GA_Cluster_proc_nodeid(rgt_rank), GA_Cluster_nodeid());
  RGT_INT(GA_Cluster_procid(0, 0), 0);
}

/* Each process writes rows of its own, and all read everything, with strides in the buffer. */
void test_patches(void) {
  enum { ROWS = 3, COLUMNS = 5, LD = 8 };
  int dims[2] = {ROWS * rgt_size, COLUMNS}, lo[2] = {ROWS * rgt_rank, 0};
  int hi[2] = {lo[0] + ROWS - 1, COLUMNS - 1}, ld = LD;
  double own[ROWS][LD], all[COLUMNS], two = 2;
  int g = NGA_Create(C_DBL, 2, dims, "patches", NULL);
  RGT_TRUE(g != 0);
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++)
      own[i][j] = 10 * (lo[0] + i) + j;
  NGA_Put(g, lo, hi, own, &ld);
  GA_Sync();
  int wrong = 0;
  for (int i = 0; i < dims[0]; i++) {
    NGA_Get(g, (int[]){i, 0}, (int[]){i, COLUMNS - 1}, all, &ld);
    for (int j = 0; j < COLUMNS; j++)
      wrong += all[j] != 10 * i + j;
  }
  RGT_INT(wrong, 0);
  GA_Sync();
  NGA_Acc(g, lo, hi, own, &ld, &two);
  GA_Sync();
  int64_t lo64[2] = {dims[0] - 1, 2}, hi64[2] = {dims[0] - 1, 2}, ld64 = 1;
  NGA_Get64(g, lo64, hi64, all, &ld64);
  RGT_DBL(all[0], 3 * (10 * (dims[0] - 1) + 2), 0);
  int skip[2] = {1, 2};
  NGA_Strided_get(g, lo, (int[]){lo[0], COLUMNS - 1}, skip, all, &ld);
  RGT_DBL(all[2], 3 * (10 * lo[0] + 4), 0);
  NGA_Periodic_get(g, (int[]){-1, 0}, (int[]){0, 0}, all, (int[]){1});
  RGT_DBL(all[0], 3 * 10 * (dims[0] - 1), 0);
  RGT_DBL(all[1], 0, 0);
  int around = 3 * COLUMNS; /* each row three times, from its last element on */
  double wide[3 * COLUMNS];
  NGA_Periodic_get(g, (int[]){1, -1}, (int[]){1, around - 2}, wide, &around);
  for (int j = 0; j < around; j++)
    RGT_DBL(wide[j], 3 * (10 + (j + COLUMNS - 1) % COLUMNS), 0);
  GA_Sync();
  GA_Destroy(g);
  RGT_INT(GA_Valid_handle(g), 0);
}

void test_types(void) {
  static const struct {
    int given, type;
    size_t bytes;
  } types[] = {{C_INT, C_INT, 4},     {C_LONG, C_LONG, 8},  {C_FLOAT, C_FLOAT, 4},
               {C_DBL, C_DBL, 8},     {C_SCPL, C_SCPL, 8},  {C_DCPL, C_DCPL, 16},
               {MT_F_INT, C_LONG, 8}, {MT_F_DBL, C_DBL, 8}, {C_LONGLONG, C_LONGLONG, 8}};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    int type, ndim, dims[2] = {2 * rgt_size, 3}, found[2], g;
    g = NGA_Create(types[i].given, 2, dims, "typed", NULL);
    NGA_Inquire(g, &type, &ndim, found);
    RGT_INT(type, types[i].type);
    RGT_INT(ndim, 2);
    RGT_INT(found[0], dims[0]);
    RGT_INT(found[1], 3);
    RGT_STR(GA_Inquire_name(g), "typed");
    char in[16] = {(char)(rgt_rank + 1)}, out[16] = {0};
    int at[2] = {2 * rgt_rank, 1};
    NGA_Put(g, at, at, in, (int[]){1});
    GA_Sync();
    at[0] = 2 * ((rgt_rank + 1) % rgt_size);
    NGA_Get(g, at, at, out, (int[]){1});
    RGT_INT(out[0], (rgt_rank + 1) % rgt_size + 1);
    RGT_INT(memcmp(out + 1, in + 1, types[i].bytes - 1), 0);
    GA_Destroy(g);
  }
  struct {
    int a;
    double b;
  } part, whole;
  int type = NGA_Register_type(sizeof part), g = NGA_Create(type, 1, (int[]){rgt_size}, "s", NULL);
  double number = rgt_rank;
  memset(&part, 0, sizeof part);
  NGA_Put(g, &rgt_rank, &rgt_rank, &part, NULL);
  NGA_Put_field(g, &rgt_rank, &rgt_rank, (int)((char *)&part.b - (char *)&part), sizeof number,
                &number, NULL);
  GA_Sync();
  int last = rgt_size - 1;
  NGA_Get(g, &last, &last, &whole, NULL);
  RGT_DBL(whole.b, last, 0);
  GA_Destroy(g);
  NGA_Deregister_type(type);
}

void test_elements(void) {
  int n = 4 * rgt_size, g = NGA_Create(C_INT, 2, (int[]){n, 2}, "elements", NULL);
  int *at[4], place[4][2], values[4], one = 1, zero = 0;
  GA_Fill(g, &zero);
  for (int i = 0; i < 4; i++) {
    at[i] = place[i];
    place[i][0] = (rgt_rank + i * rgt_size) % n;
    place[i][1] = 1;
    values[i] = 100 + place[i][0];
  }
  NGA_Scatter(g, values, at, 4);
  GA_Sync();
  NGA_Scatter_acc(g, values, at, 4, &one);
  GA_Sync();
  memset(values, 0, sizeof values);
  NGA_Gather_flat(g, values, &place[0][0], 4);
  for (int i = 0; i < 4; i++)
    RGT_INT(values[i], 2 * (100 + place[i][0]));
  GA_Destroy(g);
  int counter = NGA_Create(C_LONG, 1, &one, "counter", NULL);
  GA_Zero(counter);
  long sum = 0, expected = (long)rgt_size * 10;
  for (int i = 0; i < 10; i++)
    sum += NGA_Read_inc(counter, &zero, 1);
  GA_Sync();
  RGT_INT(NGA_Read_inc(counter, &zero, 0), expected);
  GA_Lgop(&sum, 1, "+");
  RGT_INT(sum, expected * (expected - 1) / 2);
  GA_Destroy(counter);
}

void test_nonblocking(void) {
  int n = 6 * rgt_size, g = NGA_Create(C_DBL, 1, &n, "nonblocking", NULL);
  int lo = 6 * rgt_rank, hi = lo + 5, right = 6 * ((rgt_rank + 1) % rgt_size), end = right + 5;
  double own[6], other[6], one = 1;
  ga_nbhdl_t put, get, acc;
  for (int i = 0; i < 6; i++)
    own[i] = lo + i;
  NGA_NbPut(g, &lo, &hi, own, NULL, &put);
  NGA_NbWait(&put);
  NGA_NbWait(&put); /* harmless */
  GA_Sync();
  NGA_NbAcc(g, &right, &end, own, NULL, &one, &acc);
  while (!NGA_NbTest(&acc)) {
  }
  GA_Sync();
  NGA_NbGet(g, &lo, &hi, other, NULL, &get);
  NGA_NbWait(&get);
  int left = 6 * ((rgt_rank + rgt_size - 1) % rgt_size);
  for (int i = 0; i < 6; i++)
    RGT_DBL(other[i], lo + i + left + i, 0);
  GA_Destroy(g);
}

void test_queries(void) {
  int dims[2] = {2 * rgt_size, 3}, chunk[2] = {-1, 3}, g, copy;
  g = NGA_Create(C_INT, 2, dims, "queries", chunk);
  int covered = 0, lo[2], hi[2];
  for (int p = 0; p < rgt_size; p++) {
    NGA_Distribution(g, p, lo, hi);
    RGT_INT(hi[0] - lo[0] + 1, 2);
    RGT_INT(hi[1] - lo[1] + 1, 3);
    RGT_INT(NGA_Locate(g, lo), p);
    covered += (hi[0] - lo[0] + 1) * (hi[1] - lo[1] + 1);
  }
  RGT_INT(covered, dims[0] * dims[1]);
  RGT_INT(NGA_Locate(g, dims), -1);
  int *map = malloc(sizeof(int) * 4 * (size_t)rgt_size),
      *procs = malloc(sizeof(int) * (size_t)rgt_size);
  lo[0] = 1;
  lo[1] = 1;
  hi[0] = dims[0] - 1;
  hi[1] = 1;
  RGT_INT(NGA_Locate_region(g, lo, hi, map, procs), rgt_size);
  RGT_INT(map[0], 1);
  RGT_INT(map[2], 1);
  RGT_INT(map[4 * (rgt_size - 1) + 2], dims[0] - 1);
  RGT_INT(procs[rgt_size - 1], rgt_size - 1);
  free(map);
  free(procs);
  int blocks[2], coordinates[2];
  GA_Nblock(g, blocks);
  RGT_INT(blocks[0], rgt_size);
  RGT_INT(blocks[1], 1);
  NGA_Proc_topology(g, rgt_size - 1, coordinates); /* in the order of Fortran */
  RGT_INT(coordinates[0], 0);
  RGT_INT(coordinates[1], rgt_size - 1);
  RGT_INT(GA_Ndim(g), 2);
  RGT_INT(GA_Total_blocks(g), -1);
  RGT_INT(GA_Has_ghosts(g), 0);
  RGT_INT(GA_Get_pgroup(g), GA_Pgroup_get_world());
  copy = GA_Duplicate(g, "copy");
  RGT_INT(GA_Compare_distr(g, copy), 0);
  RGT_STR(GA_Inquire_name(copy), "copy");
  GA_Destroy(copy);
  GA_Destroy(g);
}

void test_irregular(void) {
  int n = rgt_size * (rgt_size + 1) / 2, dims[2] = {n, 2}, block[2] = {rgt_size, 1}, lo[2], hi[2];
  int *map = malloc(sizeof(int) * (size_t)(rgt_size + 1));
  for (int i = 0; i < rgt_size; i++)
    map[i] = i * (i + 1) / 2;
  map[rgt_size] = 0;
  int g = NGA_Create_irreg(C_INT, 2, dims, "irregular", block, map);
  for (int p = 0; p < rgt_size; p++) {
    NGA_Distribution(g, p, lo, hi);
    RGT_INT(lo[0], map[p]);
    RGT_INT(hi[0] - lo[0], p);
  }
  int even = NGA_Create(C_INT, 1, &rgt_size, "even", NULL), same; /* one element each */
  for (int i = 0; i < rgt_size; i++)
    map[i] = i;
  same = NGA_Create_irreg(C_INT, 1, &rgt_size, "same", &rgt_size, map);
  RGT_INT(GA_Compare_distr(even, same), 0);
  RGT_TRUE(GA_Compare_distr(even, g) != 0);
  GA_Destroy(even);
  GA_Destroy(same);
  GA_Destroy(g);
  free(map);
}

/* Processes visit tiles as programs for Global Arrays do: in turn, or by their place in the grid.
 */
static void visit_in_turn(int g) {
  int total = GA_Total_blocks(g), lo[2], hi[2], ld, *at;
  for (int i = rgt_rank; i < total; i += rgt_size) {
    NGA_Distribution(g, i, lo, hi);
    NGA_Access_block(g, i, &at, &ld);
    for (int r = 0; r <= hi[0] - lo[0]; r++)
      for (int c = 0; c <= hi[1] - lo[1]; c++)
        at[r * ld + c] = 100 * (lo[0] + r) + lo[1] + c;
    NGA_Release_update_block(g, i);
  }
}

static void visit_by_grid(int g) {
  int grid[2], place[2], blocks[2], index[2], extents[2], ld, *at;
  GA_Get_proc_grid(g, grid);
  GA_Get_proc_index(g, rgt_rank, place);
  GA_Get_block_info(g, blocks, extents);
  for (index[0] = place[0]; index[0] < blocks[0]; index[0] += grid[0])
    for (index[1] = place[1]; index[1] < blocks[1]; index[1] += grid[1]) {
      NGA_Access_block_grid(g, index, &at, &ld);
      for (int r = 0; r < 2 && index[0] * 2 + r < 7; r++)
        for (int c = 0; c < 3 && index[1] * 3 + c < 10; c++)
          at[r * ld + c] = 100 * (index[0] * 2 + r) + index[1] * 3 + c;
      NGA_Release_update_block_grid(g, index);
    }
}

static void check_tiles(int g, int total) {
  int wrong = 0, row[10], dims[2] = {7, 10};
  RGT_INT(GA_Total_blocks(g), total);
  GA_Sync();
  for (int i = 0; i < dims[0]; i++) {
    NGA_Get(g, (int[]){i, 0}, (int[]){i, 9}, row, (int[]){10});
    for (int j = 0; j < dims[1]; j++)
      wrong += row[j] != 100 * i + j;
  }
  RGT_INT(wrong, 0);
  int64_t len = 0;
  long sum;
  int *segment;
  NGA_Access_block_segment64(g, rgt_rank, &segment, &len);
  NGA_Release_block_segment(g, rgt_rank);
  sum = (long)len;
  GA_Lgop(&sum, 1, "+");
  RGT_INT(sum, 70);
  GA_Destroy(g);
}

static int tiled(void) {
  int g = GA_Create_handle();
  GA_Set_data(g, 2, (int[]){7, 10}, C_INT);
  GA_Set_array_name(g, "tiles");
  return g;
}

void test_tiles(void) {
  int g = tiled(), block[2] = {2, 3}, grid[2] = {1, rgt_size < 4 ? rgt_size : 4}, at[2] = {5, 7};
  int mapc[7] = {0, 1, 5, 0, 4, 6, 7}, nblocks[2] = {3, 4};
  GA_Set_block_cyclic(g, block);
  RGT_INT(GA_Allocate(g), 1);
  RGT_INT(NGA_Locate(g, at), 2 * 4 + 2);
  visit_in_turn(g);
  check_tiles(g, 16);
  g = tiled();
  GA_Set_block_cyclic_proc_grid(g, block, grid);
  GA_Allocate(g);
  visit_by_grid(g);
  check_tiles(g, 16);
  g = tiled();
  GA_Set_tiled_proc_grid(g, block, grid);
  GA_Allocate(g);
  visit_by_grid(g);
  check_tiles(g, 16);
  g = tiled();
  GA_Set_tiled_irreg_proc_grid(g, mapc, nblocks, grid);
  GA_Allocate(g);
  visit_in_turn(g);
  check_tiles(g, 12);
}

/* The last process owns all. */
void test_restricted(void) {
  int g = GA_Create_handle(), last = rgt_size - 1, lo, hi;
  GA_Set_data(g, 1, (int[]){20}, C_INT);
  GA_Set_restricted(g, &last, 1);
  GA_Allocate(g);
  NGA_Distribution(g, last, &lo, &hi);
  RGT_INT(lo, 0);
  RGT_INT(hi, 19);
  if (rgt_size > 1) {
    NGA_Distribution(g, 0, &lo, &hi);
    RGT_INT(hi - lo, -1);
  }
  RGT_INT(NGA_Locate(g, (int[]){3}), last);
  int copy = GA_Duplicate(g, "copy");
  RGT_INT(NGA_Locate(copy, (int[]){3}), last);
  GA_Destroy(copy);
  GA_Destroy(g);
}

void test_ghosts(void) {
  int n = 4 * rgt_size, width = 1, lo, hi, extent, *at, own[4];
  int g = NGA_Create_ghosts(C_INT, 1, &n, &width, "ghosts", NULL);
  NGA_Distribution(g, rgt_rank, &lo, &hi);
  for (int i = lo; i <= hi; i++)
    own[i - lo] = i;
  NGA_Put(g, &lo, &hi, own, NULL);
  GA_Set_ghost_corner_flag(g, 0);
  GA_Update_ghosts(g);
  NGA_Access_ghosts(g, &extent, &at, NULL);
  RGT_INT(extent, 6);
  for (int i = 0; i < 6; i++)
    RGT_INT(at[i], (lo + i - 1 + n) % n);
  NGA_Release_ghosts(g);
  int copied[3], first = lo - 1, last = lo + 1;
  NGA_Get_ghost_block(g, &first, &last, copied, NULL);
  RGT_INT(copied[0], (lo - 1 + n) % n);
  RGT_INT(copied[2], lo + 1);
  NGA_Access_ghost_element(g, &at, (int[]){5}, NULL);
  RGT_INT(*at, (hi + 1) % n);
  NGA_Release_ghost_element(g, (int[]){5});
  RGT_INT(GA_Has_ghosts(g), 1);
  GA_Destroy(g);
  int one = 1; /* most processes own nothing */
  g = NGA_Create_ghosts(C_INT, 1, &one, &width, "one", NULL);
  GA_Zero(g);
  GA_Update_ghosts(g);
  NGA_Access_ghosts(g, &extent, &at, NULL);
  int owners = at != NULL;
  GA_Igop(&owners, 1, "+");
  RGT_INT(owners, 1);
  GA_Destroy(g);
}

void test_direct(void) {
  int dims[2] = {2 * rgt_size, 3}, g = NGA_Create(C_DBL, 2, dims, "direct", (int[]){0, 3});
  int lo[2], hi[2], ld;
  double *at, one;
  NGA_Distribution(g, rgt_rank, lo, hi);
  NGA_Access(g, lo, hi, &at, &ld);
  RGT_INT(ld, 3);
  for (int i = 0; i < 6; i++)
    at[i / 3 * ld + i % 3] = 6 * rgt_rank + i;
  NGA_Release_update(g, lo, hi);
  GA_Sync();
  int last[2] = {dims[0] - 1, 2};
  NGA_Get(g, last, last, &one, &ld);
  RGT_DBL(one, 6 * rgt_size - 1, 0);
  GA_Destroy(g);
}

/* --- groups, messages, locks, memory
 * -------------------------------------------------------------- */

static void use_group(int group, int rank, int size) {
  RGT_INT(GA_Pgroup_nnodes(group), size);
  RGT_INT(GA_Pgroup_nodeid(group), rank);
  int sum = 1, n = 2 * size, value = -1, at = 2 * rank;
  GA_Pgroup_igop(group, &sum, 1, "+");
  RGT_INT(sum, size);
  int g = NGA_Create_config(C_INT, 1, &n, "of a group", NULL, group);
  RGT_INT(GA_Get_pgroup(g), group);
  NGA_Put(g, &at, &at, &rank, NULL);
  GA_Pgroup_sync(group);
  at = 2 * (size - 1);
  NGA_Get(g, &at, &at, &value, NULL);
  RGT_INT(value, size - 1);
  GA_Pgroup_sync(group);
  GA_Destroy(g);
}

void test_groups(void) {
  int half = (rgt_size + 1) / 2, list[2][64], n[2] = {0, 0};
  for (int p = 0; p < rgt_size; p++)
    list[p >= half][n[p >= half]++] = p;
  int group[2] = {GA_Pgroup_create(list[0], n[0]), GA_Pgroup_create(list[1], n[1])};
  int mine = rgt_rank >= half, rank = rgt_rank - mine * half;
  use_group(group[mine], rank, n[mine]);
  RGT_INT(GA_Pgroup_nodeid(group[!mine]), -1);
  RGT_INT(GA_Pgroup_nnodes(group[!mine]), n[!mine]);
  RGT_INT(GA_Pgroup_absolute_id(group[0], n[0] - 1), half - 1);
  GA_Pgroup_set_default(group[mine]);
  RGT_INT(GA_Nodeid(), rank);
  RGT_INT(GA_Nnodes(), n[mine]);
  RGT_INT(GA_Pgroup_get_default(), group[mine]);
  int sum = 1, g = NGA_Create(C_INT, 1, (int[]){n[mine]}, "default", NULL);
  GA_Igop(&sum, 1, "+");
  RGT_INT(sum, n[mine]);
  GA_Destroy(g);
  GA_Sync();
  GA_Pgroup_set_default(GA_Pgroup_get_world());
  int copy = GA_Pgroup_duplicate(group[mine]), self = GA_Pgroup_self();
  use_group(copy, rank, n[mine]);
  use_group(self, 0, 1);
  int part = GA_Pgroup_split(GA_Pgroup_get_world(), 2);
  use_group(part, rank, n[mine]);
  int odd = GA_Pgroup_split_irreg(GA_Pgroup_get_world(), rgt_rank % 2);
  use_group(odd, rgt_rank / 2, (rgt_size + 1 - rgt_rank % 2) / 2);
  int all[5] = {group[0], group[1], copy, self, part};
  for (int i = 0; i < 5; i++)
    RGT_INT(GA_Pgroup_destroy(all[i]), 1);
  GA_Pgroup_destroy(odd);
  GA_Sync();
}

/* The number of elements i from lo to hi that are not i + add. */
static int wrong_elements(int g, int lo, int hi, int add) {
  int wrong = 0, value;
  for (int i = lo; i <= hi; i++) {
    NGA_Get(g, &i, &i, &value, NULL);
    wrong += value != i + add;
  }
  return wrong;
}

/* Between an array of all processes and one of the upper half, whose members alone call. */
static void copy_between(int large, int group, int n) {
  int g = NGA_Create_config(C_INT, 1, &n, "of the upper half", NULL, group), last = n - 1;
  int middle = n / 2, zero = 0;
  GA_Fill(g, &zero);
  GA_Copy(large, g);
  RGT_INT(wrong_elements(g, 0, last, 5), 0);
  NGA_Copy_patch('n', large, &middle, &last, g, (int[]){0}, (int[]){last - middle});
  RGT_INT(wrong_elements(g, 0, last - middle, 5 + middle), 0);
  RGT_INT(wrong_elements(g, last - middle + 1, last, 5), 0);
  GA_Pgroup_sync(group);
  GA_Copy(g, large);
  RGT_INT(wrong_elements(large, 0, last - middle, 5 + middle), 0);
  GA_Pgroup_sync(group);
  NGA_Copy_patch('n', g, (int[]){0}, (int[]){last - middle}, large, &middle, &last);
  RGT_INT(wrong_elements(large, middle, last, 5), 0);
  GA_Destroy(g);
}

void test_copy_groups(void) {
  int n = 3 * rgt_size + 1, half = rgt_size / 2, list[64], large;
  large = NGA_Create(C_INT, 1, &n, "of all", NULL);
  for (int p = half; p < rgt_size; p++)
    list[p - half] = p;
  int group = GA_Pgroup_create(list, rgt_size - half);
  for (int i = 0; i < n && rgt_rank == 0; i++)
    NGA_Put(large, &i, &i, &(int){i + 5}, NULL);
  GA_Sync();
  if (rgt_rank >= half)
    copy_between(large, group, n);
  GA_Sync();
  RGT_INT(wrong_elements(large, n / 2, n - 1, 5), 0);
  GA_Pgroup_destroy(group);
  GA_Sync();
  GA_Destroy(large);
}

void test_reductions(void) {
  int i[2] = {rgt_rank + 1, -rgt_rank}, n = rgt_size;
  GA_Igop(i, 2, "+");
  RGT_INT(i[0], n * (n + 1) / 2);
  RGT_INT(i[1], -n * (n - 1) / 2);
  long l = rgt_rank;
  GA_Lgop(&l, 1, "max");
  RGT_INT(l, n - 1);
  double d = -rgt_rank - 1.0;
  GA_Dgop(&d, 1, "absmax");
  RGT_DBL(fabs(d), n, 0);
  d = -rgt_rank - 1.0;
  GA_Dgop(&d, 1, "absmin");
  RGT_DBL(fabs(d), 1, 0);
  float f = 2;
  GA_Fgop(&f, 1, "*");
  RGT_DBL(f, 1 << n, 0);
  long long bits = 1LL << rgt_rank;
  GA_Llgop(&bits, 1, "or");
  RGT_INT(bits, (1 << n) - 1);
  DoubleComplex z = {1, rgt_rank};
  GA_Zgop(&z, 1, "+");
  RGT_DBL(z.real, n, 0);
  RGT_DBL(z.imag, n * (n - 1) / 2, 0);
  int root = n - 1, word = rgt_rank == root ? 77 : 0;
  GA_Brdcst(&word, sizeof word, root);
  RGT_INT(word, 77);
  int least = rgt_rank + 5;
  GA_Gop(C_INT, &least, 1, "min");
  RGT_INT(least, 5);
}

void test_locks(void) {
  int one = 1, zero = 0, value, g = NGA_Create(C_INT, 1, &one, "locked", NULL);
  GA_Zero(g);
  RGT_INT(GA_Create_mutexes(2), 1);
  for (int i = 0; i < 20; i++) {
    GA_Lock(1);
    NGA_Get(g, &zero, &zero, &value, NULL);
    value++;
    NGA_Put(g, &zero, &zero, &value, NULL);
    GA_Fence();
    GA_Unlock(1);
  }
  GA_Sync();
  NGA_Get(g, &zero, &zero, &value, NULL);
  RGT_INT(value, 20 * rgt_size);
  RGT_INT(GA_Destroy_mutexes(), 1);
  GA_Destroy(g);
}

void test_memory(void) {
  size_t before = GA_Inquire_memory();
  int n = 100 * rgt_size, g = NGA_Create(C_DBL, 1, &n, "bytes", NULL);
  RGT_INT(GA_Inquire_memory() - before, 800);
  RGT_INT(GA_Memory_limited(), 0);
  GA_Set_memory_limit(before + 1000);
  RGT_INT(GA_Memory_limited(), 1);
  RGT_INT(GA_Memory_avail(), 200);
  RGT_INT(NGA_Create(C_DBL, 1, &n, "too many", NULL), 0);
  GA_Destroy(g);
  RGT_INT(GA_Inquire_memory(), before);
  GA_Set_memory_limit(0);
}

/* What is left over is freed, and a second start begins anew. */
void test_again(void) {
  int n = rgt_size, g = NGA_Create(C_INT, 1, &n, "left over", NULL);
  GA_Pgroup_self();
  GA_Terminate();
  RGT_INT(GA_Initialized(), 0);
  GA_Initialize();
  RGT_INT(GA_Valid_handle(g), 0);
  g = NGA_Create(C_INT, 1, &n, "again", NULL);
  NGA_Put(g, &rgt_rank, &rgt_rank, &rgt_rank, NULL);
  GA_Sync();
  int last = n - 1, value = 0;
  NGA_Get(g, &last, &last, &value, NULL);
  RGT_INT(value, last);
  GA_Sync();
  GA_Destroy(g);
  GA_Terminate();
}
