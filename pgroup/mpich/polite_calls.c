/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Polls in vain in a row are a wait only if nobody gets anything in between. A flush of a window
 * polls once in vain and returns, for there was nothing to do: a thousand of them are no wait. So
 * the functions of MPI that poll and return without waiting are stepped in front of: one that has
 * ended what it was called for ends the row. One that only looks (MPI_Test, MPI_Iprobe) and finds
 * nothing leaves the row as it is, for a program may wait by it; but where each process has a
 * processor it does not pause, for it may also look between pieces of its work.
 *
 * Weak: libregroup-mpi has some of these functions itself. */
#include <mpi.h>

#include "mpich/polite.h"

#define CALL __attribute__((weak, visibility("default"))) int

static int end_look(int error, int found) {
  rgi_polite_look(-1);
  if (error || found)
    rgi_mpich_end_row();
  return error;
}

static int end_call(int error) {
  rgi_mpich_end_row();
  return error;
}

CALL MPI_Test(MPI_Request *request, int *flag, MPI_Status *status) {
  rgi_polite_look(1);
  int error = PMPI_Test(request, flag, status);
  return end_look(error, !error && *flag);
}

CALL MPI_Testall(int n, MPI_Request requests[], int *flag, MPI_Status statuses[]) {
  rgi_polite_look(1);
  int error = PMPI_Testall(n, requests, flag, statuses);
  return end_look(error, !error && *flag);
}

CALL MPI_Testany(int n, MPI_Request requests[], int *index, int *flag, MPI_Status *status) {
  rgi_polite_look(1);
  int error = PMPI_Testany(n, requests, index, flag, status);
  return end_look(error, !error && *flag);
}

CALL MPI_Testsome(int n, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[]) {
  rgi_polite_look(1);
  int error = PMPI_Testsome(n, requests, done, indices, statuses);
  return end_look(error, !error && *done != 0);
}

CALL MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status) {
  rgi_polite_look(1);
  int error = PMPI_Request_get_status(request, flag, status);
  return end_look(error, !error && *flag);
}

/* A wait that has ended is none any more. Where nothing had to come, as for a non-blocking
 * collective without elements, no poll has said so. */
CALL MPI_Wait(MPI_Request *request, MPI_Status *status) {
  return end_call(PMPI_Wait(request, status));
}

CALL MPI_Waitall(int n, MPI_Request requests[], MPI_Status statuses[]) {
  return end_call(PMPI_Waitall(n, requests, statuses));
}

CALL MPI_Waitany(int n, MPI_Request requests[], int *index, MPI_Status *status) {
  return end_call(PMPI_Waitany(n, requests, index, status));
}

CALL MPI_Waitsome(int n, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[]) {
  return end_call(PMPI_Waitsome(n, requests, done, indices, statuses));
}

CALL MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status) {
  rgi_polite_look(1);
  int error = PMPI_Iprobe(source, tag, comm, flag, status);
  return end_look(error, !error && *flag);
}

CALL MPI_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message,
                 MPI_Status *status) {
  rgi_polite_look(1);
  int error = PMPI_Improbe(source, tag, comm, flag, message, status);
  return end_look(error, !error && *flag);
}

/* For libregroup-mpi's own, where the job tolerates no faults. */
#define KEPT_AS(kept, function)                                                                    \
  extern __typeof__(function) kept __attribute__((alias(#function), visibility("hidden")))
KEPT_AS(rgi_mpich_test, MPI_Test);
KEPT_AS(rgi_mpich_testall, MPI_Testall);
KEPT_AS(rgi_mpich_testany, MPI_Testany);
KEPT_AS(rgi_mpich_testsome, MPI_Testsome);
KEPT_AS(rgi_mpich_wait, MPI_Wait);
KEPT_AS(rgi_mpich_waitall, MPI_Waitall);
KEPT_AS(rgi_mpich_waitany, MPI_Waitany);
KEPT_AS(rgi_mpich_waitsome, MPI_Waitsome);
KEPT_AS(rgi_mpich_request_get_status, MPI_Request_get_status);
KEPT_AS(rgi_mpich_iprobe, MPI_Iprobe);
KEPT_AS(rgi_mpich_improbe, MPI_Improbe);

CALL MPI_Win_test(MPI_Win win, int *flag) {
  rgi_polite_look(1);
  int error = PMPI_Win_test(win, flag);
  return end_look(error, !error && *flag);
}

CALL MPI_Win_flush(int rank, MPI_Win win) {
  return end_call(PMPI_Win_flush(rank, win));
}

CALL MPI_Win_flush_all(MPI_Win win) {
  return end_call(PMPI_Win_flush_all(win));
}

CALL MPI_Win_flush_local(int rank, MPI_Win win) {
  return end_call(PMPI_Win_flush_local(rank, win));
}

CALL MPI_Win_flush_local_all(MPI_Win win) {
  return end_call(PMPI_Win_flush_local_all(win));
}

CALL MPI_Win_unlock(int rank, MPI_Win win) {
  return end_call(PMPI_Win_unlock(rank, win));
}

CALL MPI_Win_unlock_all(MPI_Win win) {
  return end_call(PMPI_Win_unlock_all(win));
}

CALL MPI_Win_fence(int assertion, MPI_Win win) {
  return end_call(PMPI_Win_fence(assertion, win));
}
