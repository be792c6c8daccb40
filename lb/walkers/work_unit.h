/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A unit of the walker that a group works on. */
#ifndef RGI_WALKERS_WORK_UNIT_H
#define RGI_WALKERS_WORK_UNIT_H

#include "walkers/work.h"

/* The leader's decision what comes next. Of an error of the library all members get the code. */
typedef int rgi_work_unit_decide(void *of, rgi_work_decision *d);

/* Does one unit. All members call. The leader calls decide(of); *next is what it decided, on all
 * members. */
int rgi_work_unit(rgi_work *work, rgi_work_unit_decide *decide, void *of, rgi_work_decision *next);

#endif
