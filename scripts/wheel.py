#!/usr/bin/env python3
"""Writes a wheel of the Python module caffe and prints its name; scripts/wheel.sh calls it with the library.

A wheel is a zip file with the module, and with METADATA, WHEEL and RECORD as the packaging standards (PEP 427, 491, 600) say, and
with the licences and lists of what the library contains. The same files give the same bytes: names are sorted and times are fixed.
"""

import argparse
import base64
import hashlib
import os
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

METADATA = '''\
Metadata-Version: 2.1
Name: swcaffe
Version: {version}
Summary: Caffe's Python module over swcaffe, an engine for CPUs
License: BSD-2-Clause
Requires-Python: >=3.8
Requires-Dist: numpy
Provides-Extra: proto
Requires-Dist: protobuf >=3.20 ; extra == 'proto'
Description-Content-Type: text/markdown

{description}'''

WHEEL = '''\
Wheel-Version: 1.0
Generator: swcaffe scripts/wheel.py
Root-Is-Purelib: false
Tag: py3-none-{platform}
'''


def read(*path):
    with open(os.path.join(ROOT, *path), 'rb') as f:
        return f.read()


def contents(library, bill, version, platform):
    """Return the files of the wheel: bytes by name, and the names that are programs."""
    files = {}
    for package in ('caffe', 'swcaffe'):
        for folder, _, names in os.walk(os.path.join(ROOT, 'python', package)):
            for name in names:
                if name.endswith(('.py', '.pyi')) or name == 'py.typed':
                    path = os.path.relpath(os.path.join(folder, name), os.path.join(ROOT, 'python'))
                    files[path.replace(os.sep, '/')] = read('python', path)
    name = 'caffe/' + os.path.basename(library)
    with open(library, 'rb') as f:
        files[name] = f.read()
    programs = {name}
    for name in os.listdir(os.path.join(ROOT, 'python')):
        if name.endswith('.py'):
            path = 'swcaffe-%s.data/scripts/%s' % (version, name)
            # pip writes the environment's interpreter over this line.
            files[path] = b'#!python\n' + read('python', name).split(b'\n', 1)[1]
            programs.add(path)
    info = 'swcaffe-%s.dist-info/' % version
    files[info + 'METADATA'] = METADATA.format(version=version, description=read('docs', 'python.md').decode()).encode()
    files[info + 'WHEEL'] = WHEEL.format(platform=platform).encode()
    files[info + 'LICENSE'] = read('LICENSE')
    for name in os.listdir(bill):  # PEP 770 puts lists of contents into sboms
        files[info + ('sboms/' if name.endswith('.json') else '') + name] = read(bill, name)
    files[info + 'top_level.txt'] = b'caffe\nswcaffe\n'
    return files, programs, info + 'RECORD'


def digest(data):
    return 'sha256=' + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()


def main():
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    for flag in ('-library', '-bill', '-version', '-platform', '-out'):
        p.add_argument(flag, required=True)
    args = p.parse_args()
    files, programs, record = contents(args.library, args.bill, args.version, args.platform)
    lines = ['%s,%s,%d' % (name, digest(data), len(data)) for name, data in sorted(files.items())] + [record + ',,']
    files[record] = ('\n'.join(lines) + '\n').encode()

    os.makedirs(args.out, exist_ok=True)
    path = os.path.join(args.out, 'swcaffe-%s-py3-none-%s.whl' % (args.version, args.platform))
    with zipfile.ZipFile(path + '.partial', 'w', zipfile.ZIP_DEFLATED, compresslevel=9) as z:
        for name in sorted(files, key=lambda n: (n == record, n)):  # RECORD last
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if name in programs else 0o100644) << 16
            z.writestr(entry, files[name])
    os.replace(path + '.partial', path)
    print(path)


if __name__ == '__main__':
    main()
