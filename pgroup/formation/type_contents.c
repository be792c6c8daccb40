/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * MPI gives ints, addresses and large counts apart, each in the order of the arguments. Addresses
 * and large counts come behind the ints that stand before them, so that joining them one behind the
 * other restores the order; except for subarrays and distributed arrays with large counts, whose
 * sizes stand between ints. */
#include "formation/type_contents.h"

#include <stdlib.h>

/* How many numbers of each kind, and types, a type has. */
typedef struct {
  size_t ints, addresses, larges, types;
} envelope;

static void *room(void *few, size_t most, size_t n, size_t bytes) {
  return n <= most ? few : malloc(n * bytes);
}

static void free_room(void *memory, const void *few) {
  if (memory != few)
    free(memory);
}

#if MPI_VERSION >= 4
static int read_envelope(MPI_Datatype type, envelope *have, int *combiner) {
  MPI_Count n[4];
  if (MPI_Type_get_envelope_c(type, &n[0], &n[1], &n[2], &n[3], combiner) != MPI_SUCCESS)
    return 0;
  *have = (envelope){.ints = (size_t)n[0],
                     .addresses = (size_t)n[1],
                     .larges = (size_t)n[2],
                     .types = (size_t)n[3]};
  return 1;
}

static int read_large(MPI_Datatype type, const envelope *have, int ints[], MPI_Aint addresses[],
                      MPI_Count larges[], MPI_Datatype types[]) {
  return MPI_Type_get_contents_c(type, (MPI_Count)have->ints, (MPI_Count)have->addresses,
                                 (MPI_Count)have->larges, (MPI_Count)have->types, ints, addresses,
                                 larges, types) == MPI_SUCCESS;
}
#else
static int read_envelope(MPI_Datatype type, envelope *have, int *combiner) {
  int n[3];
  if (MPI_Type_get_envelope(type, &n[0], &n[1], &n[2], combiner) != MPI_SUCCESS)
    return 0;
  *have = (envelope){.ints = (size_t)n[0], .addresses = (size_t)n[1], .types = (size_t)n[2]};
  return 1;
}

static int read_large(MPI_Datatype type, const envelope *have, int ints[], MPI_Aint addresses[],
                      MPI_Count larges[], MPI_Datatype types[]) {
  (void)type, (void)have, (void)ints, (void)addresses, (void)larges, (void)types;
  return 0;
}
#endif

/* How many ints stand before the large counts. */
static size_t ints_before(int combiner) {
  return combiner == MPI_COMBINER_SUBARRAY ? 1 : combiner == MPI_COMBINER_DARRAY ? 3 : 0;
}

static void join_numbers(rgi_type_contents *contents, const envelope *have, const int ints[],
                         const MPI_Aint addresses[], const MPI_Count larges[]) {
  int64_t *to = contents->number;
  size_t before = have->larges ? ints_before(contents->combiner) : have->ints;
  for (size_t i = 0; i < before; i++)
    *to++ = ints[i];
  for (size_t i = 0; i < have->addresses; i++)
    *to++ = addresses[i];
  for (size_t i = 0; i < have->larges; i++)
    *to++ = larges[i];
  for (size_t i = before; i < have->ints; i++)
    *to++ = ints[i];
}

static int read_numbers(MPI_Datatype type, const envelope *have, rgi_type_contents *contents) {
  enum { FEW = RGI_TYPE_CONTENTS_NUMBERS };
  int few_ints[FEW], *ints = room(few_ints, FEW, have->ints, sizeof *ints);
  MPI_Aint few_addresses[FEW],
      *addresses = room(few_addresses, FEW, have->addresses, sizeof *addresses);
  MPI_Count few_larges[FEW], *larges = room(few_larges, FEW, have->larges, sizeof *larges);
  int good = ints && addresses && larges && contents->number && contents->type;
  if (good && have->larges)
    good = read_large(type, have, ints, addresses, larges, contents->type);
  else if (good)
    good = MPI_Type_get_contents(type, (int)have->ints, (int)have->addresses, (int)have->types,
                                 ints, addresses, contents->type) == MPI_SUCCESS;
  if (good)
    join_numbers(contents, have, ints, addresses, larges);
  free_room(ints, few_ints);
  free_room(addresses, few_addresses);
  free_room(larges, few_larges);
  return good;
}

int rgi_type_contents_read(MPI_Datatype type, rgi_type_contents *contents) {
  envelope have;
  contents->types = 0;
  contents->number = contents->few_numbers;
  contents->type = contents->few_types;
  if (!read_envelope(type, &have, &contents->combiner))
    return 0;
  if (rgi_type_contents_is_basic(contents->combiner))
    return 1;
  contents->numbers = have.ints + have.addresses + have.larges;
  contents->number = room(contents->few_numbers, RGI_TYPE_CONTENTS_NUMBERS, contents->numbers,
                          sizeof *contents->number);
  contents->type =
      room(contents->few_types, RGI_TYPE_CONTENTS_TYPES, have.types, sizeof *contents->type);
  int good = read_numbers(type, &have, contents);
  if (good)
    contents->types = have.types;
  return good;
}

int rgi_type_contents_combiner(MPI_Datatype type) {
  envelope unused;
  int combiner;
  return read_envelope(type, &unused, &combiner) ? combiner : MPI_UNDEFINED;
}

/* Whether the type that MPI has given is the caller's to free. Those that Fortran's programs select
 * cannot be freed in Open MPI; MPICH counts them as it counts derived types. */
static int is_to_be_freed(MPI_Datatype type) {
  int combiner = rgi_type_contents_combiner(type);
#ifdef OPEN_MPI
  return !rgi_type_contents_is_basic(combiner);
#else
  return combiner != MPI_COMBINER_NAMED;
#endif
}

void rgi_type_contents_free(rgi_type_contents *contents) {
  for (size_t i = 0; i < contents->types; i++)
    if (is_to_be_freed(contents->type[i]))
      MPI_Type_free(&contents->type[i]);
  free_room(contents->number, contents->few_numbers);
  free_room(contents->type, contents->few_types);
}
