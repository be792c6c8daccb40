/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The name of a group. Its MPI view has the same name. */
#include <string.h>

#include "base/error.h"
#include "base/label.h"
#include "formation/group.h"
#include "runtime/runtime.h"

_Static_assert(RG_GROUP_NAME_MOST == RGI_LABEL_MOST, "one limit for the names of groups");

int rg_group_set_name(rg_group g, const char *name) {
  RGI_TRY(rgi_group_check(__func__, g));
  size_t length = name ? strlen(name) : 0;
  if (length > RG_GROUP_NAME_MOST)
    return rgi_error(RG_ERR_LIMIT, "%s: a name of %zu bytes; a name has at most %d", __func__,
                     length, RG_GROUP_NAME_MOST);
  RGI_TRY(rgi_label_set(&g->label, g->context, name));
  if (g->comm != MPI_COMM_NULL && rgi_runtime_check_mpi(__func__) == RG_SUCCESS)
    MPI_Comm_set_name(g->comm, rgi_label_name(g->label));
  return RG_SUCCESS;
}

int rg_group_name(rg_group g, const char **name) {
  RGI_REQUIRE(name);
  RGI_TRY(rgi_group_check(__func__, g));
  *name = rgi_label_name(g->label);
  return RG_SUCCESS;
}
