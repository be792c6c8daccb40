#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""In MPI_Init a process yields now and then, whatever MPI does there, if there are fewer processors
than processes; not if there are enough, if waits are not polite, or if the program handles SIGURG
itself. Afterwards the signal is what it was. A tool behind the library begins in its own MPI_Init.

time: 60
beside: yes
"""
import re
import tempfile

from preload import LIBRARY, POLITE, make_tool, run, skip_sanitized, under

skip_sanitized()


def check(library, yields, handler=False, **variables):
    more = {'START_TOOL_HANDLER': '1'} if handler else {}
    seconds = '20' if yields else '0.05'
    text, _ = run(2, under('%s:%s' % (library, tool), 'tests/plain_progress',
                           START_TOOL_SECONDS=seconds, **more, **variables))
    found = [int(n) for n in re.findall(r'^yields (\d+)$', text, re.M)]
    assert len(found) == 2 and all((n >= 10) == yields for n in found), (library, variables, text)
    state = 'handler 1 0' if handler else 'default 0 0'
    assert text.count(state) == 2, (library, variables, text)
    assert text.count('tool begins') == 2, (library, variables, text)


with tempfile.TemporaryDirectory() as folder:
    tool = make_tool(folder, 'start_tool')
    for lib in [LIBRARY, POLITE]:
        check(lib, True, RG_OVERSUBSCRIBED='yes')
        check(lib, False, RG_OVERSUBSCRIBED='no')
        check(lib, False, RG_OVERSUBSCRIBED='yes', RG_POLITE='0')
        check(lib, False, handler=True, RG_OVERSUBSCRIBED='yes')
    # MPI's start within MPI's start leaves nothing behind either.
    for lib in [LIBRARY, POLITE]:
        said, _ = run(2, under('%s:%s' % (lib, tool), 'tests/plain_progress', START_TOOL_SECONDS='0',
                               START_TOOL_NESTED='1', RG_OVERSUBSCRIBED='yes'))
        assert said.count('default 0 0') == 2, said
