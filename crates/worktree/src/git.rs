//! The only place that creates git commands; all hardening is here.
//!
//! What an agent can write (its `.git`, its files) is never git's configuration: `GIT_DIR` is always one of ours, system
//! and global configuration are off, and the environment is built from nothing.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use crate::process::{Ended, Input, Process};
use crate::{CredentialHelper, Error, Result};

/// What git calls a tree with nothing in it, everywhere.
pub(crate) const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/// Passed to each call: these override a repository's own configuration.
const CONFIG: &[(&str, &str)] = &[
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.attributesFile", "/dev/null"),
    ("core.excludesFile", "/dev/null"),
    ("core.pager", "cat"),
    ("core.editor", "false"),
    ("core.symlinks", "true"),
    ("core.protectNTFS", "true"),
    ("core.protectHFS", "true"),
    ("core.quotePath", "false"),
    ("core.autocrlf", "false"),
    ("core.splitIndex", "false"),
    ("credential.helper", ""),
    ("submodule.recurse", "false"),
    ("fetch.recurseSubmodules", "false"),
    ("diff.ignoreSubmodules", "all"),
    ("diff.renameLimit", "400"),
    ("merge.renameLimit", "400"),
    ("safe.bareRepository", "explicit"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("gpg.program", "false"),
    ("commit.gpgSign", "false"),
    ("http.followRedirects", "false"),
    ("fetch.writeCommitGraph", "false"),
    // Saves stay in small packs; `tidy` repacks them.
    ("fastimport.unpackLimit", "1"),
    ("transfer.fsckObjects", "true"),
    ("fetch.fsckObjects", "true"),
    // Old, harmless flaws of many honest histories.
    ("fetch.fsck.zeroPaddedFilemode", "ignore"),
    ("fetch.fsck.missingSpaceBeforeDate", "ignore"),
    ("fetch.fsck.badTimezone", "ignore"),
    ("fetch.fsck.missingSpaceBeforeEmail", "ignore"),
    ("fetch.fsck.badFilemode", "ignore"),
];

const ENVIRONMENT: &[(&str, &str)] = &[
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_LITERAL_PATHSPECS", "1"),
    // Attributes come only from our own `info/attributes`: an empty tree replaces the agent's files.
    ("GIT_ATTR_SOURCE", EMPTY_TREE),
    ("GIT_PAGER", "cat"),
    ("GIT_EDITOR", "false"),
    ("GIT_SSH_VARIANT", "ssh"),
    ("LC_ALL", "C"),
];

/// What holds in somebody's own repository, too.
const OWNERS_CONFIG: &[(&str, &str)] = &[
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.pager", "cat"),
    ("core.quotePath", "false"),
    ("gc.auto", "0"),
];

const OWNERS_ENVIRONMENT: &[(&str, &str)] = &[
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_PAGER", "cat"),
    ("LC_ALL", "C"),
];

/// Times of commits that we make say when, not who.
const WHO: &[(&str, &str)] = &[
    ("GIT_AUTHOR_NAME", "Shopfloor"),
    ("GIT_AUTHOR_EMAIL", "shopfloor@localhost"),
    ("GIT_COMMITTER_NAME", "Shopfloor"),
    ("GIT_COMMITTER_EMAIL", "shopfloor@localhost"),
];

const SSH: &str = "ssh -o BatchMode=yes -o ConnectTimeout=20 -o ForwardAgent=no -o ForwardX11=no \
                   -o ClearAllForwardings=yes -o PermitLocalCommand=no";

/// Where the owner has the certificates of authorities that their machine does not know.
const CERTIFICATES: &[&str] = &["GIT_SSL_CAINFO", "GIT_SSL_CAPATH"];

/// What ssh needs to log in as the owner does.
const OF_SSH: &[&str] = &["SSH_AUTH_SOCK", "USER", "LOGNAME"];

/// Where credential helpers look for the owner's passwords.
const OF_HELPERS: &[&str] =
    &["XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "GH_CONFIG_DIR", "GH_TOKEN", "GITHUB_TOKEN"];

/// What a call may reach beyond its files.
#[derive(Debug, Clone, Default)]
pub(crate) enum Reach {
    /// No transport at all.
    #[default]
    Nothing,
    /// A repository on this disk.
    Files,
    /// A repository on this disk whose files change: the other side finds its owner's settings.
    Owner,
    /// A remote over https or ssh, with what its owner allows.
    Network { ssh: bool, helpers: Vec<CredentialHelper>, pin: Option<String> },
}

/// One git command in the making.
pub(crate) struct Git {
    what: &'static str,
    git_dir: PathBuf,
    work_tree: Option<PathBuf>,
    index: Option<PathBuf>,
    objects: Option<(PathBuf, Vec<PathBuf>)>,
    args: Vec<OsString>,
    reach: Reach,
    timeout: Duration,
    limit: usize,
    cut: bool,
    input: Input,
    owner: bool,
}

impl Git {
    /// `git <what>` with a `GIT_DIR` that is ours.
    pub(crate) fn new(git_dir: &Path, what: &'static str) -> Self {
        Self {
            what,
            git_dir: git_dir.to_owned(),
            work_tree: None,
            index: None,
            objects: None,
            args: Vec::new(),
            reach: Reach::Nothing,
            timeout: Duration::from_secs(120),
            limit: 64 << 20,
            cut: false,
            input: Input::Nothing,
            owner: false,
        }
    }

    /// The agent's folder, only as files.
    pub(crate) fn work_tree(mut self, path: &Path) -> Self {
        self.work_tree = Some(path.to_owned());
        self
    }

    /// In somebody's own repository: their settings decide how files look. It writes nothing and runs no hook.
    pub(crate) fn by_owner(mut self) -> Self {
        (self.owner, self.reach) = (true, Reach::Owner);
        self
    }

    /// Another index than the `GIT_DIR`'s.
    pub(crate) fn index(mut self, path: &Path) -> Self {
        self.index = Some(path.to_owned());
        self
    }

    /// Where new objects go, and where else objects are looked for.
    pub(crate) fn objects(mut self, to: &Path, also: &[&Path]) -> Self {
        self.objects = Some((to.to_owned(), also.iter().map(|path| (*path).to_owned()).collect()));
        self
    }

    /// Options, written by us.
    pub(crate) fn args<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(mut self, args: I) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Names, revisions or paths: never read as options, whatever they look like.
    pub(crate) fn operands<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(mut self, args: I) -> Self {
        self.args.push("--end-of-options".into());
        self.args(args)
    }

    /// Lets it reach a repository.
    pub(crate) fn reach(mut self, reach: Reach) -> Self {
        self.reach = reach;
        self
    }

    /// How long it may take.
    pub(crate) fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Maximum size of its output.
    pub(crate) fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// What it reads.
    pub(crate) fn input(mut self, input: Input) -> Self {
        self.input = input;
        self
    }

    /// Runs it; anything but success is an error.
    pub(crate) async fn run(self) -> Result<Vec<u8>> {
        let what = self.what;
        let ended = self.ended(|_| {}).await?;
        if ended.status.success() { Ok(ended.stdout) } else { Err(failed(what, &ended)) }
    }

    /// Runs it for the first `limit` bytes of its output.
    pub(crate) async fn beginning(mut self, limit: usize) -> Result<Vec<u8>> {
        (self.limit, self.cut) = (limit, true);
        let what = self.what;
        let ended = self.ended(|_| {}).await?;
        // It ended because nobody read its output any more.
        if ended.status.success() || !ended.whole { Ok(ended.stdout) } else { Err(failed(what, &ended)) }
    }

    /// Runs it and returns one short line.
    pub(crate) async fn line(self) -> Result<String> {
        let out = self.run().await?;
        Ok(String::from_utf8_lossy(&out).trim().to_owned())
    }

    /// Runs it to its end, whatever the result.
    pub(crate) async fn ended(mut self, said: impl FnMut(&str) + Send) -> Result<Ended> {
        let input = std::mem::replace(&mut self.input, Input::Nothing);
        self.process().run(input, said).await
    }

    /// Starts it with pipes.
    pub(crate) fn talk(self) -> Result<tokio::process::Child> {
        self.process().talk()
    }

    fn process(self) -> Process {
        let environment = if self.owner { OWNERS_ENVIRONMENT } else { ENVIRONMENT };
        let mut env: Vec<(OsString, OsString)> =
            environment.iter().chain(WHO).map(|(k, v)| ((*k).into(), (*v).into())).collect();
        let mut set = |key: &str, value: &OsStr| env.push((key.into(), value.to_owned()));
        set("GIT_DIR", self.git_dir.as_os_str());
        if let Some(path) = &self.work_tree {
            set("GIT_WORK_TREE", path.as_os_str());
        }
        if let Some(path) = &self.index {
            set("GIT_INDEX_FILE", path.as_os_str());
        }
        if let Some((to, also)) = &self.objects {
            set("GIT_OBJECT_DIRECTORY", to.as_os_str());
            let also: Vec<&OsStr> = also.iter().map(|path| path.as_os_str()).collect();
            set("GIT_ALTERNATE_OBJECT_DIRECTORIES", &also.join(OsStr::new(":")));
        }
        if let Some(path) = std::env::var_os("PATH") {
            set("PATH", &path);
        }
        let mut config: Vec<(&str, &str)> = if self.owner { OWNERS_CONFIG } else { CONFIG }.to_vec();
        let mut login = SSH.to_owned();
        let mut home = OsString::from("/dev/null");
        let allowed = match &self.reach {
            // An empty list would mean "the default": an unknown name allows none.
            Reach::Nothing => "none",
            Reach::Files => "file",
            Reach::Owner => {
                home = std::env::var_os("HOME").unwrap_or(home);
                "file"
            }
            Reach::Network { ssh, helpers, pin } => {
                config.extend(helpers.iter().map(|helper| ("credential.helper", helper.config())));
                if let Some(pin) = pin {
                    config.push(("http.curloptResolve", pin));
                }
                if !*ssh {
                    login.push_str(
                        " -F /dev/null -o IdentitiesOnly=yes -o IdentityAgent=none -o IdentityFile=/dev/null",
                    );
                }
                if *ssh || !helpers.is_empty() {
                    home = std::env::var_os("HOME").unwrap_or(home);
                }
                let of = |wanted: bool, keys: &'static [&'static str]| keys.iter().filter(move |_| wanted);
                let keys = of(true, CERTIFICATES).chain(of(*ssh, OF_SSH)).chain(of(!helpers.is_empty(), OF_HELPERS));
                for (key, value) in keys.filter_map(|key| Some((key, std::env::var_os(key)?))) {
                    set(key, &value);
                }
                "https:ssh"
            }
        };
        set("HOME", &home);
        let helps = matches!(&self.reach, Reach::Network { helpers, .. } if !helpers.is_empty());
        if !self.owner && !helps {
            set("XDG_CONFIG_HOME", OsStr::new("/dev/null"));
        }
        set("GIT_ALLOW_PROTOCOL", OsStr::new(allowed));
        set("GIT_SSH_COMMAND", OsStr::new(&login));
        set("GIT_CONFIG_COUNT", OsStr::new(&config.len().to_string()));
        for (n, (key, value)) in config.iter().enumerate() {
            set(&format!("GIT_CONFIG_KEY_{n}"), OsStr::new(key));
            set(&format!("GIT_CONFIG_VALUE_{n}"), OsStr::new(value));
        }
        // Commands on files must start inside them; all others in a folder of ours.
        let cwd = self.work_tree.unwrap_or(self.git_dir);
        let mut args = vec![OsString::from(self.what)];
        args.extend(self.args);
        let what = format!("git {}", self.what);
        Process { what, program: program(), args, env, cwd, timeout: self.timeout, limit: self.limit, cut: self.cut }
    }
}

/// The path of git, found once: with a path, a child starts without copying this process first.
fn program() -> OsString {
    static FOUND: OnceLock<OsString> = OnceLock::new();
    let find = || {
        let path = std::env::var_os("PATH")?;
        let mut all =
            std::env::split_paths(&path).filter(|folder| folder.is_absolute()).map(|folder| folder.join("git"));
        all.find(|path| path.is_file()).map(PathBuf::into_os_string)
    };
    FOUND.get_or_init(|| find().unwrap_or_else(|| "git".into())).clone()
}

/// The error of a command that did not succeed.
pub(crate) fn failed(what: &'static str, ended: &Ended) -> Error {
    Error::Git { what, status: ended.status.to_string(), said: last_words(&ended.stderr) }
}

/// The last relevant lines of a command's output.
pub(crate) fn last_words(stderr: &str) -> String {
    let lines: Vec<&str> = stderr.split(['\n', '\r']).map(str::trim).filter(|line| !line.is_empty()).collect();
    let matter: Vec<&str> =
        lines.iter().filter(|l| ["fatal:", "error:"].iter().any(|p| l.contains(p))).copied().collect();
    let chosen = if matter.is_empty() { lines } else { matter };
    let from = chosen.len().saturating_sub(4);
    chosen[from..].join("; ").chars().filter(|c| !c.is_control()).take(600).collect()
}
