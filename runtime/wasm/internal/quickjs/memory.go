package quickjs

import (
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/tetratelabs/wazero/experimental"
)

// memory is the linear memory of one VM: address space reserved once, of which
// pages become usable as the module grows. It never moves, so that the kill word
// in it can be set from another goroutine, and it costs the Go heap nothing.
type memory struct {
	limit   atomic.Uint64 // bytes it may grow to
	refused atomic.Bool   // growth was refused since the limit was set

	mu       sync.Mutex // guards all below, against Free while kill writes
	reserved []byte
	usable   uint64
	failed   error // why there is nothing reserved
}

func newMemory(limit uint64) *memory {
	m := &memory{}
	m.limit.Store(limit)
	return m
}

// Allocate implements experimental.MemoryAllocator, which knows no error: without
// address space the memory refuses its first growth, and instantiate says why.
func (m *memory) Allocate(_, most uint64) experimental.LinearMemory {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.reserved, m.failed = reserve(most); m.failed != nil {
		m.failed = fmt.Errorf("reserve %d bytes of address space: %w", most, m.failed)
	}
	return m
}

// Reallocate implements experimental.LinearMemory; nil refuses.
func (m *memory) Reallocate(size uint64) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	if size > m.limit.Load() || size > uint64(len(m.reserved)) {
		m.refused.Store(true)
		return nil
	}
	if size > m.usable {
		if err := commit(m.reserved[:size]); err != nil {
			m.refused.Store(true)
			return nil
		}
		m.usable = size
	}
	return m.reserved[:size:size]
}

// Free implements experimental.LinearMemory.
func (m *memory) Free() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.reserved != nil {
		release(m.reserved)
		m.reserved, m.usable = nil, 0
	}
}

// kill sets the word that every loop of the module looks at.
func (m *memory) kill(address uint32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.usable > uint64(address)+4 {
		atomic.StoreUint32((*uint32)(unsafe.Pointer(&m.reserved[address])), 1)
	}
}

// size is how far the memory has grown; it never shrinks.
func (m *memory) size() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.usable
}
