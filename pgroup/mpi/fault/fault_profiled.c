/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The names PMPI_... of the calls that this library has as MPI_.... Libraries on MPI's profiling
 * interface call them, and Fortran's mpi_f08. With fault tolerance they are this library's, so that
 * these calls end, too; else MPI's.
 *
 * fault_names.h is made from regroup-mpi.map by the build: NAME(function), and EXTENSION(function)
 * for what MPI need not have. The build renames the calls of PMPI_... in the other objects of this
 * library to rgi_fault_next_PMPI_..., which is MPI's function always, and gives each function of
 * this library a name that no other object can take: rgi_fault_own_MPI_.... The arguments are not
 * known here: a call is a jump. */
#include <dlfcn.h>

#include "fault_names.h"
#include "mpi/fault/fault_comm.h"

#if defined(__x86_64__)
#define IF_ON_GO_TO(own) "cmpl $0, rgi_fault_comm_on(%rip)\n\tjne " own "\n"
#define GO_TO(own) "jmp " own "\n"
#define GO_TO_NEXT(entry) "jmp *8+" entry "(%rip)\n"
#define POINTER ".quad "
#elif defined(__aarch64__)
#define IF_ON_GO_TO(own)                                                                           \
  "adrp x16, rgi_fault_comm_on\n\tldr w16, [x16, #:lo12:rgi_fault_comm_on]\n\tcbz w16, "           \
  "1f\n\tb " own "\n1:\n"
#define GO_TO(own) "b " own "\n"
#define GO_TO_NEXT(entry) "adrp x16, 8+" entry "\n\tldr x16, [x16, #:lo12:8+" entry "]\n\tbr x16\n"
#define POINTER ".xword "
#else
#error "the build leaves this file out"
#endif

/* An entry: the name and what dlsym finds. */
#define ENTRY(name)                                                                                \
  ".pushsection rgi_fault_names, \"aw\"\n\t.balign 8\nrgi_fault_entry_" name ":\n\t" POINTER       \
  "2f\n\t" POINTER "0\n\t.popsection\n\t.pushsection .rodata\n2:\t.asciz \"" name                  \
  "\"\n\t.popsection\n"

#define FUNCTION(name, first, own)                                                                 \
  __asm__(ENTRY(name) ".pushsection .text\n\t.balign 16\n\t.globl " name "\n\t.type " name         \
                      ", %function\n\t.hidden " own "\n" name ":\n\t" first                        \
                      "\t.globl rgi_fault_next_" name "\n\t.hidden rgi_fault_next_" name           \
                      "\nrgi_fault_next_" name                                                     \
                      ":\n\t" GO_TO_NEXT("rgi_fault_entry_" name) ".popsection\n");

#define NAME(name) FUNCTION("P" #name, IF_ON_GO_TO("rgi_fault_own_" #name), "rgi_fault_own_" #name)
#define EXTENSION(name) FUNCTION("P" #name, GO_TO("rgi_fault_own_" #name), "rgi_fault_own_" #name)
FAULT_NAMES
#undef NAME
#undef EXTENSION

typedef struct {
  const char *name;
  void *next;
} profiled_name;

extern profiled_name __start_rgi_fault_names[], __stop_rgi_fault_names[];

/* A program that has MPI's archive exports its functions itself. */
__attribute__((constructor)) static void find_next(void) {
  for (profiled_name *entry = __start_rgi_fault_names; entry < __stop_rgi_fault_names; entry++) {
    entry->next = dlsym(RTLD_NEXT, entry->name);
    if (!entry->next)
      entry->next = dlsym(RTLD_DEFAULT, entry->name);
  }
}
