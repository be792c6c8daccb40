/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Merging two groups into one. */
#include "base/error.h"
#include "formation/meeting.h"
#include "shm/failure.h"

int rg_group_merge(rg_group mine, rg_group parent, int remote_leader, int high, int tag,
                   rg_group *merged) {
  rgi_proposal p = {.parent = parent,
                    .remote_leader = remote_leader,
                    .tag = tag,
                    .kind = RGI_MERGE,
                    .high = high};
  rgi_visitor v;
  rgi_members *all;
  RGI_REQUIRE(merged);
  RGI_TRY(rgi_group_check_member(__func__, mine));
  RGI_TRY(rgi_tag_check(__func__, tag));
  if (high != 0 && high != 1)
    p.error = rgi_error(RG_ERR_ARG, "%s: high is %d; it is 0 or 1", __func__, high);
  RGI_TRY(rgi_meet(__func__, mine, &p, &v));
  const uint64_t births[RGI_BIRTHS] = {v.number[high], v.number[!high]};
  int apart = v.apart, error = high ? rgi_members_concat(__func__, v.members, mine->members, &all)
                                    : rgi_members_concat(__func__, mine->members, v.members, &all);
  rgi_meeting_end(&v);
  return error ? error : rgi_forming_end(births, 0, apart, all, tag, merged);
}
