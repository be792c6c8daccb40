/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * For tests into which channel.c is compiled: it calls the test's functions for the clock and the
 * connections, and its own are not those of the library. */
#ifndef RGT_CHANNEL_NAMES_H
#define RGT_CHANNEL_NAMES_H

#define rgi_clock_now test_clock_now
#define rgi_connection_make test_connection_make
#define rgi_connection_is_up test_connection_is_up
#define rgi_connection_down_since test_connection_down_since
#define rgi_connection_note_heard test_connection_note_heard
#define rgi_connection_send test_connection_send
#define rgi_connection_send_all test_connection_send_all
#define rgi_channels_open test_channels_open
#define rgi_channels_close test_channels_close
#define rgi_channels_step test_channels_step
#define rgi_channels_timeout test_channels_timeout
#define rgi_channel_send test_channel_send
#define rgi_channel_is_idle test_channel_is_idle
#define rgi_channel_probe test_channel_probe
#define rgi_channel_receive test_channel_receive
#define rgi_channel_up test_channel_up
#define rgi_channel_broken test_channel_broken
#define rgi_channel_drop test_channel_drop

#endif
