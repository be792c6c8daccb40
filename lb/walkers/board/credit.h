/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The credit that nodes have returned, on rank 0: a sum of powers 2^-n. */
#ifndef RGI_BOARD_CREDIT_H
#define RGI_BOARD_CREDIT_H

typedef struct {
  char *sum; /* binary digits after the point */
  int digits, whole;
} rgi_credit;

/* Adds 2^-place. */
int rgi_credit_add(rgi_credit *credit, int place);
void rgi_credit_free(rgi_credit *credit);

#endif
