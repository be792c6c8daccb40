/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The cost model is that of ScaLAPACK's users' guide (Blackford et al., 1997): arithmetic, divided
 * by all processes; messages along rows and columns of the grid, some for each column of the
 * matrix; and the elements that they carry, n^2 / sqrt(processes) for each of them. */
#include "linalg/process_grid.h"

#include <limits.h>
#include <math.h>
#include <regroup/collectives.h>
#include <string.h>

#include "base/error.h"
#include "collectives/calls/group_error.h"
#include "distribution/type.h"
#include "linalg/routine.h"
#include "noded/client/guard_client.h"
#include "runtime/tuning.h"
#include "shm/node.h"

enum { BLOCK = 64, LEAST_BLOCK = 4 };

/* Multiplications and additions in a second, messages for each column, and elements for each. */
static const double RATE = 2e9, MESSAGES = 20, ELEMENTS = 10;

static double seconds(int rows, int columns, int64_t extent, double work, double ts, double tw) {
  double n = (double)extent, processes = rows * columns;
  double time = work * n * n * n / processes / RATE;
  if (processes > 1)
    time += MESSAGES * n * log2(processes) * ts + ELEMENTS * n * n / sqrt(processes) * 8 * tw;
  return time;
}

/* The most nearly square grid. */
static void factor(int processes, int *rows, int *columns) {
  int r = (int)sqrt((double)processes);
  while (processes % r)
    r--;
  *rows = r;
  *columns = processes / r;
}

void rgi_process_grid_choose(int most, int64_t extent, double work, double ts, double tw, int *rows,
                             int *columns) {
  double best = seconds(1, 1, extent, work, ts, tw);
  *rows = *columns = 1;
  for (int processes = 2; processes <= most; processes++) {
    int r, c;
    factor(processes, &r, &c);
    double time = seconds(r, c, extent, work, ts, tw);
    if (c <= 3 * r && time < best) {
      best = time;
      *rows = r;
      *columns = c;
    }
  }
}

/* More processes than processors would take turns. */
static int processes_of_use(int members, int nodes) {
  int on_node = members / nodes > 1 ? members / nodes : 1;
  int most = nodes * (rgi_node.processors < on_node ? rgi_node.processors : on_node);
  return most < members ? most : members;
}

static int check_chosen(const char *call, const rg_linalg_options *options, int members) {
  if (options->processes < 0 || options->processes > members)
    return rgi_error(RG_ERR_ARG, "%s: options.processes is %d; the group has %d", call,
                     options->processes, members);
  if (options->block < 0 || options->block > 1024)
    return rgi_error(RG_ERR_ARG, "%s: options.block is %d; it is 1 to 1024, or 0", call,
                     options->block);
  return RG_SUCCESS;
}

/* Several processes: whether all can use ScaLAPACK. Where it has not been asked for, one process
 * computes otherwise. */
static int load_scalapack(const char *call, rg_group g, int asked, rgi_process_grid *grid) {
  int code = rgi_guard_exists()
                 ? rgi_error(RG_ERR_UNSUPPORTED,
                             "%s: ScaLAPACK is not used in a job that survives (RG_SURVIVE)", call)
                 : rgi_routine_load_scalapack();
  code = rgi_group_error_share(g, call, code);
  if (code == RG_ERR_UNSUPPORTED && !asked) {
    grid->rows = grid->columns = 1;
    return RG_SUCCESS;
  }
  return code;
}

/* The same on all members: rank 0 chooses. */
static int choose(rg_group g, int members, int nodes, int64_t extent, double work,
                  const rg_linalg_options *options, rgi_process_grid *grid) {
  int shape[2];
  const rgi_tuning_model *tuning = rgi_tuning_now();
  const rgi_tuning_level *level = nodes > 1 ? &tuning->between : &tuning->inside;
  if (options->processes)
    factor(options->processes, &shape[0], &shape[1]);
  else
    rgi_process_grid_choose(processes_of_use(members, nodes), extent, work, level->ts, level->tw,
                            &shape[0], &shape[1]);
  RGI_TRY(rg_bcast(g, shape, 2, MPI_INT, 0));
  grid->rows = shape[0];
  grid->columns = shape[1];
  return RG_SUCCESS;
}

/* Every process of the grid has some blocks, and a row of blocks is not much of its part. */
static int block_extent(const rgi_process_grid *grid, int64_t extent,
                        const rg_linalg_options *options) {
  int64_t share = extent / (2 * grid->columns);
  if (options->block)
    return options->block;
  return share > BLOCK || !rgi_process_grid_is_several(grid) ? BLOCK
         : share > LEAST_BLOCK                               ? (int)share
                                                             : LEAST_BLOCK;
}

static int start_blacs(const char *call, rg_group g, rgi_process_grid *grid) {
  typedef int get_handle(MPI_Comm comm);
  typedef void map_grid(int *context, int *ranks, int ld, int rows, int columns);
  MPI_Comm comm;
  int ranks[grid->rows * grid->columns];
  RGI_TRY(rgi_group_error_share(g, call, rg_group_dup(g, &grid->group)));
  RGI_TRY(rgi_group_error_share(g, call, rg_group_comm(grid->group, &comm)));
  for (int i = 0; i < grid->rows * grid->columns; i++)
    ranks[i % grid->columns * grid->rows + i / grid->columns] = i; /* in Fortran's order */
  grid->system = ((get_handle *)rgi_routine_blacs("Csys2blacs_handle"))(comm);
  grid->context = grid->system;
  ((map_grid *)rgi_routine_blacs("Cblacs_gridmap"))(&grid->context, ranks, grid->rows, grid->rows,
                                                    grid->columns);
  return RG_SUCCESS;
}

int rgi_process_grid_make(const char *call, rg_group g, rg_array_type type, int64_t extent,
                          double work, const rg_linalg_options *options, rgi_process_grid *grid) {
  int members, me, nodes;
  memset(grid, 0, sizeof *grid);
  grid->rows = grid->columns = 1;
  grid->system = grid->context = -1;
  RGI_TRY(rg_group_size(g, &members));
  RGI_TRY(rg_group_rank(g, &me));
  RGI_TRY(check_chosen(call, options, members));
  int code = rg_group_node_count(g, &nodes);
  RGI_TRY(rgi_group_error_share(g, call, code ? code : rgi_routine_load_lapack()));
  if (rgi_type_is_complex(type))
    work *= 4;
  RGI_TRY(choose(g, members, nodes, extent, work, options, grid));
  if (rgi_process_grid_is_several(grid))
    RGI_TRY(load_scalapack(call, g, options->processes, grid));
  grid->block = block_extent(grid, extent, options);
  grid->row = me < grid->rows * grid->columns ? me / grid->columns : -1;
  grid->column = grid->row < 0 ? -1 : me % grid->columns;
  return rgi_process_grid_is_several(grid) ? start_blacs(call, g, grid) : RG_SUCCESS;
}

void rgi_process_grid_free(rgi_process_grid *grid) {
  typedef void end_context(int context);
  if (grid->context >= 0 && rgi_process_grid_has_me(grid))
    ((end_context *)rgi_routine_blacs("Cblacs_gridexit"))(grid->context);
  if (grid->system >= 0)
    ((end_context *)rgi_routine_blacs("Cfree_blacs_system_handle"))(grid->system);
  rg_group_free(&grid->group);
}
