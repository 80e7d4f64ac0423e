"""Reads the pictures of make.py with the real Caffe and with swcaffe, and compares.

compare.py PICTURES CAFFE SWCAFFE [-known FILE] [-values ZIP] [-only KIND] [-layers]

Each picture goes through both convert_imageset: in colour, in grey, resized, and stored as its file. Every result must be equal to the byte, or both
programs must refuse the picture. -known names kinds that may differ, a line each, with the reason. -values writes two pictures of each kind and checksums of what Caffe read, for a test without it. -layers also reads two pictures of each kind through the layers ImageData and Data,
as they are stored and with force_color and force_gray."""

import argparse, collections, os, struct, subprocess, sys, zipfile, zlib

flags = argparse.ArgumentParser(description=__doc__)
flags.add_argument("pictures")
flags.add_argument("caffe")
flags.add_argument("swcaffe")
flags.add_argument("-known")
flags.add_argument("-values")
flags.add_argument("-only", default="")
flags.add_argument("-layers", action="store_true")
flags.add_argument("-v", action="store_true")
o = flags.parse_args()

root, lib = o.caffe + "/root", "x86_64-linux-gnu"
libraries = ":".join(f"{root}/{d}" for d in (f"usr/lib/{lib}/openblas-pthread", f"usr/lib/{lib}", f"lib/{lib}", "usr/lib", f"usr/lib/{lib}/blas", f"usr/lib/{lib}/lapack"))
theirs = [f"{root}/lib/{lib}/ld-2.31.so", "--library-path", libraries, f"{root}/usr/bin/convert_imageset"]
ours = [o.swcaffe, "convert_imageset"]
MODES = {"colour": [], "grey": ["-gray"], "resized": ["-resize_height=12", "-resize_width=17"], "encoded": ["-encoded"]}

LAYERS = ["ImageData", "Data", "Data colour", "Data grey"]  # two pictures of each kind


def varint(b, i):
    v = shift = 0
    while True:
        v |= (b[i] & 127) << shift
        shift, i = shift + 7, i + 1
        if b[i - 1] < 128:
            return v, i


def datum(b):
    """Channels, height, width and pixels of a Datum message."""
    f, i = {}, 0
    while i < len(b):
        key, i = varint(b, i)
        v, i = varint(b, i)
        if key & 7 == 2:
            v, i = b[i : i + v], i + v
        f[key >> 3] = v
    return tuple(f.get(k, 0) for k in (1, 2, 3)) + (f.get(4, b""),)


def read(program, names, options):
    """What a program made of each picture: its Datum. A picture that ends the program is read alone and then left out."""
    values, rest = {}, list(names)
    while rest:
        with open(f"{o.pictures}/list.txt", "w") as f:
            f.writelines(f"{n} 0\n" for n in rest)
        subprocess.run(["rm", "-rf", f"{o.pictures}/db"], check=True)
        run = subprocess.run([*program, *options, o.pictures + "/", f"{o.pictures}/list.txt", f"{o.pictures}/db"], capture_output=True)
        dump = subprocess.run(["mdb_dump", f"{o.pictures}/db"], capture_output=True, text=True).stdout.splitlines()
        lines = [bytes.fromhex(x) for x in dump if x.startswith(" ")]
        for key, value in zip(lines[::2], lines[1::2]):
            values[key.decode().split("_", 1)[1]] = datum(value)
        if run.returncode >= 0 and (run.returncode == 0 or program is ours):
            break
        # Caffe writes what it has read in thousands, so that a picture that ends it loses the others of its run: halve the list.
        if len(rest) == 1:
            print(f"{rest[0]} ends {program[-1]}")
            break
        half = len(rest) // 2
        values.update(read(program, rest[:half], options))
        rest = rest[half:]
    return values


def layer(program, names, kind):
    """What a data layer reads: the values of each picture as extract_features writes them, in bytes."""
    net, db = f"{o.pictures}/net.prototxt", f"{o.pictures}/db"
    with open(f"{o.pictures}/list.txt", "w") as f:
        f.writelines(f"{n} 0\n" for n in names)
    if kind == "ImageData":
        text = f'type: "ImageData" image_data_param {{ source: "{o.pictures}/list.txt" root_folder: "{o.pictures}/" batch_size: 1 }}'
    else:
        subprocess.run(["rm", "-rf", db], check=True)
        subprocess.run([*ours, "-encoded", o.pictures + "/", f"{o.pictures}/list.txt", db], capture_output=True, check=True)
        force = {"Data": "", "Data colour": "force_color: true", "Data grey": "force_gray: true"}[kind]
        text = f'type: "Data" data_param {{ source: "{db}" batch_size: 1 backend: LMDB }} transform_param {{ {force} }}'
    with open(net, "w") as f:
        f.write(f'layer {{ name: "d" top: "data" top: "label" {text} }}')
    with open(f"{o.pictures}/none.caffemodel", "wb") as f:
        f.write(b"\x0a\x01n")
    features = f"{o.pictures}/features"
    subprocess.run(["rm", "-rf", features], check=True)
    extract = [*program[:-1], f"{root}/usr/bin/extract_features"] if program is theirs else [o.swcaffe, "extract_features"]
    run = subprocess.run([*extract, f"{o.pictures}/none.caffemodel", net, "data", features, str(len(names)), "lmdb"], capture_output=True, text=True)
    if run.returncode:
        if len(names) == 1:
            return {}
        half = len(names) // 2
        return {**layer(program, names[:half], kind), **layer(program, names[half:], kind)}
    dump = subprocess.run(["mdb_dump", features], capture_output=True, text=True).stdout.splitlines()
    lines = [bytes.fromhex(x) for x in dump if x.startswith(" ")]
    return {names[int(k)]: (0, 0, 0, floats(v)) for k, v in zip(lines[::2], lines[1::2])}


def floats(b):
    """The values of a Datum as bytes. Caffe writes each float with its tag."""
    i, all = 0, []
    while i < len(b):
        key, i = varint(b, i)
        if key & 7 == 5:
            all.append(struct.unpack("<f", b[i : i + 4])[0])
            i += 4
            continue
        v, i = varint(b, i)
        if key & 7 == 2:
            if key >> 3 == 6:
                all += struct.unpack(f"<{v // 4}f", b[i : i + v])
            i += v
    return bytes(int(x) for x in all)


def text(v):
    return "refused" if v is None else f"{v[1]}x{v[2]}x{v[0]} {zlib.crc32(v[3]):08x}"


def reason(kind):
    """Why a kind may differ: the line for it, or for its first and last word with any word between."""
    words = kind.split("-")
    return known.get(kind) or known.get("-".join(words[:2])) or known.get(f"{words[0]}-{words[-1]}")


names = sorted(n for n in os.listdir(o.pictures) if "-" in n and n.startswith(o.only))
known = {}
if o.known:
    with open(o.known) as f:
        known = dict(line.strip().split(" ", 1) for line in f if line.strip())
equal, differ = collections.Counter(), collections.Counter()
values = []
colour = {}
for mode in [*MODES, *(LAYERS if o.layers else [])]:
    if mode in MODES:
        a, b = read(theirs, names, MODES[mode]), read(ours, names, MODES[mode])
        colour = colour or {n for n in a if n in b}
        asked = names
    else:  # a layer ends at a picture that it cannot read
        asked = [n for n in names if n in colour and n.rsplit("-", 1)[1][:2] in ("01", "02")]
        a, b = layer(theirs, asked, mode), layer(ours, asked, mode)
    for n in asked:
        kind = n.rsplit("-", 1)[0]
        x, y = a.get(n), b.get(n)
        if x and y and mode == "encoded":  # Caffe writes no size beside a file
            y = x[:3] + y[3:]
        values.append(f"{n} {mode} {text(x)}")
        if x == y:
            equal[kind] += 1
            continue
        differ[kind] += 1
        far = ""
        if x and y and x[:3] == y[:3] and len(x[3]) == len(y[3]):
            d = [abs(p - q) for p, q in zip(x[3], y[3])]
            far = f", {sum(v > 0 for v in d)} of {len(d)} values by up to {max(d)}"
        if not reason(kind) or o.v:
            print(f"{n} {mode}: Caffe {text(x)}, swcaffe {text(y)}{far}")
print(f"\n{'kind':28} {'equal':>6} {'differ':>6}")
for kind in sorted(equal | differ):
    print(f"{kind:28} {equal[kind]:6} {differ[kind]:6}  {(reason(kind) or 'UNEXPECTED') if differ[kind] else ''}")
print(f"{'in all':28} {sum(equal.values()):6} {sum(differ.values()):6}")
if o.values:
    few = [n for n in names if n.rsplit("-", 1)[1][:2] in ("01", "02", "09") and os.path.getsize(f"{o.pictures}/{n}") < 6000 and not reason(n.rsplit("-", 1)[0])]
    with zipfile.ZipFile(o.values, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr(zipfile.ZipInfo("values.txt"), "".join(v + "\n" for v in sorted(values) if v.split()[0] in few and v.split()[1] in ("colour", "grey")))
        for n in few:
            with open(f"{o.pictures}/{n}", "rb") as f:
                z.writestr(zipfile.ZipInfo(n), f.read())
sys.exit(any(not reason(kind) for kind in differ))
