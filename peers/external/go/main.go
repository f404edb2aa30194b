// Go's crypto/rsa as an engine of rsalab: a worker that speaks docs/src/reference/worker-protocol.md over its standard
// input and output.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"time"
)

func main() {
	if len(os.Args) > 1 {
		answerArgument(os.Args[1])
	}
	// The operations allocate a little each time. With so large a share the collector runs every 32 MB, not every 4.
	debug.SetGCPercent(800)
	// With room, so that the end of the input is noticed while requests wait.
	lines := make(chan []byte, 1024)
	go watch(os.Stdin, lines)
	serve(lines, os.Stdout)
}

func answerArgument(argument string) {
	if argument == "--version" {
		fmt.Printf("go %s (%s)\n", runtime.Version(), origin())
		os.Exit(0)
	}
	fmt.Fprintln(os.Stderr, "This is the worker of rsalab's engine 'go'. rsalab starts it and talks to it over its standard input\n"+
		"and output, one JSON object a line; see docs/src/reference/worker-protocol.md. Try: rsalab engines")
	if argument == "--help" || argument == "-h" {
		os.Exit(0)
	}
	os.Exit(2)
}

func origin() string {
	return "Go's own crypto/rsa, linked statically, " + runtime.Compiler + " compiler"
}

func info() map[string]any {
	return map[string]any{
		"name": "go", "version": "Go " + runtime.Version()[2:], "origin": origin(), "variants": privateVariants, "optimised": true,
	}
}

// Reads lines until the input ends, and soon after ends the process: the coordinator is gone.
func watch(stdin io.Reader, lines chan<- []byte) {
	const grace = 2 * time.Second
	input := bufio.NewReaderSize(stdin, 1<<16)
	for {
		line, err := readLine(input)
		if len(bytes.TrimSpace(line)) > 0 {
			lines <- line
		}
		if err != nil {
			if err != io.EOF {
				fmt.Fprintln(os.Stderr, "the conversation broke off:", err)
				os.Exit(5)
			}
			close(lines)
			time.Sleep(grace)
			fmt.Fprintln(os.Stderr, "the input has ended; the request in progress was given up")
			os.Exit(5)
		}
	}
}

func readLine(input *bufio.Reader) (line []byte, err error) {
	for {
		part, err := input.ReadSlice('\n')
		line = append(line, part...)
		if len(line) >= maxLineBytes {
			return nil, fmt.Errorf("a line is longer than %d bytes", maxLineBytes)
		}
		if err != bufio.ErrBufferFull {
			return line, err
		}
	}
}

// Answers requests until `quit` or their end.
func serve(lines <-chan []byte, output io.Writer) {
	say := func(answer any) {
		text, err := json.Marshal(answer)
		if err == nil {
			_, err = output.Write(append(text, '\n'))
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "the conversation broke off:", err)
			os.Exit(5)
		}
	}
	refuse := func(f *refusal) {
		a := answer("error", "kind", f.kind, "message", f.message)
		if f.item != nil {
			a["item"] = *f.item
		}
		say(a)
	}
	var ready *driver
	release := func() {
		if ready != nil {
			ready.release()
			ready = nil
		}
	}
	for line := range lines {
		request, fault := parse(line)
		if fault != nil {
			refuse(fault)
			continue
		}
		switch request.Request {
		case "hello":
			say(answer("hello", "protocol", protocolVersion, "pid", os.Getpid(), "engine", info()))
		case "supports":
			if ledger, reason := supports(request.Job); reason != "" {
				say(answer("unsupported", "reason", reason))
			} else {
				say(answer("supported", "ledger", ledger))
			}
		case "prepare":
			release()
			if ready, fault = prepare(request.Job, request.Keys, *request.Inputs); fault != nil {
				refuse(fault)
			} else {
				say(answer("prepared", "kernel", ready.kernel(), "cpus", ready.cpus, "oversubscribed", ready.crowded))
			}
		case "release":
			release()
			say(answer("released"))
		case "quit":
			say(answer("bye"))
			return
		default:
			if ready == nil {
				refuse(faultf("sequence", "'%s' needs a prepared job", request.Request))
				continue
			}
			if request.Request == "outputs" {
				if outputs, fault := ready.outputs(); fault != nil {
					refuse(fault)
				} else {
					say(answer("outputs", "outputs", hexBytes(outputs)))
				}
				continue
			}
			if block, outputs, fault := ready.block(request.Plan); fault != nil {
				refuse(fault)
			} else {
				a := answer("block", "block", block)
				if len(outputs) > 0 {
					a["outputs"] = hexBytes(outputs)
				}
				say(a)
			}
		}
	}
}
