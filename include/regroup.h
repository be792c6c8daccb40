/* Regroup: process groups that form, merge and survive while the program runs.
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * This header includes all others; there is one header for each object. */
#ifndef REGROUP_H
#define REGROUP_H

#include <regroup/array.h>
#include <regroup/array_file.h>
#include <regroup/array_math.h>
#include <regroup/array_regroup.h>
#include <regroup/balance.h>
#include <regroup/checkpoint.h>
#include <regroup/checkpoint_due.h>
#include <regroup/collectives.h>
#include <regroup/comm.h>
#include <regroup/error.h>
#include <regroup/ga.h>
#include <regroup/group.h>
#include <regroup/intercomm.h>
#include <regroup/linalg.h>
#include <regroup/p2p.h>
#include <regroup/policy.h>
#include <regroup/polite.h>
#include <regroup/random.h>
#include <regroup/recovery.h>
#include <regroup/request.h>
#include <regroup/reserve.h>
#include <regroup/runtime.h>
#include <regroup/task.h>
#include <regroup/timeline.h>
#include <regroup/topology.h>
#include <regroup/version.h>

#endif
