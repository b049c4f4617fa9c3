package sharetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"gpushare-bench/share"
)

// patience is how long an end may take for one order.
const patience = 60 * time.Second

// rowPeer is the test's view of a process that runs Serve.
type rowPeer struct {
	role string
	cmd  *exec.Cmd
	conn *net.UnixConn
	last strings.Builder // what it wrote to standard error
}

// start starts one end. It ends with the test at the latest.
func start(t testing.TB, cmd *exec.Cmd, role string) *rowPeer {
	t.Helper()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_SEQPACKET|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "order"), os.NewFile(uintptr(fds[1]), "order of the "+role)
	defer ours.Close()
	defer theirs.Close()
	p := &rowPeer{role: role, cmd: cmd}
	conn, err := net.FileConn(ours)
	if err != nil {
		t.Fatal(err)
	}
	p.conn = conn.(*net.UnixConn)
	cmd.ExtraFiles = []*os.File{theirs}
	cmd.Env = append(cmd.Environ(), "GPUSHARE_ROLE="+role)
	cmd.Stderr = &p.last
	if err := cmd.Start(); err != nil {
		t.Fatal(errors.Join(err, conn.Close()))
	}
	t.Cleanup(func() { _ = p.stop() })
	return p
}

// stop ends the process in order and says how it ended. It may be called again.
func (p *rowPeer) stop() error {
	if p.cmd == nil {
		return nil
	}
	cmd := p.cmd
	p.cmd = nil
	_ = p.conn.Close()
	kill := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("%s: %w: %s", p.role, err, p.last.String())
	}
	return nil
}

// refusal is the error of an end whose backend declined.
func (r *reply) refusal() error {
	if !r.Refused {
		return nil
	}
	if r.Op == "" && r.Answer == "" && r.Hint == "" {
		return share.ErrUnsupported
	}
	u := &share.Unsupported{Op: r.Op, Hint: r.Hint}
	if r.Answer != "" {
		u.Answer = errors.New(r.Answer)
	}
	return u
}

// order has the end do something. A descriptor in the reply's handle is the caller's. The test fails if the process does
// not answer: whatever was asked, it must not crash.
func (p *rowPeer) order(t testing.TB, q request) *reply {
	t.Helper()
	var rights []byte
	if q.Handle.FD >= 0 && q.Do == "import" {
		q.Has, rights = true, syscall.UnixRights(q.Handle.FD)
	}
	body, err := json.Marshal(&q)
	if err == nil {
		err = p.conn.SetDeadline(time.Now().Add(patience))
	}
	if err == nil {
		_, _, err = p.conn.WriteMsgUnix(body, rights, nil)
	}
	buf, oob := make([]byte, maxOrder), make([]byte, 64)
	n, oobn := 0, 0
	if err == nil {
		if n, oobn, _, _, err = p.conn.ReadMsgUnix(buf, oob); err == nil && n == 0 {
			err = io.EOF
		}
	}
	if err != nil {
		t.Fatalf("%s, %s: no answer: %v; %v", p.role, q.Do, err, p.stop())
	}
	var r reply
	if err := json.Unmarshal(buf[:n], &r); err != nil {
		t.Fatal(err)
	}
	if r.Handle.FD >= 0 && oobn > 0 {
		if r.Handle.FD, err = descriptor(oob[:oobn]); err != nil {
			t.Fatal(err)
		}
	} else {
		r.Handle.FD = -1
	}
	return &r
}

// must is order for what has to succeed.
func (p *rowPeer) must(t testing.TB, q request) *reply {
	t.Helper()
	r := p.order(t, q)
	if r.Error != "" {
		t.Fatalf("%s, %s: %s", p.role, q.Do, r.Error)
	}
	return r
}
