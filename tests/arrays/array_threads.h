/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Several threads of each process on the same arrays. */
#ifndef ARRAY_THREADS_H
#define ARRAY_THREADS_H

#include <stddef.h>

void test_threads(void);

/* Rounds of each thread. */
extern int rounds;

#endif
