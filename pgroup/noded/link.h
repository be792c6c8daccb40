/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Links: the speakers' connections with one another, over TCP. One that breaks, or that
 * cannot be made, says that the other node is lost. Runs in guardians: nothing here
 * blocks, and nothing uses MPI. */
#ifndef RGI_LINK_H
#define RGI_LINK_H

#include <stddef.h>

#include "noded/mesh.h"

typedef struct rgi_link rgi_link;

/* What both sides of a connection say first; who calls hears the other's node as `from`. */
typedef struct {
  uint64_t key;
  int32_t from, to; /* nodes; from may be: */
} rgi_greeting;
#define RGI_GUEST (-2) /* a process, for the server (server.h) */

/* What the owner of the links is told. from: an index of a node. */
typedef struct {
  void (*up)(int node); /* a link to it can be used */
  void (*heard)(int from, uint32_t kind, const void *data, size_t bytes);
  void (*lost)(int node, const char *why);
  void (*guest)(int fd); /* a process of another node wants the server: taken over */
} rgi_link_events;

/* listener: a socket that listens. */
int rgi_links_open(rgi_mesh *mesh, int listener, const rgi_link_events *events);
void rgi_links_close(void);

/* Becomes readable when there is something to do; then, and after a while, step. */
int rgi_links_fd(void);
void rgi_links_step(void);

/* Whether a connection is being made, from either side: then step is to be called every 0.1 s. */
int rgi_links_busy(void);

/* A descriptor whose being readable makes rgi_links_fd readable. */
void rgi_links_watch(int fd);
void rgi_links_watch_once(int fd); /* for the end of a process, which lasts */

/* Makes a link unless there is one. */
void rgi_link_call(int node);
int rgi_link_is_up(int node);

/* Queues a message; calls the node first if need be. */
void rgi_link_send(int node, uint32_t kind, const void *data, size_t bytes);

/* To all nodes whose links are up, but one (-1: to all). */
void rgi_link_send_all(int except, uint32_t kind, const void *data, size_t bytes);

/* Breaks all links to it. */
void rgi_link_drop(int node);

/* Whether everything that was queued is with the kernel. */
int rgi_links_flushed(void);

#endif
