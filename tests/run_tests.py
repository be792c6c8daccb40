#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Runs the tests: every program under mpiexec at several rank counts, every script once.

Programs are tests/**/test_*.c, built as BUILD/tests/test_*; scripts are executable
tests/**/test_*.py and .sh (exit status 0 passed, 77 skipped with the last line as the
reason; of a program that ends so with the first line). A comment line near the top of either may
ask for something else:

    tier: all               the smallest tier that has it: quick, default or all (default:
                            programs quick, scripts default)
    ranks: 1 2 3 4 7 16     rank counts (default 1 2 3 4 7; programs only)
    few: 1 16               those of the tier default; quick has one of them (by default those up
                            to 4, without 2 where there is more)
    time: 60                seconds that a run takes at most on a quiet machine (default 60,
                            scripts 120): it is ended after three times as long, after longer on
                            a busy machine
    env: NAME=VALUE ...     environment
    beside: yes             whether it may run while another does (default: programs yes,
                            scripts no)

--quick is for the developer before a commit, --all has every test in its full length at all rank
counts; without either it is the tier default, and where tests are named it is all. A test reads its
tier in RGT_TIER, and may be shorter by it.

Two tests run at a time: the programs in order, and beside them the scripts that allow it. Tests
that measure or count then run one at a time. A test function counts once for
each rank count, a script once. The last line is "N passed, N failed", with
", N skipped" if there were any, and the tier. BUILD/tests/seconds.txt has the time of each run.
"""
import argparse
import collections
import concurrent.futures
import copy
import ctypes
import glob
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MARK = 'RGT_RUN=%d-%d' % (os.getpid(), time.time_ns())  # in the environment of all we start
MPIEXEC = {'mpich': ['mpiexec.mpich'],
           # As MPICH starts a job: for any user, bound to no processor, any number of ranks. The first
           # parameter is --quiet, which 5.0 has not. All ranks are on one node: 5.0 complains of
           # other networks with addresses of IPv6.
           'openmpi': ['mpiexec.openmpi', '--mca', 'orte_execute_quiet', '1', '--oversubscribe',
                       '--allow-run-as-root', '--bind-to', 'none', '--mca', 'mpi_yield_when_idle',
                       '1', '--mca', 'btl_tcp_if_include', 'lo']}
# What Open MPI 5.0's launcher says after a status that is not 0; sometimes also PMIx and libevent do.
BANNER = re.compile(r'^(-{40,}\n)prterun .*?^\1|^(?:\[\S+:\d+\] PMIX ERROR:|\[warn\] Epoll) [^\n]*\n', re.M | re.S)
TAIL = 60  # lines of output that are shown when a run failed
PATIENCE = 3  # a test may take longer than it says, on a busy machine longer still
TIERS = ['quick', 'default', 'all']
FULL = os.environ.get('RGT_TIER', 'all') == 'all'  # for a test: whether it has its full length
LONGEST = 5  # tests whose times the end tells


def launcher_text():
    """What the tests' launcher tells of itself and its MPI; nothing where there is none."""
    words = os.environ.get('RGT_MPIEXEC', 'mpiexec.mpich').split()
    try:
        return subprocess.run([*words, '--version'], capture_output=True, text=True).stdout
    except OSError:
        return ''


def without_banner(text):
    return BANNER.sub('', text)


class Mistake(Exception):
    """Of who called: one line says what it is."""


def few(ranks):
    small = [n for n in ranks if n <= 4] or ranks[:1]
    return [n for n in small if n != 2] if max(small) > 2 else small


class Test:
    """One source file and what its comments ask for."""

    def __init__(self, path):
        self.path = path
        self.name, self.kind = os.path.splitext(os.path.basename(path))
        if self.kind not in ('.c', '.py', '.sh') or not os.path.isfile(path):
            raise Mistake('%s is no source file of a test' % path)
        with open(path, errors='replace') as f:
            head = f.read(4000)
        asked = dict(re.findall(r'^[ /*#]*\b(tier|ranks|few|time|env|beside): *([^*\n]+)', head, re.M))
        self.tier = asked.get('tier', 'quick' if self.kind == '.c' else 'default').strip()
        if self.tier not in TIERS:
            raise Mistake('%s: its tier is none of: %s' % (path, ', '.join(TIERS)))
        self.ranks = [int(n) for n in asked.get('ranks', '1 2 3 4 7').split()]
        self.few = [int(n) for n in asked.get('few', '').split()] or few(self.ranks)
        self.time = float(asked.get('time', '60' if self.kind == '.c' else '120'))
        self.env = dict(pair.split('=', 1) for pair in asked.get('env', '').split())
        self.beside = asked.get('beside', 'yes' if self.kind == '.c' else 'no').strip() == 'yes'

    def counts(self, options):
        """The rank counts of a program; a script has one run, without any."""
        if self.kind != '.c':
            return [0]
        one = 3 if 3 in self.few else self.few[-1]
        return options.np or {'quick': [one], 'default': self.few, 'all': self.ranks}[options.tier]


class Outcome:
    passed = failed = skipped = 0

    def __init__(self, passed=0, failed=0, skipped=0, notes=()):
        self.passed, self.failed, self.skipped, self.notes = passed, failed, skipped, list(notes)

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped


def find_tests(filters, paths):
    paths = list(paths)
    if not paths:
        paths = [path for path in sorted(glob.glob(ROOT + '/tests/**/test_*', recursive=True))
                 if path.endswith(('.c', '.py', '.sh'))]
    tests = [Test(p) for p in paths]
    if filters:
        exact = [t for t in tests if t.name in filters or t.name[len('test_'):] in filters]
        tests = exact or [t for t in tests if any(f in t.name for f in filters)]
    return tests


def in_tier(tests, tier):
    return [t for t in tests if TIERS.index(t.tier) <= TIERS.index(tier)]


def environment(options, extra):
    env = dict(os.environ, RGT_BUILD=options.build, RGT_MPIEXEC=' '.join(options.mpiexec),
               RGT_SEED=str(options.seed), RGT_TIER=getattr(options, 'tier', 'all'))
    env.update([getattr(options, 'mark', MARK).split('=')])
    if 'asan' in os.path.basename(options.build):
        env.update(HWLOC_PLUGINS_PATH='/nonexistent',
                   ASAN_OPTIONS='detect_leaks=1:abort_on_error=0:allocator_may_return_null=1',
                   LSAN_OPTIONS='print_suppressions=0:suppressions='
                   + os.path.join(ROOT, 'tests', 'harness', 'leaks.supp'),
                   UBSAN_OPTIONS='print_stacktrace=1')
    if 'tsan' in os.path.basename(options.build):
        env.update(HWLOC_PLUGINS_PATH='/nonexistent',
                   # UCX's hooks take locks in threads that the sanitizer has ended already.
                   UCX_MEM_EVENTS='no', UCX_MEM_MMAP_HOOK_MODE='none',
                   TSAN_OPTIONS='die_after_fork=0:ignore_noninstrumented_modules=1:exitcode=66'
                   ':print_suppressions=0:suppressions='
                   + os.path.join(ROOT, 'tests', 'harness', 'races.supp'))
    env.update(extra)
    return env


def marked_processes(mark=None):
    """The processes whose environment holds a mark, in any session and below any parent."""
    mark = (mark or MARK).encode()
    found = []
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open('/proc/%s/environ' % pid, 'rb') as f:
                if mark in f.read().split(b'\0') and int(pid) != os.getpid():
                    found.append(int(pid))
        except OSError:
            pass
    return found


def end_processes(group, mark):
    """Ends the processes of a run: by SIGTERM, after two seconds by SIGKILL."""
    for sig, patience in [(signal.SIGTERM, 2.0), (signal.SIGKILL, 2.0)]:
        left = marked_processes(mark)
        if not left:
            return
        try:
            if group:
                os.killpg(group, sig)
        except (ProcessLookupError, PermissionError):
            pass
        for pid in left:
            try:
                os.kill(pid, sig)
            except ProcessLookupError:
                pass
        deadline = time.monotonic() + patience
        while marked_processes(mark) and time.monotonic() < deadline:
            time.sleep(0.05)


def limit(seconds):
    """How long a test may run that says so many seconds: longer where the machine is busy now."""
    return seconds * max(PATIENCE, 2 * os.getloadavg()[0] / os.cpu_count())


def run(command, env, seconds):
    """Runs a command. Returns its status (None: it did not end in time) and its output."""
    mark = 'RGT_RUN=' + env['RGT_RUN']
    with tempfile.TemporaryFile() as output, tempfile.TemporaryDirectory(prefix='rgt-') as scratch:
        process = subprocess.Popen(command, cwd=ROOT, env=dict(env, TMPDIR=scratch), stdin=subprocess.DEVNULL,
                                   stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
        # Popen.wait with a limit polls, and returns up to 50 ms late.
        late, ended, start = threading.Event(), threading.Event(), time.monotonic()

        def watch():
            while not ended.wait(1):
                if time.monotonic() - start > limit(seconds):
                    late.set()
                    end_processes(process.pid, mark)
                    return

        threading.Thread(target=watch, daemon=True).start()
        try:
            status = process.wait()
        finally:
            ended.set()
            end_processes(process.pid, mark)
            process.wait()
        output.seek(0)
        return None if late.is_set() else status, output.read().decode(errors='replace').splitlines()


def ending(status, seconds):
    if status is None:
        return 'timed out, where %g s are enough on a quiet machine' % seconds
    return 'was ended by signal %d' % -status if status < 0 else 'ended with status %d' % status


def shown(lines):
    """The end of the output, without the lines meant for this program and mpiexec's banner."""
    rest = [line for line in lines if not re.match(r'RGT (begin|\S+ tests=)|=====?|= ', line)]
    return ['  | ' + line for line in rest[-TAIL:]]


def run_program(test, np, options):
    program = os.path.join(options.build, 'tests', test.name)
    label = '%s at %d rank%s' % (test.name, np, '' if np == 1 else 's')
    if getattr(options, 'mpi', 'mpich') != 'mpich' and any(name.startswith('MPIR_') for name in test.env):
        return Outcome(skipped=1, notes=['skipped: pretended nodes are MPICH\'s'])
    if not os.path.exists(program):
        return Outcome(failed=1, notes=['FAIL %s: %s is not built' % (label, program)])
    status, lines = run(options.mpiexec + ['-n', str(np), program], environment(options, test.env),
                        test.time)
    total = failed = 0
    begun = '(none)'
    for line in lines:
        if line.startswith('RGT begin '):
            begun = line[len('RGT begin '):]
        found = re.match(r'RGT \S+ tests=(\d+) failed=(\d+)$', line)
        if found:
            total, failed = total + int(found[1]), failed + int(found[2])
    notes = [line for line in lines if re.match(r'FAIL rank|RGT seed', line)] if failed else []
    if total and (status == 0) == (failed == 0) and status is not None:
        return Outcome(total - failed, failed, notes=notes + (shown(
            [line for line in lines if line not in notes]) if failed else []))
    if status == 77 and not total:
        return Outcome(skipped=1, notes=['skipped: ' + (lines[0] if lines else 'no reason given')])
    notes = ['FAIL %s: %s; the last test begun was %s' %
             (ending(status, test.time), label, begun)] + shown(lines)
    return Outcome(total - failed, failed + 1, notes=notes)


def run_script(test, options):
    try:
        status, lines = run([test.path], environment(options, test.env), test.time)
    except OSError as why:
        return Outcome(failed=1, notes=['FAIL %s: %s' % (test.name, why)])
    if status == 0:
        return Outcome(passed=1)
    if status == 77:
        return Outcome(skipped=1, notes=['skipped: ' + (lines[-1] if lines else 'no reason given')])
    return Outcome(failed=1, notes=['FAIL %s: %s' % (ending(status, test.time), test.name)] +
                   shown(lines))


def own_shared_memory():
    """Gives this thread, and what it starts, an empty /dev/shm of its own, if the machine permits that:
    what others leave there, or the other lane, is then not laid to its charge."""
    libc = ctypes.CDLL(None)
    private = 1 << 14 | 1 << 18  # MS_REC | MS_PRIVATE
    try:
        disk = os.statvfs('/dev/shm')
    except OSError:
        return
    if libc.unshare(0x20000) == 0 and libc.mount(None, b'/', None, private, None) == 0:  # CLONE_NEWNS
        libc.mount(b'tmpfs', b'/dev/shm', b'tmpfs', 0, b'size=%d' % (disk.f_blocks * disk.f_frsize))


def shared_memory():
    try:
        return {e.name for e in os.scandir('/dev/shm') if e.stat().st_uid == os.getuid()}
    except OSError:
        return set()


def left_in_shared_memory(suspects):
    """Of the names that appeared during our runs, those that still exist and that no process
    has mapped or open: another user's program may have made them and still run."""
    suspects = {name: label for name, label in suspects.items() if name in shared_memory()}
    if not suspects:
        return {}
    time.sleep(1)
    used = set()
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open('/proc/%s/maps' % pid) as f:
                used.update(re.findall(r'/dev/shm/(\S+)', f.read()))
            for fd in os.listdir('/proc/%s/fd' % pid):
                used.add(os.path.basename(os.readlink('/proc/%s/fd/%s' % (pid, fd))))
        except OSError:
            pass
    left = {n: label for n, label in suspects.items() if n in shared_memory() and n not in used}
    # Segments of Open MPI, whose ranks were killed before they could unlink them.
    for name in [n for n in left if n.startswith(('vader_segment.', 'sm_segment.'))]:
        os.unlink(os.path.join('/dev/shm', name))
        del left[name]
    return left


def again(test, np, options):
    """The command that runs a test once more."""
    words = ['RGT_SEED=%d' % options.seed, 'tests/run_tests.py', '--build', os.path.relpath(options.build, ROOT),
             '--tier', options.tier, *(['--mpi', options.mpi] if options.mpi != 'mpich' else []),
             *(['--np', str(np)] if np else []), os.path.relpath(test.path, ROOT)]
    return '     again: ' + ' '.join(words) + '\n'


class Lane:
    """Runs one test after the other, and sums up."""

    def __init__(self, options, number):
        self.options = copy.copy(options)
        self.options.mark = '%s-%d' % (MARK, number)
        self.sum, self.suspects, self.stopped, self.times = Outcome(), {}, False, []
        self.begun = False

    def run(self, test):
        for np in test.counts(self.options):
            before, start = shared_memory(), time.monotonic()
            outcome = run_program(test, np, self.options) if np else run_script(test, self.options)
            if self.stopped:
                return
            if outcome.skipped and self.options.no_skips:
                outcome = Outcome(failed=outcome.skipped, notes=['FAIL ' + n for n in outcome.notes])
            label = test.name + (' np=%d' % np if np else '')
            self.suspects.update(dict.fromkeys(shared_memory() - before, label))
            seconds = time.monotonic() - start
            self.times.append((seconds, label))
            word = 'FAIL' if outcome.failed else 'skip' if outcome.skipped else 'ok'
            print('%-4s %-36s %4d passed %3d failed %6.1f s\n' %
                  (word, label, outcome.passed, outcome.failed, seconds) +
                  ''.join('     %s\n' % note for note in outcome.notes) +
                  (again(test, np, self.options) if outcome.failed else ''), end='', flush=True)
            self.sum.add(outcome)

    def run_all(self, *queues):
        """Of tests: deques, from which another lane may take too. Always by the same thread."""
        if not self.begun:
            own_shared_memory()
            self.begun = True
        while not self.stopped:
            try:
                test = next(q for q in queues if q).popleft()
            except (StopIteration, IndexError):
                return
            self.run(test)

    def finish(self):
        """By the same thread."""
        for name, label in left_in_shared_memory(self.suspects).items():
            print('FAIL /dev/shm/%s was left by %s' % (name, label))
            self.sum.failed += 1

    def stop(self, future):
        """Called by another lane's thread."""
        self.stopped = True
        while not future.done():
            end_processes(None, self.options.mark)


def run_all(tests, options):
    """One lane runs the programs, the other the scripts; each then takes what the other has left.
    Then come the tests that may not run beside others."""
    beside = [] if options.alone else [t for t in tests if t.beside]
    programs = collections.deque(t for t in beside if t.kind == '.c')
    scripts = collections.deque(sorted((t for t in beside if t.kind != '.c'),
                                       key=lambda t: -t.time))  # the longest first
    lanes = one, two = Lane(options, 1), Lane(options, 2)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        future = pool.submit(lambda: (two.run_all(scripts, programs), two.finish()))
        try:
            one.run_all(programs, scripts)
            future.result()
        except BaseException:
            two.stop(future)
            raise
    one.run_all(collections.deque(t for t in tests if t not in beside))
    one.finish()
    one.sum.add(two.sum)
    note_times(one.times + two.times, options)
    left = [pid for lane in lanes for pid in marked_processes(lane.options.mark)]
    if left:
        print('FAIL these processes could not be ended: %s' % left)
        one.sum.failed += 1
    return one.sum


def note_times(times, options):
    times.sort(reverse=True)
    try:
        with open(os.path.join(options.build, 'tests', 'seconds.txt'), 'w') as f:
            f.writelines('%7.1f %s\n' % pair for pair in times)
    except OSError:
        pass  # nothing is built
    if len(times) > LONGEST:
        print('the longest of %d runs: %s' % (len(times), ', '.join(
            '%s %.0f s' % (label, seconds) for seconds, label in times[:LONGEST])))


def options_of_call():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--build', default='build', help='where bin, lib and tests are (build)')
    parser.add_argument('--tier', choices=TIERS)
    for tier, what in [('quick', 'what runs before a commit'), ('all', 'all, in full length')]:
        parser.add_argument('--' + tier, dest='tier', action='store_const', const=tier, help=what)
    parser.add_argument('--filter', action='append', default=[], metavar='NAME',
                        help='only the tests of this name, or else with it in their names')
    parser.add_argument('--np', type=lambda s: [int(n) for n in re.split('[ ,]+', s)],
                        help='rank counts for all programs, as "1,4"')
    parser.add_argument('--alone', action='store_true', help='one test at a time')
    parser.add_argument('--also', action='append', default=[], metavar='PATH',
                        help='this source file of a test too, as the last one')
    parser.add_argument('--no-skips', action='store_true', help='what is skipped has failed')
    parser.add_argument('--mpi', choices=MPIEXEC, default='mpich')
    parser.add_argument('paths', nargs='*', help='source files of tests (all)')
    options = parser.parse_args()
    options.named = bool(options.filter or options.paths)
    options.tier = options.tier or ('all' if options.named else 'default')
    options.mpiexec = MPIEXEC[options.mpi]
    options.build = os.path.dirname(os.path.realpath(os.path.join(options.build, 'tests')))
    if not shutil.which(options.mpiexec[0]):  # outside Debian it has the plain name
        options.mpiexec = ['mpiexec'] + options.mpiexec[1:]
    options.seed = int(os.environ.get('RGT_SEED') or random.SystemRandom().randrange(1, 2**32))
    return options


def main():
    options = options_of_call()
    try:
        tests = in_tier(find_tests(options.filter, options.paths), options.tier)
        tests += [Test(os.path.join(ROOT, path)) for path in options.also]
    except Mistake as what:
        print('run_tests.py: %s' % what, file=sys.stderr)
        return 2
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    start = time.monotonic()
    try:
        total = run_all(tests, options)
    except KeyboardInterrupt:
        print('interrupted')
        return 130
    print('seed %d, %.0f s' % (options.seed, time.monotonic() - start))
    print('%d passed, %d failed' % (total.passed, total.failed) +
          (', %d skipped' % total.skipped if total.skipped else '') +
          ' (tier %s%s)' % (options.tier, ', of those named' if options.named else ''))
    return 1 if total.failed or not total.passed else 0


if __name__ == '__main__':
    sys.exit(main())
