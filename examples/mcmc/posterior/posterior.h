/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * regroup-mcmc --model: samples a posterior instead of running the kernel. */
#ifndef POST_POSTERIOR_H
#define POST_POSTERIOR_H

/* Whether the command line asks for a model. */
int post_wanted(int argc, char **argv);

/* The whole program between MPI_Init and MPI_Finalize. Every rank of the world
 * calls. Returns the exit status. */
int post_main(int argc, char **argv, int rank);

#endif
