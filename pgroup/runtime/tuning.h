/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What messages and bytes cost on this machine: built-in values, or those that
 * regroup-bench tune has measured and written to the file that RG_TUNING names.
 *
 * The file is lines of text. The first one is RGI_TUNING_HEAD; the others are
 * empty, comments (#), or "level.value = seconds": levels between, inside and
 * shared, values t_s, t_w and t_c. A value that the file does not give keeps its built-in
 * value. */
#ifndef RGI_TUNING_H
#define RGI_TUNING_H

#include <mpi.h>

#define RGI_TUNING_HEAD "# regroup tuning 1"

/* Seconds to start a message, for each byte of it, and to combine a byte in a reduction. */
typedef struct {
  double ts, tw, tc;
} rgi_tuning_level;

typedef struct {
  rgi_tuning_level between, inside, shared; /* messages between nodes, inside one; memory */
} rgi_tuning_model;

/* The values in force: since rg_init those of the file, if there is one. */
const rgi_tuning_model *rgi_tuning_now(void);

/* For rg_init: the first process of comm reads the file, all get its values, or its error with its
 * text. Collective over comm. */
int rgi_tuning_load(MPI_Comm comm);

#endif
