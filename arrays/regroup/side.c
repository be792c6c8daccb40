/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A side is broadcast as words of 64 bits: the numbers of the spec, the ranks of the members, the
 * boundaries. */
#include "regroup/side.h"

#include <regroup/collectives.h>

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/spare.h"
#include "distribution/type.h"

enum { DIMS, TYPE, ELEMENT, LAYOUT, FLAGS, OWNERS, MEMBERS, BOUNDARIES, SINGLE };
/* Then lists of RG_ARRAY_MAX_DIMS words each. */
enum { SHAPE, GRID, CHUNK, GHOSTS, PERIODIC, LISTS };
#define FIXED (SINGLE + LISTS * RG_ARRAY_MAX_DIMS)

static int64_t *list_at(int64_t *words, int which) {
  return words + SINGLE + which * RG_ARRAY_MAX_DIMS;
}

static int64_t boundaries_of(const rg_array_spec *spec) {
  int64_t n = 0;
  for (int d = 0; spec->layout == RG_LAYOUT_IRREGULAR && d < spec->dims; d++)
    n += spec->grid[d];
  return n;
}

static int take_room(rgi_side *side, int64_t n) {
  side->n = n;
  side->words = rgi_spare_alloc_zeroed((size_t)n, sizeof *side->words);
  return side->words ? RG_SUCCESS : rgi_error(RG_ERR_NOMEM, "rg_array_regroup: no memory");
}

static void write_spec(const rg_array_spec *spec, int64_t *words) {
  words[DIMS] = spec->dims;
  words[TYPE] = spec->type;
  words[ELEMENT] = (int64_t)rgi_type_size(spec->type, spec->element_size);
  words[LAYOUT] = spec->layout;
  words[FLAGS] = spec->flags;
  words[OWNERS] = spec->owners;
  words[BOUNDARIES] = boundaries_of(spec);
  for (int d = 0; d < spec->dims; d++) {
    list_at(words, SHAPE)[d] = spec->shape[d];
    list_at(words, GRID)[d] = spec->grid[d];
    list_at(words, CHUNK)[d] = spec->chunk[d];
    list_at(words, GHOSTS)[d] = spec->ghosts[d];
    list_at(words, PERIODIC)[d] = spec->periodic[d];
  }
}

static void write_boundaries(const rg_array_spec *spec, int64_t *to) {
  for (int d = 0; spec->layout == RG_LAYOUT_IRREGULAR && d < spec->dims; d++) {
    memcpy(to, spec->boundaries[d], (size_t)spec->grid[d] * sizeof *to);
    to += spec->grid[d];
  }
}

static int write_members(rg_group side, rg_group both, int n, int64_t *to) {
  for (int i = 0; i < n; i++) {
    int rank;
    RGI_TRY(rg_group_translate(side, 1, &i, both, &rank));
    if (rank == RG_UNDEFINED)
      return rgi_error(RG_ERR_GROUP,
                       "rg_array_regroup: rank %d of one of the two groups is not in "
                       "the group of both: it must hold them all",
                       i);
    to[i] = rank;
  }
  return RG_SUCCESS;
}

static void read_spec(rgi_side *side) {
  int64_t *w = side->words, *boundaries = w + FIXED + w[MEMBERS];
  side->spec = (rg_array_spec){.size = sizeof side->spec,
                               .dims = (int)w[DIMS],
                               .type = (rg_array_type)w[TYPE],
                               .element_size = (size_t)w[ELEMENT],
                               .layout = (rg_array_layout)w[LAYOUT],
                               .flags = (unsigned)w[FLAGS],
                               .owners = (int)w[OWNERS]};
  for (int d = 0; d < side->spec.dims; d++) {
    side->spec.shape[d] = list_at(w, SHAPE)[d];
    side->spec.grid[d] = (int)list_at(w, GRID)[d];
    side->spec.chunk[d] = list_at(w, CHUNK)[d];
    side->spec.ghosts[d] = list_at(w, GHOSTS)[d];
    side->spec.periodic[d] = (int)list_at(w, PERIODIC)[d];
    if (side->spec.layout == RG_LAYOUT_IRREGULAR) {
      side->spec.boundaries[d] = boundaries;
      boundaries += side->spec.grid[d];
    }
  }
  side->members = (int)w[MEMBERS];
  side->ranks = w + FIXED;
}

int rgi_side_known(const rg_array_spec *spec, rg_group side, rg_group both, rgi_side *made) {
  int members;
  RGI_TRY(rg_group_size(side, &members));
  RGI_TRY(take_room(made, FIXED + members + boundaries_of(spec)));
  write_spec(spec, made->words);
  made->words[MEMBERS] = members;
  write_boundaries(spec, made->words + FIXED + members);
  return write_members(side, both, members, made->words + FIXED);
}

int rgi_side_spread(rg_group both, int root, rgi_side *side) {
  int64_t n = side->n, known = side->n, *mine = side->words;
  int error;
  RGI_TRY(rg_bcast(both, &n, 1, MPI_INT64_T, root));
  side->words = NULL;
  error = take_room(side, n);
  if (!error) {
    if (mine && known == n)
      memcpy(side->words, mine, (size_t)n * sizeof *mine);
    error = rg_bcast(both, side->words, n, MPI_INT64_T, root);
  }
  if (!error && mine && (known != n || memcmp(mine, side->words, (size_t)n * sizeof *mine)))
    error = rgi_error(RG_ERR_MISMATCH,
                      "rg_array_regroup: the array, the groups or the layout are not those that "
                      "rank %d of the group of both gave",
                      root);
  rgi_spare_free(mine);
  if (!error) {
    read_spec(side);
    error = rgi_distribution_make(&side->spec, side->members, &side->d);
  }
  return error;
}

void rgi_side_clear(rgi_side *side) {
  rgi_distribution_clear(&side->d);
  rgi_spare_free(side->words);
  memset(side, 0, sizeof *side);
}

int rgi_side_rank(const rgi_side *side, int rank_in_both) {
  for (int i = 0; i < side->members; i++)
    if (side->ranks[i] == rank_in_both)
      return i;
  return -1;
}
