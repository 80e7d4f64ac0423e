"""Runs the comparison that images.sh prepares in a directory, and prints it."""
import argparse
import glob
import os
import shutil
import statistics
import subprocess
import sys
import time

PIXELS = {"small": (480, 360), "large": (4000, 3000)}


def measure(command):
    """User and system time, wall time and peak memory of a command: seconds and MB."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    log = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {process.returncode}\n{log.decode(errors='replace')[-2000:]}")
    return usage.ru_utime, usage.ru_utime + usage.ru_stime, time.monotonic() - start, usage.ru_maxrss / 1024


class Programs:
    def __init__(self, folder, caffe):
        self.folder, root = os.path.abspath(folder), os.path.abspath(os.path.join(caffe, "root"))
        lib = "x86_64-linux-gnu"
        path = ":".join(f"{root}/{d}" for d in (f"usr/lib/{lib}/openblas-pthread", f"usr/lib/{lib}", f"lib/{lib}", "usr/lib", f"usr/lib/{lib}/blas", f"usr/lib/{lib}/lapack"))
        self.loader = [f"{root}/lib/{lib}/ld-2.31.so", "--library-path", path]
        self.bin = f"{root}/usr/bin"

    def ours(self, tool, *args):
        return [f"{self.folder}/swcaffe", tool, *args]

    def caffes(self, tool, *args):
        if tool == "time":
            return [*self.loader, f"{self.bin}/caffe", "time", *args]
        return [*self.loader, f"{self.bin}/{tool}", *args]

    def listing(self, size, kind, count):
        """A list of pictures of one kind, each several times, and the name of its file."""
        files = sorted(os.path.basename(f) for f in glob.glob(f"{self.folder}/{size}*-{kind}.jpg"))
        name = f"{self.folder}/{size}-{kind}-{count}.txt"
        with open(name, "w") as f:
            f.writelines(f"{files[i % len(files)]} {i % 10}\n" for i in range(count))
        return name

    def converted(self, size, kind, count, flags):
        listing = self.listing(size, kind, count)

        def command(program, who):
            out = f"{self.folder}/{who}_lmdb"
            shutil.rmtree(out, ignore_errors=True)
            return program("convert_imageset", *flags, f"{self.folder}/", listing, out)
        return [lambda: command(self.ours, "ours"), lambda: command(self.caffes, "caffes")]

    def timed(self, size, kind, count, encoded):
        """Commands that run a net of one data layer over a list of pictures."""
        listing = self.listing(size, kind, count)
        batch = 20 if size == "small" else 2
        source, base = f"{self.folder}/{size}-{kind}-{count}_lmdb", f"{self.folder}/{size}-{kind}-{encoded}"
        layer = f'type: "ImageData" image_data_param {{ source: "{listing}" root_folder: "{self.folder}/" batch_size: {batch} new_height: 256 new_width: 256 }}'
        if encoded:
            if not os.path.isdir(source):
                subprocess.run(self.ours("convert_imageset", "-encoded", f"{self.folder}/", listing, source), check=True, capture_output=True)
            layer = f'type: "Data" transform_param {{ crop_size: 227 }} data_param {{ source: "{source}" backend: LMDB batch_size: {batch} prefetch: 4 }}'
        with open(base + ".prototxt", "w") as f:
            f.write(f'name: "pictures"\nlayer {{ name: "data" top: "data" top: "label" {layer} }}\n'
                    'layer { name: "none" type: "Silence" bottom: "data" bottom: "label" }\n')
        args = ["-model", base + ".prototxt", "-iterations", str(count // batch)]
        return [lambda: self.ours("time", *args), lambda: self.caffes("time", *args)]


def cases(programs, quick):
    """The name of each case, its number of pictures, and the commands of swcaffe and of Caffe."""
    counts = {"small": 100 if quick else 400, "large": 4 if quick else 8}
    for size, count in counts.items():
        for colour in ("colour", "grey"):
            for way in ("baseline", "progressive"):
                kind = f"{colour}-{way}"
                yield (f"convert_imageset {size} {kind}", count,
                       programs.converted(size, kind, count, ["-resize_width=256", "-resize_height=256"]))
    for size, count in counts.items():
        if size == "small":
            count *= 2  # the programs take longer to begin
        for way in ("baseline", "progressive"):
            kind = f"colour-{way}"
            yield f"ImageData {size} {kind}", count, programs.timed(size, kind, count, False)
            yield f"Data encoded {size} {kind}", count, programs.timed(size, kind, count, True)


def memory(programs):
    """The memory that one large picture adds to a run with a small one, in bytes of its pixels."""
    print(f"\n{'memory of one large picture':44} {'swcaffe':>9} {'Caffe':>9}   times 3 bytes a pixel")
    width, height = PIXELS["large"]
    for kind in ("colour-baseline", "colour-progressive"):
        for what, flags in (("resized", ["-resize_width=256", "-resize_height=256"]), ("whole", [])):
            small, large = programs.converted("small", kind, 1, flags), programs.converted("large", kind, 1, flags)
            peak = [statistics.median(measure(big())[3] for _ in range(3)) - statistics.median(measure(little())[3] for _ in range(3))
                    for big, little in zip(large, small)]
            print(f"{kind + ', ' + what:44} {peak[0] * 2**20 / (3 * width * height):9.2f} {peak[1] * 2**20 / (3 * width * height):9.2f}")


def main():
    parser = argparse.ArgumentParser(prog="images.sh")
    parser.add_argument("folder")
    parser.add_argument("caffe")
    parser.add_argument("-rounds", type=int, default=0)
    parser.add_argument("-quick", action="store_true")
    parser.add_argument("-only", default="")
    o = parser.parse_args()
    rounds = o.rounds or (3 if o.quick else 5)
    programs = Programs(o.folder, o.caffe)
    print(f"milliseconds a picture and MB, medians of {rounds} runs in turns: swcaffe / Caffe = ratio")
    print(f"{'':44} {'user':>22} {'user and system':>22} {'wall':>22} {'peak MB':>22}")
    for name, count, commands in cases(programs, o.quick):
        if o.only not in name:
            continue
        runs = [[], []]
        for _ in range(rounds):
            for who, command in enumerate(commands):
                runs[who].append(measure(command()))
        ours, caffes = ([statistics.median(values) for values in zip(*r)] for r in runs)
        per = [1000 / count] * 3 + [1]
        print(f"{name:44}" + "".join(f" {a * p:7.2f} / {b * p:5.2f} ={a / b:4.2f}" for a, b, p in zip(ours, caffes, per)), flush=True)
    if o.only in "memory":
        memory(programs)


if __name__ == "__main__":
    main()
