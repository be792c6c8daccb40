/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "checkpoint/checkpoint_check.h"

#include "base/error.h"
#include "formation/group.h"
#include "object/array.h"

static int same_members(rg_array a, rg_group g) {
  const rgi_members *x = a->group->members, *y = g->members;
  int same = rgi_members_count(x) == rgi_members_count(y);
  for (int k = 0; same && k < rgi_members_count(y); k++)
    same = rgi_members_at(x, k) == rgi_members_at(y, k);
  return same;
}

int rgi_checkpoint_check(const char *call, rg_group g, const rgi_checkpoint_content *content) {
  RGI_TRY(rgi_group_check_member(call, g));
  if (content->n < 0 || (content->n > 0 && !content->arrays) ||
      (content->bytes > 0 && !content->state))
    return rgi_error(RG_ERR_ARG, "%s: n is %lld, arrays or state NULL", call,
                     (long long)content->n);
  for (int64_t i = 0; i < content->n; i++) {
    RGI_TRY(rgi_array_check(call, content->arrays[i]));
    if (!same_members(content->arrays[i], g))
      return rgi_error(RG_ERR_GROUP,
                       "%s: arrays[%lld] is not on the group's members in their order", call,
                       (long long)i);
  }
  return RG_SUCCESS;
}
