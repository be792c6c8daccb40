/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * bench-internal remote --busy: one operation at a time on a target that computes. */
#ifndef INTERNAL_REMOTE_BUSY_H
#define INTERNAL_REMOTE_BUSY_H

#include <stdint.h>

/* Collective: the last rank computes for so many milliseconds, `times` times for each
 * operation, while rank 0 does one. Rank 0 prints a table. */
void remote_busy(int milliseconds, int times, uint64_t offset);

#endif
