/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The limits of the control groups that this process is in: those of a container, or of a job of a
 * batch system. Versions 1 and 2 of the kernel's interface; the smallest limit on the way up from
 * the process's own group counts. root: a folder in which a test pretends /proc and the mounted
 * file systems; else "". */
#ifndef RGI_CGROUP_H
#define RGI_CGROUP_H

#include <stdint.h>

/* Two libraries that a program may load at once hold these functions. */
#define RGI_CGROUP_HIDDEN __attribute__((visibility("hidden")))

/* Bytes of memory; UINT64_MAX: no limit, or none that can be read. */
RGI_CGROUP_HIDDEN uint64_t rgi_cgroup_memory(const char *root);

/* Bytes that the groups' processes may still take; UINT64_MAX: no limit. What the system keeps of
 * files and can give up counts as free. */
RGI_CGROUP_HIDDEN uint64_t rgi_cgroup_memory_free(const char *root);

/* Processor time: as much as so many processors have, rounded down, at least 1; 0: no limit. group
 * identifies the control group whose limit this is: its processes share it. */
typedef struct {
  uint64_t group;
  int64_t processors;
} rgi_cgroup_quota;

RGI_CGROUP_HIDDEN rgi_cgroup_quota rgi_cgroup_processors(const char *root);

#endif
