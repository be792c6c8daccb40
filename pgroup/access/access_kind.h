/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What an access does to the memory of its target. */
#ifndef RGI_ACCESS_KIND_H
#define RGI_ACCESS_KIND_H

/* Their values stand in messages (noded/server/query.h). */
typedef enum {
  RGI_ACCESS_KIND_GET,
  RGI_ACCESS_KIND_PUT,
  RGI_ACCESS_KIND_ACC,         /* atomic for each element, with one another and the two below */
  RGI_ACCESS_KIND_FETCH_ADD,   /* one integer */
  RGI_ACCESS_KIND_COMPARE_SWAP /* one integer */
} rgi_access_kind;

#endif
