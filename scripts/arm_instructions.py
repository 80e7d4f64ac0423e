#!/usr/bin/env python3
"""Counts the instructions of the inner loops of kernels for 64-bit ARM, in a program's machine code as binutils disassembles it.

    scripts/arm_instructions.py [-openblas libopenblas.so] [-all] [PROGRAM...]

A PROGRAM for linux/arm64 has the kernels: swcaffe, or tests of their packages, which the script builds if none is named. A kernel's loop is the innermost one with most arithmetic on vectors, along the path of
whole vectors: conditional branches forward are not taken. needed are multiply-adds, other arithmetic on vectors, loads and stores; the rest is
addresses, counters, branches, prefetches and copies of registers. A family is shown by its member with most multiply-adds for an instruction; -all shows
every function. -openblas counts the kernels of matrix products in Debian's libopenblas0-pthread of arm64 the same way:

    dpkg --add-architecture arm64 && apt-get update && apt-get download libopenblas0-pthread:arm64 && dpkg -x libopenblas0-pthread_*.deb openblas
"""
import argparse
import os
import re
import subprocess
import sys

DUMP, NAMES = "aarch64-linux-gnu-objdump", "aarch64-linux-gnu-nm"
BRANCH = re.compile(r"^(b|b\.\w+|cbn?z|tbn?z)$")


def functions(binary, pattern, dynamic=False):
    """The instructions of a binary's functions whose names match: (address, name, operands)."""
    listed = subprocess.run([NAMES, "-n", "-D" if dynamic else "-a", binary], check=True, capture_output=True, text=True).stdout
    symbols = [(int(f[0], 16), f[-1]) for f in (line.split() for line in listed.splitlines()) if len(f) == 3 and f[1] in "tT"]
    for i, (start, name) in enumerate(symbols):
        found = re.search(pattern, name)
        ends = [a for a, _ in symbols[i + 1:i + 40] if a > start]
        if not found or not ends:
            continue
        yield found.group(1), (start, ends[0])


def disassembled(binary, places):
    """The instructions of functions, each by its name."""
    low, high = min(a for _, (a, _) in places), max(b for _, (_, b) in places)
    text = subprocess.run([DUMP, "-d", "--no-show-raw-insn", f"--start-address={low}", f"--stop-address={high}", binary],
                          check=True, capture_output=True, text=True).stdout
    code = {}
    for line in text.splitlines():
        m = re.match(r"^\s*([0-9a-f]+):\s+([a-z][\w.]*)\s*(.*)$", line)
        if m:
            code[int(m[1], 16)] = (m[2], m[3].split(" //")[0].strip())
    for name, (start, end) in places:
        yield name, [(a, *code[a]) for a in range(start, end, 4) if a in code]


def target(name, operands):
    """The address that a branch goes to."""
    if not BRANCH.match(name):
        return None
    m = re.search(r"([0-9a-f]+) <", operands)
    return int(m[1], 16) if m else None


def loops(code):
    """The innermost loops, each as the instructions of a turn."""
    at = {a: i for i, (a, _, _) in enumerate(code)}
    spans = [(at[t], i) for i, (a, name, operands) in enumerate(code) if (t := target(name, operands)) in at and t <= a]
    spans = [(f, l) for f, l in spans if all(name != "ret" for _, name, _ in code[f:l])]  # others come from paths behind the function
    for first, last in spans:
        if any((f, l) != (first, last) and first <= f and l <= last for f, l in spans):
            continue
        turn, i = [], first
        while i <= last:
            turn.append(code[i][1:])
            to = target(*code[i][1:])
            i = at[to] if code[i][1] == "b" and to in at and at[to] > i else i + 1
        yield turn


def kind(name, operands):
    vector = re.search(r"\b[vqds]\d", operands) is not None
    if re.match(r"^fml[as]", name) or name in ("fmadd", "fmsub", "bfmmla", "bfdot", "sdot", "udot", "usdot", "smmla"):
        return "products"
    if re.match(r"^(ld|st)", name):
        return "memory"
    if not vector or name == "mov" or name.startswith("prfm") or (name == "orr" and len(set(operands.replace(" ", "").split(",")[1:])) == 1):
        return "rest"
    return "arithmetic"


def counted(code):
    """The counts of the loop with most arithmetic, the larger one if two have the same share."""
    best = None
    for turn in loops(code):
        n = {"all": len(turn), "products": 0, "memory": 0, "arithmetic": 0, "rest": 0}
        for instruction in turn:
            n[kind(*instruction)] += 1
        if best is None or (n["products"], n["arithmetic"], n["memory"]) > (best["products"], best["arithmetic"], best["memory"]):
            best = n
    return best


def row(name, n):
    needed = n["all"] - n["rest"]
    return f"| {name} | {n['all']} | {n['products']} | {n['arithmetic']} | {n['memory']} | {n['products'] / n['all']:.3f} | {needed / n['all']:.2f} |"


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("program", nargs="*")
    parser.add_argument("-openblas")
    parser.add_argument("-all", action="store_true")
    args = parser.parse_args()
    programs = args.program
    if not programs:
        folder = "build/arm64/tests/"
        os.makedirs(folder, exist_ok=True)
        subprocess.run(["go", "test", "-vet=off", "-c", "-o", folder, "./internal/base/simd/..."], check=True, env={**os.environ, "GOARCH": "arm64", "CGO_ENABLED": "0"})
        programs = sorted(folder + name for name in os.listdir(folder))
    print("| kernel | instructions | multiply-adds | other arithmetic | loads, stores | multiply-adds an instruction | needed |")
    print("|---|---|---|---|---|---|---|")
    families = {}
    for program in programs:
        places = list(functions(program, r"/simd/(v\w+\.\w+)NEON"))
        for name, code in disassembled(program, places) if places else ():
            if n := counted(code):
                family = name if args.all else re.sub(r"\d+(x\d+)*$", "", name)
                share = (n["products"] / n["all"], n["all"])
                if family not in families or share > families[family][0]:
                    families[family] = (share, name, n)
    for _, name, n in sorted(families.values(), key=lambda f: f[1]):
        print(row(name, n))
    if args.openblas:
        for name, place in sorted(functions(args.openblas, r"^(sgemm_kernel_\w+)$", True)):
            for _, code in disassembled(args.openblas, [(name, place)]):
                if n := counted(code):
                    print(row("OpenBLAS " + name, n))


main()
