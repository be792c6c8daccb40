/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "checkpoint/checkpoint_check.h"

#include "base/error.h"
#include "formation/group.h"
#include "object/array.h"

int rgi_checkpoint_check(const char *call, rg_group g, int n, const rg_array arrays[],
                         const void *state, size_t bytes) {
  RGI_TRY(rgi_group_check_member(call, g));
  if (n < 0 || (n > 0 && !arrays) || (bytes > 0 && !state))
    return rgi_error(RG_ERR_ARG, "%s: n is %d, arrays or state NULL", call, n);
  for (int i = 0; i < n; i++) {
    RGI_TRY(rgi_array_check(call, arrays[i]));
    int same = rgi_members_count(arrays[i]->group->members) == rgi_members_count(g->members);
    for (int k = 0; same && k < rgi_members_count(g->members); k++)
      same = rgi_members_at(arrays[i]->group->members, k) == rgi_members_at(g->members, k);
    if (!same)
      return rgi_error(RG_ERR_GROUP, "%s: arrays[%d] is not on the group's members in their order",
                       call, i);
  }
  return RG_SUCCESS;
}
