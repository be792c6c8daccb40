/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * LAPACK's and ScaLAPACK's routines, loaded at run time: programs that do not use them need not
 * have them installed, and one build serves with ScaLAPACK and without. */
#ifndef RGI_ROUTINE_H
#define RGI_ROUTINE_H

#include <stddef.h>

#include <regroup/array.h>

/* Any routine: cast to its own type before a call. */
typedef void rgi_routine(void);

/* Loads the library if that has not been done; RG_ERR_UNSUPPORTED with a text that says what is
 * missing. Any thread. */
int rgi_routine_load_lapack(void);
int rgi_routine_load_scalapack(void);

/* A routine of LAPACK or BLAS (several = 0) or of ScaLAPACK for a type: "potrf" is dpotrf_ or
 * pdpotrf_. Of names "sy..." the complex types have "he...". */
rgi_routine *rgi_routine_find(int several, rg_array_type type, const char *name);

/* A function of BLACS. */
rgi_routine *rgi_routine_blacs(const char *name);

#endif
