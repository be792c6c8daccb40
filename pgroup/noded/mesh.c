/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "noded/mesh.h"

#include <errno.h>
#include <regroup/error.h>
#include <unistd.h>

#include "base/pause.h"
#include "shm/process.h"
#include "shm/revocation.h"

static struct {
  rgi_mesh *mesh;
  int pipe;
} here = {.pipe = -1};

void rgi_mesh_use(rgi_mesh *mesh, int pipe) {
  here.mesh = mesh;
  here.pipe = pipe;
}

void rgi_mesh_close(void) {
  if (here.pipe >= 0)
    close(here.pipe);
  here.pipe = -1;
  here.mesh = NULL;
}

int rgi_mesh_there(void) {
  return here.mesh != NULL;
}

rgi_mesh *rgi_mesh_here(void) {
  return here.mesh;
}

/* The pipe is full only for a moment, unless the speaker is dead: then so are we, soon. */
void rgi_mesh_tell(rgi_tell_kind kind, uint64_t value) {
  rgi_overlay_fact t = {kind, value};
  for (int i = 0; here.pipe >= 0 && i < 10000; i++) {
    if (write(here.pipe, &t, sizeof t) == (ssize_t)sizeof t || errno != EAGAIN)
      return;
    rgi_sleep(1e-3);
  }
}

int rgi_mesh_all_left(void) {
  for (int i = 0; here.mesh && i < here.mesh->nodes; i++)
    if (i != here.mesh->mine && !atomic_load(&rgi_mesh_nodes(here.mesh)[i].left))
      return 0;
  return 1;
}

int rgi_mesh_node_of(int world_rank) {
  return rgi_mesh_of(here.mesh)[world_rank];
}

/* The other nodes are told first: a process that is killed in between has not told some of its own.
 */
int rgi_mesh_revoke(uint64_t context) {
  if (rgi_processes.journal && !rgi_is_revoked(context))
    rgi_mesh_tell(RGI_TELL_REVOKED, context);
  return rgi_revocation_note(&rgi_processes, context);
}
