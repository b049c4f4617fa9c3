// Package worker is one end of a sharing cycle: the process that the runner starts twice, once as producer and once as
// consumer. It knows no backend by name; it is given the backends' rows and joins them by path.
//
// A worker has three descriptors besides the standard ones: a control socket to the runner (length-prefixed JSON, a
// request, then a reply), a peer socket to the other worker (one frame a message), and shared memory for its progress
// word. During a batch of cycles it speaks to its peer only; spans stay on tapes until the batch has ended.
//
// With peers, processes that take part beside the two, each has a socket to every other one, and before the cycles of a case
// all map each other's buffers; see mesh.go.
//
// The cycle itself is two functions, in producer.go and consumer.go, to be read from top to bottom. Every frame gets one
// answer: prepare → ready, ready → handle or abort, handle → done or abort. Only after prepare, when the buffer is filled,
// does the consumer begin to wait for the handle, so that how long it waits does not grow with the buffer, and a consumer
// that polls takes no processor from the producer's work. The side that aborts tells the runner why; its peer only
// learns that the other end gave up.
package worker
