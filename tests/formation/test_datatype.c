/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1 3
 * Datatypes that were made with large counts, and those made of such: described, packed, unpacked,
 * and in collectives. */
#include <limits.h>
#include <mpi.h>
#include <regroup.h>
#include <string.h>

#include "formation/datatype.h"
#include "formation/type_contents.h"
#include "tests/check/check.h"

#if MPI_VERSION >= 4
#include "tests/check/world.h"

enum { INTS = 240 };

/* So many ints, of which each lies where MPI packs it from. */
static void check_packing(MPI_Datatype type) {
  int memory[INTS], dense[INTS], theirs[INTS], back[INTS], position = 0, size, wrong = 0;
  rgi_datatype t;
  MPI_Type_commit(&type);
  MPI_Type_size(type, &size);
  for (int i = 0; i < INTS; i++) {
    memory[i] = i;
    back[i] = -1;
  }
  MPI_Pack(memory, 1, type, theirs, sizeof theirs, &position, MPI_COMM_SELF);
  RGT_OK(rgi_datatype_of("test", type, &t));
  RGT_INT(t.size, size);
  RGT_OK(rgi_datatype_pack_bytes(&t, memory, t.size, dense));
  RGT_INT(memcmp(dense, theirs, t.size), 0);
  RGT_OK(rgi_datatype_unpack_bytes(&t, dense, t.size, back));
  for (int i = 0; i < INTS; i++) {
    int is_there = 0;
    for (size_t k = 0; k < t.size / sizeof(int); k++)
      is_there |= dense[k] == i;
    wrong += back[i] != (is_there ? i : -1);
  }
  RGT_INT(wrong, 0);
  RGT_OK(rg_bcast(world, memory, 1, type, 0));
  MPI_Type_free(&type);
}

static void test_packing(void) {
  MPI_Count lengths[] = {1, 2, 3}, displs[] = {5, 20, 11}, bytes[] = {20, 80, 44};
  MPI_Count sizes[] = {10, 12}, parts[] = {3, 4}, starts[] = {2, 5};
  int kinds[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK},
      args[] = {2, MPI_DISTRIBUTE_DFLT_DARG}, procs[] = {2, 2};
  MPI_Datatype all[13], types[] = {MPI_INT, MPI_FLOAT, MPI_INT};
  MPI_Type_contiguous_c(10, MPI_INT, &all[0]);
  MPI_Type_contiguous(3, all[0], &all[1]);
  MPI_Type_dup(all[1], &all[2]);
  MPI_Type_vector_c(3, 2, 5, MPI_INT, &all[3]);
  MPI_Type_create_hvector_c(3, 2, 20, all[3], &all[4]);
  MPI_Type_indexed_c(3, lengths, displs, MPI_INT, &all[5]);
  MPI_Type_create_hindexed_c(3, lengths, bytes, MPI_INT, &all[6]);
  MPI_Type_create_indexed_block_c(3, 2, displs, MPI_INT, &all[7]);
  MPI_Type_create_hindexed_block_c(3, 2, bytes, MPI_INT, &all[8]);
  MPI_Type_create_struct_c(3, lengths, bytes, types, &all[9]);
  MPI_Type_create_subarray_c(2, sizes, parts, starts, MPI_ORDER_FORTRAN, MPI_INT, &all[10]);
  MPI_Type_create_darray_c(4, 1, 2, sizes, kinds, args, procs, MPI_ORDER_C, MPI_INT, &all[11]);
  MPI_Type_create_resized_c(all[3], 0, 100, &all[12]);
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    check_packing(all[i]);
}

static void check_contents(MPI_Datatype type, const int64_t want[], size_t n) {
  rgi_type_contents contents;
  RGT_TRUE(rgi_type_contents_read(type, &contents));
  RGT_INT(contents.numbers, n);
  for (size_t i = 0; i < n && i < contents.numbers; i++)
    RGT_INT(contents.number[i], want[i]);
  rgi_type_contents_free(&contents);
  MPI_Type_free(&type);
}

/* The numbers of both forms of a constructor are in one order, also more than there is room for
 * without an allocation. */
static void test_contents(void) {
  enum { D = MPI_DISTRIBUTE_CYCLIC, N = MPI_DISTRIBUTE_NONE };
  int64_t want[] = {6, 5, 6, 2, 3, 4, 5, 6, 7, D, N, D, N, D,
                    N, 1, 2, 3, 4, 5, 6, 1, 1, 2, 1, 3, 1, MPI_ORDER_C};
  int sizes[] = {2, 3, 4, 5, 6, 7}, kinds[] = {D, N, D, N, D, N}, args[] = {1, 2, 3, 4, 5, 6},
      procs[] = {1, 1, 2, 1, 3, 1};
  MPI_Count large[] = {2, 3, 4, 5, 6, 7};
  MPI_Datatype type;
  MPI_Type_create_darray(6, 5, 6, sizes, kinds, args, procs, MPI_ORDER_C, MPI_INT, &type);
  check_contents(type, want, sizeof want / sizeof *want);
  MPI_Type_create_darray_c(6, 5, 6, large, kinds, args, procs, MPI_ORDER_C, MPI_INT, &type);
  check_contents(type, want, sizeof want / sizeof *want);
}

/* Elements with gaps may be of any size, also those that are too large for ints. */
static void test_sizes(void) {
  MPI_Count n = (MPI_Count)INT_MAX + 5;
  MPI_Datatype type;
  rgi_datatype t;
  size_t bytes = 0;
  MPI_Type_vector_c(n, 1, 2, MPI_BYTE, &type);
  RGT_OK(rgi_datatype_of("test", type, &t));
  RGT_INT(t.dense, 0);
  RGT_OK(rgi_datatype_bytes("test", &t, 3, &bytes));
  RGT_INT(bytes, 3 * n);
  RGT_FAILS(rgi_datatype_bytes("test", &t, PTRDIFF_MAX / n + 1, &bytes), RG_ERR_ARG);
  MPI_Type_free(&type);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"start", test_begin},       {"packing", test_packing},
                                   {"contents", test_contents}, {"sizes", test_sizes},
                                   {"stop", test_end},          {NULL, NULL}};
  return rgt_main(argc, argv, "datatype", tests);
}
#else
#include <stdio.h>

int main(void) {
  puts("MPI's functions with large counts are not there before MPI 4");
  return 77;
}
#endif
