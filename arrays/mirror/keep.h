/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Keeping the elements of a mirrored array. What goes to the keeper goes in messages: waits
 * for them end when a member dies, as those for one-sided accesses do not. */
#ifndef RGI_KEEP_H
#define RGI_KEEP_H

#include "object/array.h"

/* A member that the caller is the keeper of, and what is on its way from it. */
typedef struct rgi_ward {
  int rank;
  rg_request elements;
} rgi_ward;

/* When the keepers have been chosen. RG_ERR_NOMEM. */
int rgi_keep_open(rg_array a);
void rgi_keep_close(rg_array a);

/* Every member, after all accesses are complete: keeps the elements. */
int rgi_mirror_keep(rg_array a);

/* Its first part, before the members meet. who: NULL, or who sends at all; the others could
 * have died (tests). */
int rgi_mirror_write(rg_array a, const unsigned char who[]);

#endif
