"""How a survey stands, by journal and lock (fortran/files/journal.f90, runnote.f90, lock.f90), which are only looked at."""
import calendar
import fcntl
import os
import re
import time
import zlib

FORM = '%Y-%m-%dT%H:%M:%SZ'
SILENCE = 30.0             # seconds without a change of the lock after which a job elsewhere is taken for gone
NUMBER = re.compile(r'[0-9]{1,10}')


class Event:
    """A line of the journal: event, record, worker, host, seconds, at [s since 1970], note, run (1 = the first)."""

    def __init__(self, words, run):
        self.event, self.record, self.worker, self.host = words[0], int(words[1]), int(words[3]), words[4]
        self.seconds, self.at, self.run = float(words[5]), clock(words[6]), run
        self.note = words[7].strip() if len(words) > 7 else ''


class Run:
    """begin, end [s since 1970], end of the last event where it did not say that it stopped; program, ranks, folder; exit
    status and cause, None where not noted."""

    def __init__(self, event):
        self.begin = self.end = event.at
        self.program, self.ranks = word(event.note, 'program'), word(event.note, 'ranks')
        self.folder = event.note.partition(' folder=')[2]
        self.host, self.closed, self.exit_status, self.cause, self.why = event.host, False, None, None, ''

    def close(self, event):
        self.closed, self.end = True, event.at
        self.exit_status, self.cause = word(event.note, 'exit'), word(event.note, 'cause')
        self.why = event.note.partition('cause=')[2].partition(' ')[2]


class Standing:
    """fingerprint of the job; events, those of shots; runs; parked {record: why}; running; damage: what is wrong with the
    journal, '' if nothing."""

    def __init__(self, output):
        self.path = output + '.journal'
        self.events, self.runs, self.damage = [], [], ''
        self.total = self.fingerprint = None
        try:
            with open(self.path, 'rb') as f:
                lines = f.read().split(b'\n')[:-1]         # a last line without its end is being written
        except FileNotFoundError:
            lines, self.damage = [], 'there is no journal beside the output'
        except OSError as problem:
            lines, self.damage = [], f'the journal cannot be read: {problem.strerror}'
        for number, line in enumerate(lines, 1):
            try:
                self._take(line)
            except (ValueError, IndexError):
                self.damage = f'the journal is damaged in line {number}; what stands here goes by the lines before'
                break
        self.parked = self._parked()
        self.closed = bool(self.runs) and self.runs[-1].closed
        # A run that makes its files, as of an output that grows, has the lock alone.
        self.running = bool(self.runs) and (not self.closed and held(self.path) or beats(output + '.lock'))

    def _take(self, line):
        if line[:9] != b'%08x ' % zlib.crc32(line[9:]):
            raise ValueError
        words = line[9:].decode('utf-8', 'replace').split(' ', 7)
        if words[0] == 'journal':
            self.fingerprint, self.total = words[2], int(words[3])
            return
        e = Event(words, len(self.runs))
        if e.event == 'start':
            e.run += 1
            self.runs.append(Run(e))
        elif e.event == 'stop' and self.runs:
            self.runs[-1].close(e)
        elif e.record:
            self.events.append(e)
        if self.runs and not self.runs[-1].closed:
            self.runs[-1].end = max(e.at, self.runs[-1].end)

    def _parked(self):
        """Of parked shots the reason of their last loss. A later run deals them again."""
        found, why = {}, {}
        for e in self.events:
            if e.note and e.event in ('lost', 'parked'):
                why[e.record] = f'{e.note} (worker {e.worker} on {e.host})' if e.event == 'lost' else why.get(e.record, e.note)
            if e.event == 'parked':
                found[e.record] = why.get(e.record, 'the journal does not say why')
            elif e.event in ('deal', 'done', 'todo'):
                found.pop(e.record, None)
        return found

    def dealt(self):
        """Records that a worker of the running job has."""
        out = {}
        for e in self.events if self.running and not self.closed else []:
            if e.run == len(self.runs):
                out[e.record] = e.event == 'deal'
        return [record for record, has in out.items() if has]

    def words(self, done, total):
        """(state, sentence) of a survey of which so many shots are done."""
        if self.running and self.closed:
            return 'running', 'it makes its files'
        if self.running:
            run = self.runs[-1]
            rate, left = done_since(self, run), ''
            if rate:
                left = f', {rate * 3600:.4g} shots an hour, about {span((total - done) / rate)} left'
            return 'running', f'since {text(run.begin)}{left}'
        if done == total:
            return 'complete', f'all {total} shots are done'
        if not self.runs:
            return 'unknown', self.damage or 'no run has begun'
        run = self.runs[-1]
        if not run.closed:
            return 'killed', f'the last run, begun {text(run.begin)}, is gone without a word of its end'
        if self.parked and done + len(self.parked) == total:
            return 'parked', 'all other shots are done'
        return 'stopped', ' '.join(filter(None, (f'at {text(run.end)}', f'by {run.cause}' if run.cause else '',
                                                 run.why and f'({run.why})')))


def done_since(standing, run):
    """Shots a second of the last run; 0 where none is done."""
    done = [e for e in standing.events if e.event == 'done' and e.run == len(standing.runs)]
    return len(done) / max(1.0, run.end - run.begin) if done else 0.0


def word(note, name):
    """The word after name= in a note, None if there is none."""
    found = re.search(rf'(?:^| ){name}=(\S+)', note.partition(' folder=')[0])
    return found and found.group(1)


def held(path):
    """Whether somebody holds the journal. The lock is asked for as `status` does: for a moment, and shared."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(handle)
    return False


def beats(path):
    """Whether a lock, of a job on another machine, was written of late."""
    try:
        return time.time() - os.path.getmtime(path) < SILENCE and not dead(path)
    except OSError:
        return False


def dead(path):
    """Whether the lock is that of a process of this machine which has ended (cuda_c/machine/lock.c)."""
    with open(path, errors='replace') as f:
        found = re.search(r' pid=([0-9]+) here=(\S+)/([0-9]+) ', f.readline(1000))
    try:
        with open('/proc/sys/kernel/random/boot_id') as f:
            here = f'{f.readline().strip()}/{os.readlink("/proc/self/ns/pid")}'
    except OSError:
        return False
    if not found or found.group(2) != here:
        return False
    try:
        with open(f'/proc/{found.group(1)}/stat') as f:
            words = f.read().rpartition(')')[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return True
    return words[0] in ('Z', 'X') or words[19] != found.group(3)


def clock(word):
    return calendar.timegm(time.strptime(word, FORM))


def text(seconds):
    return time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime(seconds)) + ' UTC'


def span(seconds):
    """A duration in words of two units at most."""
    s = int(round(seconds))
    if s < 100:
        return f'{s} s'
    if s < 6000:
        return f'{s // 60} min'
    return f'{s // 3600} h {s % 3600 // 60} min' if s < 360000 else f'{s / 86400:.1f} days'
