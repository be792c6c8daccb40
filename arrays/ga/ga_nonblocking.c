/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Non-blocking access. A handle of the program's holds the request's address, and 0 when it is
 * complete; without a handle the call is a blocking one. */
#include <regroup/request.h>

#include "ga/ga_patch.h"
#include "ga_core.h"

_Static_assert(sizeof(ga_nbhdl_t) == sizeof(rg_request), "a handle holds an address");

static void keep_request(ga_nbhdl_t *nbhandle, rg_request request) {
  *nbhandle = (ga_nbhdl_t)request;
}

void rgi_ga_nbput(int g_a, const int64_t lo[], const int64_t hi[], const void *buf,
                  const int64_t ld[], ga_nbhdl_t *nbhandle) {
  rgi_ga_patch patch = RGI_GA_PATCH(g_a, hi);
  rg_request request = NULL;
  if (!nbhandle) {
    rgi_ga_put(g_a, lo, hi, buf, ld);
    return;
  }
  RGI_GA_TRY(g_a, rg_array_iput(patch.array, lo, patch.end, buf, ld, &request));
  keep_request(nbhandle, request);
}

void rgi_ga_nbget(int g_a, const int64_t lo[], const int64_t hi[], void *buf, const int64_t ld[],
                  ga_nbhdl_t *nbhandle) {
  rgi_ga_patch patch = RGI_GA_PATCH(g_a, hi);
  rg_request request = NULL;
  if (!nbhandle) {
    rgi_ga_get(g_a, lo, hi, buf, ld);
    return;
  }
  RGI_GA_TRY(g_a, rg_array_iget(patch.array, lo, patch.end, buf, ld, &request));
  keep_request(nbhandle, request);
}

void rgi_ga_nbacc(int g_a, const int64_t lo[], const int64_t hi[], const void *buf,
                  const int64_t ld[], const void *alpha, ga_nbhdl_t *nbhandle) {
  rgi_ga_patch patch = RGI_GA_PATCH(g_a, hi);
  rg_request request = NULL;
  if (!nbhandle) {
    rgi_ga_acc(g_a, lo, hi, buf, ld, alpha);
    return;
  }
  RGI_GA_TRY(g_a, rg_array_iacc(patch.array, lo, patch.end, buf, ld, alpha, &request));
  keep_request(nbhandle, request);
}

/* Complete at once. */
void rgi_ga_nbput_field(int g_a, const int64_t lo[], const int64_t hi[], int foff, int fsize,
                        const void *buf, const int64_t ld[], ga_nbhdl_t *nbhandle) {
  rgi_ga_put_field(g_a, lo, hi, foff, fsize, buf, ld);
  keep_request(nbhandle, NULL);
}

void rgi_ga_nbget_field(int g_a, const int64_t lo[], const int64_t hi[], int foff, int fsize,
                        void *buf, const int64_t ld[], ga_nbhdl_t *nbhandle) {
  rgi_ga_get_field(g_a, lo, hi, foff, fsize, buf, ld);
  keep_request(nbhandle, NULL);
}

void rgi_ga_nbwait(ga_nbhdl_t *nbhandle) {
  rg_request request = (rg_request)*nbhandle;
  if (request)
    RGI_GA_TRY(0, rg_wait(&request, NULL));
  keep_request(nbhandle, NULL);
}

int rgi_ga_nbtest(ga_nbhdl_t *nbhandle) {
  rg_request request = (rg_request)*nbhandle;
  int done = 1;
  if (request)
    RGI_GA_TRY(0, rg_test(&request, &done, NULL));
  if (done)
    keep_request(nbhandle, NULL);
  return done;
}
