/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * One step of all chains of a walker. Called by every member of g, with the same
 * state. acceptance: the mean probability with which the proposals are accepted;
 * *accepted: how many were. Errors: those of post_density_evaluate. */
#ifndef POST_SAMPLER_H
#define POST_SAMPLER_H

#include "walker.h"

typedef int post_sampler_step(rg_group g, const post_model *m, uint64_t seed, post_walker_state *s,
                              double *acceptance, int *accepted);

/* Random walk: Metropolis et al., J. Chem. Phys. 21, 1953. */
post_sampler_step post_sampler_metropolis;

/* Hamiltonian (hybrid) Monte Carlo: Duane et al., Phys. Lett. B 195, 1987, with
 * leapfrog steps of 0.8 to 1.2 times the tuned size, a quarter of a turn of a
 * Gaussian long. */
post_sampler_step post_sampler_hmc;

#endif
