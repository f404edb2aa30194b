//go:build public_api_only

package main

const internalReason = "Go's raw operation is internal to crypto/rsa, and this Go does not let it be linked to"

func rawOperation(*job, *studyKey) (func(in, out []byte) error, *refusal) {
	return nil, faultf("unsupported", internalReason)
}

func keygenTest([]byte) bool { panic(internalReason) }
