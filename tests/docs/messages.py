# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The library's messages that ask the reader to do something, from its sources."""
import re
import subprocess

ASKS = re.compile(r'(?:[:;.(]|, (?:and|or)) (?:all members must|make it|'
                  r'(?:add up|call|do all|form|free|merge it|name|pass|see|set|start|unlock|unset|use)\b)',
                  re.I)
STRINGS = r'((?:"(?:[^"\\]|\\.)*"\s*(?:PRI\w+\s*)?)+)'


def plain(text):
    """As docs/troubleshooting.md has it: without what the program fills in."""
    text = re.sub(r'%%|%[-0-9.*]*(?:ll|z|h)?[a-zA-Z]', '…', text).replace('\\"', '"')
    text = re.sub(r'…(?:… ?)*', '…', text)
    return re.sub(r'^(?:…:? ?)+', '', text)


def messages():
    """Sorted, each once."""
    files = subprocess.run(['git', 'ls-files', 'pgroup', 'arrays', 'lb'], text=True, check=True,
                           stdout=subprocess.PIPE).stdout.split()
    found = set()
    for name in files:
        if name.endswith(('.c', '.h')):
            with open(name) as f:
                source = f.read()
            for call in re.finditer(r'\brgi_(?:error|log)\(', source):
                strings = re.match(r'[^;{"]*' + STRINGS, source[call.end():])
                text = ''.join(re.findall(r'"((?:[^"\\]|\\.)*)"', strings[1])) if strings else ''
                if ASKS.search(text):
                    found.add(plain(text))
    return sorted(found)


if __name__ == '__main__':
    print('\n'.join(messages()))
