/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1
 * What this process may use of a machine: limits of control groups, in a folder where the test
 * pretends /proc and the mounted hierarchies, and a kernel with more than 1,024 processors. */
#include <errno.h>
#include <regroup.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "base/memory.h"
#include "base/processors.h"
#include "runtime/node_processors.h"
#include "tests/check/check.h"

static char root[RGT_PATH];

/* Makes the folders on the way to a file, and writes it. */
static void write_file(const char *path, const char *text) {
  char whole[512];
  snprintf(whole, sizeof whole, "%s%s", root, path);
  for (char *c = strchr(whole + strlen(root) + 1, '/'); c; c = strchr(c + 1, '/')) {
    *c = 0;
    mkdir(whole, 0700);
    *c = '/';
  }
  FILE *f = fopen(whole, "w");
  RGT_PTR_NOT_NULL(f);
  if (f) {
    fputs(text, f);
    fclose(f);
  }
}

/* A machine without a file, but for the process's groups and what is mounted. */
static void pretend(const char *groups, const char *mounts) {
  rgt_temporary(root);
  RGT_PTR_NOT_NULL(mkdtemp(root));
  write_file("/proc/self/cgroup", groups);
  write_file("/proc/self/mountinfo", mounts);
}

#define GIB (1ull << 30)

/* The limit of a folder between the process's group and the mount is the smallest one. */
static void test_version_2(void) {
  pretend("0::/job/step/task\n",
          "22 1 0:5 / /proc rw - proc proc rw\n"
          "30 22 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
  RGT_TRUE(rgi_cgroup_memory(root) == UINT64_MAX);
  RGT_INT(rgi_cgroup_processors(root).processors, 0);
  write_file("/sys/fs/cgroup/memory.max", "68719476736\n");
  write_file("/sys/fs/cgroup/job/memory.max", "6442450944\n");
  write_file("/sys/fs/cgroup/job/step/memory.max", "4294967296\n");
  write_file("/sys/fs/cgroup/job/step/task/memory.max", "max\n");
  RGT_INT(rgi_cgroup_memory(root), 4 * GIB);
  RGT_INT(rgi_memory_half(root), 2 * GIB);
  RGT_TRUE(rgi_memory_free(root) == UINT64_MAX);
  write_file("/sys/fs/cgroup/job/memory.current", "4294967296\n");
  write_file("/sys/fs/cgroup/job/memory.stat", "anon 4096\ninactive_file 1073741824\n");
  RGT_INT(rgi_memory_free(root), 3 * GIB);
  write_file("/sys/fs/cgroup/job/step/memory.current", "8589934592\n");
  RGT_INT(rgi_memory_free(root), 0);
  write_file("/sys/fs/cgroup/job/step/memory.current", "0\n");
  write_file("/proc/meminfo", "MemTotal: 8388608 kB\nMemFree: 1 kB\nMemAvailable: 2097152 kB\n");
  RGT_INT(rgi_memory_free(root), 2 * GIB);
  write_file("/sys/fs/cgroup/job/cpu.max", "350000 100000\n");
  write_file("/sys/fs/cgroup/job/step/cpu.max", "max 100000\n");
  rgi_cgroup_quota quota = rgi_cgroup_processors(root);
  RGT_INT(quota.processors, 3);
  write_file("/sys/fs/cgroup/job/step/task/cpu.max", "50000 100000\n");
  RGT_INT(rgi_cgroup_processors(root).processors, 1);
  RGT_TRUE(rgi_cgroup_processors(root).group != quota.group);
}

/* A hierarchy for each controller, or for two; in a container, mounted from its group on. */
static void test_version_1(void) {
  pretend(
      "7:memory:/docker/a b/job\n5:cpu,cpuacct:/docker/a b/job\n1:name=systemd:/x\n0::/\n",
      "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
      "33 31 0:30 /docker/a\\040b /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
      "34 31 0:31 /other /elsewhere rw - cgroup cgroup rw,memory\n"
      "35 31 0:31 /docker/a\\040b /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
  write_file("/elsewhere/memory.limit_in_bytes", "1\n");
  write_file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "5368709120\n");
  write_file("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "9223372036854771712\n");
  RGT_INT(rgi_cgroup_memory(root), 5 * GIB);
  write_file("/sys/fs/cgroup/memory/memory.usage_in_bytes", "1073741824\n");
  RGT_INT(rgi_memory_free(root), 4 * GIB);
  write_file("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "800000\n");
  write_file("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  write_file("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "-1\n");
  write_file("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  RGT_INT(rgi_cgroup_processors(root).processors, 8);
  write_file("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "200000\n");
  RGT_INT(rgi_cgroup_processors(root).processors, 2);
}

/* The process's group is named as the machine sees it, and the mount has none but the container's;
 * or nothing can be read. */
static void test_other_views(void) {
  pretend("0::/../outside\n", "30 22 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  write_file("/sys/fs/cgroup/memory.max", "3221225472\n");
  write_file("/sys/fs/memory.max", "1\n");
  write_file("/sys/fs/outside/memory.max", "1\n");
  RGT_INT(rgi_cgroup_memory(root), 3 * GIB);
  pretend("0:\nnonsense", "30 22 - cgroup2\n - \n");
  RGT_TRUE(rgi_cgroup_memory(root) == UINT64_MAX);
  RGT_INT(rgi_cgroup_processors(root).processors, 0);
  RGT_TRUE(rgi_cgroup_memory("/nonexistent") == UINT64_MAX);
}

/* Processes of one group share its limit; different groups have theirs together; one without a
 * limit may use all that there are. */
static void test_limits_together(void) {
  rgi_cgroup_quota one[] = {{7, 2}, {7, 2}, {7, 2}}, two[] = {{9, 3}, {7, 2}, {9, 3}, {7, 2}},
                   none[] = {{9, 1}, {0, 0}};
  RGT_INT(rgi_node_processors_limit(8, one, 3), 2);
  RGT_INT(rgi_node_processors_limit(1, one, 3), 1);
  RGT_INT(rgi_node_processors_limit(8, two, 4), 5);
  RGT_INT(rgi_node_processors_limit(4, two, 4), 4);
  RGT_INT(rgi_node_processors_limit(8, none, 2), 8);
}

/* --- many processors ---------------------------------------------------------------- */

static int kernel_has = 1; /* processors */

/* Stands in front of the C library's in this program. */
int sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *set) {
  (void)pid;
  if (8 * bytes < (size_t)kernel_has) {
    errno = EINVAL;
    return -1;
  }
  memset(set, 0, bytes);
  for (int i = 0; i < kernel_has; i += 2)
    CPU_SET_S((size_t)i, bytes, set);
  return 0;
}

static void test_many_processors(void) {
  rgi_processors set;
  kernel_has = 6000;
  RGT_INT(rgi_processors_mine(&set), 3000);
  RGT_INT(rgi_processors_words(&set), 94); /* processor 5998 */
  kernel_has = RGI_PROCESSORS_MOST + 1;
  RGT_INT(rgi_processors_mine(&set), 1);
  RGT_INT(rgi_processors_words(&set), 0);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"version 2", test_version_2},
                                   {"version 1", test_version_1},
                                   {"other views", test_other_views},
                                   {"limits together", test_limits_together},
                                   {"many processors", test_many_processors},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "cgroup", tests);
}
