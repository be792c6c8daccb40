/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What the kernel says of processes and of the threads of this one. */
#ifndef RGI_TASK_H
#define RGI_TASK_H

/* The state of the process or thread whose folder in /proc this is, as the kernel writes it: 'R'
 * runs, 'S' sleeps, 'T' is stopped. 0: there is none. */
char rgi_task_state(const char *folder);

/* How many threads this process has. */
int rgi_task_count(void);

/* Waits until no other thread of this process runs or waits for a disk, at most so long. A thread
 * that sleeps is seldom in the middle of something. So after a fork the child does not find locks
 * taken by threads that it does not have. */
void rgi_task_settle(double seconds);

#endif
