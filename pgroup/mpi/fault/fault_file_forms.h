/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Included by fault_file.c once for each form of MPI's functions: FORM(name), with counts of type
 * COUNT. */

RG_API int FORM(MPI_File_read_at_all)(MPI_File file, MPI_Offset offset, void *buffer, COUNT count,
                                      MPI_Datatype type, MPI_Status *status) {
  WATCHED(FORM(MPI_File_read_at_all), file, offset, buffer, count, type, status);
}

RG_API int FORM(MPI_File_write_at_all)(MPI_File file, MPI_Offset offset, const void *buffer,
                                       COUNT count, MPI_Datatype type, MPI_Status *status) {
  WATCHED(FORM(MPI_File_write_at_all), file, offset, buffer, count, type, status);
}

RG_API int FORM(MPI_File_read_all)(MPI_File file, void *buffer, COUNT count, MPI_Datatype type,
                                   MPI_Status *status) {
  WATCHED(FORM(MPI_File_read_all), file, buffer, count, type, status);
}

RG_API int FORM(MPI_File_write_all)(MPI_File file, const void *buffer, COUNT count,
                                    MPI_Datatype type, MPI_Status *status) {
  WATCHED(FORM(MPI_File_write_all), file, buffer, count, type, status);
}

RG_API int FORM(MPI_File_read_ordered)(MPI_File file, void *buffer, COUNT count, MPI_Datatype type,
                                       MPI_Status *status) {
  WATCHED(FORM(MPI_File_read_ordered), file, buffer, count, type, status);
}

RG_API int FORM(MPI_File_write_ordered)(MPI_File file, const void *buffer, COUNT count,
                                        MPI_Datatype type, MPI_Status *status) {
  WATCHED(FORM(MPI_File_write_ordered), file, buffer, count, type, status);
}

RG_API int FORM(MPI_File_read_at_all_begin)(MPI_File file, MPI_Offset offset, void *buffer,
                                            COUNT count, MPI_Datatype type) {
  WATCHED(FORM(MPI_File_read_at_all_begin), file, offset, buffer, count, type);
}

RG_API int FORM(MPI_File_write_at_all_begin)(MPI_File file, MPI_Offset offset, const void *buffer,
                                             COUNT count, MPI_Datatype type) {
  WATCHED(FORM(MPI_File_write_at_all_begin), file, offset, buffer, count, type);
}

RG_API int FORM(MPI_File_read_all_begin)(MPI_File file, void *buffer, COUNT count,
                                         MPI_Datatype type) {
  WATCHED(FORM(MPI_File_read_all_begin), file, buffer, count, type);
}

RG_API int FORM(MPI_File_write_all_begin)(MPI_File file, const void *buffer, COUNT count,
                                          MPI_Datatype type) {
  WATCHED(FORM(MPI_File_write_all_begin), file, buffer, count, type);
}

RG_API int FORM(MPI_File_read_ordered_begin)(MPI_File file, void *buffer, COUNT count,
                                             MPI_Datatype type) {
  WATCHED(FORM(MPI_File_read_ordered_begin), file, buffer, count, type);
}

RG_API int FORM(MPI_File_write_ordered_begin)(MPI_File file, const void *buffer, COUNT count,
                                              MPI_Datatype type) {
  WATCHED(FORM(MPI_File_write_ordered_begin), file, buffer, count, type);
}
