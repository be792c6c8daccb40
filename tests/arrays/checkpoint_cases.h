/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Checkpoints, for test_checkpoint.c and test_checkpoint_nodes.c. */
#ifndef RGT_CHECKPOINT_CASES_H
#define RGT_CHECKPOINT_CASES_H

#include "file_cases.h"

void test_checkpoint_trips(void);
void test_checkpoint_changes(void);
void test_checkpoint_generations(void);
void test_checkpoint_unknown(void);
void test_checkpoint_cut_off(void);
void test_checkpoint_errors(void);
void test_checkpoint_full(void);

#define CHECKPOINTS                                                                                \
  {"start", rgt_files_start}, {"any group and layout", test_checkpoint_trips},                     \
      {"changes meanwhile", test_checkpoint_changes}, {"damage", test_checkpoint_generations},     \
      {"unknown files", test_checkpoint_unknown}, {"cut off", test_checkpoint_cut_off},            \
      {"errors", test_checkpoint_errors}, {"a full disk", test_checkpoint_full}, {                 \
    "end", rgt_files_end                                                                           \
  }

#endif
