#!/usr/bin/env python3
"""Any bytes are read or refused with a sentence by the readers of the tools: their corpus, what fuzzing has found, and random
changes of both. `make fuzz` looks for more."""
import os
import resource

ROOT = os.environ['ROOT']
import toolreaders  # noqa: E402
from check import claim, done  # noqa: E402

ROUNDS = 150
os.environ['TMPDIR'] = os.getcwd()
for reader, (_, folder) in toolreaders.READERS.items():
    folders = [os.path.join(ROOT, 'tests', 'fuzz', kind, folder) for kind in ('corpus', 'found')]
    folders = [f for f in folders if os.path.isdir(f)]
    try:
        read, refused = toolreaders.mutate(reader, ROUNDS, folders)
    except Exception as finding:
        claim(False, f'{reader}: {type(finding).__name__}: {finding}; the input is in crash-{reader}-*.in (TMP_TEST)')
        continue
    claim(read > 0 and refused > 0, f'{reader}: {read} inputs read, {refused} refused with a sentence')
most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
claim(most < 1500, f'{most:.0f} MB at most, must be below 1500')
done()
