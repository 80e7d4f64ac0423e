module github.com/swcaffe/swcaffe/tools/site

go 1.26.0

require (
	github.com/yuin/goldmark v1.8.7
	golang.org/x/net v0.60.0
)
