/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The library's own calls on Global Arrays' handles. */
#include <regroup/array_regroup.h>
#include <regroup/ga.h>

#include "ga/ga_group.h"
#include "ga/ga_handle.h"

int rg_ga_array(int g_a, rg_array *a) {
  const rgi_ga_handle *handle = rgi_ga_handle_or_null(g_a);
  if (!a)
    return rg_error_set(RG_ERR_ARG, "rg_ga_array: a is NULL");
  if (!handle || !handle->array)
    return rg_error_set(RG_ERR_ARRAY, "rg_ga_array: there is no array %d", g_a);
  *a = handle->array;
  return RG_SUCCESS;
}

int rg_ga_keep_failures(int keep) {
  rgi_ga_handle_keeps = keep != 0;
  return RG_SUCCESS;
}

int rg_ga_failure(int *code) {
  if (!code)
    return rg_error_set(RG_ERR_ARG, "rg_ga_failure: code is NULL");
  *code = rgi_ga_handle_kept;
  rgi_ga_handle_kept = RG_SUCCESS;
  return RG_SUCCESS;
}

int rg_ga_recover(rg_group survivors) {
  for (int i = 0; i < RGI_GA_HANDLES; i++) {
    rgi_ga_handle *handle = rgi_ga_handles[i];
    int code = handle && handle->array && handle->group == RGI_GA_WORLD
                   ? rg_array_recover(survivors, &handle->array)
                   : RG_SUCCESS;
    if (code != RG_SUCCESS)
      return code;
  }
  return rgi_ga_group_replace(survivors);
}
