package predict_test

import (
	"context"
	"fmt"
	"image"
	"log"
	"sync"
	"time"

	"github.com/swcaffe/swcaffe/predict"
)

// A net names what images show. Images come from files (Read), bytes (Decode), or Go's images.
func Example() {
	model, err := predict.Load(predict.Options{
		Net:           "../models/lenet/deploy.prototxt",
		Preprocessing: predict.Preprocessing{Scale: 1.0 / 256},
		// Weights: "lenet.caffemodel", Labels: "labels.txt"
	})
	if err != nil {
		log.Fatal(err)
	}
	session, err := model.NewSession(0)
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	item, err := model.Image(image.NewGray(image.Rect(0, 0, 40, 30)))
	if err != nil {
		log.Fatal(err)
	}
	classes, err := session.Classify(context.Background(), 3, item)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%q has %.2f, the first of %d classes\n", classes[0][0].Label, classes[0][0].Score, len(classes[0]))
	// Output:
	// "class 0" has 0.10, the first of 3 classes
}

// Many goroutines run a model on sessions of a pool. Each session has one core; a request that waits too long ends with an error.
func Example_pool() {
	model, err := predict.Load(predict.Options{Net: "../models/cifar10_quick/deploy.prototxt", Plans: 4})
	if err != nil {
		log.Fatal(err)
	}
	if err := model.Mixes(); err != nil {
		log.Fatal(err) // items of several requests cannot be in one batch
	}
	pool, err := model.NewPool(2, 1)
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var all sync.WaitGroup
	rows := make([]int, 8)
	for i := range rows {
		all.Go(func() {
			items := 1 + i%3
			err := pool.Do(ctx, func(s *predict.Session) error {
				outputs, err := s.Run(ctx, predict.Array{Name: "data", Shape: []int{items, 3, 32, 32}, Values: make([]float32, items*3*32*32)})
				if err == nil {
					rows[i] = outputs[0].Shape[0] // the outputs are the session's memory: take what is needed of them here
				}
				return err
			})
			if err != nil {
				log.Fatal(err)
			}
		})
	}
	all.Wait()
	fmt.Println(rows)
	// Output:
	// [1 2 3 1 2 3 1 2]
}
