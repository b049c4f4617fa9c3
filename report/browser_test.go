package report

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"gpushare-bench/results"
	"gpushare-bench/results/resultstest"
)

// screenshots is a directory in which to leave what the browser shows; a person should look at it after a change.
var screenshots = os.Getenv("GPUSHARE_SCREENSHOTS")

// browser starts a headless Chromium without a profile. What it complains about and asks for is collected.
type browser struct {
	ctx context.Context

	mu         sync.Mutex
	complaints []string
}

func startBrowser(t *testing.T) *browser {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		if os.Getenv("GPUSHARE_NO_SKIP") == "1" {
			t.Fatal("no chromium in PATH, and skips are forbidden; apt-get install chromium")
		}
		t.Skip("no chromium in PATH: the page is not looked at in a browser; apt-get install chromium")
	}
	if testing.Short() {
		t.Skip("starts a browser: left out with -short")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-gpu", true), chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true), chromedp.WSURLReadTimeout(2*time.Minute))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(func() {
		if err := chromedp.Cancel(ctx); err != nil {
			t.Logf("stop the browser: %v", err)
		}
		cancel()
	})
	b := &browser{ctx: ctx}
	if err := chromedp.Listen(ctx, b.hear); err != nil {
		t.Fatalf("start %s: %v", path, err)
	}
	b.ctx, cancel = context.WithTimeout(ctx, 5*time.Minute)
	t.Cleanup(cancel)
	call(t, b, network.Enable, network.EnableParams{})
	call(t, b, log.Enable, cdp.Empty{})
	call(t, b, runtime.Enable, cdp.Empty{})
	return b
}

func (b *browser) hear(event any) {
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.complain("exception: %s", e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		b.complain("console.%s called", e.Type)
	case *log.EventEntryAdded:
		b.complain("log: %s", e.Entry.Text)
	case *network.EventRequestWillBeSent:
		if url := e.Request.URL; !strings.HasPrefix(url, "file:///") && !strings.HasPrefix(url, "data:") && url != "about:blank" {
			b.complain("request: %s", url)
		}
	}
}

func (b *browser) complain(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.complaints = append(b.complaints, fmt.Sprintf(format, args...))
}

// silent fails the test for everything the browser complained about or asked the network for.
func (b *browser) silent(t *testing.T) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.complaints {
		t.Error(c)
	}
	b.complaints = nil
}

func (b *browser) do(t *testing.T, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		t.Fatal(err)
	}
}

// evaluate returns the value of an expression in the page.
func evaluate[T any](t *testing.T, b *browser, expression string) T {
	t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// call sends one command of the DevTools protocol.
func call[P, R any](t *testing.T, b *browser, command cdp.Command[P, R], params P) {
	t.Helper()
	if _, err := chromedp.Call(b.ctx, command, params); err != nil {
		t.Fatalf("%s: %v", command.Method, err)
	}
}

// open shows a page from a file, in a window of the given width.
func (b *browser) open(t *testing.T, width int64, runs ...*results.Run) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(path, []byte(renderPage(t, runs...)), 0o644); err != nil {
		t.Fatal(err)
	}
	b.do(t, chromedp.EmulateViewport(width, 900), chromedp.Navigate("file://"+path))
}

// visible lists what of the alternatives in a section is shown.
func (b *browser) visible(t *testing.T, section string) []string {
	t.Helper()
	return evaluate[[]string](t, b, fmt.Sprintf(`[...document.querySelectorAll('section[aria-labelledby="%s"] > [data-pair]:not([data-optional]), section[aria-labelledby="%s"] > [data-way]')]
		.filter(e => e.checkVisibility()).map(e => [e.dataset.pair, e.dataset.size, e.dataset.metric, e.dataset.way].filter(x => x).join(" "))`, section, section))
}

func (b *browser) expect(t *testing.T, section, want string) {
	t.Helper()
	got := b.visible(t, section)
	if len(got) != 1 || got[0] != want {
		t.Errorf("%s shows %q, want %q", section, got, want)
	}
}

func (b *browser) screenshot(t *testing.T, name string) {
	t.Helper()
	if screenshots == "" {
		return
	}
	png, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(screenshots, name+".png"), png, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestPageInABrowser(t *testing.T) {
	oneThread(t)
	b := startBrowser(t)
	gpus := resultstest.GPURun(8, "h200-580", resultstest.Powers(2<<20, 8, 4)...)

	t.Run("mouse", func(t *testing.T) {
		b.open(t, 1280, gpus)
		b.expect(t, "run1-verdict", "0 2097152")
		b.expect(t, "run1-cycle", "0 2097152")
		b.expect(t, "run1-scaling", "0 setup")
		b.screenshot(t, "desktop")
		b.do(t, chromedp.Click(`//label[.="import"]`))
		b.expect(t, "run1-scaling", "0 import")
		b.expect(t, "run1-bandwidth", "0 kernel/read") // another section's choice
		b.do(t, chromedp.Click(`//label[.="chase"]`))
		b.expect(t, "run1-bandwidth", "0 kernel/chase")
		b.do(t, chromedp.Click(`//section[@aria-labelledby="run1-spread"]//label[.="read"]`))
		b.expect(t, "run1-spread", "0 2097152 kernel/read")
		b.do(t, chromedp.Click(chromedp.CSS("#run1-cycle ~ details > summary")))
		if !evaluate[bool](t, b, `document.querySelector("#run1-cycle ~ details").open`) {
			t.Error("the figures behind the picture do not open")
		}
		b.silent(t)
	})

	t.Run("keyboard", func(t *testing.T) {
		b.open(t, 1280, gpus)
		b.do(t, chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Tab)) // past the link that skips to the results
		if focused := evaluate[string](t, b, `document.activeElement.dataset.control || document.activeElement.outerHTML`); focused != "size" {
			t.Fatalf("the second stop of the tab key is %s, want the size", focused)
		}
		b.do(t, chromedp.KeyEvent(kb.ArrowDown))
		b.expect(t, "run1-verdict", "0 16777216")
		b.expect(t, "run1-cycle", "0 16777216")
		b.expect(t, "run1-spread", "0 16777216 setup")
		b.do(t, chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.ArrowDown))
		b.expect(t, "run1-verdict", "1 16777216")
		b.expect(t, "run1-scaling", "1 setup")
		b.do(t, chromedp.Focus(chromedp.CSS(`#run1-scaling ~ .chips input:checked`)), chromedp.KeyEvent(kb.ArrowRight))
		b.expect(t, "run1-scaling", "1 allocate")
		b.do(t, chromedp.Focus(chromedp.CSS(`#run1-matrix ~ .toolbar select`)), chromedp.KeyEvent(kb.ArrowDown))
		b.expect(t, "run1-matrix", "kernel/read cumemmap vmm")
		if evaluate[string](t, b, `getComputedStyle(document.activeElement).outlineStyle`) == "none" {
			t.Error("what has the focus does not show it")
		}
		b.silent(t)
	})

	t.Run("nothing there", func(t *testing.T) {
		run := resultstest.GPURun(1, "", 2<<20, 64<<20)
		for i := range run.Cases {
			if run.Cases[i].Case.Size == 64<<20 { // of the larger size nothing but the export
				run.Cases[i].Metrics = run.Cases[i].Metrics[:min(2, len(run.Cases[i].Metrics))]
			}
		}
		b.open(t, 1280, run)
		evaluate[bool](t, b, `(c => { c.value = "67108864"; return c.dispatchEvent(new Event("change", {bubbles: true})); })(document.querySelector('select[data-control="size"]'))`)
		if got := b.visible(t, "run1-spread"); len(got) != 0 {
			t.Errorf("a distribution of %q is shown", got)
		}
		text := evaluate[string](t, b, `[...document.querySelectorAll('section[aria-labelledby="run1-spread"] > .none')].filter(e => e.checkVisibility()).map(e => e.textContent).join()`)
		if text != "Nothing was measured for this selection." {
			t.Errorf("the page says %q", text)
		}
		b.silent(t)
	})

	t.Run("phone", func(t *testing.T) {
		for name, run := range map[string]*results.Run{"phone-gpus": gpus, "phone-host": resultstest.HostRun(resultstest.Powers(4096, 4, 9)...), "phone-odd": resultstest.OddRun()} {
			b.open(t, 390, run)
			b.screenshot(t, name)
			evaluate[bool](t, b, `(() => { for (const d of document.querySelectorAll("details")) { d.open = true; } return true; })()`)
			b.screenshot(t, name+"-open")
			page, window := evaluate[int64](t, b, `document.documentElement.scrollWidth`), evaluate[int64](t, b, `window.innerWidth`)
			if page > window {
				t.Errorf("%s: the page is %d pixels wide in a window of %d", name, page, window)
			}
		}
		b.silent(t)
	})

	t.Run("method", func(t *testing.T) {
		b.open(t, 1280, gpus)
		b.do(t, chromedp.Click(chromedp.CSS(`section[aria-labelledby="run1-bandwidth"] .how`)))
		if got := evaluate[string](t, b, `location.hash + " " + document.querySelector("#method details").open`); got != "#method-kernels true" {
			t.Errorf("a link into the method leads to %s", got)
		}
		top, height := evaluate[float64](t, b, `document.querySelector("#method-kernels").getBoundingClientRect().top`), evaluate[float64](t, b, `window.innerHeight`)
		if top < 0 || top > height {
			t.Errorf("the section of the method is at %v in a window of %v", top, height)
		}
		b.silent(t)
	})

	t.Run("hostile", func(t *testing.T) {
		b.open(t, 1280, resultstest.OddRun(), resultstest.HostRun(4096))
		b.screenshot(t, "odd")
		b.silent(t)
	})

	t.Run("dark", func(t *testing.T) {
		call(t, b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}})
		b.open(t, 1280, resultstest.HostRun(resultstest.Powers(4096, 4, 9)...))
		b.screenshot(t, "dark")
		background := evaluate[string](t, b, `getComputedStyle(document.body).backgroundColor`)
		text := evaluate[string](t, b, `getComputedStyle(document.querySelector("figure svg text")).fill`)
		if background != "rgb(20, 23, 28)" || text != "rgb(230, 233, 238)" {
			t.Errorf("on dark the page is %s, a picture's text %s", background, text)
		}
		call(t, b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{})
		b.silent(t)
	})

	t.Run("print", func(t *testing.T) {
		call(t, b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
		b.open(t, 800, resultstest.HostRun(resultstest.Powers(4096, 4, 9)...))
		b.screenshot(t, "print")
		if evaluate[bool](t, b, `document.querySelector(".toolbar").checkVisibility()`) {
			t.Error("controls are printed")
		}
		call(t, b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{})
		b.silent(t)
	})

	t.Run("without script", func(t *testing.T) {
		call(t, b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		b.open(t, 1280, gpus)
		b.screenshot(t, "without-script")
		call(t, b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: false})
		b.expect(t, "run1-verdict", "0 2097152")
		b.expect(t, "run1-scaling", "0 setup")
		b.silent(t)
	})
}
