/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Included by win_calls.c once for each form of MPI's functions: FORM(name), with counts of type
 * COUNT; BOTH(name), see RGI_INTERCEPT_BOTH; PASS. */

RG_API int FORM(MPI_Put)(const void *origin, COUNT origin_count, MPI_Datatype origin_type, int rank,
                         MPI_Aint disp, COUNT target_count, MPI_Datatype target_type, MPI_Win win) {
  rgi_win *window = rgi_win_of_call(win, RGI_INTERCEPT_WINDOW_PUT);
  rgi_win_access access = ACCESS(RGI_WIN_PUT, MPI_OP_NULL, NO_BUFFER);
  if (!window)
    return PASS(PUT, win, &access, NULL,
                RGI_INTERCEPT_NEXT(FORM(PMPI_Put))(origin, origin_count, origin_type, rank, disp,
                                                   target_count, target_type, win));
  return rgi_win_access_make(window, &access);
}

RG_API int FORM(MPI_Rput)(const void *origin, COUNT origin_count, MPI_Datatype origin_type,
                          int rank, MPI_Aint disp, COUNT target_count, MPI_Datatype target_type,
                          MPI_Win win, MPI_Request *request) {
  rgi_win *window = rgi_win_of_call(win, RGI_INTERCEPT_WINDOW_PUT);
  rgi_win_access access = ACCESS(RGI_WIN_PUT, MPI_OP_NULL, NO_BUFFER);
  if (!window)
    return PASS(PUT, win, &access, request,
                RGI_INTERCEPT_NEXT(FORM(PMPI_Rput))(origin, origin_count, origin_type, rank, disp,
                                                    target_count, target_type, win, request));
  return make_request(window, &access, request);
}

RG_API int FORM(MPI_Get)(void *origin, COUNT origin_count, MPI_Datatype origin_type, int rank,
                         MPI_Aint disp, COUNT target_count, MPI_Datatype target_type, MPI_Win win) {
  rgi_win *window = rgi_win_of_call(win, RGI_INTERCEPT_WINDOW_GET);
  rgi_win_access access = ACCESS(RGI_WIN_GET, MPI_OP_NULL, NO_BUFFER);
  if (!window)
    return PASS(GET, win, &access, NULL,
                RGI_INTERCEPT_NEXT(FORM(PMPI_Get))(origin, origin_count, origin_type, rank, disp,
                                                   target_count, target_type, win));
  return rgi_win_access_make(window, &access);
}

RG_API int FORM(MPI_Rget)(void *origin, COUNT origin_count, MPI_Datatype origin_type, int rank,
                          MPI_Aint disp, COUNT target_count, MPI_Datatype target_type, MPI_Win win,
                          MPI_Request *request) {
  rgi_win *window = rgi_win_of_call(win, RGI_INTERCEPT_WINDOW_GET);
  rgi_win_access access = ACCESS(RGI_WIN_GET, MPI_OP_NULL, NO_BUFFER);
  if (!window)
    return PASS(GET, win, &access, request,
                RGI_INTERCEPT_NEXT(FORM(PMPI_Rget))(origin, origin_count, origin_type, rank, disp,
                                                    target_count, target_type, win, request));
  return make_request(window, &access, request);
}

RG_API int FORM(MPI_Accumulate)(const void *origin, COUNT origin_count, MPI_Datatype origin_type,
                                int rank, MPI_Aint disp, COUNT target_count,
                                MPI_Datatype target_type, MPI_Op op, MPI_Win win) {
  rgi_win *window = rgi_win_of_call(win, RGI_INTERCEPT_WINDOW_ACCUMULATE);
  rgi_win_access access = ACCESS(RGI_WIN_ACCUMULATE, op, NO_BUFFER);
  if (!window)
    return PASS(ACCUMULATE, win, &access, NULL,
                RGI_INTERCEPT_NEXT(FORM(PMPI_Accumulate))(origin, origin_count, origin_type, rank,
                                                          disp, target_count, target_type, op,
                                                          win));
  return rgi_win_access_make(window, &access);
}

RG_API int FORM(MPI_Raccumulate)(const void *origin, COUNT origin_count, MPI_Datatype origin_type,
                                 int rank, MPI_Aint disp, COUNT target_count,
                                 MPI_Datatype target_type, MPI_Op op, MPI_Win win,
                                 MPI_Request *request) {
  rgi_win *window = rgi_win_of_call(win, RGI_INTERCEPT_WINDOW_ACCUMULATE);
  rgi_win_access access = ACCESS(RGI_WIN_ACCUMULATE, op, NO_BUFFER);
  if (!window)
    return PASS(ACCUMULATE, win, &access, request,
                RGI_INTERCEPT_NEXT(FORM(PMPI_Raccumulate))(origin, origin_count, origin_type, rank,
                                                           disp, target_count, target_type, op, win,
                                                           request));
  return make_request(window, &access, request);
}

RG_API int FORM(MPI_Get_accumulate)(const void *origin, COUNT origin_count,
                                    MPI_Datatype origin_type, void *result, COUNT result_count,
                                    MPI_Datatype result_type, int rank, MPI_Aint disp,
                                    COUNT target_count, MPI_Datatype target_type, MPI_Op op,
                                    MPI_Win win) {
  rgi_win *window = rgi_win_of_call(win, RGI_INTERCEPT_WINDOW_GET_ACCUMULATE);
  rgi_win_access access = ACCESS(RGI_WIN_GET_ACCUMULATE, op, {result, result_count, result_type});
  if (!window)
    return PASS(GET_ACCUMULATE, win, &access, NULL,
                RGI_INTERCEPT_NEXT(FORM(PMPI_Get_accumulate))(
                    origin, origin_count, origin_type, result, result_count, result_type, rank,
                    disp, target_count, target_type, op, win));
  return rgi_win_access_make(window, &access);
}

RG_API int FORM(MPI_Rget_accumulate)(const void *origin, COUNT origin_count,
                                     MPI_Datatype origin_type, void *result, COUNT result_count,
                                     MPI_Datatype result_type, int rank, MPI_Aint disp,
                                     COUNT target_count, MPI_Datatype target_type, MPI_Op op,
                                     MPI_Win win, MPI_Request *request) {
  rgi_win *window = rgi_win_of_call(win, RGI_INTERCEPT_WINDOW_GET_ACCUMULATE);
  rgi_win_access access = ACCESS(RGI_WIN_GET_ACCUMULATE, op, {result, result_count, result_type});
  if (!window)
    return PASS(GET_ACCUMULATE, win, &access, request,
                RGI_INTERCEPT_NEXT(FORM(PMPI_Rget_accumulate))(
                    origin, origin_count, origin_type, result, result_count, result_type, rank,
                    disp, target_count, target_type, op, win, request));
  return make_request(window, &access, request);
}

BOTH(Put);
BOTH(Rput);
BOTH(Get);
BOTH(Rget);
BOTH(Accumulate);
BOTH(Raccumulate);
BOTH(Get_accumulate);
BOTH(Rget_accumulate);
