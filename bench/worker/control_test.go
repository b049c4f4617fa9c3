package worker

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"gpushare-bench/share"
)

func TestMessages(t *testing.T) {
	var wire bytes.Buffer
	sent := []Request{
		{Describe: &Describe{Backend: "host"}},
		{Open: &Open{Role: RoleProducer, Device: "cpu", CPUs: []int{1, 2}, PeerPID: 7}},
		{Batch: &Batch{Case: share.Case{Path: "memfd", Size: 4096}, RunSeed: 1<<64 - 1, Cycles: 3, Kernels: share.Kernels(), Verify: true}},
	}
	for _, m := range sent {
		if err := WriteMessage(&wire, m); err != nil {
			t.Fatal(err)
		}
	}
	whole := wire.Bytes()
	for _, want := range sent {
		var got Request
		if err := ReadMessage(&wire, &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, %v, want %+v", got, err, want)
		}
	}
	var m Request
	if err := ReadMessage(&wire, &m); err != io.EOF {
		t.Errorf("after the last message: %v", err)
	}
	// Cut anywhere within a message it is an error, never half a message.
	first := 4 + int(binary.BigEndian.Uint32(whole))
	for n := 1; n < first; n++ {
		if err := ReadMessage(bytes.NewReader(whole[:n]), &m); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d of %d bytes: %v", n, first, err)
		}
	}
}

func TestMessagesRefused(t *testing.T) {
	message := func(n uint32, body string) io.Reader {
		return strings.NewReader(string(binary.BigEndian.AppendUint32(nil, n)) + body)
	}
	for name, r := range map[string]io.Reader{
		"too long":     message(MaxMessage+1, "{}"),
		"far too long": message(1<<32-1, "{}"),
		"no JSON":      message(3, "abc"),
		"two values":   message(4, "{}{}"),
		"empty":        message(0, ""),
		"wrong type":   message(13, `{"version":"}`),
	} {
		var m Reply
		if err := ReadMessage(r, &m); !errors.Is(err, ErrMessage) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := WriteMessage(io.Discard, strings.Repeat("x", MaxMessage)); !errors.Is(err, ErrMessage) {
		t.Errorf("write: %v", err)
	}
	if err := WriteMessage(io.Discard, func() {}); err == nil {
		t.Error("a function was written")
	}
}

// A length that is announced and does not come costs no memory: the reader takes what arrives.
func TestMessageLengthIsNoAllocation(t *testing.T) {
	head := binary.BigEndian.AppendUint32(nil, MaxMessage)
	n := testing.AllocsPerRun(10, func() {
		var m Reply
		if err := ReadMessage(bytes.NewReader(head), &m); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatal(err)
		}
	})
	if n > 20 {
		t.Errorf("%v allocations for nothing", n)
	}
}

func FuzzReadMessage(f *testing.F) {
	var good bytes.Buffer
	if err := WriteMessage(&good, Reply{Version: ProtocolVersion, Result: &Result{Calls: []string{"a"}, Cycles: []Cycle{{Spans: []int64{1, 0, 1, 2, 1}}}}}); err != nil {
		f.Fatal(err)
	}
	f.Add(good.Bytes())
	f.Add(good.Bytes()[:7])
	f.Add([]byte("\xff\xff\xff\xff{}"))
	f.Add([]byte("\x00\x00\x00\x02{}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var rep Reply
		if err := ReadMessage(bytes.NewReader(b), &rep); err != nil {
			if !errors.Is(err, ErrMessage) && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%v", err)
			}
			return
		}
		if !json.Valid(b[4 : 4+binary.BigEndian.Uint32(b)]) {
			t.Errorf("%q was read", b)
		}
		var again bytes.Buffer
		if err := WriteMessage(&again, rep); err != nil {
			t.Errorf("what was read can't be written: %v", err)
		}
	})
}

func TestProblem(t *testing.T) {
	if err := error(&Problem{Text: "no", Refused: true}); !errors.Is(err, share.ErrUnsupported) || err.Error() != "no" {
		t.Errorf("%v", err)
	}
	if errors.Is(&Problem{Text: "no"}, share.ErrUnsupported) {
		t.Error("every problem is a refusal")
	}
}
