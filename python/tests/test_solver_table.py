"""The columns "Python" of docs/solver.md: what of a solver's and a net's state, and which weights, the module takes. Go's tests hold the others."""

import os
import unittest

import caffe
from common import Case

DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'docs', 'solver.md')

NET = '''%s
layer { name: "x" type: "DummyData" top: "x" top: "t" dummy_data_param { shape { dim: 2 dim: 4 } shape { dim: 2 dim: 3 } } }
layer { name: "ip" type: "InnerProduct" bottom: "x" top: "y" inner_product_param { num_output: 3 } }
layer { name: "loss" type: "EuclideanLoss" bottom: "y" bottom: "t" top: "l" }
'''

# For each row: fields of the solver, fields of the net, the rule of a layer that cannot be made, and arguments. The row counts if it is tried.
SOLVERS = {
    '`train_state { stage }`': ('train_state { stage: "s" }', '', 'stage: "s"', {}),
    '`train_state { level }`': ('train_state { level: 2 }', '', 'min_level: 2', {}),
    '`train_state { phase }`': ('train_state { phase: TEST } test_state { phase: TRAIN }', '', 'phase: TEST', {}),
    '`state { stage }` in the training net': ('', 'state { stage: "s" }', 'phase: TRAIN stage: "s"', {}),
    '`state { level }` in the training net': ('', 'state { level: 2 }', 'phase: TRAIN min_level: 2', {}),
    '`-stage`, `stages=` in the training net': ('', '', 'phase: TRAIN stage: "s"', {'stages': ['s']}),
    '`-level`, `level=` in the training net': ('', '', 'phase: TRAIN min_level: 2', {'level': 2}),
    '`test_state { stage }`': ('test_state { stage: "s" }', '', 'phase: TEST stage: "s"', {}),
    '`test_state { level }`': ('test_state { level: 2 }', '', 'phase: TEST min_level: 2', {}),
    '`state { level }` in a test net': ('', 'state { level: 2 }', 'phase: TEST min_level: 2', {}),
    '`-stage`, `stages=` in a test net': ('', '', 'phase: TEST stage: "s"', {'stages': ['s']}),
    '`-level`, `level=` in a test net': ('', '', 'phase: TEST min_level: 2', {'level': 2}),
    '`weights`': ('weights: "gone.caffemodel"', '', '', {}),
}

NETS = {
    '`state { stage }`': ('', 'state { stage: "s" }', 'stage: "s"', {}),
    '`state { level }`': ('', 'state { level: 2 }', 'min_level: 2', {}),
    '`-stage`, `stages=`': ('', '', 'stage: "s"', {'stages': ['s']}),
    '`-level`, `level=`': ('', '', 'min_level: 2', {'level': 2}),
    '`-phase`, `phase=`': ('', '', 'phase: TEST', {'phase': caffe.TEST}),
    '`-weights`, `weights=`': ('', '', '', {'weights': 'gone.caffemodel'}),
}


class Table(Case):
    def test_columns(self):
        ran, header = 0, None
        with open(DOCS) as f:
            lines = [line for line in f if line.startswith('| ')]
        for line in lines:
            row = [cell.strip() for cell in line.strip().strip('|').split('|')]
            if row[0] == 'given':
                header = row
                continue
            want = row[header.index('Python')]
            rows = SOLVERS if '`train`' in header else NETS
            if want == '-':
                self.assertNotIn(row[0], rows)
                continue
            ran += 1
            fields, state, rule, arguments = rows[row[0]]
            probe = 'layer { name: "probe" type: "ReLU" bottom: "nowhere" top: "p" include { %s } }' % rule if rule else ''
            net = self.write(NET % state + probe)
            if rows is SOLVERS:
                file = self.write('net: "%s" base_lr: 0.1 lr_policy: "fixed" max_iter: 1 test_iter: 1 test_interval: 1 snapshot_prefix: "%s/s" %s'
                                  % (net, self.dir, fields), 'solver.prototxt')
                self.check(row[0], want, lambda: caffe.get_solver(file, **arguments))
            else:
                self.check(row[0], want, lambda: caffe.Net(net, **dict({'phase': caffe.TRAIN}, **arguments)))
        self.assertEqual(ran, len(SOLVERS) + len(NETS))

    def check(self, row, want, make):
        self.assertIn(want, ('counts', 'no'), row)
        if want == 'no':
            make()
        else:
            with self.assertRaises(RuntimeError, msg=row) as raised:
                make()
            self.assertRegex(str(raised.exception), 'layer "probe"|gone.caffemodel')


if __name__ == '__main__':
    unittest.main()
