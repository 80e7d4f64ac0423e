#!/usr/bin/python3
"""Measures a net under quotas, affinity masks, more threads than cores, and beside a busy process.

  scripts/bench/quota.py [-rounds 3] [-iterations 20] [-batch N] MODEL SWCAFFE [SWCAFFE...]

Runs "swcaffe time" with each of the builds in turns, for every row: a quota of a control group in cores, the cores of a mask, GOMAXPROCS, -threads, and whether a
process that computes all the time shares the first core. With a slow core such a process runs for half of each 2 ms there, before others, so that
the core is half as fast as the others. Prints for each build the median time of an iteration in ms and the processor time of an iteration, of
which waiting takes a part. Needs root, and control groups with the controller cpu (version 2 at /sys/fs/cgroup, or version 1 at /sys/fs/cgroup/cpu). Without
them, rows with quotas are left out. Run it on an otherwise idle machine of two cores or more."""
import argparse
import os
import re
import resource
import statistics
import subprocess
import sys

# quota, cores of the mask, GOMAXPROCS, -threads, what else runs on the first core
ROWS = [(None, 2, None, 0, None), (None, 2, None, 1, None), (1.5, 2, None, 0, None), (1.5, 2, None, 1, None), (1, 2, None, 0, None), (1, 2, None, 1, None),
        (0.5, 2, None, 0, None), (0.5, 2, None, 1, None), (None, 1, None, 0, None), (None, 2, 4, 0, None), (None, 1, 2, 0, None), (None, 2, None, 0, 'busy'),
        (None, 2, None, 1, 'busy'), (None, 2, None, 0, 'slow core')]
PERIOD = 100000  # us in which a group has its quota


class Group:
    """A control group with a quota of processor time."""

    def __init__(self, name):
        for root, self.file in [('/sys/fs/cgroup', 'cpu.max'), ('/sys/fs/cgroup/cpu', 'cpu.cfs_quota_us')]:
            self.folder = os.path.join(root, 'swcaffe_%s_%d' % (name, os.getpid()))
            try:
                if self.file == 'cpu.max':
                    with open(os.path.join(root, 'cgroup.subtree_control')) as f:
                        if 'cpu' not in f.read().split():
                            continue
                os.mkdir(self.folder)
                return
            except OSError:
                continue
        self.folder = None

    def write(self, name, text):
        with open(os.path.join(self.folder, name), 'w') as f:
            f.write(text)

    def limit(self, quota, period=PERIOD):
        """Sets the quota, in cores."""
        if self.file == 'cpu.max':
            self.write(self.file, '%d %d' % (period * quota, period))
            return
        self.write('cpu.cfs_period_us', str(period))
        self.write(self.file, '%d' % (period * quota))

    def enter(self):
        self.write('cgroup.procs', str(os.getpid()))

    def remove(self):
        if self.folder:
            os.rmdir(self.folder)


def measure(a, program, row, group):
    """Returns the median time and the processor time of an iteration in ms."""
    quota, cores, gomaxprocs, threads, _ = row

    def enter():
        if quota:
            group.enter()
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])

    env = dict(os.environ)
    env.pop('GOMAXPROCS', None)
    if gomaxprocs:
        env['GOMAXPROCS'] = str(gomaxprocs)
    command = [program, 'time', '-model', a.model, '-batch', str(a.batch), '-iterations', str(a.iterations), '-threads', str(threads), '-seed', '1']
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, env=env, preexec_fn=enter)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if run.returncode != 0:
        sys.exit('%s\n%s' % (' '.join(command), run.stderr))
    times = [float(t) for t in re.findall(r'Iteration: \d+ .* time: ([0-9.e+-]+) ms', run.stderr)]
    used = 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(times), used / (a.iterations + 2)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('-rounds', type=int, default=3)
    p.add_argument('-iterations', type=int, default=20)
    p.add_argument('-batch', type=int, default=0)
    p.add_argument('model')
    p.add_argument('programs', nargs='+', metavar='SWCAFFE')
    a = p.parse_args()
    group, other = Group('quota'), Group('neighbour')
    print('load %.1f; ms an iteration, and of processor time' % os.getloadavg()[0])
    print('%5s %5s %10s %8s %9s' % ('quota', 'cores', 'GOMAXPROCS', '-threads', 'neighbour') + ''.join('%20s' % os.path.basename(x) for x in a.programs))
    try:
        for row in ROWS:
            quota, cores, gomaxprocs, threads, neighbour = row
            if (quota or neighbour == 'slow core') and not group.folder:
                continue
            if quota:
                group.limit(quota)
            busy = None
            if neighbour:
                slow = neighbour == 'slow core'
                if slow:
                    other.limit(0.5, 2000)
                    other.write('cpu.weight' if other.file == 'cpu.max' else 'cpu.shares', '10000')

                def start():
                    os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
                    if slow:
                        other.enter()
                busy = subprocess.Popen([sys.executable, '-c', 'while True: pass'], preexec_fn=start)
            try:
                figures = {x: [] for x in a.programs}
                for _ in range(a.rounds):
                    for x in a.programs:
                        figures[x].append(measure(a, x, row, group))
            finally:
                if busy:
                    busy.kill()
                    busy.wait()
            cells = ['%.2f %.2f' % tuple(statistics.median(f[i] for f in figures[x]) for i in (0, 1)) for x in a.programs]
            print('%5s %5d %10s %8s %9s' % (quota or '-', cores, gomaxprocs or '-', threads or '-', neighbour or '-') + ''.join('%20s' % c for c in cells),
                  flush=True)
    finally:
        group.remove()
        other.remove()


if __name__ == '__main__':
    main()
