//! A place for a real agent CLI: a home, a repository, a session's folder, a scripted model, and no way out.

use std::collections::BTreeMap;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use agents::{Adapter, Adapters, Launch, McpServer, Mode, Request, environment, launch, merge};
use testkit::model::{Model, Turn, claude_folder, cli_folder};
use tokio::io::AsyncWriteExt;

pub(crate) struct Place {
    folder: tempfile::TempDir,
    pub(crate) model: Model,
    outside: Arc<AtomicUsize>,
    more: BTreeMap<String, String>,
}

/// What a run without a screen left.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) shown: String,
    pub(crate) events: String,
}

impl Place {
    pub(crate) async fn new(script: impl IntoIterator<Item = Turn>) -> Self {
        // Not below /tmp, where Codex refuses to put its helpers.
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder can be made");
        for name in ["home", "tree", "session"] {
            std::fs::create_dir(folder.path().join(name)).expect("a folder can be made");
        }
        let (outside, port) = trap().await;
        let proxy = format!("http://127.0.0.1:{port}");
        let proxies = [("HTTP_PROXY", proxy.as_str()), ("HTTPS_PROXY", &proxy), ("NO_PROXY", "127.0.0.1,localhost")];
        let model = Model::start(script).await;
        let fixed = proxies.into_iter().chain(Model::variables()).map(|(name, value)| (name, value.to_owned()));
        let more = fixed.chain(model.addresses()).map(|(name, value)| (name.to_owned(), value)).collect();
        model.write_home(&folder.path().join("home"));
        let place = Self { folder, model, outside, more };
        for arguments in [
            &["init", "-q"][..],
            &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "base"],
        ] {
            let git = std::process::Command::new("git").args(arguments).current_dir(place.workspace()).status();
            assert!(git.expect("git runs").success());
        }
        place
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.folder.path().join("tree")
    }

    pub(crate) fn session(&self) -> PathBuf {
        self.folder.path().join("session")
    }

    /// The person's environment, with a secret that is none of the agent's business.
    pub(crate) fn person(&self) -> BTreeMap<String, String> {
        let path = std::env::var("PATH").expect("there is a PATH");
        let home = self.home().to_string_lossy().into_owned();
        let own = [
            ("PATH", format!("{}:{}:{path}", cli_folder().display(), claude_folder().display())),
            ("HOME", home),
            ("GITHUB_TOKEN", "canary".to_owned()),
        ];
        own.into_iter().map(|(name, value)| (name.to_owned(), value)).chain(self.more.clone()).collect()
    }

    pub(crate) fn request(&self, mode: Mode, prompt: &str) -> Request {
        let exe = Path::new(env!("CARGO_BIN_EXE_session-lines"));
        let mut request = Request::new(mode, &self.workspace(), &self.session(), exe);
        request.prompt = Some(prompt.to_owned());
        request.trusted = true;
        request
    }

    /// What starts it, with its files written; and its whole environment.
    pub(crate) fn prepare(&self, adapter: &Adapter, request: &Request) -> (Launch, Vec<(String, String)>) {
        let launch = launch(adapter, request).expect("it can be started");
        for file in &launch.files {
            let open = std::fs::File::options()
                .create(true)
                .truncate(true)
                .write(true)
                .mode(0o600)
                .open(self.session().join(&file.name));
            std::io::Write::write_all(&mut open.expect("a file can be made"), file.text.as_bytes())
                .expect("it can be written");
        }
        let env = merge(environment(adapter, &self.person()), launch.env.clone());
        (launch, env)
    }

    /// Runs to the end, in a pipe rather than a terminal.
    pub(crate) async fn run(&self, adapter: &Adapter, request: &Request) -> Ran {
        let (launch, env) = self.prepare(adapter, request);
        let mut command = tokio::process::Command::new(&launch.argv[0]);
        command.args(&launch.argv[1..]).env_clear().envs(env).current_dir(self.workspace());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let output = command.output().await.expect("the wrapper runs");
        let shown = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        let events = std::fs::read_to_string(self.session().join("events.jsonl")).unwrap_or_default();
        Ran { code: output.status.code(), shown, events }
    }

    /// An MCP server that leaves its variable in `mcp-started`, and is gone.
    pub(crate) fn canary(&self) -> McpServer {
        let canary = self.workspace().join("mcp-started").to_string_lossy().into_owned();
        let script = "printf %s \"$SHOPFLOOR_TOKEN\" > \"$0\"".to_owned();
        McpServer {
            name: "shopfloor".to_owned(),
            command: "/bin/sh".to_owned(),
            args: vec!["-c".to_owned(), script, canary],
            env: vec![("SHOPFLOOR_TOKEN".to_owned(), "sft_only_by_env".to_owned())],
            passed: Vec::new(),
        }
    }

    /// A file of the workspace; empty if there is none.
    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.workspace().join(name)).unwrap_or_default()
    }

    /// How often something tried to reach beyond loopback.
    pub(crate) fn outside(&self) -> usize {
        self.outside.load(Ordering::SeqCst)
    }
}

/// A model that makes two files, one by a command, and is asked again afterwards.
pub(crate) fn two_files() -> [Turn; 4] {
    [
        Turn::run("echo from-the-shell > by-shell.txt").tokens(1000, 200, 30),
        Turn::write("new.txt", "hello\n").tokens(1100, 900, 20),
        Turn::say("Both files are there.").tokens(1200, 1000, 10),
        Turn::say("Still known.").tokens(2000, 1500, 5),
    ]
}

pub(crate) fn adapter(name: &str) -> Arc<Adapter> {
    static ALL: LazyLock<Adapters> = LazyLock::new(Adapters::built_in);
    Arc::clone(ALL.get(name).expect("it comes with us"))
}

/// Stands where the internet would be: counts who comes, and lets nobody through.
async fn trap() -> (Arc<AtomicUsize>, u16) {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.expect("loopback has a free port");
    let port = listener.local_addr().expect("a listener has an address").port();
    let caught = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&caught);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            counter.fetch_add(1, Ordering::SeqCst);
            let _ = stream.write_all(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n").await;
        }
    });
    (caught, port)
}
