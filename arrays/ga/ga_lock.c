/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Global Arrays' mutexes: one set, of all processes. */
#include <regroup/array.h>

#include "ga/ga_group.h"
#include "ga/ga_handle.h"
#include "ga_core.h"

static rg_mutexes mutexes;

int rgi_ga_create_mutexes(int number) {
  if (mutexes)
    rgi_ga_error_end(__func__, 0, "the mutexes have been created already");
  RGI_GA_TRY(0, rg_mutexes_create(rgi_ga_group_of(__func__, RGI_GA_WORLD), number, &mutexes));
  return 1;
}

int rgi_ga_destroy_mutexes(void) {
  int had = mutexes != NULL;
  RGI_GA_TRY(0, rg_mutexes_free(&mutexes));
  return had;
}

void rgi_ga_lock(int mutex) {
  RGI_GA_TRY(0, rg_mutexes_lock(mutexes, mutex));
}

void rgi_ga_unlock(int mutex) {
  RGI_GA_TRY(0, rg_mutexes_unlock(mutexes, mutex));
}
