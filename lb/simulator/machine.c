/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The machine of the published measurements, a machine without costs, and machines measured by
 * regroup-bench create, whose result files are read here. */
#include "machine.h"

#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <regroup/error.h>
#include <string.h>

#include "base/error.h"
#include "runtime/program/program.h"

/* Blue Gene/P. Published are the times of recursive group-collective creation (Dinan
 * et al., Fig. 1). The others follow from these:
 *  - latency: without balancing 280 units and a formation take 7.01 s, 9 ms more than
 *    the work; that is 280 allreduces of 4 messages one after another on 4 processes.
 *  - per_rank, 32 bytes of load: over a link of 425 MB/s, and 50 ns (42 cycles) to look
 *    at them.
 *  - startup: from 32 to 8192 ranks sync i = 128 grows by 0.11 s, of which its two or
 *    three regroupings explain 0.01 s; without balancing there is no growth. The paper does
 *    not say what it is.
 *  - polls: that machine's MPI_Iprobe searches the messages that have arrived, and if
 *    it finds none lets further ones in, but does not search again: a message that
 *    arrived during a unit is found after the next one.
 *  - idle_join: "merges with the group to its right", whether that one is idle or not.
 *  - jitter: any small number, so that groups do not end at the very same instant. */
static const sim_machine published = {
    .name = "published",
    .sizes = 8,
    .size = {2, 4, 8, 16, 32, 128, 1024, 8192},
    .seconds = {.35e-3, .76e-3, 1.26e-3, 1.88e-3, 2.57e-3, 4.30e-3, 7.91e-3, 16.75e-3},
    .latency = 8e-6,
    .steps = 2,
    .per_rank = 0.125e-6,
    .startup = 12.6e-3,
    .polls = 2,
    .idle_join = 1,
    .jitter = 1e-3};

static const sim_machine nothing = {.name = "free", .polls = 1};

static int bad_machine(const char *name, const char *why) {
  return rgi_error(RG_ERR_ARG, "machine %s: %s", name, why);
}

/* Adds to machine->sizes what the contender has. */
static int take_times(const char *name, json_t *results, const char *contender,
                      sim_machine *machine) {
  json_t *row;
  size_t i;
  json_array_foreach(results, i, row) {
    const char *who = json_string_value(json_object_get(row, "contender"));
    double size = json_number_value(json_object_get(row, "size"));
    double seconds = json_number_value(json_object_get(row, "median"));
    if (!who || strcmp(who, contender) || machine->sizes == SIM_SIZES)
      continue;
    if (!(size >= 1 && size <= INT_MAX && seconds > 0 && seconds <= 1e6))
      return bad_machine(name, "a size or a median that is none");
    if (machine->sizes && machine->size[machine->sizes - 1] >= size)
      continue;
    machine->size[machine->sizes] = size;
    machine->seconds[machine->sizes++] = seconds;
  }
  return RG_SUCCESS;
}

/* Reads a result of regroup-bench create: of groups as this library forms them, else of
 * communicators. */
static int read_file(const char *name, sim_machine *machine) {
  char text[RGP_TEXT];
  json_t *root = rgp_read_json(name, text);
  if (!root)
    return rgi_error(RG_ERR_ARG, "machine: not published or free, nor a file: %s", text);
  json_t *results = json_object_get(root, "results");
  *machine = (sim_machine){.name = "measured", .polls = 1, .latency = 20e-6, .per_rank = 1e-7};
  int error = take_times(name, results, "rg_group_create", machine);
  if (!error && machine->sizes == 0)
    error = take_times(name, results, "recursive", machine);
  json_decref(root);
  if (error)
    return error;
  if (machine->sizes == 0)
    return bad_machine(name, "no result of regroup-bench create");
  if (machine->sizes == 1 && machine->size[0] < 2)
    return bad_machine(name, "no group of several ranks was measured");
  return RG_SUCCESS;
}

int sim_machine_read(const char *name, sim_machine *machine) {
  if (strcmp(name, "published") && strcmp(name, "free"))
    return read_file(name, machine);
  *machine = strcmp(name, "free") ? published : nothing;
  return RG_SUCCESS;
}

void sim_machine_fix(sim_machine *machine, double seconds) {
  machine->sizes = 1;
  machine->size[0] = 1e18;
  machine->seconds[0] = seconds;
}

double sim_machine_formation(const sim_machine *machine, int64_t ranks) {
  double n = (double)ranks;
  int last = machine->sizes - 1, at = 0;
  if (machine->sizes == 0)
    return 0;
  if (n <= machine->size[0])
    return machine->seconds[0];
  if (n >= machine->size[last])
    return machine->seconds[last] * pow(log2(n) / log2(machine->size[last]), 2);
  while (machine->size[at + 1] < n)
    at++;
  double part = log(n / machine->size[at]) / log(machine->size[at + 1] / machine->size[at]);
  return machine->seconds[at] * pow(machine->seconds[at + 1] / machine->seconds[at], part);
}

double sim_machine_exchange(const sim_machine *machine, int64_t ranks) {
  return machine->latency * ceil(log2((double)ranks)) + machine->per_rank * (double)ranks;
}

double sim_machine_agreement(const sim_machine *machine, int64_t ranks) {
  return machine->latency * machine->steps * ceil(log2((double)ranks));
}

double sim_machine_cross(const sim_machine *machine) {
  return fmax(2, machine->steps) * machine->between;
}

double sim_machine_startup(const sim_machine *machine, int64_t ranks) {
  return machine->startup * log2((double)ranks);
}

double sim_machine_speed(const sim_machine *machine, int64_t ranks) {
  return machine->serial + (1 - machine->serial) / (double)ranks;
}
