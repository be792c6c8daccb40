# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The programs of the soak: the arguments of each, and the line that it must print in the end."""
import os
import random
import re
import subprocess

import deaths


class Kind:
    """A program of which so many ranks are to run. line: what the first survivor prints, perhaps
    several times; its first group, a checksum, depends on nothing but the rounds."""
    rounds = 1000  # how much it has to do, more or less
    several_nodes = True
    files = None  # a pattern of those that it is asked to write into its folder
    milliseconds = False  # the last group of the line is the longest recovery

    def __init__(self, np, rounds=None):
        self.np, self.rounds = np, rounds or self.rounds
        self.arguments = self.draw()

    def draw(self):
        """Its arguments."""

    def deaths(self, text, found):
        """How many the survivors have counted; -1: this cannot be."""
        return 0

    def result(self, text):
        """What must be the same in each run, deaths, and milliseconds; or None."""
        found = list(re.finditer(self.line, text, re.M))
        if not found or len({m[1] for m in found}) > 1:
            return None
        last = found[-1]
        return last[1], self.deaths(text, last), float(last[last.lastindex]) if self.milliseconds else 0

    def is_lost(self, status, text, killed):
        """All processes that held some data are gone, and the program says so."""
        return False

    def look_at_files(self, start, folder):
        """After the run: what is wrong with its files, or ''."""
        return ''


class Storm(Kind):
    """All operations on groups; each result is checked."""
    program = 'tests/storm'
    line = r'^RESULT (\d+) (\d+) (\d+) ([\d.]+)$'
    milliseconds = True

    def draw(self):
        return [str(random.randrange(10**6)), str(self.rounds)]

    def deaths(self, text, found):
        return int(found[3]) if int(found[2]) + int(found[3]) == self.np else -1


class Creation(Storm):
    """Communicators, one after the other."""
    program = 'tests/creation'

    def draw(self):
        return [str(self.rounds)]


class Recover(Kind):
    """The example: arrays on one node."""
    program, several_nodes, rounds = 'bin/example-recover', False, 50
    line = r'^checksum (\w+): .* (\d+) of \d+ ranks, .*\([\d.]+ s lost'

    def draw(self):
        return ['--points', '64', '--phases', str(self.rounds), '--steps', '10']

    def deaths(self, text, found):
        return self.np - int(found[2])


class Relief(Kind):
    """The dead are replaced as long as there are processes in reserve."""
    program = 'tests/relief'
    line = r'^RELIEF \d+ (\w+) (\d+) of'

    def draw(self):
        aside = random.randint(1, self.np // 2)
        self.workers = self.np - aside
        return [str(random.randrange(10**6)), str(self.rounds), str(aside)]

    def deaths(self, text, found):
        return max(0, self.workers - int(found[2]))

    def is_lost(self, status, text, killed):
        enough = 2 if 'are lost' in text else self.workers
        return deaths.is_loss(status) and 'LOST: ' in text and killed >= enough


class Checkpoint(Kind):
    """Checkpoints of an array, which are there after the run, whole, and are read on one rank."""
    program, several_nodes, rounds = 'tests/saver', False, 30
    line = r'^SAVED \d+ (\w+) (\d+) 0$'
    files = r'state\.([01]|lock)'

    def draw(self):
        return ['state', str(self.rounds)]

    def deaths(self, text, found):
        return self.np - int(found[2])

    def look_at_files(self, start, folder):
        text = subprocess.run([*start(1), *self.arguments], cwd=folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
        found = re.search(self.line, text, re.M)
        return '' if found and found[1] == self.expected else 'the checkpoints: ' + text


class Mcmc(Kind):
    """The kernel with its walkers, under every policy: the same bits."""
    program = 'bin/regroup-mcmc'
    line = r'^  checksum +(\w+\n  visits +\w+) '
    policies = ['none', 'join-right', 'sync:i=4', 'most-work', 'share-out', 'release:gain=0.5']

    def draw(self):
        return ['--policy', random.choice(self.policies), '--group', str(random.choice([1, 2])),
                '--walkers', '8', '--samples', str(self.rounds), '--unit', '100', '--sample-time', '40']

    def deaths(self, text, found):
        died = re.search(r'^  (\d+) of %d ranks died' % self.np, text, re.M)
        return int(died[1]) if died else 0


class Posterior(Mcmc):
    """Walkers that draw from a posterior: the same draws."""
    program = 'bin/regroup-posterior'
    line = r"draws' checksum (\w+)$"
    rounds = 100

    def draw(self):
        return ['--model', 'regression', '--samples', str(self.rounds), '--tune', '20', '--policy',
                random.choice(self.policies)]


class Mirrored(Kind):
    """An array that is mirrored over the nodes, changed round after round."""
    program, rounds = 'tests/steady', 200
    line = r'^STEADY (\w+) (\d+) (\d+)$'

    def draw(self):
        return [str(self.rounds)]

    def deaths(self, text, found):
        return int(found[3]) if int(found[2]) + int(found[3]) == self.np else -1

    def is_lost(self, status, text, killed):
        return deaths.is_loss(status) and 'LOST: ' in text and killed > 1


ALL = {'storm': Storm, 'creation': Creation, 'recover': Recover, 'relief': Relief,
       'checkpoint': Checkpoint, 'mcmc': Mcmc, 'posterior': Posterior, 'mirrored': Mirrored}


def of(where, names):
    """Those that can run there."""
    return [n for n in names if ALL[n].several_nodes or where.count == 1]


def path(build, kind):
    return os.path.join(os.path.abspath(build), kind.program)
