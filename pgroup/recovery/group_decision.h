/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What the living members of a group decide together, whoever dies meanwhile. */
#ifndef RGI_GROUP_DECISION_H
#define RGI_GROUP_DECISION_H

#include <regroup/group.h>

typedef struct {
  unsigned word;       /* the and of those that count */
  int deaths;          /* how many were dead */
  unsigned char *dead; /* for each rank of the group; the caller frees it */
} rgi_group_decision;

/* Every living member calls. all: waits until each has said its word or died;
 * otherwise decides at once, by what the first one knows. */
int rgi_group_decision_make(rg_group g, const char *call, unsigned word, int all,
                            rgi_group_decision *decision);

/* The same for members on several nodes (group_decision_nodes.c). RG_ERR_UNSUPPORTED: this job was
 * not started so that it survives. */
int rgi_group_decision_make_nodes(rg_group g, const char *call, unsigned word, int all,
                                  rgi_group_decision *decision);

#endif
