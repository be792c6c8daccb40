/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * bench-far --busy: one operation at a time on a target that computes. */
#ifndef BENCHFAR_BUSY_H
#define BENCHFAR_BUSY_H

#include <stdint.h>

/* Collective: the last rank computes for so many milliseconds, `times` times for each
 * operation, while rank 0 does one. Rank 0 prints a table. */
void far_busy(int milliseconds, int times, uint64_t offset);

/* Ends the program with rg_error_detail if error is one. */
void far_must(int error);

#endif
