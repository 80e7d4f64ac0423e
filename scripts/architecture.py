#!/usr/bin/env python3
"""Draws docs/architecture.svg from the imports: rooms of packages in rows, so that every import points down.

    scripts/architecture.py [-check]

An arrow is left out where a longer way of arrows leads to the same room. -check only says whether the file is as it would be drawn; the exit status is 1 if not.
Test code and tools/asm, a module of its own, are left out. It needs Go.
"""
import pathlib
import subprocess
import sys
from html import escape

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "docs" / "architecture.svg"

# The rooms: a name, a line about it, and the folders whose packages it has. A package belongs to the room with the longest matching folder.
ROOMS = [
    ("commands", "cmd, internal/app/cli: train, test, time, tools", ["cmd", "internal/app/cli", "internal/app/manpage", "internal/app/statusline"]),
    ("predict", "trained nets in programs, over HTTP", ["predict", "internal/app/serve"]),
    ("swcaffe", "training for Go programs", ["."]),
    ("pages", "internal/app/page, board, inspect, metrics", ["internal/app/page", "internal/app/board", "internal/app/inspect", "internal/app/metrics", "internal/app/tensorboard", "internal/app/timeline"]),
    ("onnx", "internal/onnx: import, export", ["internal/onnx"]),
    ("reports", "internal/app/testreport, picture, drawings", ["internal/app/testreport", "internal/app/picture", "internal/app/netdraw", "internal/app/modelplot", "internal/app/figure"]),
    ("scaling", "many nodes, modelled", ["scaling"]),
    ("modeltime", "a net's modelled time", ["modeltime"]),
    ("randomtest", "internal/testkit/randomtest: random problems", ["internal/testkit/randomtest"]),
    ("solver", "training loop, rules, snapshots", ["solver"]),
    ("net", "graph of layers, plan, memory", ["net"]),
    ("layers", "contract, registry, all layers", ["layers"]),
    ("data", "databases, images, prefetching", ["data"]),
    ("topology", "collectives, transports", ["topology"]),
    ("kernels", "cpe/kernel: op, conv, gemm, pool, stream", ["cpe/kernel", "cpe/tune"]),
    ("cpe", "the machine: core groups, LDM, DMA", ["cpe"]),
    ("blob", "arrays with gradients", ["blob"]),
    ("proto", "messages and files", ["proto"]),
    ("simd", "internal/base/simd: vector kernels", ["internal/base/simd"]),
]
SKIPPED = ("internal", "testdata", "examples", "models")  # the ground that all use, and folders without a room

WIDTH, HEIGHT, GAP, ROW = 226, 46, 18, 92


def room_of(path):
    best, length = None, -1
    for name, _, folders in ROOMS:
        for folder in folders:
            if (path == folder or path.startswith(folder + "/")) and len(folder) > length:
                best, length = name, len(folder)
    return best


def imports():
    """The rooms that each room imports."""
    module = subprocess.run(["go", "list", "-m"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()[0]
    listing = subprocess.run(["go", "list", "-f", "{{.ImportPath}} {{join .Imports \" \"}}", "./..."], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    rooms = {name: set() for name, _, _ in ROOMS}
    for line in listing.splitlines():
        package, *used = line.split()
        here = room_of(package.removeprefix(module).lstrip("/") or ".")
        if here is None:
            continue
        for path in used:
            if path == module or path.startswith(module + "/"):
                there = room_of(path.removeprefix(module).lstrip("/") or ".")
                if there and there != here:
                    rooms[here].add(there)
    return rooms


def levels(rooms):
    """The row of each room, from 0 at the bottom: one more than the highest that it imports."""
    found = {}

    def level(name, above=()):
        if name in above:
            sys.exit(f"rooms import each other: {' -> '.join([*above, name])}")
        if name not in found:
            found[name] = 1 + max((level(n, (*above, name)) for n in rooms[name]), default=-1)
        return found[name]

    for name in rooms:
        level(name)
    return found


def reduced(rooms):
    """The imports without those that follow from others."""
    def reach(name):
        seen, todo = set(), list(rooms[name])
        while todo:
            if (n := todo.pop()) not in seen:
                seen.add(n)
                todo += rooms[n]
        return seen
    return {name: {n for n in used if not any(n in reach(m) for m in used - {n})} for name, used in rooms.items()}


def draw():
    rooms = imports()
    row = levels(rooms)
    arrows = reduced(rooms)
    rows = [[name for name, _, _ in ROOMS if row[name] == r] for r in range(max(row.values()), -1, -1)]
    wide = max(len(r) for r in rows)
    width, height = wide * (WIDTH + GAP) + GAP, len(rows) * ROW + GAP
    place = {}
    for y, names in enumerate(rows):
        left = (width - len(names) * (WIDTH + GAP) + GAP) / 2
        for x, name in enumerate(names):
            place[name] = (left + x * (WIDTH + GAP), GAP + y * ROW)
    svg = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img">',
           "<title>swcaffe: rooms of packages; imports point down</title>", """<style>
svg { background: #ffffff; }
text { font-family: Helvetica, Arial, "Liberation Sans", sans-serif; font-size: 10.5px; fill: #30363d; text-anchor: middle; }
.t { font-size: 13px; font-weight: bold; }
.b { fill: #eef4fb; stroke: #4a78ac; } .i { fill: none; stroke: #777777; stroke-width: 1.2; } .h { fill: #777777; }
@media (prefers-color-scheme: dark) {
svg { background: #0d1117; } text { fill: #dde3ea; }
.b { fill: #17263a; stroke: #5b8fca; } .i { stroke: #9a9a9a; } .h { fill: #9a9a9a; }
}
</style>
<defs><marker id="h" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path class="h" d="M0,0L8,4L0,8Z"/></marker></defs>"""]
    for name, _, _ in ROOMS:
        targets = sorted(arrows[name], key=lambda n: place[n])
        for k, there in enumerate(targets):
            x, y = place[name][0] + WIDTH * (k + 1) / (len(targets) + 1), place[name][1] + HEIGHT
            sources = sorted((n for n in rooms if there in arrows[n]), key=lambda n: place[n])
            u, v = place[there][0] + WIDTH * (sources.index(name) + 1) / (len(sources) + 1), place[there][1]
            bend = (v - y) / 2
            svg.append(f'<path class="i" d="M{x:.0f},{y:.0f}C{x:.0f},{y + bend:.0f} {u:.0f},{v - bend:.0f} {u:.0f},{v - 2:.0f}" marker-end="url(#h)"/>')
    for name, about, _ in ROOMS:
        x, y = place[name]
        svg += [f'<rect class="b" x="{x:.0f}" y="{y:.0f}" width="{WIDTH}" height="{HEIGHT}" rx="5"/>',
                f'<text class="t" x="{x + WIDTH / 2:.0f}" y="{y + 19:.0f}">{escape(name)}</text>',
                f'<text x="{x + WIDTH / 2:.0f}" y="{y + 35:.0f}">{escape(about)}</text>']
    return "\n".join([*svg, "</svg>", ""])


def main():
    if sys.argv[1:] not in ([], ["-check"]):
        sys.exit(__doc__)
    drawn = draw()
    if sys.argv[1:] == []:
        OUT.write_text(drawn)
    elif OUT.read_text() != drawn:
        sys.exit("docs/architecture.svg is not what the imports give; run scripts/architecture.py")


main()
