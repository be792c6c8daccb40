/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The table of processes as a rank sees it: which processes have died, and the rank's own
 * state. */
#ifndef RGI_PROCESS_H
#define RGI_PROCESS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "shm/process_table.h"

/* This rank's view of its node's table. */
extern rgi_process_table rgi_process_view;

/* By every rank of the node, with the same memory of rgi_process_table_bytes. The caller
 * synchronizes the node's ranks before any of them calls another function here. any_thread: threads
 * may end before rgi_process_close, and another one may call it; costs a thread. RG_ERR_SYSTEM. */
int rgi_process_open(void *memory, int world, int any_thread);
void rgi_process_close(void);

/* Looks whether a process of this node has died, unless a process of the node did so within the
 * last 5 ms: what it finds, all see. Any thread. now: rgi_clock_now. */
void rgi_process_check(double now);

/* Called by rgi_process_check, or NULL: what a process that waits looks at besides (noded). */
extern void (*rgi_process_look)(double now);

/* Looks in any case. */
void rgi_process_check_now(void);

/* How many ranks of the world are known to be dead; the i-th of them in the order of noticing;
 * whether a rank is one of them. */
int rgi_process_deaths(void);
int rgi_process_death(int i);
int rgi_process_is_dead(int world_rank);

/* This rank returns from rg_init. reports: rgi_process_note_wait notes its waits; only where one
 * thread makes all calls. Whether all of the node do. */
void rgi_process_ready(int reports);
int rgi_process_all_ready(void);

/* This rank has come to the end of rg_finalize; whether the rank at a place of the node has;
 * whether all of the node have, or have died. */
void rgi_process_leave(void);
int rgi_process_has_left(int place);
int rgi_process_all_left(void);

/* Notes for the guard that this rank has been in one wait, in the library or in MPI, from `since`
 * until now, without progress. */
void rgi_process_note_wait(double since, double now);

/* As rgi_process_note_wait, of a wait that may last for ever. */
void rgi_process_note_patient_wait(double since, double now);

/* Writes the outcome for the guards of the node: all survivors have ended well. */
void rgi_process_end_job(void);

/* Copies `bytes` bytes at an address of a process. Returns 0, or errno: ESRCH, it has ended; EPERM,
 * the system does not allow it; EFAULT. */
int rgi_process_read_memory(pid_t pid, uint64_t address, void *to, size_t bytes);

#endif
