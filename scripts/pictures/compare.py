"""Reads the pictures of make.py with the real Caffe and with swcaffe, and compares.

compare.py PICTURES CAFFE SWCAFFE [-known FILE] [-values ZIP] [-only KIND] [-layers]

Each picture goes through both convert_imageset: in colour, in grey, resized, and stored as its file. Every result must be equal to the byte, or both
programs must refuse the picture. -known names kinds that may differ, a line each, with the reason. -values writes two pictures of each kind and checksums of what Caffe read, for a test without it. -layers also reads two pictures of each kind, and all
JPEGs that end early, through the layers ImageData and Data, as they are stored and with force_color and force_gray, and windows of one of each kind through WindowData, mirrored and not."""

import argparse, collections, math, os, random, struct, subprocess, sys, zipfile, zlib

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

LAYERS = ["ImageData", "Data", "Data colour", "Data grey"]
WINDOWS = {"windows": "", "windows in context": "context_pad: 3", "square windows": 'crop_mode: "square"', "square windows in context": 'crop_mode: "square" context_pad: 4'}
TESTED = ["colour", "grey", *LAYERS[1:]]  # ways whose values are kept for a test


def chosen(name, numbers):
    """Whether a picture is one of those few of its kind. Of JPEGs that end early, all are."""
    return name.startswith("jpeg-cut") or name.rsplit("-", 1)[1][:2] in numbers


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
    if not names:
        return {}
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
    read = extracted(program, net, len(names), "data")
    if read is None:
        if len(names) == 1:
            return {}
        half = len(names) // 2
        return {**layer(program, names[:half], kind), **layer(program, names[half:], kind)}
    return {names[k]: (0, 0, 0, bytes(int(x) for x in v)) for k, v in read[0].items()}


def extracted(program, net, batches, *blobs):
    """What extract_features writes of blobs: for each a dictionary of lists by number; None if it fails."""
    with open(f"{o.pictures}/none.caffemodel", "wb") as f:
        f.write(b"\x0a\x01n")
    features = [f"{o.pictures}/features-{b}" for b in blobs]
    subprocess.run(["rm", "-rf", *features], check=True)
    extract = [*program[:-1], f"{root}/usr/bin/extract_features"] if program is theirs else [o.swcaffe, "extract_features"]
    run = subprocess.run([*extract, f"{o.pictures}/none.caffemodel", net, ",".join(blobs), ",".join(features), str(batches), "lmdb"], capture_output=True, text=True)
    if run.returncode:
        return None
    all = []
    for f in features:
        dump = subprocess.run(["mdb_dump", f], capture_output=True, text=True).stdout.splitlines()
        lines = [bytes.fromhex(x) for x in dump if x.startswith(" ")]
        all.append({int(k): floats(v) for k, v in zip(lines[::2], lines[1::2])})
    return all


def windows(program, sizes, kind):
    """What WindowData reads of two windows of each picture, mirrored and not: the set of what it hands out, since it draws windows. Windows leave
    the picture where their context may."""
    r, labels, net = random.Random(5), [], f"{o.pictures}/net.prototxt"
    with open(f"{o.pictures}/windows.txt", "w") as f:
        for i, (n, (h, w)) in enumerate(sorted(sizes.items())):
            f.write(f"# {i}\n{n}\n3\n{h}\n{w}\n3\n0 0.1 0 0 0 0\n")  # Caffe needs a window of the background, and draws none here
            for _ in range(2):
                x, y = r.randrange(w), r.randrange(h)
                out = 5 if WINDOWS[kind] else 0
                f.write(f"{len(labels) + 1} 0.9 {x} {y} {min(w - 1 + out, x + r.randrange(w))} {min(h - 1 + out, y + r.randrange(h))}\n")
                labels.append(n)
    items = int(2 * len(labels) * (math.log(2 * len(labels)) + 7))
    with open(net, "w") as f:
        f.write(f'''layer {{ name: "d" type: "WindowData" top: "data" top: "label" transform_param {{ mirror: true crop_size: 9 }}
                window_data_param {{ source: "{o.pictures}/windows.txt" root_folder: "{o.pictures}/" batch_size: 50 fg_fraction: 1 crop_size: 9 {WINDOWS[kind]} }} }}''')
    read = extracted(program, net, (items + 49) // 50, "data", "label")
    sets = {n: set() for n in sizes}
    for k, v in (read[0] if read else {}).items():
        at = int(read[1][k][0])
        sets[labels[at - 1]].add((at, bytes(int(x) for x in v)))
    return {n: (0, 0, 0, b"".join(bytes([at & 255]) + v for at, v in sorted(s))) for n, s in sets.items() if s}


def floats(b):
    """The values of a Datum. Caffe writes each float with its tag."""
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
    return all


def text(v):
    return "refused" if v is None else f"{v[1]}x{v[2]}x{v[0]} {zlib.crc32(v[3]):08x}"


def reason(kind, mode=""):
    """Why a kind may differ: the line for it, or for its first and last word with any word between, or for its first word and Data layers."""
    words = kind.split("-")
    stored = mode in LAYERS[1:] and known.get(f"{words[0]}-Data")
    return stored or known.get(kind) or known.get("-".join(words[:2])) or known.get(f"{words[0]}-{words[-1]}")


names = sorted(n for n in os.listdir(o.pictures) if "-" in n and n.startswith(o.only))
known = {}
if o.known:
    with open(o.known) as f:
        known = dict(line.strip().split(" ", 1) for line in f if line.strip())
equal, differ, why, reasons = collections.Counter(), collections.Counter(), {}, {}
values = []
colour = {}
for mode in [*MODES, *([*LAYERS, *WINDOWS] if o.layers else [])]:
    if mode in MODES:
        a, b = read(theirs, names, MODES[mode]), read(ours, names, MODES[mode])
        colour = colour or {n: a[n][1:3] for n in a if n in b}
        asked = names
    elif mode in WINDOWS:
        asked = [n for n in names if n in colour and n.rsplit("-", 1)[1].startswith("01") and n.split("-")[0] in ("jpeg", "png", "tiff", "webp")]
        few = {n: colour[n] for n in asked}
        a, b = windows(theirs, few, mode), windows(ours, few, mode)
    else:  # a layer ends at a picture that it cannot read
        asked = [n for n in names if n in colour and chosen(n, ("01", "02"))]
        b = layer(ours, asked, mode)
        a = layer(theirs, [n for n in asked if n in b], mode)
        for n in asked:  # alone, since they end the program
            a.update({} if n in b else layer(theirs, [n], mode))
    for n in asked:
        kind = n.rsplit("-", 1)[0]
        x, y = a.get(n), b.get(n)
        if x and y and mode == "encoded":  # Caffe writes no size beside a file
            y = x[:3] + y[3:]
        # Of a JPEG in a database without any row, Caffe's pixels are what its memory held, and swcaffe's are black.
        unset = mode in LAYERS[1:] and kind.startswith("jpeg-cut") and x and y and x != y and not any(y[3])
        values.append(f"{n} {mode} {'unset' if unset else text(x)}")
        if x == y or unset:
            equal[kind] += 1
            continue
        differ[kind] += 1
        why[kind] = why.get(kind) or not reason(kind, mode) and "UNEXPECTED"
        reasons[kind] = reason(kind, mode)
        far = ""
        if x and y and x[:3] == y[:3] and len(x[3]) == len(y[3]):
            d = [abs(p - q) for p, q in zip(x[3], y[3])]
            far = f", {sum(v > 0 for v in d)} of {len(d)} values by up to {max(d)}"
        if not reason(kind, mode) or o.v:
            print(f"{n} {mode}: Caffe {text(x)}, swcaffe {text(y)}{far}")
print(f"\n{'kind':28} {'equal':>6} {'differ':>6}")
for kind in sorted(equal | differ):
    print(f"{kind:28} {equal[kind]:6} {differ[kind]:6}  {(why[kind] or reasons[kind]) if differ[kind] else ''}")
print(f"{'in all':28} {sum(equal.values()):6} {sum(differ.values()):6}")
if o.values:
    few = [n for n in names if chosen(n, ("01", "02", "09")) and os.path.getsize(f"{o.pictures}/{n}") < 6000 and not reason(n.rsplit("-", 1)[0])]
    with zipfile.ZipFile(o.values, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr(zipfile.ZipInfo("values.txt"), "".join(v + "\n" for v in sorted(values) if v.split()[0] in few and v.split(" ", 1)[1].rsplit(" ", 1 if v.split()[-1] in ("refused", "unset") else 2)[0] in TESTED))
        for n in few:
            with open(f"{o.pictures}/{n}", "rb") as f:
                z.writestr(zipfile.ZipInfo(n), f.read())
sys.exit(any(why.values()))
