package fdpass

import (
	"os"
	"testing"
)

func BenchmarkTransferPolling(b *testing.B) { benchmarkTransfer(b, Polling, 0) }
func BenchmarkTransferBlocked(b *testing.B) { benchmarkTransfer(b, Blocked, 0) }
func BenchmarkTransferChecked(b *testing.B) { benchmarkTransfer(b, Polling, os.Getpid()) }

// benchmarkTransfer sends and receives a descriptor in one thread: the cost of the calls without a wake-up.
func benchmarkTransfer(b *testing.B, mode Mode, peer int) {
	x, y := pair(b)
	y.ExpectPeer(peer)
	fd, buf := memfd(b, "x"), make([]byte, 256)
	var send, recv, closed int64
	b.ReportAllocs()
	for b.Loop() {
		sent, err := x.Send(buf, fd)
		if err != nil {
			b.Fatal(err)
		}
		_, fds, got, err := y.Recv(buf, 1, mode)
		if err != nil {
			b.Fatal(err)
		}
		c, err := y.CloseFD(fds[0])
		if err != nil {
			b.Fatal(err)
		}
		send, recv, closed = send+sent.End-sent.Start, recv+got.End-got.Start, closed+c.End-c.Start
	}
	b.ReportMetric(float64(send)/float64(b.N), "sendmsg-ns")
	b.ReportMetric(float64(recv)/float64(b.N), "recvmsg-ns")
	b.ReportMetric(float64(closed)/float64(b.N), "close-ns")
}
