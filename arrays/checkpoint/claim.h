/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Which of several jobs, or of several parts of a job, may write the checkpoints of a path. Each
 * start of a checkpoint claims the next number, which the file <path>.lock holds; only the start
 * with the latest number can give its file the final name. So of a job that was started again and
 * a part of the one before that still runs, the later one to claim wins, and no other file is
 * touched. Those that claim need not reach one another: the file's lock puts them in order, and
 * nothing is voted on. */
#ifndef RGI_CLAIM_H
#define RGI_CLAIM_H

#include <stdint.h>

/* What a process knows of a path: the members of a group take the maximum of each. */
typedef struct {
  uint64_t number; /* of the latest start that it took part in, or that was there when it has
                      loaded; 0: none */
  uint64_t whole;  /* of the latest checkpoint that it knows to be complete; 0: none */
  uint64_t begun;  /* 1: it has taken part in a start; stays */
  /* It may claim although others have claimed since: */
  uint64_t loaded; /* 1: it has loaded a checkpoint; if no other job has loaded since */
  uint64_t failed; /* 1: a death may have hidden a claim of its own job; if it was of that */
} rgi_claim_known;

rgi_claim_known rgi_claim_recall(const char *path);

/* Notes what the caller has learnt; a number, whole or begun of 0 changes nothing. */
void rgi_claim_note(const char *path, rgi_claim_known known);

/* One member: claims the next number, at least least + 1, and makes its file, which is empty. The
 * unfinished file of the start before is removed. RG_ERR_FILE: another start has claimed since
 * known.number; or the system's error. job: rgi_runtime.job. */
int rgi_claim_take(const char *path, const rgi_claim_known *known, uint64_t least, uint64_t job,
                   uint64_t *number);

/* One member, before it loads: *number is that of the latest claim, 0 if there was none. The job is
 * noted as the one that has loaded last, where the file can be written. RG_ERR_FILE: it cannot be
 * read, or another job has claimed since claim `written`, the latest that this one knows (0: it has
 * not written): what is left of a job that was cut off does not become the one that goes on by
 * loading again. */
int rgi_claim_load(const char *path, uint64_t written, uint64_t job, uint64_t *number);

/* The path with an end, and the file that the start with this number writes, allocated; NULL: no
 * memory. */
char *rgi_claim_name(const char *path, const char *end);
char *rgi_claim_part(const char *path, uint64_t number);

/* Gives the unfinished file of this start its final name, durably, unless a later start has
 * claimed (ESTALE). Returns the system's error, or 0. Any thread. */
int rgi_claim_commit(const char *path, uint64_t number, const char *part, const char *name);

#endif
