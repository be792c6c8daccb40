/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * BUILD=coverage includes this before each source. gcov writes what a process has counted when it
 * ends by exit; here also when it ends by _exit, or ends itself by a signal. gcov's own fork would
 * let the parent write only what it has counted until then: guards. */
#ifndef REGROUP_COVERAGE_H
#define REGROUP_COVERAGE_H

void __gcov_dump(void);
void __gcov_reset(void);
_Noreturn void rgt_real_exit(int status) __asm__("_exit");
int rgt_real_fork(void) __asm__("fork");
int rgt_real_raise(int signal) __asm__("raise");

static inline _Noreturn void rgt_coverage_exit(int status) {
  __gcov_dump();
  rgt_real_exit(status);
}

static inline int rgt_coverage_fork(void) {
  int child = rgt_real_fork();
  if (child == 0)
    __gcov_reset();
  return child;
}

static inline int rgt_coverage_raise(int signal) {
  __gcov_dump();
  __gcov_reset();
  return rgt_real_raise(signal);
}

/* Headers of the system declare these names then. */
#define _exit rgt_coverage_exit
#define fork rgt_coverage_fork
#define raise rgt_coverage_raise

#endif
