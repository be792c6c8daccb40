/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A process cannot open the descriptors of another one by /proc where the two are in different user
 * or PID namespaces (a container for each process), or the other one is not dumpable; and in
 * different PID namespaces it may find a descriptor of its own there. So descriptors are passed by
 * sockets. Each process binds one to an abstract name, of which nothing is left behind; the first
 * process sends to all. The names and a key are random and told by MPI: so a message of another
 * user's process is known by its key and dropped, and a name that such a process has taken is an
 * error. */
#include "runtime/pass_fd.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"
#include "progress/mpi_error.h"

/* The system allows a user's processes so many descriptors under way as one process may have open:
 * 1,024 where nobody has raised the limit. */
#define ROUND 128

/* What the first process tells the others. */
typedef struct {
  uint64_t name[2], key[2];
  int32_t there, code; /* whether it has a descriptor; an errno */
} pass_card;

static pass_card draw_card(int fd) {
  pass_card card = {.there = fd >= 0};
  uint64_t random[4] = {0};
  if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
    card.code = errno;
  memcpy(card.name, random, sizeof card.name);
  memcpy(card.key, random + 2, sizeof card.key);
  return card;
}

static struct sockaddr_un name_of(const pass_card *card, int process) {
  struct sockaddr_un a = {.sun_family = AF_UNIX};
  snprintf(a.sun_path + 1, sizeof a.sun_path - 1, "regroup-%016llx%016llx-%d",
           (unsigned long long)card->name[0], (unsigned long long)card->name[1], process);
  return a;
}

/* The first process only sends, and needs no name. Returns an errno. */
static int open_socket(const pass_card *card, int process, int *s) {
  struct sockaddr_un a = name_of(card, process);
  *s = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  return *s < 0 || (process > 0 && bind(*s, (struct sockaddr *)&a, sizeof a) != 0) ? errno : 0;
}

static int send_to(int s, const pass_card *card, int process, int fd) {
  struct sockaddr_un a = name_of(card, process);
  uint64_t key[2] = {card->key[0], card->key[1]};
  char room[CMSG_SPACE(sizeof fd)] = {0};
  struct iovec part = {key, sizeof key};
  struct msghdr m = {.msg_name = &a,
                     .msg_namelen = sizeof a,
                     .msg_iov = &part,
                     .msg_iovlen = 1,
                     .msg_control = room,
                     .msg_controllen = sizeof room};
  struct cmsghdr *h = CMSG_FIRSTHDR(&m);
  h->cmsg_level = SOL_SOCKET;
  h->cmsg_type = SCM_RIGHTS;
  h->cmsg_len = CMSG_LEN(sizeof fd);
  memcpy(CMSG_DATA(h), &fd, sizeof fd);
  return sendmsg(s, &m, MSG_NOSIGNAL) == (ssize_t)sizeof key ? 0 : errno;
}

/* One message. Returns an errno, also where the message has not the key: *fd is -1 then. */
static int receive_one(int s, const pass_card *card, int *fd) {
  uint64_t key[2] = {0};
  char room[CMSG_SPACE(sizeof *fd)];
  struct iovec part = {key, sizeof key};
  struct msghdr m = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
  *fd = -1;
  if (recvmsg(s, &m, MSG_CMSG_CLOEXEC) < 0)
    return errno;
  struct cmsghdr *h = CMSG_FIRSTHDR(&m);
  if (h && h->cmsg_type == SCM_RIGHTS && h->cmsg_len == CMSG_LEN(sizeof *fd))
    memcpy(fd, CMSG_DATA(h), sizeof *fd);
  if (memcmp(key, card->key, sizeof key) == 0)
    return *fd >= 0 ? 0 : EMFILE; /* the system drops what has no place in the table */
  if (*fd >= 0)
    close(*fd);
  *fd = -1;
  return EBADMSG;
}

static int receive(int s, const pass_card *card, int *fd) {
  int code;
  do
    code = receive_one(s, card, fd);
  while (code == EBADMSG || code == EINTR);
  return code;
}

/* What is sent is in the receiver's queue at once: no process waits for a socket. */
static int pass_all(MPI_Comm node, const pass_card *card, int s, int *fd) {
  int me, n, code = 0, mine = 0;
  MPI_Comm_rank(node, &me);
  MPI_Comm_size(node, &n);
  for (int from = 1; from < n && !code; from += ROUND) {
    int end = n - from > ROUND ? from + ROUND : n;
    for (int i = from; me == 0 && i < end && !code; i++)
      code = send_to(s, card, i, *fd);
    RGI_TRY_MPI(MPI_Bcast(&code, 1, MPI_INT, 0, node));
    if (!code && me >= from && me < end)
      mine = receive(s, card, fd);
    if (end < n)
      RGI_TRY_MPI(MPI_Barrier(node));
  }
  if (code == ECONNREFUSED)
    return rgi_error(RG_ERR_SYSTEM,
                     "rg_init: no descriptor can be passed between the processes of the node: they "
                     "are in different network namespaces");
  if (code || mine)
    return rgi_error(RG_ERR_SYSTEM,
                     "rg_init: a descriptor cannot be passed between the processes of the node: %s",
                     strerror(code ? code : mine));
  return RG_SUCCESS;
}

int rgi_pass_fd_share(MPI_Comm node, int *fd) {
  pass_card card = {0};
  int me, n, s = -1, code;
  MPI_Comm_rank(node, &me);
  MPI_Comm_size(node, &n);
  if (me == 0)
    card = draw_card(*fd);
  else
    *fd = -1;
  if (n == 1)
    return RG_SUCCESS;
  RGI_TRY_MPI(MPI_Bcast(&card, (int)sizeof card, MPI_BYTE, 0, node));
  if (!card.there)
    return RG_SUCCESS;
  int mine = card.code ? card.code : open_socket(&card, me, &s);
  int error =
      rgi_mpi_error(MPI_Allreduce(&mine, &code, 1, MPI_INT, MPI_MAX, node), "MPI_Allreduce");
  if (!error && code)
    error =
        rgi_error(RG_ERR_SYSTEM, "rg_init: a socket to pass descriptors by: %s", strerror(code));
  if (!error)
    error = pass_all(node, &card, s, fd);
  if (error && me > 0 && *fd >= 0) {
    close(*fd);
    *fd = -1;
  }
  if (s >= 0)
    close(s);
  return error;
}
