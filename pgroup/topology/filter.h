/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Filters: which kinds of resources count. */
#ifndef RGI_FILTER_H
#define RGI_FILTER_H

/* RG_ERR_ARG unless the filter is a sum of RG_LEVEL_.... */
int rgi_filter_check(const char *call, int filter);

/* A filter in words, as "memory,compute". RG_ERR_ARG. */
int rgi_filter_parse(const char *call, const char *words, int *filter);

#endif
