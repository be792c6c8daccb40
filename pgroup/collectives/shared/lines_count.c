/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The count of foreign cache lines, in a build that has it. */
#include "collectives/shared/lines_count.h"

#ifdef RG_COUNT_LINES
rgi_lines_count rgi_lines_count_now;
#endif
