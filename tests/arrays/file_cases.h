/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * For the tests of array files: a folder, arrays whose every byte is known, and ways to damage a
 * file. */
#ifndef RGT_FILE_CASES_H
#define RGT_FILE_CASES_H

#include <regroup.h>

extern rg_group rgt_world;

/* The library, and a folder that all ranks know; removed again, with a check that
 * it holds nothing but what was expected. */
void rgt_files_start(void);
void rgt_files_end(void);

/* A path in the folder: valid until the fourth call after. */
const char *rgt_path(const char *name);

/* All ranks: how many files are in the folder (rank 0 counts). */
int rgt_file_count(void);

/* Members of the array's group. Every byte is a function of seed and place. */
void rgt_fill(rg_array a, unsigned seed);
int rgt_wrong_bytes(rg_array a, unsigned seed);

/* Rank 0 writes n bytes at an offset, or cuts or extends the file; all ranks wait for it. */
void rgt_spoil(const char *path, long offset, const void *bytes, int n);
void rgt_resize(const char *path, long size);
long rgt_file_size(const char *path);

/* All ranks get the error and a text that holds the word; no new file is left. */
void rgt_load_fails(rg_array a, const char *path, const char *word);

#endif
