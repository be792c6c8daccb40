/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Queries about groups that are hardware levels. */
#include <regroup/topology.h>

#include "base/error.h"
#include "topology/group_places.h"
#include "topology/lowest.h"

int rg_group_hlevel_info(rg_group g, int *num_groups, int *index, const char **type) {
  RGI_TRY(rgi_group_check(__func__, g));
  const rgi_group_places *level = g->topology.of;
  if (!level || !level->siblings)
    return rgi_error(RG_ERR_GROUP,
                     "%s: the group is no hardware level; rg_group_split_topology makes some",
                     __func__);
  if (num_groups)
    *num_groups = level->siblings;
  if (index)
    *index = level->index;
  if (type)
    *type = level->type;
  return RG_SUCCESS;
}

int rg_group_min_hlevel(rg_group g, int nranks, const int ranks[], const char **type) {
  const rgi_group_places *known;
  RGI_REQUIRE(type);
  RGI_TRY(rgi_group_check_member(__func__, g));
  RGI_TRY(rgi_group_places_get(__func__, g, &known));
  return rgi_lowest_type(__func__, known->places, nranks, ranks, type);
}
