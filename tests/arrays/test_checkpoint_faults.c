/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * env: RG_TIMEOUT=60
 * sources: tests/arrays/file_cases.c tests/arrays/draw_spec.c
 * Checkpoints on a file system with faults: this program has calls of the system of its own, which
 * fail or do less than they are asked for, on one member. The checkpoint before is always there. */
#include <errno.h>
#include <regroup.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "file_cases.h"
#include "tests/check/check.h"

static struct {
  int here;                /* whether this member has faults now */
  int write, sync, folder; /* the error of the call, or 0 */
  int read, most;          /* the error; bytes that a call reads or writes at most, or 0 */
  int after;               /* calls that succeed before */
  int times;               /* faults at most, or 0 */
  int seen;                /* faults so far */
} fault;

static int fails(int error) {
  if (!fault.here || !error || fault.after-- > 0 || (fault.times && fault.seen >= fault.times))
    return 0;
  fault.seen++;
  errno = error;
  return 1;
}

static size_t at_most(size_t n) {
  return fault.here && fault.most && n > (size_t)fault.most ? (size_t)fault.most : n;
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at) {
  return fails(fault.write) ? -1 : syscall(SYS_pwrite64, fd, bytes, at_most(n), at);
}

ssize_t pread(int fd, void *bytes, size_t n, off_t at) {
  return fails(fault.read) ? -1 : syscall(SYS_pread64, fd, bytes, at_most(n), at);
}

int fsync(int fd) {
  struct stat s;
  int error = fstat(fd, &s) == 0 && S_ISDIR(s.st_mode) ? fault.folder : fault.sync;
  return fails(error) ? -1 : (int)syscall(SYS_fsync, fd);
}

static rg_array one_array(unsigned seed) {
  rg_array a = NULL;
  RGT_OK(rg_array_create_simple(rgt_world, RG_TYPE_INT32, 2, (int64_t[]){600, 50}, &a));
  rgt_fill(a, seed);
  return a;
}

static int save(rg_array a, const char *path, int64_t step) {
  rg_checkpoint c = NULL;
  int error = rg_checkpoint_start(rgt_world, path, 1, &a, &step, sizeof step, &c);
  return error ? error : rg_checkpoint_wait(&c);
}

static void finds(const char *path, int64_t step, unsigned seed) {
  rg_array a = one_array(99);
  int64_t found_step = -1;
  int found = 0;
  RGT_OK(rg_checkpoint_load(rgt_world, path, 1, &a, sizeof step, &found_step, &found));
  RGT_INT(found, 1);
  RGT_INT(found_step, step);
  RGT_INT(rgt_wrong_bytes(a, seed), 0);
  RGT_OK(rg_array_free(&a));
}

static void clear_faults(void) {
  memset(&fault, 0, sizeof fault);
}

/* One writing that fails on a member: an error on all, and the checkpoint before is found. */
static void expect_failed_save(const char *path, rg_array a, const char *word) {
  int files = rgt_file_count();
  RGT_FAILS(save(a, path, 2), RG_ERR_FILE);
  if (!strstr(rg_error_detail(), word))
    RGT_STR(rg_error_detail(), word);
  clear_faults();
  RGT_INT(rgt_file_count(), files);
  finds(path, 1, 1);
}

static void test_writing(void) {
  const int errors[] = {ENOSPC, EDQUOT, EIO};
  char path[400];
  snprintf(path, sizeof path, "%s", rgt_path("writing"));
  for (int i = 0; i < 9; i++) {
    rg_array a = one_array(1);
    int last = rgt_rank == rgt_size - 1;
    RGT_OK(save(a, path, 1));
    rgt_fill(a, 2);
    fault.here = last;
    if (i < 3) { /* in the middle of a segment */
      fault.write = errors[i];
      fault.most = 1000;
      fault.after = 2;
    } else if (i < 6) {
      fault.sync = errors[i - 3];
    } else { /* rank 0's writing of the head, or of the number */
      fault.here = rgt_rank == 0;
      fault.write = errors[i - 6];
      fault.after = i == 6 ? 0 : 2;
    }
    expect_failed_save(path, a, strerror(errors[i % 3]));
    RGT_OK(save(a, path, 2));
    finds(path, 2, 2);
    RGT_OK(rg_array_free(&a));
  }
}

/* The new file has its name, but it is not known to be on the disk: the error says so. */
static void test_folder(void) {
  char path[400];
  rg_array a = one_array(1);
  snprintf(path, sizeof path, "%s", rgt_path("folder"));
  RGT_OK(save(a, path, 1));
  fault.here = rgt_rank == 0;
  fault.folder = EIO;
  RGT_FAILS(save(a, path, 2), RG_ERR_FILE);
  clear_faults();
  RGT_OK(save(a, path, 3));
  finds(path, 3, 1);
  RGT_OK(rg_array_free(&a));
}

/* Calls that read and write less than they are asked for, as those of more than 2 GiB. */
static void test_pieces(void) {
  char path[400];
  rg_array a = one_array(3);
  snprintf(path, sizeof path, "%s", rgt_path("pieces"));
  for (int most = 1000; most < 5000; most += 1999) {
    fault.here = 1;
    fault.most = most;
    RGT_OK(save(a, path, most));
    finds(path, most, 3);
    clear_faults();
    finds(path, most, 3);
  }
  RGT_OK(rg_array_free(&a));
}

/* Files that cannot be read are no reason to begin anew, nor are they replaced. */
static void test_unreadable(void) {
  char path[400];
  rg_array a = one_array(1), b = one_array(9);
  int found = -1;
  int64_t step = -1;
  snprintf(path, sizeof path, "%s", rgt_path("unreadable"));
  RGT_OK(save(a, path, 1));
  fault.here = rgt_rank == 0;
  fault.read = EIO;
  RGT_FAILS(rg_checkpoint_load(rgt_world, path, 1, &b, sizeof step, &step, &found), RG_ERR_FILE);
  RGT_INT(found, -1);
  RGT_TRUE(strstr(rg_error_detail(), strerror(EIO)) != NULL);
  RGT_FAILS(save(a, path, 2), RG_ERR_FILE);
  RGT_TRUE(strstr(rg_error_detail(), strerror(EIO)) != NULL);
  clear_faults();
  finds(path, 1, 1);
  RGT_OK(rg_array_free(&a));
  RGT_OK(rg_array_free(&b));
}

/* A newest generation that cannot be read just now: the older one is not taken for it, whether the
 * head of the newest or a segment is what the system refuses. */
static void test_unreadable_newest(void) {
  enum { LOCK = 1, HEAD = 2 }; /* calls that read these */
  char path[400];
  rg_array a = one_array(1), b = one_array(9);
  int found = -1, last = rgt_size - 1;
  int64_t step = -1;
  snprintf(path, sizeof path, "%s", rgt_path("newest"));
  RGT_OK(save(a, path, 1));
  rgt_fill(a, 2);
  RGT_OK(save(a, path, 2));
  for (int segment = 0; segment <= 1; segment++) {
    fault.here = rgt_rank == (segment ? last : 0);
    fault.read = segment ? ESTALE : EIO;
    fault.times = 1;
    fault.after = !segment ? LOCK + HEAD : last == 0 ? LOCK + 2 * HEAD : 0;
    RGT_FAILS(rg_checkpoint_load(rgt_world, path, 1, &b, sizeof step, &step, &found), RG_ERR_FILE);
    RGT_TRUE(strstr(rg_error_detail(), strerror(segment ? ESTALE : EIO)) != NULL);
    RGT_INT(found, -1);
    clear_faults();
  }
  finds(path, 2, 2);
  RGT_OK(rg_array_free(&a));
  RGT_OK(rg_array_free(&b));
}

/* The first checkpoint on a full disk leaves nothing. */
static void test_full(void) {
  rg_array a = one_array(1);
  int files = rgt_file_count();
  for (int i = 0; i < 2; i++) { /* the number; a segment or the head */
    fault.here = rgt_rank == 0;
    fault.write = ENOSPC;
    fault.after = i;
    RGT_FAILS(save(a, rgt_path("filled"), 1), RG_ERR_FILE);
    RGT_TRUE(strstr(rg_error_detail(), strerror(ENOSPC)) != NULL);
    clear_faults();
    RGT_INT(rgt_file_count(), files + i); /* then the number is there */
  }
  RGT_OK(rg_array_free(&a));
}

/* A folder that does not exist is not one without a checkpoint; a link is not followed. */
static void test_places(void) {
  rg_array a = one_array(1);
  int found = -1;
  char word[8] = "";
  RGT_FAILS(rg_checkpoint_load(rgt_world, rgt_path("no/such"), 1, &a, 0, NULL, &found),
            RG_ERR_FILE);
  RGT_INT(found, -1);
  if (rgt_rank == 0) {
    FILE *f = fopen(rgt_path("victim"), "w");
    fputs("5 my", f);
    fclose(f);
    RGT_INT(symlink("victim", rgt_path("link.lock")), 0);
  }
  RGT_FAILS(save(a, rgt_path("link"), 1), RG_ERR_FILE);
  RGT_FAILS(rg_checkpoint_load(rgt_world, rgt_path("link"), 1, &a, 0, NULL, &found), RG_ERR_FILE);
  if (rgt_rank == 0) {
    FILE *f = fopen(rgt_path("victim"), "r");
    RGT_TRUE(fgets(word, sizeof word, f) && !strcmp(word, "5 my"));
    fclose(f);
    unlink(rgt_path("link.lock"));
    unlink(rgt_path("victim"));
  }
  RGT_OK(rg_array_free(&a));
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"start", rgt_files_start},
                                   {"writing", test_writing},
                                   {"folder", test_folder},
                                   {"pieces", test_pieces},
                                   {"unreadable", test_unreadable},
                                   {"unreadable newest", test_unreadable_newest},
                                   {"full", test_full},
                                   {"places", test_places},
                                   {"end", rgt_files_end},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "checkpoint_faults", tests);
}
