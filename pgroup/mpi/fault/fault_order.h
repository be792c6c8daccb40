/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What MPI_Comm_spawn and MPI_Comm_spawn_multiple ask for, as a text from the root to the spawned
 * processes. They are processes of this program that wait in MPI_Init, so that only their
 * arguments can be chosen. */
#ifndef RGI_FAULT_ORDER_H
#define RGI_FAULT_ORDER_H

#include <stddef.h>

/* More processes than any job has. */
#define RGI_FAULT_ORDER_MOST 1000000

typedef struct {
  int count; /* commands */
  char *const *commands;
  char **const *argvs; /* or NULL */
  const int *most;     /* processes of each */
} rgi_fault_order;

/* *n: all processes, also on failure. *text: in memory to be freed. RG_ERR_ARG; RG_ERR_RESERVE:
 * another command than this program; RG_ERR_NOMEM. */
int rgi_fault_order_pack(const char *call, const rgi_fault_order *order, int *n, char **text,
                         size_t *bytes);

/* On a spawned process, that of the given number: its arguments become those of its MPI_Init and of
 * Fortran's get_command_argument. *appnum: its command. RG_ERR_NOMEM. */
int rgi_fault_order_take(const char *text, int number, int *appnum);

#endif
