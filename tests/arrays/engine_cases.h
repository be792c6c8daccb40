/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Tests of the one-sided engine, by object, and what they have in common. */
#ifndef ENGINE_CASES_H
#define ENGINE_CASES_H

#include <stdint.h>

#include "engine/engine.h"

#define BLOCK ((size_t)1 << 20)

extern uint64_t *blocks; /* a block of each rank, in its heap part */

long draw(long n);
void barrier(void);
char *mine(void); /* the caller's block */

void start(void);
void stop(void);

/* The heap (engine_cases.c). */
void test_at(void);
void test_full(void);
void test_exhausted(void);
void test_again(void);

/* Patches (engine_patches.c). */
void test_patches(void);
void test_cut(void);
void test_nothing(void);
void test_flood(void);

/* Elements, atomics and order (engine_elements.c). */
void test_elements(void);
void test_contention(void);
void test_large_increment(void);
void test_order(void);

#endif
