/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A full arena, for tests of what works there and of which errors come back. */
#ifndef RGT_FULL_ARENA_H
#define RGT_FULL_ARENA_H

#include <stddef.h>

/* All ranks. Where `here` is 1 on a node's first process, that one fills the node's arena but for
 * so many bytes side by side. */
void rgt_full_arena_fill(size_t room, int here);

/* The one that has filled it writes to all that it has taken. */
void rgt_full_arena_overwrite(int byte);

/* All ranks: gives back what was taken. */
void rgt_full_arena_empty(void);

#endif
