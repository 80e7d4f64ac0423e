// Package predict runs trained nets in Go programs: images or arrays in, labelled results out.
//
// A Model is a net with its weights, the preprocessing of its images and the names of its classes. It is loaded once and never changes. A Session
// runs it on a budget of cores. Sessions share the model's weights and can run at the same time; a Pool hands them out.
//
//	model, err := predict.Load(predict.Options{
//		Net: "deploy.prototxt", Weights: "net.caffemodel", Labels: "labels.txt",
//		Preprocessing: predict.Preprocessing{Training: "train_val.prototxt"},
//	})
//	...
//	session, err := model.NewSession(0)
//	...
//	defer session.Close()
//	item, err := model.Read("cat.jpg")
//	...
//	classes, err := session.Classify(ctx, 5, item)
//	...
//	fmt.Println(classes[0][0].Label, classes[0][0].Score)
//
// Session.Classify names what images show, Session.Detect finds objects, and Session.Run computes a net's outputs from arrays.
//
// A session plans the net anew for every size of batch, and keeps the last plans (Options.Plans). Results are the same bits at any number of
// cores and sessions. Between sizes of batches they may differ in roundings, since other algorithms may be faster then.
//
// What users give wrong, files and arrays alike, is an error that names the file, the layer or the input, what it has and what it should have.
package predict
