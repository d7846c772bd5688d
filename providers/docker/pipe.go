package docker

import (
	"bytes"
	"io"
	"sync"
)

// pipeLimit is how many bytes of one stream wait for a slow reader before the
// command is made to wait. Both streams arrive on one connection, so a reader
// of one must not be stopped at once by unread bytes of the other.
const pipeLimit = 4 << 20

// pipe is a stream with room for pipeLimit unread bytes.
type pipe struct {
	mu     sync.Mutex
	wake   *sync.Cond
	buf    bytes.Buffer
	ended  error // what Read answers once buf is empty
	closed bool  // the reader is gone: Write drops
	loose  bool  // Write drops what has no room
}

func newPipe() *pipe {
	p := &pipe{}
	p.wake = sync.NewCond(&p.mu)
	return p
}

// Write waits for room and never fails: when the reader is gone, bytes are
// dropped, so that the command can still run to its end.
func (p *pipe) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.buf.Len() >= pipeLimit && !p.closed && !p.loose {
		p.wake.Wait()
	}
	if !p.closed && p.buf.Len() < pipeLimit {
		p.buf.Write(b)
		p.wake.Broadcast()
	}
	return len(b), nil
}

// Read waits for bytes or the end.
func (p *pipe) Read(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.buf.Len() == 0 && p.ended == nil && !p.closed {
		p.wake.Wait()
	}
	switch {
	case p.closed:
		return 0, io.ErrClosedPipe
	case p.buf.Len() == 0:
		return 0, p.ended
	}
	n, err := p.buf.Read(b)
	p.wake.Broadcast()
	return n, err
}

// release lets a command be killed whose output nobody reads: the engine ends
// nothing in a container before the streams of what ended there are drained.
func (p *pipe) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.loose = true
	p.wake.Broadcast()
}

// end says that no more bytes come.
func (p *pipe) end(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended == nil {
		p.ended = err
	}
	p.wake.Broadcast()
}

// Close is the reader's: what still comes is dropped.
func (p *pipe) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.buf.Reset()
	p.wake.Broadcast()
	return nil
}
