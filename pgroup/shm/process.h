/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The table of processes as a rank sees it: which processes have died, and the rank's own
 * state. */
#ifndef RGI_PROCESS_H
#define RGI_PROCESS_H

#include "shm/process_table.h"

/* This process's view of its node's table. */
extern rgi_process_table rgi_processes;

/* By every process of the node; memory of rgi_process_table_bytes. Before any process looks,
 * the node's processes synchronize. RG_ERR_SYSTEM. */
int rgi_process_open(void *memory, int world);
void rgi_process_close(void);

/* Looks whether a process of this node has died. Any thread; cheap if it was done a
 * moment ago. now: rgi_clock_now. */
void rgi_process_check(double now);

/* The same, whenever it was done last. */
void rgi_process_check_now(void);

/* How many are known to be dead; the i-th in the order in which they were noticed;
 * whether one of them is this rank. */
int rgi_process_deaths(void);
int rgi_process_death(int i);
int rgi_process_is_dead(int world_rank);

/* This process returns from rg_init. reports: its waits are reported to its guard; only where
 * one thread makes all calls. */
void rgi_process_ready(int reports);

/* This process has come to its end; whether the node's i-th one has; whether all of the node's
 * have, or have died. */
void rgi_process_leave(void);
int rgi_process_has_left(int place);
int rgi_process_all_left(void);

/* This process has been in one wait, here or in MPI, from `since` until now, and nothing has
 * moved. Of the thread that has called rg_init, unless others may call too. */
void rgi_process_note_wait(double since, double now);

/* All have ended well: the guards of the dead hear of it. */
void rgi_process_end_job(void);

#endif
