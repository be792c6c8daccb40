/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What the living members of a group decide together, whoever dies meanwhile. */
#ifndef RGI_VERDICT_H
#define RGI_VERDICT_H

#include <regroup/group.h>

typedef struct {
  unsigned word;       /* the and of those that count */
  int deaths;          /* how many were dead */
  unsigned char *dead; /* for each rank of the group; the caller frees it */
} rgi_verdict;

/* Every living member calls. all: waits until each has said its word or died;
 * otherwise decides at once, by what the first one knows. */
int rgi_decide(rg_group g, const char *call, unsigned word, int all, rgi_verdict *verdict);

/* The same for members on several nodes (verdict_far.c). RG_ERR_UNSUPPORTED: this job was
 * not started so that it survives. */
int rgi_decide_far(rg_group g, const char *call, unsigned word, int all, rgi_verdict *verdict);

#endif
