module github.com/rsalab/rsalab/bindings/go

go 1.24
