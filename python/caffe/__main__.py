"""python -m caffe COMMAND ...: all commands of swcaffe's binary, with layers written in Python.

    python -m caffe train -solver solver.prototxt
"""

import sys

from ._library import main

if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
