/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The table of handles. A freed number is taken again by the next array. */
#include "ga/ga_handle.h"

#include <stdlib.h>

rgi_ga_handle *rgi_ga_handles[RGI_GA_HANDLES];
size_t rgi_ga_handle_limit, rgi_ga_handle_used;
static int next_free; /* none before it is free */

int rgi_ga_handle_new(const char *call, rgi_ga_handle **handle) {
  while (next_free < RGI_GA_HANDLES && rgi_ga_handles[next_free])
    next_free++;
  if (next_free == RGI_GA_HANDLES)
    rgi_ga_error_end(call, 0, "there are %d arrays already", RGI_GA_HANDLES);
  *handle = calloc(1, sizeof **handle);
  rgi_ga_handle_plan *plan = calloc(1, sizeof *plan);
  if (!*handle || !plan)
    rgi_ga_error_end(call, 0, "no memory for a handle");
  plan->spec.size = sizeof plan->spec;
  (*handle)->plan = plan;
  rgi_ga_handles[next_free] = *handle;
  return RGI_GA_FIRST_HANDLE - next_free;
}

static void free_plan(rgi_ga_handle_plan *plan) {
  if (plan) {
    free(plan->map);
    free(plan->runs);
    free(plan->list);
    free(plan);
  }
}

void rgi_ga_handle_settle(rgi_ga_handle *handle) {
  free_plan(handle->plan);
  handle->plan = NULL;
}

rgi_ga_handle *rgi_ga_handle_any(const char *call, int g) {
  rgi_ga_handle *handle = rgi_ga_handle_or_null(g);
  if (!handle)
    rgi_ga_error_end(call, 0, "there is no array %d", g);
  return handle;
}

void rgi_ga_handle_free(const char *call, int g) {
  rgi_ga_handle *handle = rgi_ga_handle_any(call, g);
  rgi_ga_error_check(call, g, rg_array_free(&handle->array));
  rgi_ga_handle_used -= handle->bytes;
  int i = RGI_GA_FIRST_HANDLE - g;
  rgi_ga_handles[i] = NULL;
  next_free = i < next_free ? i : next_free;
  free_plan(handle->plan);
  free(handle->name);
  free(handle->map);
  free(handle->rank);
  free(handle->process);
  free(handle);
}

rgi_ga_handle *rgi_ga_handle_of(const char *call, int g) {
  rgi_ga_handle *handle = rgi_ga_handle_any(call, g);
  if (!handle->array)
    rgi_ga_error_end(call, g, "it is not allocated (GA_Allocate)");
  return handle;
}

rgi_ga_handle *rgi_ga_handle_planned(const char *call, int g) {
  rgi_ga_handle *handle = rgi_ga_handle_any(call, g);
  if (!handle->plan)
    rgi_ga_error_end(call, g, "it is allocated already");
  return handle;
}

rg_array_spec rgi_ga_handle_spec(const char *call, int g) {
  rg_array_spec spec = {.size = sizeof spec};
  rgi_ga_error_check(call, g, rg_array_info(rgi_ga_handle_array(call, g), &spec));
  return spec;
}

int rgi_ga_handle_me(const char *call, int g, rg_array array) {
  rg_group group;
  int rank;
  rgi_ga_error_check(call, g, rg_array_group(array, &group));
  rgi_ga_error_check(call, g, rg_group_rank(group, &rank));
  return rank;
}
