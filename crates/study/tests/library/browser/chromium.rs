//! Chromium, driven over a pipe by its DevTools protocol: JSON messages that end with a zero byte. No crate is needed
//! for that, and no port is opened.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
    time::Duration,
};

use serde_json::{Value, json};
use tempfile::TempDir;

const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
/// Far beyond what any step takes: a browser that hangs fails the test.
const PATIENCE: Duration = Duration::from_secs(120);

/// The pointer's events as the page has heard them.
const LISTENERS: &str = "window.pointedAt = [-9, -9]; window.clicks = 0;
  addEventListener('pointermove', (event) => { window.pointedAt = [event.clientX, event.clientY]; }, true);
  addEventListener('click', () => { window.clicks += 1; }, true);";

/// A browser with one page, which has no network.
pub(crate) struct Chromium {
    process: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    session: Option<String>,
    calls: u64,
    /// Events that the browser sent unasked, until they are taken.
    events: Vec<Value>,
    /// Kept until the browser is gone.
    _profile: TempDir,
}

impl Chromium {
    /// Starts the browser; none if this machine has none.
    pub(crate) fn start() -> Option<Chromium> {
        let runs = |name: &&str| {
            let version = Command::new(name).arg("--version").output();
            version.is_ok_and(|output| output.status.success())
        };
        let name = NAMES.into_iter().find(|name| runs(name))?;
        let profile = tempfile::tempdir().unwrap();
        // The browser speaks on descriptors 3 and 4, which the shell makes of its own input and output.
        let mut process = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null", name])
            .args([
                "--headless",
                "--remote-debugging-pipe",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-extensions",
                "--disable-sync",
                "--hide-scrollbars",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let to = process.stdin.take().unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let (sender, from) = mpsc::channel();
        thread::spawn(move || {
            let mut message = Vec::new();
            while output.read_until(0, &mut message).is_ok_and(|read| read > 0) {
                let told = serde_json::from_slice(message.strip_suffix(&[0]).unwrap_or(&message));
                if told.map_or(true, |told| sender.send(told).is_err()) {
                    return;
                }
                message.clear();
            }
        });
        let mut browser = Chromium {
            process,
            to,
            from,
            session: None,
            calls: 0,
            events: Vec::new(),
            _profile: profile,
        };
        let page = browser.call("Target.createTarget", json!({"url": "about:blank"}));
        let attach = json!({"targetId": page["targetId"], "flatten": true});
        let attached = browser.call("Target.attachToTarget", attach);
        browser.session = Some(attached["sessionId"].as_str().unwrap().to_owned());
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser.call("Page.addScriptToEvaluateOnNewDocument", json!({"source": LISTENERS}));
        let cut = json!({"offline": true, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1});
        browser.call("Network.emulateNetworkConditions", cut);
        Some(browser)
    }

    /// Calls a method of the protocol.
    pub(crate) fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.calls += 1;
        let mut message = json!({"id": self.calls, "method": method, "params": parameters});
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        self.to.write_all(format!("{message}\0").as_bytes()).unwrap();
        loop {
            let mut told = self.hear(method);
            if told["id"] == self.calls {
                assert!(told["error"].is_null(), "{method}: {}", told["error"]);
                return told["result"].take();
            }
            self.events.push(told);
        }
    }

    fn hear(&self, awaited: &str) -> Value {
        match self.from.recv_timeout(PATIENCE) {
            Ok(told) => told,
            Err(error) => panic!("the browser is silent, {awaited} awaited: {error}"),
        }
    }

    /// Loads a page and waits until it is whole.
    pub(crate) fn open(&mut self, address: &str) {
        self.call("Page.navigate", json!({"url": address}));
        let is_loaded = |told: &Value| told["method"] == "Page.loadEventFired";
        while !self.events.iter().any(is_loaded) {
            let told = self.hear("the page");
            self.events.push(told);
        }
        self.events.retain(|told| !is_loaded(told));
    }

    /// The value of an expression in the page.
    pub(crate) fn value(&mut self, expression: &str) -> Value {
        let asked = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let mut result = self.call("Runtime.evaluate", asked);
        assert!(result["exceptionDetails"].is_null(), "{expression}: {result}");
        result["result"]["value"].take()
    }

    /// The window's width in pixels of the page, and the scheme of colours that its user prefers.
    pub(crate) fn look(&mut self, width: u32, scheme: &str, media: &str) {
        let size = json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", size);
        // Nothing glides, so that a place stays where it was found.
        let features = json!([
            {"name": "prefers-color-scheme", "value": scheme},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]);
        self.call(
            "Emulation.setEmulatedMedia",
            json!({"media": media, "features": features}),
        );
    }

    /// Moves the pointer to a place of the window; `click` presses and releases it there too.
    pub(crate) fn point(&mut self, (x, y): (f64, f64), click: bool) {
        let kinds: &[&str] = if click {
            &["mouseMoved", "mousePressed", "mouseReleased"]
        } else {
            &["mouseMoved"]
        };
        for kind in kinds {
            let button = if *kind == "mouseMoved" { "none" } else { "left" };
            let event = json!({"type": kind, "x": x, "y": y, "button": button, "clickCount": 1});
            self.call("Input.dispatchMouseEvent", event);
        }
        // The page hears of it later, and the test goes on when it has.
        let clicks = u32::from(click);
        self.value(&format!(
            "new Promise((done, fail) => {{
               const near = (at) => Math.abs(at[0] - {x}) < 1 && Math.abs(at[1] - {y}) < 1;
               const look = (left) => near(window.pointedAt) && window.clicks === {clicks} ? done(0)
                 : left ? setTimeout(look, 10, left - 1) : fail(`at ${{window.pointedAt}}, ${{window.clicks}} clicks`);
               look(3000); }}).finally(() => {{ window.clicks = 0; }})"
        ));
    }

    /// Presses and releases a key that writes nothing.
    pub(crate) fn press(&mut self, key: &str) {
        let code = match key {
            "Tab" => 9,
            "Escape" => 27,
            "End" => 35,
            "Home" => 36,
            "ArrowLeft" => 37,
            "ArrowUp" => 38,
            "ArrowRight" => 39,
            "ArrowDown" => 40,
            _ => panic!("which code has {key}?"),
        };
        for kind in ["rawKeyDown", "keyUp"] {
            let event = json!({"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code});
            self.call("Input.dispatchKeyEvent", event);
        }
    }

    /// Complaints since the last call: exceptions and what was logged as wrong, and every address that was asked for
    /// beside the page itself.
    pub(crate) fn complaints(&mut self) -> Vec<String> {
        // An answer comes after everything that the page told before.
        self.value("0");
        let complaint = |told: Value| {
            let parameters = &told["params"];
            let is_wrong = match told["method"].as_str()? {
                "Runtime.exceptionThrown" => true,
                "Runtime.consoleAPICalled" => parameters["type"] != "log",
                "Log.entryAdded" => parameters["entry"]["level"] != "verbose",
                "Network.requestWillBeSent" => parameters["type"] != "Document",
                _ => false,
            };
            is_wrong.then(|| told.to_string())
        };
        self.events.drain(..).filter_map(complaint).collect()
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        // Closing asks all its processes to end; killing would leave some.
        let close = json!({"id": 0, "method": "Browser.close"});
        let _ = self.to.write_all(format!("{close}\0").as_bytes());
        let _ = self.process.wait();
    }
}
