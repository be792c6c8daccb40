/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The generations of a checkpoint: the files <path>.0 and <path>.1. Rank 0 finds them; all members
 * of a group read one. */
#ifndef RGI_GENERATIONS_H
#define RGI_GENERATIONS_H

#include "checkpoint/head.h"

/* What rank 0 has found: the valid heads, the newest first. */
typedef struct {
  int n, there;   /* valid ones; files */
  int unreadable; /* the system did not let one be read */
  rgi_head head[RGI_HEAD_GENERATIONS];
  char name[RGI_HEAD_GENERATIONS][4096];
  char trouble[600]; /* the errors of the others */
} rgi_generations;

/* RG_ERR_ARG: the path is too long. */
int rgi_generations_find(const char *call, const char *path, rgi_generations *generations);
void rgi_generations_clear(rgi_generations *generations);

/* Adds the text of the last error to generations' trouble. */
void rgi_generations_note_trouble(rgi_generations *generations);

/* Every member: broadcasts rank 0's i-th head, which the caller clears, and its file's name. */
int rgi_generations_broadcast(rg_group g, const rgi_generations *generations, int i, rgi_head *head,
                              char *name);

/* What to do with a segment that has been read; writer: the rank that wrote it. */
typedef int rgi_generations_use(void *context, const rgi_head *head, int writer,
                                const char *segment);

/* Every member: reads the segments that it is to read, checks them, and passes them to use, unless
 * that is NULL. The error is the caller's own: RG_ERR_FILE (damaged), RG_ERR_SYSTEM (the system did
 * not let it be read). */
int rgi_generations_read(rg_group g, const rgi_head *head, const char *name,
                         rgi_generations_use *use, void *context);

#endif
