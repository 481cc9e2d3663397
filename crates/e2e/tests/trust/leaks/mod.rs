//! TRUST T15: forty secrets that an agent has and tells in every way, and those that are our own, are nowhere: not in the
//! database, its log, backups and exports, not in logs, recordings and whatever else lies in the data directory, not in
//! arguments, and in the environment of those only that are to have them.

mod shapes;
mod sweep;
mod up;

use serde_json::{Value, json};
use shapes::{Planted, planted};
use sweep::{Sweep, all_unpacked};
use testkit::{Postgres, Raw, wait_until};
use up::{PRIVATE, PROXY, Up};

/// Files that are there to hold a secret, in the data directory; for their owner only.
const HOLD: [&str; 4] = ["token", "runner/token", "runner/registration.json", "runner/sessions/*/agent/token"];

/// What sessions, workers and commands leave behind.
struct Scene {
    up: Up,
    planted: Vec<Planted>,
    /// A session that waits for a line.
    waiting: Value,
    /// A session of somebody's own command.
    plain: Value,
    headless: Value,
    sweep: Sweep,
    /// What the CLI printed where everybody looks.
    said: Vec<(String, String)>,
}

impl Scene {
    async fn play(database: Option<&str>) -> Self {
        let planted = planted();
        let up = Up::start(&planted, database).await;
        let repository = up.path("repository");
        std::fs::create_dir(&repository).unwrap();
        std::fs::write(repository.join("README"), "hello\n").unwrap();
        crate::fixture::git(&repository, &["init", "-q", "-b", "main"]);
        crate::fixture::git(&repository, &["add", "-A"]);
        crate::fixture::git(&repository, &["commit", "-q", "-m", "base"]);
        let place = repository.to_str().unwrap();
        up.cli(&["project", "create", "Leaky", "--repo", place]).await;
        // What makes a workspace ready prints what it knows, and fails.
        up.cli(&["project", "create", "Unready", "--repo", place, "--setup", "env; cat .env; exit 3"]).await;
        let spawn = ["session", "spawn", "--project", "Leaky", "--agent", "canary"];
        let waiting = up.json(&[&spawn[..], &["--record-input"]].concat()).await;
        let headless = up.json(&[&spawn[..], &["--headless", "--prompt", "Tell me"]].concat()).await;
        let shell = ["session", "spawn", "--project", "Leaky", "--", "sh", "-c", "env; echo MARK-plain.; read line"];
        let plain = up.json(&shell).await;
        let unready = up.json(&["session", "spawn", "--project", "Unready", "--", "true"]).await;
        up.ended(&unready).await;
        Self { up, planted, waiting, plain, headless, sweep: Sweep::default(), said: Vec::new() }
    }

    /// Everything that must not be found, with what is our own.
    async fn learn(&mut self, own: &[(&str, String)]) {
        for one in &self.planted {
            self.sweep.add(&format!("{}: {}", one.variable, one.shape), &one.value);
        }
        for (name, value) in PRIVATE {
            self.sweep.add(name, value);
        }
        self.sweep.add("password of the proxy", "ZqProxyxWpassword");
        assert!(PROXY.contains("ZqProxyxWpassword"));
        let up = &self.up;
        self.sweep.add("the person's token", &up.token);
        self.sweep.add("login link", up.login.split_once('#').unwrap().1);
        let runner = std::fs::read_to_string(up.path("data/runner/token")).unwrap();
        self.sweep.add("the runner's token", &runner);
        for session in [&self.waiting, &self.plain] {
            let id = session["id"].as_str().unwrap();
            let token = up.path(&format!("data/runner/sessions/{id}/agent/token"));
            self.sweep.add("a session's token", &std::fs::read_to_string(token).unwrap());
        }
        let secret = |said: String| {
            let word = said.split_whitespace().find(|word| word.contains('#') || word.starts_with("sf_")).unwrap();
            word.rsplit('#').next().unwrap().to_owned()
        };
        let made = [
            ("another token", secret(up.cli(&["token", "create", "script"]).await)),
            ("another runner's token", secret(up.cli(&["runner", "create", "other"]).await)),
            ("invitation", secret(up.cli(&["invite", "create", "bo"]).await)),
            ("observer link", secret(up.cli(&["observer", "create", "Leaky", "cy"]).await)),
            ("another login link", secret(up.cli(&["login"]).await)),
        ];
        for (what, value) in made.iter().map(|(what, value)| (*what, value)).chain(own.iter().map(|(w, v)| (*w, v))) {
            self.sweep.add(what, value);
        }
        // Used well and badly: errors and logs say nothing of them.
        let client = crate::fixture::plain_http();
        for (path, body) in [
            ("/api/invites/accept", json!({ "secret": made[2].1, "name": "bo" })),
            ("/api/observe", json!({ "secret": made[3].1 })),
            ("/api/login", json!({ "secret": made[4].1 })),
            ("/api/login", json!({ "secret": format!("{}x", made[4].1) })),
            ("/api/login", json!({ "sekret": made[1].1 })),
        ] {
            let request = client.post(format!("{}{path}", up.url)).header("origin", &up.url).json(&body);
            let answer = request.send().await.unwrap();
            let cookie = answer.headers().get("set-cookie").map(|value| value.to_str().unwrap().to_owned());
            if let Some((_, value)) = cookie.as_deref().and_then(|cookie| cookie.split(';').next()?.split_once('=')) {
                self.sweep.add("a browser's cookie", value);
            }
            self.said.push((format!("answer of {path}"), answer.text().await.unwrap()));
        }
    }

    /// A worker does a task of which only the agent's words are reported, and one whose command tells its environment.
    async fn work(&mut self) {
        let up = &self.up;
        let tell = r#"{"kind":"command","argv":["sh","-c","env; cat /proc/self/environ; exit 1"]}"#;
        up.cli(&["task", "add", "--project", "Leaky", "Say something"]).await;
        up.cli(&["task", "add", "--project", "Leaky", "Be checked", "--accept", tell]).await;
        up.cli(&["work", "configure", "--project", "Leaky", "--tries", "0", "--workers-per-task", "1"]).await;
        up.cli(&["worker", "start", "--project", "Leaky", "--agent", "canary", "--count", "2"]).await;
        wait_until("both tasks have a report with a verdict", async || {
            let tasks = up.json(&["task", "list", "--project", "Leaky", "--all"]).await;
            let over = |task: &Value| ["done", "failed", "escalated"].contains(&task["status"].as_str().unwrap_or("x"));
            let tasks = tasks.as_array()?;
            (tasks.len() == 2 && tasks.iter().all(over)).then_some(())
        })
        .await;
        self.keep(&["task", "list", "--project", "Leaky", "--all"]).await;
        self.keep(&["escalation", "list", "--json"]).await;
        self.keep(&["task", "export", "--project", "Leaky"]).await;
        self.keep(&["worker", "log", "--project", "Leaky", "--json"]).await;
    }

    /// Runs a command and keeps what it said.
    async fn keep(&mut self, args: &[&str]) {
        let said = self.up.cli(args).await;
        self.said.push((args.join(" "), said));
    }

    /// Everything that shows what sessions have shown.
    async fn look(&mut self) {
        for session in [self.waiting.clone(), self.headless.clone(), self.plain.clone()] {
            let id = session["id"].as_str().unwrap().to_owned();
            for args in [
                &["session", "show", &id, "--json"][..],
                &["session", "log", &id],
                &["recording", "show", &id, "--json"],
                &["recording", "export", &id],
                &["recording", "export", &id, "--asciicast", "2"],
                &["recording", "search", &id, "Zq", "--json"],
                &["recording", "play", &id],
            ] {
                self.keep(args).await;
            }
        }
        for args in [
            &["session", "list", "--all", "--json"][..],
            &["workspace", "list", "--json"],
            &["runner", "list", "--json"],
            &["token", "list", "--json"],
            &["config", "show"],
            &["doctor"],
            &["--hub", "http://127.0.0.1:9", "project", "list"],
        ] {
            self.keep(args).await;
        }
        let wrong = format!("{}x", self.up.token);
        let said = self.up.cli_with(&["project", "list"], &[("SHOPFLOOR_TOKEN", &wrong)]).await;
        self.said.push(("a wrong token".to_owned(), said));
    }

    /// Processes: nothing in any arguments; in the environment of agents what is theirs, and of others nothing.
    fn processes(&mut self) {
        let own = format!("SHOPFLOOR_SESSION={}", self.plain["id"].as_str().unwrap());
        let person = |environment: &[u8]| !has(environment, b"SHOPFLOOR_SESSION=");
        let mut agents = 0;
        for (pid, line, environment) in self.up.processes() {
            let shown = String::from_utf8_lossy(&line).replace('\0', " ");
            self.sweep.bytes(&format!("arguments of {pid}: {shown}"), &line);
            // The hub and the runner are started from the person's own shell.
            if person(&environment) {
                continue;
            }
            agents += 1;
            let hits = self.sweep.hits(&environment);
            let proxy = "password of the proxy";
            // Everybody has the proxy; the agent that was told to, its own keys as well.
            let may = |hit: &String| hit == proxy || (!has(&environment, own.as_bytes()) && hit.starts_with("CANARY_"));
            let wrong: Vec<&String> = hits.iter().filter(|hit| !may(hit)).collect();
            assert!(wrong.is_empty(), "the environment of {pid} ({shown}) has {wrong:?}");
        }
        assert!(agents >= 2, "two sessions run: {agents}");
    }
}

fn has(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|some| some == part)
}

/// Plays everything, then looks everywhere; `dump` tells what a database that is no file has.
async fn scenario(database: Option<&str>, own: &[(&str, String)], dump: impl AsyncFn() -> Vec<String>) {
    let mut scene = Scene::play(database).await;
    let (waiting, plain, headless) = (scene.waiting.clone(), scene.plain.clone(), scene.headless.clone());
    scene.up.shown(&waiting, "waits for").await;
    scene.up.shown(&plain, "MARK-plain").await;
    scene.up.ended(&headless).await;
    scene.learn(own).await;
    scene.processes();
    let id = waiting["id"].as_str().unwrap();
    // A typed secret appears neither on the screen nor in the recorded keys.
    let typed = scene.planted[0].value.clone();
    let up = &scene.up;
    let watch = ["session", "watch", id];
    let (said, ()) = tokio::join!(up.cli(&watch), async {
        up.cli(&["session", "send", id, &typed]).await;
        // Its own log, which is full of them, was read to the end.
        wait_until("the log was read", async || {
            (up.session(&waiting["id"]).await["session"]["model"] == "MARK-in-log").then_some(())
        })
        .await;
        up.cli(&["session", "send", id, "end"]).await;
    });
    scene.said.push(("session watch".to_owned(), said));
    scene.up.ended(&waiting).await;
    scene.work().await;
    scene.look().await;
    let (backup, export) = (scene.up.path("copy.db"), scene.up.path("floor.jsonl"));
    scene.keep(&["db", "backup", backup.to_str().unwrap()]).await;
    scene.keep(&["db", "export", export.to_str().unwrap()]).await;
    // The database as it lies there while it is written to, and what is left when everything has stopped.
    let Scene { mut up, mut sweep, said, .. } = scene;
    sweep.folder(&up.path("data"), &HOLD);
    up.stop().await;
    sweep.folder(&up.path("data"), &HOLD);
    for name in ["copy.db", "floor.jsonl", "up.log"] {
        let bytes = std::fs::read(up.path(name)).unwrap();
        assert!(name == "up.log" || bytes.len() > 1000, "{name} has {} bytes", bytes.len());
        sweep.bytes(name, &bytes);
    }
    let printed = std::fs::read_to_string(up.path("up.out")).unwrap().replace(&up.login, "");
    sweep.bytes("what `up` printed but for the link to log in", printed.as_bytes());
    for (place, text) in &said {
        sweep.bytes(place, text.as_bytes());
    }
    let rows = dump().await;
    sweep.bytes("the database's rows", rows.join("\n").as_bytes());
    // What is no secret is there: it is the right place that was looked at.
    let recorded = all_unpacked(&up.path("data/runner/sessions"));
    for mark in ["MARK-on-screen", "MARK-in-lines", "MARK-plain", "MARK-on-errors"] {
        assert!(has(&recorded, mark.as_bytes()), "{mark} was recorded");
    }
    let database = [std::fs::read(up.path("floor.jsonl")).unwrap(), rows.join("\n").into_bytes()].concat();
    for mark in ["MARK-said-last", "MARK-in-log"] {
        assert!(has(&database, mark.as_bytes()), "{mark} reached the hub");
    }
    let has_said = |name: &str, part: &str| said.iter().any(|(at, text)| at.starts_with(name) && text.contains(part));
    assert!(has_said("session watch", "\u{2022}"), "{said:?}");
    assert!(has_said("recording export", "MARK-on-screen"));
    sweep.assert_nothing();
    // And a secret that is there is found, whether it is packed or not.
    let key = &scene_key();
    std::fs::write(up.path("data/runner/canary.log"), format!("x{}y", key.value)).unwrap();
    let packed = zstd::stream::encode_all(format!("x{}y", key.value).as_bytes(), 1).unwrap();
    std::fs::write(up.path("data/runner/canary.zst"), packed).unwrap();
    sweep.folder(&up.path("data"), &HOLD);
    for place in ["runner/canary.log", "runner/canary.zst, unpacked at 0"] {
        assert!(sweep.places().contains(&place), "{:?}", sweep.places());
    }
    eprintln!("{} places were looked at", sweep.looked);
}

/// The secret that is planted where it is to be found.
fn scene_key() -> Planted {
    planted().swap_remove(17)
}

#[tokio::test]
async fn no_secret_is_left_anywhere() {
    scenario(None, &[], async || Vec::new()).await;
}

#[tokio::test]
async fn no_secret_is_left_anywhere_with_postgresql() {
    let database = Postgres::shared().database().await;
    let (role, password) = (format!("role_{}", database.name()), "ZqPgxWpassword0123");
    database.administer(&format!("CREATE ROLE {role} SUPERUSER LOGIN PASSWORD '{password}'")).await;
    let (start, place) = database.url().split_once("://").unwrap();
    let place = place.split_once('@').map_or(place, |(_, place)| place);
    let url = format!("{start}://{role}:{password}@{place}");
    scenario(Some(&url), &[("password of the database", password.to_owned())], async || {
        let mut raw = Raw::connect(database.url()).await;
        let tables = raw.column("SELECT tablename::text FROM pg_tables WHERE schemaname = 'public'").await;
        assert!(tables.len() > 10, "{tables:?}");
        let mut rows = Vec::new();
        for table in tables {
            rows.extend(raw.column(&format!("SELECT t::text FROM {table} t")).await);
        }
        raw.close().await;
        rows
    })
    .await;
    let mut raw = Raw::connect(database.url()).await;
    raw.run(&format!("DROP OWNED BY {role} CASCADE; DROP ROLE {role}")).await;
    raw.close().await;
}
