/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A sub-command of bench-internal: one source file, and one row in main.c. */
#ifndef INTERNAL_COMMAND_H
#define INTERNAL_COMMAND_H

#include "runtime/program/program.h"

typedef struct {
  rgp_program program; /* its name is "bench-internal COMMAND" */
  int threads;         /* the level of MPI's thread support that it measures */
  /* Collective over MPI_COMM_WORLD, before rg_init: measures, and prints on rank 0. words: those
   * that the program allows, NULL where none was given. Returns the exit status. */
  int (*run)(char *const words[]);
} internal_command;

extern const internal_command internal_remote, internal_replica, internal_math, internal_combine,
    internal_traffic;

/* The caller's place in MPI_COMM_WORLD. */
extern int internal_rank, internal_size;

/* Ends the job with rg_error_detail if error is one. */
void internal_must(int error);

/* A word that is a whole number from 1 to most, into *value; a NULL word leaves the value as it
 * is. Returns 0, or non-zero with a line in text. */
int internal_read_number(const char *word, const char *what, long most, int *value,
                         char text[RGP_TEXT]);

#endif
