package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// The sections and opcodes of WebAssembly that matter here (specification,
// chapter 5, binary format).
const (
	sectionCode = 10

	opBlock        = 0x02
	opLoop         = 0x03
	opIf           = 0x04
	opEnd          = 0x0b
	opBr           = 0x0c
	opBrIf         = 0x0d
	opBrTable      = 0x0e
	opCall         = 0x10
	opCallIndirect = 0x11
	opSelectTyped  = 0x1c
	opLocalGet     = 0x20
	opTableSet     = 0x26
	opI32Load      = 0x28
	opI64Store32   = 0x3e
	opMemorySize   = 0x3f
	opMemoryGrow   = 0x40
	opI32Const     = 0x41
	opI64Const     = 0x42
	opF32Const     = 0x43
	opF64Const     = 0x44
	opRefNull      = 0xd0
	opRefIsNull    = 0xd1
	opRefFunc      = 0xd2
	prefixMisc     = 0xfc
)

// killCheck is what every loop begins with: if the word at killAddress is not
// zero, trap. `i32.const 16; i32.load align=4; if; unreachable; end`.
var killCheck = []byte{opI32Const, killAddress, opI32Load, 2, 0, opIf, 0x40, 0x00, opEnd}

// killAddress lies below the engine's stack, which grows down from 1 MiB and
// which the engine's own stack limit keeps far away from here.
const killAddress = 16

var errFormat = errors.New("not a WebAssembly module this program understands")

// patchLoops returns the module with a killCheck at the head of every loop,
// except in the function bodies of skip (counted from the first body), and the
// number of loops it changed.
func patchLoops(module []byte, skip map[int]bool) ([]byte, int, error) {
	if !bytes.HasPrefix(module, []byte("\x00asm\x01\x00\x00\x00")) {
		return nil, 0, errFormat
	}
	out, r, loops := bytes.Clone(module[:8]), reader{data: module[8:]}, 0
	for len(r.data) > 0 && r.err == nil {
		id := r.byte()
		body := r.take(int(r.u32()))
		if r.err == nil && id == sectionCode {
			var n int
			if body, n, r.err = patchCode(body, skip); r.err == nil {
				loops += n
			}
		}
		out = append(out, id)
		out = binary.AppendUvarint(out, uint64(len(body)))
		out = append(out, body...)
	}
	return out, loops, r.err
}

func patchCode(section []byte, skip map[int]bool) ([]byte, int, error) {
	r, loops := reader{data: section}, 0
	count := int(r.u32())
	out := binary.AppendUvarint(nil, uint64(count))
	for i := range count {
		body := r.take(int(r.u32()))
		if r.err != nil {
			return nil, 0, r.err
		}
		if !skip[i] {
			patched, n, err := patchBody(body)
			if err != nil {
				return nil, 0, fmt.Errorf("function body %d: %w", i, err)
			}
			body, loops = patched, loops+n
		}
		out = binary.AppendUvarint(out, uint64(len(body)))
		out = append(out, body...)
	}
	return out, loops, r.err
}

// patchBody copies one function body, its locals and its instructions.
func patchBody(body []byte) ([]byte, int, error) {
	r, loops := reader{data: body}, 0
	for range r.u32() {
		r.u32()
		r.byte()
	}
	out := bytes.Clone(body[:len(body)-len(r.data)])
	for len(r.data) > 0 && r.err == nil {
		before := r.data
		op := r.instruction()
		if r.err != nil {
			break
		}
		out = append(out, before[:len(before)-len(r.data)]...)
		if op == opLoop {
			out, loops = append(out, killCheck...), loops+1
		}
	}
	return out, loops, r.err
}

// reader takes a binary apart; after its first error it returns zeros.
type reader struct {
	data []byte
	err  error
}

func (r *reader) take(n int) []byte {
	if r.err != nil || n < 0 || n > len(r.data) {
		r.fail()
		return nil
	}
	b := r.data[:n]
	r.data = r.data[n:]
	return b
}

func (r *reader) fail() {
	if r.err == nil {
		r.err = errFormat
	}
}

func (r *reader) byte() byte {
	if b := r.take(1); len(b) == 1 {
		return b[0]
	}
	return 0
}

func (r *reader) u32() uint32 {
	v, n := binary.Uvarint(r.data)
	if n <= 0 || v > 1<<32-1 {
		r.fail()
		return 0
	}
	r.take(n)
	return uint32(v)
}

// leb skips a signed or unsigned number of any length.
func (r *reader) leb() {
	for r.byte()&0x80 != 0 {
	}
}

// instruction skips one instruction with its immediates and returns its opcode.
func (r *reader) instruction() byte {
	op := r.byte()
	switch {
	case op == opBrTable:
		for range r.u32() {
			r.leb()
		}
		r.leb()
	case op == opSelectTyped:
		r.take(int(r.u32()))
	case op == opCallIndirect, op >= opI32Load && op <= opI64Store32:
		r.leb()
		r.leb()
	case op == opF32Const:
		r.take(4)
	case op == opF64Const:
		r.take(8)
	case op == prefixMisc:
		r.misc()
	case hasOneImmediate(op):
		r.leb()
	case op > 0xc4 && op != opRefIsNull:
		r.fail() // vectors, atomics, exceptions: the engine has none
	}
	return op
}

func hasOneImmediate(op byte) bool {
	switch op {
	case opBlock, opLoop, opIf, opBr, opBrIf, opCall, opMemorySize, opMemoryGrow,
		opI32Const, opI64Const, opRefNull, opRefFunc:
		return true
	}
	return op >= opLocalGet && op <= opTableSet
}

// misc skips what follows the prefix 0xfc: saturating truncation has no
// immediates, memory and table instructions have one or two.
func (r *reader) misc() {
	switch sub := r.u32(); {
	case sub <= 7:
	case sub == 8, sub == 10, sub == 12, sub == 14:
		r.leb()
		r.leb()
	case sub <= 17:
		r.leb()
	default:
		r.fail()
	}
}
