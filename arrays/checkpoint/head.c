/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A head is one piece of memory as it is in the file, with pointers to its parts. The distributions
 * of the arrays are stored as words and made again from them. A head that is read is checked before
 * any number in it is used: magic, version, sizes, checksum. */
#include "checkpoint/head.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "distribution/distribution_owner.h"
#include "file/file.h"
#include "object/array.h"

#define PAGE ((uint64_t)4096)
enum { VERSION = 2, ORDER = 1 };

/* Not valid text, and changed by a transfer that converts text. */
static const char magic[8] = {(char)0x8a, 'R', 'G', 'C', '\r', '\n', 0x1a, '\n'};

static uint64_t round_up(uint64_t bytes, uint64_t to) {
  return (bytes + to - 1) / to * to;
}

uint64_t rgi_head_hash(const void *bytes, size_t n, uint64_t hash) {
  const char *p = bytes;
  for (uint64_t word = 0; n > 0; p += sizeof word, word = 0) {
    size_t take = n < sizeof word ? n : sizeof word;
    memcpy(&word, p, take);
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
    n -= take;
  }
  return hash;
}

/* --- sizes -------------------------------------------------------------------------- */

int64_t rgi_head_block(const rgi_distribution *layout, int rank, int64_t i, int64_t lo[],
                       int64_t hi[]) {
  int64_t n = 1;
  rgi_distribution_block(layout, rank, i, lo, hi);
  for (int k = 0; k < layout->dims; k++)
    n = hi[k] > lo[k] ? n * (hi[k] - lo[k]) : 0;
  return n;
}

uint64_t rgi_head_segment_end(uint64_t at, const rgi_distribution *layout, size_t element,
                              int rank) {
  int64_t lo[RG_ARRAY_MAX_DIMS], hi[RG_ARRAY_MAX_DIMS];
  for (int64_t i = 0, n = rgi_distribution_blocks(layout, rank); i < n; i++)
    at += (uint64_t)rgi_head_block(layout, rank, i, lo, hi) * element;
  return round_up(at, 64);
}

/* --- arrays as words ------------------------------------------------------------------ */

enum { DIMS, TYPE, ELEMENT, LAYOUT, SINGLE };
/* Then these for each dimension, then the boundaries. */
enum { SHAPE, GRID, CHUNK, PERIODIC, LISTS };
#define FIXED (SINGLE + LISTS * RG_ARRAY_MAX_DIMS)

static int64_t boundaries_of(const rgi_distribution *layout) {
  int64_t n = 0;
  for (int k = 0; layout->layout == RG_LAYOUT_IRREGULAR && k < layout->dims; k++)
    n += layout->grid[k];
  return n;
}

static int64_t *write_array(rg_array a, int64_t *w) {
  const rgi_distribution *layout = &a->d;
  w[DIMS] = layout->dims;
  w[TYPE] = a->type;
  w[ELEMENT] = (int64_t)a->element;
  w[LAYOUT] = layout->layout;
  for (int k = 0; k < layout->dims; k++) {
    w[SINGLE + SHAPE * RG_ARRAY_MAX_DIMS + k] = layout->shape[k];
    w[SINGLE + GRID * RG_ARRAY_MAX_DIMS + k] = layout->grid[k];
    w[SINGLE + CHUNK * RG_ARRAY_MAX_DIMS + k] = layout->chunk[k];
    w[SINGLE + PERIODIC * RG_ARRAY_MAX_DIMS + k] = layout->periodic[k];
  }
  w += FIXED;
  for (int k = 0; layout->layout == RG_LAYOUT_IRREGULAR && k < layout->dims; w += layout->grid[k++])
    memcpy(w, layout->boundaries[k], (size_t)layout->grid[k] * sizeof *w);
  return w;
}

static int no_array(void) {
  return rgi_error(RG_ERR_FILE, "a checkpoint is damaged: its head describes no array");
}

/* From the words up to `end` of a head whose checksum is right. Ghosts are not in the file. */
static int read_array(int members, const int64_t **at, const int64_t *end, rgi_head_array *record) {
  const int64_t *w = *at;
  if (end - w < FIXED)
    return no_array();
  rg_array_spec spec = {.size = sizeof spec,
                        .dims = (int)w[DIMS],
                        .type = (rg_array_type)w[TYPE],
                        .element_size = (size_t)w[ELEMENT],
                        .layout = (rg_array_layout)w[LAYOUT]};
  *at += FIXED;
  for (int k = 0; k < spec.dims && k < RG_ARRAY_MAX_DIMS; k++) {
    spec.shape[k] = w[SINGLE + SHAPE * RG_ARRAY_MAX_DIMS + k];
    spec.grid[k] = (int)w[SINGLE + GRID * RG_ARRAY_MAX_DIMS + k];
    spec.chunk[k] = w[SINGLE + CHUNK * RG_ARRAY_MAX_DIMS + k];
    spec.periodic[k] = (int)w[SINGLE + PERIODIC * RG_ARRAY_MAX_DIMS + k];
    if (spec.layout != RG_LAYOUT_IRREGULAR)
      continue;
    if (spec.grid[k] < 1 || spec.grid[k] > end - *at)
      return no_array();
    spec.boundaries[k] = *at;
    *at += spec.grid[k];
  }
  record->type = spec.type;
  record->element = spec.element_size;
  int error = rgi_distribution_make(&spec, members, &record->d);
  return error && error != RG_ERR_NOMEM ? no_array() : error;
}

/* --- the whole -------------------------------------------------------------------------- */

static void set_pointers(rgi_head *head) {
  head->fixed = (void *)head->memory;
  head->words = (void *)(head->fixed + 1);
  head->state = (char *)(head->words + head->fixed->words);
  head->segments = (void *)(head->state + round_up(head->fixed->state_bytes, 8));
}

/* Bytes before the checksum. */
static uint64_t body_bytes(const rgi_head_fixed *fixed) {
  return sizeof *fixed + fixed->words * sizeof(int64_t) + round_up(fixed->state_bytes, 8) +
         (uint64_t)fixed->members * sizeof(rgi_head_segment);
}

static void lay_out(rgi_head *head, int64_t n, const rg_array arrays[]) {
  uint64_t at = head->fixed->head_bytes;
  for (int i = 0; i < head->fixed->members; i++) {
    uint64_t bytes = 0;
    for (int64_t k = 0; k < n; k++)
      bytes = rgi_head_segment_end(bytes, &arrays[k]->d, arrays[k]->element, i);
    head->segments[i] = (rgi_head_segment){.offset = at, .bytes = bytes};
    at = round_up(at + bytes, PAGE);
  }
  head->fixed->file_bytes = at;
}

int rgi_head_make(int members, int64_t n, const rg_array arrays[], size_t state_bytes,
                  rgi_head *head) {
  rgi_head_fixed fixed = {.version = VERSION,
                          .order = ORDER,
                          .members = members,
                          .arrays = n,
                          .state_bytes = state_bytes};
  memcpy(fixed.magic, magic, sizeof magic);
  for (int64_t k = 0; k < n; k++)
    fixed.words += (uint64_t)(FIXED + boundaries_of(&arrays[k]->d));
  fixed.head_bytes = round_up(body_bytes(&fixed) + sizeof(uint64_t), PAGE);
  *head = (rgi_head){.memory = calloc(1, fixed.head_bytes)};
  if (!head->memory)
    return rgi_error(RG_ERR_NOMEM, "no memory for %llu bytes of a checkpoint's head",
                     (unsigned long long)fixed.head_bytes);
  memcpy(head->memory, &fixed, sizeof fixed);
  set_pointers(head);
  int64_t *w = head->words;
  for (int64_t k = 0; k < n; k++)
    w = write_array(arrays[k], w);
  lay_out(head, n, arrays);
  return RG_SUCCESS;
}

static uint64_t head_checksum(const rgi_head *head) {
  return rgi_head_hash(head->memory, body_bytes(head->fixed), RGI_HEAD_HASH_START);
}

void rgi_head_seal(rgi_head *head) {
  uint64_t sum = head_checksum(head);
  memcpy(head->memory + body_bytes(head->fixed), &sum, sizeof sum);
}

void rgi_head_clear(rgi_head *head) {
  for (int64_t k = 0; head->saved && k < head->fixed->arrays; k++)
    rgi_distribution_clear(&head->saved[k].d);
  free(head->saved);
  free(head->memory);
  *head = (rgi_head){0};
}

int rgi_head_work_out(rgi_head *head) {
  set_pointers(head);
  const int64_t *w = head->words, *end = w + head->fixed->words;
  if ((uint64_t)head->fixed->arrays > head->fixed->words / FIXED)
    return no_array();
  head->saved = calloc((size_t)head->fixed->arrays + 1, sizeof *head->saved);
  if (!head->saved)
    return rgi_error(RG_ERR_NOMEM, "no memory for %lld arrays", (long long)head->fixed->arrays);
  for (int64_t k = 0; k < head->fixed->arrays; k++)
    RGI_TRY(read_array(head->fixed->members, &w, end, &head->saved[k]));
  return RG_SUCCESS;
}

/* --- reading ------------------------------------------------------------------------------ */

#define REFUSED(...) rgi_error(RG_ERR_FILE, "%s " __VA_ARGS__)

static int check_fixed(const char *path, const rgi_head_fixed *fixed, ssize_t got, int64_t size) {
  if (got < (ssize_t)sizeof fixed->magic || memcmp(fixed->magic, magic, sizeof magic))
    return REFUSED("is no complete checkpoint", path);
  if (got == (ssize_t)sizeof *fixed && fixed->order == (uint32_t)ORDER << 24)
    return REFUSED("was written by a machine with the other order of bytes", path);
  if (got == (ssize_t)sizeof *fixed && fixed->version != VERSION)
    return REFUSED("has version %u; this library knows version %d", path, fixed->version, VERSION);
  if (got < (ssize_t)sizeof *fixed || fixed->file_bytes != (uint64_t)size)
    return REFUSED("is truncated or damaged: it has %lld bytes", path, (long long)size);
  if (fixed->members < 1 || fixed->arrays < 0 || fixed->head_bytes > fixed->file_bytes ||
      fixed->state_bytes > fixed->head_bytes || fixed->words > fixed->head_bytes ||
      body_bytes(fixed) + sizeof(uint64_t) > fixed->head_bytes)
    return REFUSED("is damaged: its head makes no sense", path);
  return RG_SUCCESS;
}

static int system_error(const char *what, const char *path) {
  rgi_file_system_error(what, path, errno);
  return RG_ERR_SYSTEM;
}

int rgi_head_read_bytes(int fd, const char *path, void *to, uint64_t bytes, uint64_t offset) {
  for (uint64_t done = 0; done < bytes;) {
    ssize_t got = pread(fd, (char *)to + done, bytes - done, (off_t)(offset + done));
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return system_error("cannot read", path);
    if (got == 0)
      return REFUSED("is truncated", path);
    done += (uint64_t)got;
  }
  return RG_SUCCESS;
}

/* Reads the fixed part, or as much of it as a short file has. */
static int read_fixed(const char *path, int fd, rgi_head_fixed *fixed) {
  struct stat status;
  memset(fixed, 0, sizeof *fixed);
  if (fstat(fd, &status) != 0)
    return system_error("cannot read", path);
  uint64_t n = (uint64_t)status.st_size < sizeof *fixed ? (uint64_t)status.st_size : sizeof *fixed;
  RGI_TRY(rgi_head_read_bytes(fd, path, fixed, n, 0));
  return check_fixed(path, fixed, (ssize_t)n, status.st_size);
}

static int read_head(const char *path, int fd, rgi_head *head) {
  rgi_head_fixed fixed;
  uint64_t sum;
  RGI_TRY(read_fixed(path, fd, &fixed));
  head->memory = malloc(fixed.head_bytes);
  if (!head->memory)
    return rgi_error(RG_ERR_NOMEM, "no memory for the head of %s", path);
  RGI_TRY(rgi_head_read_bytes(fd, path, head->memory, fixed.head_bytes, 0));
  memcpy(head->memory, &fixed, sizeof fixed); /* what was checked */
  set_pointers(head);
  memcpy(&sum, head->memory + body_bytes(head->fixed), sizeof sum);
  return sum == head_checksum(head) ? RG_SUCCESS
                                    : REFUSED("is damaged: the checksum of its head differs", path);
}

int rgi_head_read(const char *path, rgi_head_found *found, rgi_head *head) {
  *head = (rgi_head){0};
  *found = RGI_HEAD_THERE;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT) {
    *found = RGI_HEAD_ABSENT;
    return RG_SUCCESS;
  }
  int error = fd < 0 ? system_error("cannot open", path) : read_head(path, fd, head);
  if (fd >= 0)
    close(fd);
  if (error)
    rgi_head_clear(head);
  if (error == RG_ERR_SYSTEM)
    *found = RGI_HEAD_UNREADABLE;
  return error == RG_ERR_SYSTEM ? RG_ERR_FILE : error;
}
