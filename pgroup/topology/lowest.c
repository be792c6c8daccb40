/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "topology/lowest.h"

#include "base/error.h"

/* The row of a rank of the communicator, or -1 if it is on another node. Rows are
 * in the order of ranks. */
static int row_of(const rgi_places *places, int rank) {
  int low = 0, high = places->rows - 1;
  while (low < high) {
    int middle = (low + high) / 2;
    if (places->at[middle].rank < rank)
      low = middle + 1;
    else
      high = middle;
  }
  return places->at[low].rank == rank ? low : -1;
}

static const char *lowest_shared(const rgi_places *places, int n, const int ranks[]) {
  const rgi_machine_place *own = &places->at[places->me];
  int length = own->length, listed = 0, apart = 0;
  for (int i = 0; i < n; i++) {
    int row = row_of(places, ranks[i]);
    listed |= row == places->me;
    if (row < 0)
      apart = 1;
    else
      length = rgi_places_common_length(own, &places->at[row], length);
  }
  return !listed ? "Unknown"
         : apart ? "Cluster"
                 : rgi_machine_resource_type(&own->chain[length - 1]);
}

int rgi_lowest_type(const char *call, const rgi_places *places, int n, const int ranks[],
                    const char **type) {
  if (n < 0)
    return rgi_error(RG_ERR_ARG, "%s: %d ranks", call, n);
  if (n > 0 && !ranks)
    return rgi_error(RG_ERR_ARG, "%s: ranks is NULL", call);
  for (int i = 0; i < n; i++)
    if (ranks[i] < 0 || ranks[i] >= places->size)
      return rgi_error(RG_ERR_RANK, "%s: rank %d at place %d of the list; ranks go from 0 to %d",
                       call, ranks[i], i, places->size - 1);
  *type = lowest_shared(places, n, ranks);
  return RG_SUCCESS;
}
