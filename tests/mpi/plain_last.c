/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The last messages of a process: each process of the lower half sends 64 KiB to one of the upper
 * half and finalizes at once. The receivers sleep before each message, do not poll meanwhile, and
 * check every byte. Arguments: the bytes of a message, and of the last one. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ALL_BYTES 65536

static unsigned char byte_at(int message, int i) {
  return (unsigned char)(message * 7 + i * 13 + i / 251);
}

static void send_all(int to, int n, const int bytes[2]) {
  unsigned char *buffer = malloc((size_t)(bytes[0] > bytes[1] ? bytes[0] : bytes[1]));
  for (int m = 0; m <= n; m++) {
    int size = bytes[m == n];
    for (int i = 0; i < size; i++)
      buffer[i] = byte_at(m, i);
    MPI_Send(buffer, size, MPI_BYTE, to, 5, MPI_COMM_WORLD);
  }
  free(buffer);
}

/* Returns how many bytes were wrong. */
static int receive_all(int from, int n, const int bytes[2]) {
  unsigned char *buffer = malloc((size_t)(bytes[0] > bytes[1] ? bytes[0] : bytes[1]));
  int wrong = 0;
  for (int m = 0; m <= n; m++) {
    int size = bytes[m == n];
    if (m == 0 || bytes[0] > 500)
      usleep(10000);
    MPI_Recv(buffer, size, MPI_BYTE, from, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < size; i++)
      wrong += buffer[i] != byte_at(m, i);
  }
  free(buffer);
  return wrong;
}

int main(int argc, char **argv) {
  int rank, size, wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int half = size / 2, bytes[2] = {atoi(argv[1]) + rank % half, atoi(argv[2])};
  int n = ALL_BYTES / bytes[0];
  if (rank < half) {
    send_all(rank + half, n, bytes);
  } else {
    wrong = receive_all(rank - half, n, bytes);
    printf("rank %d: %d messages, %d bytes wrong\n", rank, n + 1, wrong);
    fflush(stdout);
  }
  MPI_Finalize();
  return wrong > 0;
}
