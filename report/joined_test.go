package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"gpushare-bench/plots"
	"gpushare-bench/results"
	"gpushare-bench/results/resultstest"
	"gpushare-bench/share"
)

// peersRun is a run of host memory with these numbers of peers. The calls for each exchange take 20 µs, whatever is there.
func peersRun(peers ...int) *results.Run {
	base := resultstest.HostRun(1 << 21)
	run := *base
	run.Cases = nil
	for _, n := range peers {
		for _, c := range base.Cases {
			if c.Status != share.StatusOK {
				continue
			}
			c.Case.Peers, c.Order = n, len(run.Cases)
			for k := int64(1); k <= int64(n)+1 && n > 0; k++ {
				c.Joined = append(c.Joined, results.Joined{Wall: 90_000 * k, Export: 2000 * k, Import: 8000 * k, Map: 10_000 * k})
			}
			run.Cases = append(run.Cases, c)
		}
	}
	run.Header.Planned = len(run.Cases)
	return &run
}

// Each process that joins is a column, of many so many as find room, the last among them.
func TestJoined(t *testing.T) {
	oneThread(t)
	for _, n := range []int{1, 2, 6, 64} {
		v := plots.NewData(peersRun(0, n)).Views[0]
		table, unit := joinedTable(v, 1<<21)
		if len(table.rows) != 4 || unit != "µs" {
			t.Fatalf("%d peers: %+v in %s", n, table, unit)
		}
		if columns := min(n+1, mostJoined); len(table.head) != 1+columns || table.head[columns] != fmt.Sprint(n+1) {
			t.Errorf("%d peers: columns %q", n, table.head)
		}
		for i, row := range table.rows {
			want := fmt.Sprintf("%d.0", 90*(n+1))
			if i%2 == 1 {
				want = "20.0"
			}
			if len(row) != len(table.head) || row[len(row)-1] != want {
				t.Errorf("%d peers: row %q, want %s at its end", n, row, want)
			}
		}
	}
	if table, _ := joinedTable(plots.NewData(peersRun(0)).Views[0], 1<<21); table != nil {
		t.Errorf("a table without peers: %+v", table)
	}
}

func TestJoinedGolden(t *testing.T) {
	oneThread(t)
	var b bytes.Buffer
	if err := Summary(&b, peersRun(0, 2, 6), TableOptions{}); err != nil {
		t.Fatal(err)
	}
	golden(t, "summary-peers.txt", b.Bytes())
}

func TestPageShowsPeers(t *testing.T) {
	oneThread(t)
	const question = "What does each further process cost?"
	page := renderPage(t, peersRun(0, 2, 6))
	for _, want := range []string{question, "What one more process costs by how many are there", "by the number of peers", `href="#method-peers"`, `id="method-peers"`} {
		if strings.Count(page, want) == 0 {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(renderPage(t, peersRun(0)), question) {
		t.Error("a page without peers tells of them")
	}
}

// A case that was not measured tells how many peers it was to have.
func TestNotMeasuredNamesPeers(t *testing.T) {
	run := peersRun(0, 1, 6)
	for i := range run.Cases {
		if c := &run.Cases[i]; c.Case.Peers > 0 {
			c.Status, c.Reason, c.Metrics = share.StatusUnsupported, "no more", nil
		}
	}
	all := notMeasured(plots.NewData(run))
	if len(all) != 1 || !strings.HasSuffix(all[0].where(), ", 1 – 6 peers") {
		t.Errorf("%+v", all)
	}
}
