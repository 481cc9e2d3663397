//! Repositories made of whole trees, the facts about their branches, and git's own verdict about each pair.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use engine::overlaps::{self, Branch, Change, Content, Entry, EntryKind, Hunk, Symbol};
use worktree::{ChangeFacts, LineFacts, Oid};

use crate::support::Bench;

/// A tree: mode and content of each path.
pub(super) type Tree = BTreeMap<String, (&'static str, Vec<u8>)>;

/// A repository with a base and branches of it.
pub(super) struct Repository {
    bench: Bench,
    base: Oid,
    heads: Vec<Oid>,
}

impl Repository {
    pub(super) async fn new(base: &Tree, branches: &[Tree]) -> Self {
        let bench = Bench::empty().await;
        let origin = bench.path().join("origin.git");
        let mut stream = Vec::new();
        commit(&mut stream, "main", None, base);
        for (at, tree) in branches.iter().enumerate() {
            commit(&mut stream, &format!("b{at}"), Some("main"), tree);
        }
        let mut child = Command::new("git")
            .args(["fast-import", "--quiet", "--force"])
            .current_dir(&origin)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(&stream).unwrap();
        assert!(child.wait().unwrap().success());
        bench.fetched().await;
        let tip = bench.tip("main");
        let heads = (0..branches.len()).map(|at| bench.tip(&format!("b{at}"))).collect();
        Self { bench, base: tip, heads }
    }

    /// The facts about each branch, as the decision takes them.
    pub(super) async fn facts(&self) -> Vec<Branch> {
        let mut all = Vec::new();
        for head in &self.heads {
            all.push(branch(&self.bench.trees.change_facts(&self.bench.origin(), &self.base, head).await.unwrap()));
        }
        all
    }

    /// Whether git finds a conflict in each pair, in the order of [`pairs`].
    pub(super) fn verdicts(&self) -> Vec<bool> {
        let mut asked = String::new();
        for (a, b) in pairs(self.heads.len()) {
            writeln!(asked, "{} {}", self.heads[a], self.heads[b]).unwrap();
        }
        let mut child = Command::new("git")
            .args(["merge-tree", "--write-tree", "--stdin", "--name-only", "--no-messages"])
            .current_dir(self.bench.path().join("origin.git"))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        let writer = std::thread::spawn(move || input.write_all(asked.as_bytes()).unwrap());
        let out = child.wait_with_output().unwrap();
        writer.join().unwrap();
        assert!(out.status.success(), "{}", out.status);
        // Each answer: 1 for a clean merge or 0, the tree, the paths in conflict, an empty field.
        let mut fields = out.stdout.split(|byte| *byte == 0);
        let mut verdicts = Vec::new();
        while let Some(status) = fields.next().filter(|field| !field.is_empty()) {
            verdicts.push(status == b"0");
            while fields.next().is_some_and(|field| !field.is_empty()) {}
        }
        assert_eq!(verdicts.len(), pairs(self.heads.len()).count());
        verdicts
    }

    /// The pairs about which facts and git disagree, and how many conflicts git finds.
    pub(super) async fn disagreements(&self) -> (Vec<String>, usize) {
        let facts = self.facts().await;
        let verdicts = self.verdicts();
        let conflicts = verdicts.iter().filter(|conflict| **conflict).count();
        let mut wrong = Vec::new();
        for ((a, b), conflict) in pairs(facts.len()).zip(verdicts) {
            let told = overlaps::overlaps(&facts[a], &facts[b]);
            if told.iter().any(|meeting| meeting.kind.conflicts()) != conflict {
                let of = |branch: &Branch| {
                    let one = |change: &Change| {
                        format!(
                            "{}{} {:?}",
                            change.from.clone().map_or(String::new(), |from| from + " → "),
                            change.path,
                            change.content
                        )
                    };
                    branch.changes.iter().map(one).collect::<Vec<_>>().join("; ")
                };
                let said = self.messages(a, b);
                wrong.push(format!(
                    "b{a} and b{b}: git says {conflict}, facts say {told:?}\n  b{a}: {}\n  b{b}: {}\n  {said}",
                    of(&facts[a]),
                    of(&facts[b])
                ));
            }
        }
        (wrong, conflicts)
    }

    fn messages(&self, a: usize, b: usize) -> String {
        let (a, b) = (self.heads[a].to_string(), self.heads[b].to_string());
        let origin = self.bench.path().join("origin.git");
        let out = Command::new("git").args(["merge-tree", &a, &b]).current_dir(&origin).output().unwrap();
        String::from_utf8_lossy(&out.stdout).lines().filter(|line| line.starts_with("CONFLICT")).collect()
    }
}

/// All pairs of `count` branches.
pub(super) fn pairs(count: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..count).flat_map(move |a| (a + 1..count).map(move |b| (a, b)))
}

fn commit(stream: &mut Vec<u8>, name: &str, from: Option<&str>, tree: &Tree) {
    let mut head = format!("commit refs/heads/{name}\ncommitter T <t@localhost> 1 +0000\ndata 1\nx\n");
    if let Some(from) = from {
        writeln!(head, "from refs/heads/{from}").unwrap();
    }
    stream.extend_from_slice(head.as_bytes());
    stream.extend_from_slice(b"deleteall\n");
    for (path, (mode, content)) in tree {
        let quoted = path.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        stream.extend_from_slice(format!("M {mode} inline \"{quoted}\"\ndata {}\n", content.len()).as_bytes());
        stream.extend_from_slice(content);
        stream.push(b'\n');
    }
}

fn branch(facts: &ChangeFacts) -> Branch {
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let kind = |mode: &str| match mode {
        "100755" => EntryKind::Executable,
        "120000" => EntryKind::Link,
        "160000" => EntryKind::Submodule,
        _ => EntryKind::File,
    };
    let change = |file: &worktree::FileFacts| Change {
        path: text(&file.path),
        from: file.from.as_deref().map(text),
        before: file.before.as_deref().map(kind),
        after: file.after.as_ref().map(|(mode, content)| Entry { kind: kind(mode), content: content.clone() }),
        content: match &file.lines {
            LineFacts::Same => Content::Same,
            LineFacts::Whole => Content::Whole,
            LineFacts::Changed(lines) => Content::Lines(
                lines.iter().map(|(first, end, new)| Hunk { first: *first, end: *end, new: new.clone() }).collect(),
            ),
        },
        symbols: file.symbols.iter().map(symbol).collect(),
    };
    Branch {
        changes: facts.files.iter().map(change).collect(),
        gone: facts.gone.iter().map(|folder| text(folder)).collect(),
    }
}

fn symbol(symbol: &worktree::SymbolFacts) -> Symbol {
    let worktree::SymbolFacts { name, before, after } = symbol.clone();
    Symbol { name, before, after }
}

/// One tree from paths and contents; a path that ends in `*` can be executed, one that ends in `@` is a link.
pub(super) fn tree(files: &[(&str, &str)]) -> Tree {
    let one = |(path, content): &(&str, &str)| {
        let (path, mode) = match (path.strip_suffix('*'), path.strip_suffix('@')) {
            (Some(path), _) => (path, "100755"),
            (_, Some(path)) => (path, "120000"),
            _ => (*path, "100644"),
        };
        (path.to_owned(), (mode, content.as_bytes().to_vec()))
    };
    files.iter().map(one).collect()
}
