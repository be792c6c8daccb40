/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Fortran's names of the extension's calls, as compilers name external subroutines: of the module
 * mpi_ext, and of mpi_ext_f08, where ierror may be left out (NULL) and a handle is a structure of
 * one integer. See include/regroup/ulfm/mpi_ext.f90. */
#include <regroup/error.h>
#include <regroup/mpi-ext.h>

#define FORTRAN(name, ...)                                                                         \
  RG_API void name##_(__VA_ARGS__);                                                                \
  RG_API void name##_f08_(__VA_ARGS__) __attribute__((alias(#name "_")));                          \
  void name##_(__VA_ARGS__)

static void give_code(int code, MPI_Fint *ierror) {
  if (ierror)
    *ierror = code;
}

FORTRAN(mpix_comm_revoke, const MPI_Fint *comm, MPI_Fint *ierror) {
  give_code(MPIX_Comm_revoke(MPI_Comm_f2c(*comm)), ierror);
}

FORTRAN(mpix_comm_is_revoked, const MPI_Fint *comm, MPI_Fint *flag, MPI_Fint *ierror) {
  int is_revoked = 0;
  give_code(MPIX_Comm_is_revoked(MPI_Comm_f2c(*comm), &is_revoked), ierror);
  *flag = is_revoked;
}

FORTRAN(mpix_comm_shrink, const MPI_Fint *comm, MPI_Fint *newcomm, MPI_Fint *ierror) {
  MPI_Comm made = MPI_COMM_NULL;
  give_code(MPIX_Comm_shrink(MPI_Comm_f2c(*comm), &made), ierror);
  *newcomm = MPI_Comm_c2f(made);
}

FORTRAN(mpix_comm_agree, const MPI_Fint *comm, MPI_Fint *flag, MPI_Fint *ierror) {
  give_code(MPIX_Comm_agree(MPI_Comm_f2c(*comm), flag), ierror);
}

/* MPI writes the results later: MPICH's handles are integers in both languages. */
FORTRAN(mpix_comm_ishrink, const MPI_Fint *comm, MPI_Fint *newcomm, MPI_Fint *request,
        MPI_Fint *ierror) {
  MPI_Request made = MPI_REQUEST_NULL;
  give_code(MPIX_Comm_ishrink(MPI_Comm_f2c(*comm), (MPI_Comm *)newcomm, &made), ierror);
  *request = MPI_Request_c2f(made);
}

FORTRAN(mpix_comm_iagree, const MPI_Fint *comm, MPI_Fint *flag, MPI_Fint *request,
        MPI_Fint *ierror) {
  MPI_Request made = MPI_REQUEST_NULL;
  give_code(MPIX_Comm_iagree(MPI_Comm_f2c(*comm), flag, &made), ierror);
  *request = MPI_Request_c2f(made);
}

FORTRAN(mpix_comm_failure_ack, const MPI_Fint *comm, MPI_Fint *ierror) {
  give_code(MPIX_Comm_failure_ack(MPI_Comm_f2c(*comm)), ierror);
}

FORTRAN(mpix_comm_failure_get_acked, const MPI_Fint *comm, MPI_Fint *group, MPI_Fint *ierror) {
  MPI_Group failed = MPI_GROUP_NULL;
  give_code(MPIX_Comm_failure_get_acked(MPI_Comm_f2c(*comm), &failed), ierror);
  *group = MPI_Group_c2f(failed);
}

FORTRAN(mpix_comm_get_failed, const MPI_Fint *comm, MPI_Fint *group, MPI_Fint *ierror) {
  MPI_Group failed = MPI_GROUP_NULL;
  give_code(MPIX_Comm_get_failed(MPI_Comm_f2c(*comm), &failed), ierror);
  *group = MPI_Group_c2f(failed);
}

FORTRAN(mpix_comm_ack_failed, const MPI_Fint *comm, const MPI_Fint *n, MPI_Fint *acknowledged,
        MPI_Fint *ierror) {
  give_code(MPIX_Comm_ack_failed(MPI_Comm_f2c(*comm), *n, acknowledged), ierror);
}
