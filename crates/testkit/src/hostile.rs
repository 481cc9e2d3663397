//! What an attacker would write where a name, a branch, a path, a URL or an argument is expected.

use std::path::{Path, PathBuf};

/// A folder in which nothing may ever appear: any file in it shows that something was executed.
#[derive(Debug, Clone)]
pub struct Canary(PathBuf);

impl Canary {
    /// An empty folder `canary` in `dir`.
    pub fn new(dir: &Path) -> Self {
        let path = dir.join("canary");
        std::fs::create_dir_all(&path).expect("a folder for canaries can be made");
        Self(path)
    }

    /// The file of the canary called `name`.
    pub fn file(&self, name: &str) -> String {
        format!("{}/{name}", self.0.display())
    }

    /// A shell line that makes the canary called `name` sing.
    pub fn command(&self, name: &str) -> String {
        format!("touch '{}'", self.file(name))
    }

    /// The names of what was executed.
    pub fn sung(&self) -> Vec<String> {
        let files = std::fs::read_dir(&self.0).expect("the folder of canaries is there");
        let mut names: Vec<String> =
            files.flatten().map(|file| file.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// More than 300 hostile names. Those that would execute something each have a canary of their own, which is called
    /// `c` and the place in the list.
    pub fn names(&self) -> Vec<String> {
        let mut all = Vec::new();
        self.options(&mut all);
        self.shells(&mut all);
        all.extend(ODD.map(str::to_owned));
        self.locations(&mut all);
        all.extend([
            "x".repeat(201),
            "a/".repeat(500),
            "-".repeat(300),
            "\u{1F600}".repeat(80),
            "'".repeat(9),
            "\"".repeat(9),
        ]);
        all
    }

    fn options(&self, all: &mut Vec<String>) {
        for option in OPTIONS {
            for (before, after) in [("touch '", "'"), ("", ""), (" ", "")] {
                all.push(format!("{option}{before}{}{after}", self.file(&format!("c{}", all.len()))));
            }
            all.push(option.to_owned());
        }
    }

    fn shells(&self, all: &mut Vec<String>) {
        for (open, close) in SHELLS {
            for before in ["", "a", "feature/"] {
                let touch = self.command(&format!("c{}", all.len()));
                all.push(format!("{before}{open}{touch}{close}"));
            }
            all.push(format!("{open}touch${{IFS}}{}{close}", self.file(&format!("c{}", all.len()))));
        }
    }

    fn locations(&self, all: &mut Vec<String>) {
        for scheme in SCHEMES {
            let touch = |all: &Vec<String>| self.command(&format!("c{}", all.len()));
            all.push(format!("{scheme}{}", touch(all)));
            all.push(format!("{scheme}-oProxyCommand={}/x", touch(all)));
            all.push(format!("{scheme}%2doProxyCommand={}/x", self.file(&format!("c{}", all.len()))));
            all.push(format!("{scheme}$({})/x", touch(all)));
        }
        for host in HOSTS {
            all.extend([
                format!("https://{host}/x"),
                format!("git@{host}:x"),
                format!("ssh://{host}/x"),
                format!("{host}:x/y"),
            ]);
        }
    }
}

const OPTIONS: [&str; 20] = [
    "--upload-pack=",
    "--output=",
    "--exec=",
    "--receive-pack=",
    "-o",
    "-u",
    "--config=core.sshCommand=",
    "-c",
    "--template=",
    "--git-dir=",
    "--work-tree=",
    "--separate-git-dir=",
    "--server-option=",
    "--filter=",
    "--open-files-in-pager=",
    "-O",
    "--ext-diff=",
    "--namespace=",
    "--super-prefix=",
    "--attr-source=",
];

/// What stands before and after a command.
const SHELLS: [(&str, &str); 23] = [
    ("$(", ")"),
    ("`", "`"),
    (";", ";"),
    ("|", ""),
    ("&", "&"),
    ("&&", ""),
    ("||", ""),
    ("\n", "\n"),
    ("\r\n", ""),
    ("'; ", " #'"),
    ("\"; ", " #\""),
    ("${IFS}", ""),
    ("<(", ")"),
    (">(", ")"),
    ("%0a", ""),
    ("\0", ""),
    ("!", ""),
    ("x;", ""),
    ("main $(", ")"),
    ("\u{202e}", ""),
    ("\u{1b}]52;c;", "\u{7}"),
    ("{a,b};", ""),
    ("\\\n", ""),
];

/// Texts with a meaning for git, a shell, a terminal or a file system.
const ODD: [&str; 84] = [
    "$(id)",
    "`id`",
    ";id",
    "a;id",
    "a|id",
    "a&id",
    "a&&id",
    "a>x",
    "a<x",
    "${IFS}id",
    "-oProxyCommand=id",
    "a\nb",
    "a\r\nb",
    "a\u{1b}[2J",
    "a\u{202e}b",
    ".git",
    "a/.git/config",
    "a@{u}",
    "a^{}",
    "a*",
    "a?",
    "{{7*7}}",
    "%s%n%x",
    "C:\\Windows\\System32",
    "@{-1}",
    "@",
    "@{u}",
    "HEAD",
    "HEAD~1",
    "HEAD^{commit}",
    "main@{1}",
    "main^",
    ":/fix",
    ":0:README.md",
    "..",
    ".",
    "a..b",
    "a...b",
    "^main",
    "refs/heads/main",
    "refs/../../x",
    "a/../b",
    "/etc/passwd",
    "../x",
    "a//b",
    "a/",
    "/a",
    ".hidden",
    "a/.b",
    "a.lock",
    "a.lock/b",
    "a.",
    "a b",
    "a\tb",
    "a~1",
    "a?b",
    "a*b",
    "a[b",
    "a\\b",
    "a:b",
    "-",
    "--",
    "-x",
    "a/-x",
    "--end-of-options",
    "",
    " ",
    "\u{7f}",
    "é",
    "日本",
    "a\u{0}b",
    "a\u{200b}b",
    "FETCH_HEAD:x",
    "stash@{0}",
    "con",
    "aux.txt",
    "a@{b",
    "x.LOCK",
    "~",
    "~root",
    "%2e%2e%2f",
    "..%2f",
    "\\\\unc\\x",
    "file:///etc",
];

const SCHEMES: [&str; 10] =
    ["ext::", "ext::sh -c ", "fd::", "file://", "http://", "git://", "ftp://", "javascript:", "ssh://-o", "ssh://"];

const HOSTS: [&str; 9] =
    ["-oProxyCommand=x", "ho st", "h`x`", "$(x)", "[::1", "a:b:c", "a@b@c", "x/../y", "127.0.0.1:x"];
