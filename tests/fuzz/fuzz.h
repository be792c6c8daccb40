/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Calls with arguments drawn at random, and what must hold of each: it returns RG_SUCCESS or one
 * of the library's errors with a text, and an error leaves the outputs as they were. */
#ifndef FUZZ_H
#define FUZZ_H

#include <regroup.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
  FUZZ_LOCAL, /* each rank draws for itself */
  FUZZ_SAME,  /* all draw the same and must return the same */
  FUZZ_ANY    /* the same; now and then one rank draws something else */
} fuzz_kind;

typedef struct {
  const char *name;
  void (*run)(void);
  fuzz_kind kind;
} fuzz_case;

/* The cases of each part, closed by one without a name. */
extern const fuzz_case fuzz_group_cases[], fuzz_collective_cases[], fuzz_p2p_cases[],
    fuzz_array_cases[], fuzz_math_cases[], fuzz_balance_cases[], fuzz_file_cases[],
    fuzz_query_cases[], fuzz_number_cases[];

/* What the cases work on: the world; a group of all in the same order, made anew for each batch;
 * the first tag of those that this batch uses. */
typedef struct {
  rg_group world, g;
  int tag;
} fuzz_things;
extern fuzz_things fuzz;

/* Memory for an output, filled with a pattern; now and then NULL. _some is never NULL. It lasts
 * to the end of the case. */
void *fuzz_out(size_t bytes);
void *fuzz_out_some(size_t bytes);

/* Memory for an input, of just so many bytes, with small numbers. */
void *fuzz_in(size_t bytes);

/* Judges what a call has returned, and returns it. Outputs since the last call are its own. */
#define FUZZ(call) (fuzz_before(#call), fuzz_after(call))
void fuzz_before(const char *call);
int fuzz_after(int error);

/* From here on the case may get other errors than on other ranks. */
void fuzz_differs(void);

/* A check of a case's own. */
#define FUZZ_TRUE(condition) fuzz_true(!!(condition), #condition)
void fuzz_true(int good, const char *condition);

#endif
