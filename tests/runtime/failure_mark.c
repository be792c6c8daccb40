/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * For test_failure_mark.py: without the library, rank 0 puts MPICH's mark of a failed process into
 * the tags of what it sends in MPI_Comm_create_group. Rank 1 prints whether the error handler was
 * asked, or MPICH ends it. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <ucp/api/ucp.h>
#include <unistd.h>

static ucp_tag_t mark;
static int asked;

__attribute__((visibility("default"))) ucs_status_ptr_t
ucp_tag_send_nbx(ucp_ep_h ep, const void *buffer, size_t count, ucp_tag_t tag,
                 const ucp_request_param_t *param) {
  ucs_status_ptr_t (*next)(ucp_ep_h, const void *, size_t, ucp_tag_t, const ucp_request_param_t *);
  *(void **)&next = dlsym(RTLD_NEXT, "ucp_tag_send_nbx");
  return next(ep, buffer, count, tag | mark, param);
}

static void handler(MPI_Comm *comm, int *error, ...) {
  (void)comm;
  asked = *error != MPI_SUCCESS;
}

int main(int argc, char **argv) {
  int rank, found, *most;
  MPI_Comm made;
  MPI_Group group;
  MPI_Errhandler asking;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_group(MPI_COMM_WORLD, &group);
  MPI_Comm_create_errhandler(handler, &asking);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, asking);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, asking);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &found);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0 && argc > 1)
    mark = ((ucp_tag_t)*most + 1) * (2 + 4); /* pgroup/mpich/interrupt.c, failure_bits */
  int error = MPI_Comm_create_group(MPI_COMM_WORLD, group, 7, &made);
  mark = 0;
  if (rank == 1)
    printf("error %d, handler %d\n", error != MPI_SUCCESS, asked);
  fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
