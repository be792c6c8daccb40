/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "types.h"

#include <stdint.h>

#include "draw.h"

enum { PLAIN = 6, DERIVED = 7 };

static MPI_Datatype derived[DERIVED];

static int free_types(MPI_Comm comm, int key, void *value, void *state) {
  (void)comm;
  (void)key;
  (void)value;
  (void)state;
  for (int i = 0; i < DERIVED; i++)
    MPI_Type_free(&derived[i]);
  return MPI_SUCCESS;
}

static void make_types(void) {
  MPI_Datatype part;
  int key;
  MPI_Type_contiguous(0, MPI_INT, &derived[0]);
  MPI_Type_contiguous(3, MPI_INT, &derived[1]);
  MPI_Type_vector(2, 1, 3, MPI_INT, &derived[2]);
  MPI_Type_vector(2, 1, -3, MPI_DOUBLE, &derived[3]);
  MPI_Type_create_resized(MPI_INT, 0, 12, &derived[4]);
  MPI_Type_create_resized(MPI_INT, -4, 8, &derived[5]);
  MPI_Type_create_resized(MPI_INT, 0, 0, &part);
  MPI_Type_contiguous(2, part, &derived[6]);
  MPI_Type_free(&part);
  for (int i = 0; i < DERIVED; i++)
    MPI_Type_commit(&derived[i]);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_types, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
  MPI_Comm_free_keyval(&key);
}

MPI_Datatype types_draw(void) {
  static const MPI_Datatype plain[PLAIN] = {MPI_INT,  MPI_DOUBLE,    MPI_INT64_T,
                                            MPI_BYTE, MPI_FLOAT_INT, MPI_C_DOUBLE_COMPLEX};
  if (!derived[0])
    make_types();
  if (draw_chance(32))
    return MPI_DATATYPE_NULL;
  return draw_chance(3) ? derived[draw_below(DERIVED)] : plain[draw_below(PLAIN)];
}

int types_may_be_null(MPI_Datatype type) {
  MPI_Aint low = 0, extent;
  if (type != MPI_DATATYPE_NULL)
    MPI_Type_get_true_extent(type, &low, &extent);
  return low == 0;
}

int types_are_empty(MPI_Datatype type) {
  return type == derived[0];
}

MPI_Count types_draw_count(MPI_Datatype type) {
  int size = 1;
  MPI_Count extent = 1, low;
  if (draw_chance(8))
    return draw_chance(2) ? -1 : INT64_MIN;
  if (!draw_chance(6))
    return draw_below(40);
  if (type != MPI_DATATYPE_NULL) {
    MPI_Type_size(type, &size);
    MPI_Type_get_extent_x(type, &low, &extent);
  }
  if (size == 0)
    return draw_chance(2) ? INT64_MAX : INT64_C(1) << 40;
  return size == 1 ? draw_below(40) : INT64_MAX / size + 1 + draw_below(3);
}
