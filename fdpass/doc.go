// Package fdpass passes file descriptors between two processes and says when
// each step happened.
//
// There are two transports:
//
//   - [Conn] is one end of a private AF_UNIX SOCK_SEQPACKET socket pair. A
//     message is a payload of at most [MaxPayload] bytes with up to [MaxFDs]
//     descriptors beside it (SCM_RIGHTS, unix(7)).
//   - [Process] takes a descriptor out of another process by its number there
//     (pidfd_getfd(2)); the number travels in a message. The other process
//     permits it with [AllowFetch] where the system asks for that.
//
// # What a span contains
//
// Every [Span] is read on the C side, next to the system call (package
// internal/dl): neither Go's scheduler nor its network poller, which may wake
// a goroutine microseconds late, are in it. In particular
//
//   - [Conn.Send]: sendmsg(2): copying the payload, taking a reference to each
//     descriptor, queueing, and waking a receiver that sleeps. Preparing the
//     message lies before the first reading.
//   - [Conn.Recv]: from before the first recvmsg(2) to after the one that got
//     the message. With [Polling] the time between polls is in it, with
//     [Blocked] the sleep. Checking the message lies after the last reading.
//   - [Process.Fetch]: pidfd_getfd(2). [OpenProcess] calls pidfd_open(2) once.
//   - [Conn.CloseFD]: close(2).
//
// A transfer over a Conn lasts from the sender's Span.Start to the receiver's
// Span.End: both processes read CLOCK_MONOTONIC. It depends on how long the
// receiver had been asleep: the sender's Start minus the receiver's Start.
//
// # What is checked
//
// The other end may be broken or hostile. A message that was cut, that brings
// more descriptors than asked for, that has an ancillary part which no kernel
// writes, or that comes from another process than [Conn.ExpectPeer] named is
// refused with an error that errors.Is can tell, and every descriptor that came
// with it is closed. Received descriptors are close-on-exec from the start.
package fdpass
