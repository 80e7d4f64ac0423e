package main

// table is the table in a model's README. With one solver, it has a row for every test; with several, a row for the last test of
// each.
type table struct {
	model   string
	rowHead string // heading of the column with the solvers' labels
	rows    []row
	columns []column
	seeds   int // how many seeds the README has at least, if fewer than enough: the run of one seed takes minutes
}

// row is a solver, named by its file beside the README.
type row struct{ solver, label string }

// column is an output of a test net, or the training loss, rounded to decimals.
type column struct {
	head, output string
	testNet      int
	decimals     int
}

// These values instead of a test net and output mean the loss that the solver displays.
const (
	training     = -1
	trainingLoss = "loss"
)

var accuracy = column{head: "test accuracy", output: "accuracy", decimals: 3}

// precision is the mean over classes of the average precision.
var precision = column{head: "mAP", output: "detection_eval", decimals: 3}

// one is the only row of a model with one solver.
var one = []row{{solver: "solver.prototxt"}}

// tables are in the order in which scripts/train_zoo.sh trains their solvers, from the shortest run to the longest.
var tables = []table{
	{model: "hdf5_classification", rowHead: "net", rows: []row{
		{"solver.prototxt", "logistic regression"},
		{"nonlinear_solver.prototxt", "40 hidden units"},
	}, columns: []column{accuracy, {head: "test loss", output: "loss", decimals: 3}}},
	{model: "lenet", rowHead: "solver", rows: []row{
		{"solver.prototxt", "`solver.prototxt` (SGD), and `./scripts/quickstart.sh`"},
		{"solver_nesterov.prototxt", "`solver_nesterov.prototxt`"},
		{"solver_adagrad.prototxt", "`solver_adagrad.prototxt`"},
		{"solver_rmsprop.prototxt", "`solver_rmsprop.prototxt`"},
		{"solver_adadelta.prototxt", "`solver_adadelta.prototxt`"},
		{"solver_adam.prototxt", "`solver_adam.prototxt`"},
	}, columns: []column{
		{head: "test accuracy", output: "accuracy", decimals: 4},
		{head: "test loss", output: "loss", decimals: 4},
	}},
	{model: "mnist_siamese", rows: one, columns: []column{{head: "test loss", output: "loss", decimals: 4}}},
	{model: "cifar10_full_sigmoid", rows: one, columns: []column{
		accuracy,
		{head: "training loss", output: trainingLoss, testNet: training, decimals: 2},
	}},
	{model: "cifar10_full_sigmoid_bn", rows: one, columns: []column{
		accuracy,
		{head: "training loss", output: trainingLoss, testNet: training, decimals: 2},
	}},
	{model: "char_rnn", rows: one, columns: []column{
		{head: "share of next characters right", output: "accuracy", decimals: 3},
		{head: "test loss (nats a character)", output: "loss", decimals: 3},
	}},
	{model: "fcn", rows: one, columns: []column{accuracy}},
	{model: "pspnet", rows: one, columns: []column{
		{head: "mean IoU", output: "mean_iou", decimals: 3},
		accuracy,
	}},
	{model: "cifar10_full", rows: one, columns: []column{accuracy}},
	{model: "cifar10_resnet8", rows: one, columns: []column{accuracy}},
	{model: "cifar10_mobilenet_v2", rows: one, columns: []column{accuracy}},
	{model: "cifar10_shufflenet", rows: one, columns: []column{accuracy}},
	{model: "cifar10_quick", rows: one, columns: []column{accuracy}},
	{model: "mobilenet_ssd", rows: one, columns: []column{precision}},
	{model: "faster_rcnn", rows: one, seeds: 1, columns: []column{precision}},
	{model: "mnist_autoencoder", rows: one, columns: []column{
		{head: "cross entropy of a test image", output: "cross_entropy_loss", testNet: 1, decimals: 1},
		{head: "half its squared error", output: "l2_error", testNet: 1, decimals: 2},
		{head: "half that of a training image", output: "l2_error", testNet: 0, decimals: 2},
	}},
}

// path returns the path of the row's solver in the repository.
func (t *table) path(r row) string { return "models/" + t.model + "/" + r.solver }

// readme returns the path of the table's README in the repository.
func (t *table) readme() string { return "models/" + t.model + "/README.md" }

// with returns the table restricted to one solver's row; ok is false if it has none.
func (t *table) with(solver string) (only *table, ok bool) {
	for _, r := range t.rows {
		if t.path(r) == solver {
			c := *t
			c.rows = []row{r}
			return &c, true
		}
	}
	return nil, false
}
