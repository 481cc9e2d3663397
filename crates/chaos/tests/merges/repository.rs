//! The repository, with the desks of those who push to it.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::branches::Branch;

/// Writes the tree as it stands, with the verdict, to a log that is no part of the repository.
const CHECK: &str = r#"
set -eu
export GIT_INDEX_FILE="$(mktemp -u)"
git add -A
tree=$(git write-tree)
rm -f "$GIT_INDEX_FILE"
verdict=green
[ ! -e bad ] || verdict=red
for one in pairs/*-a; do [ ! -e "${one%-a}-b" ] || verdict=red; done
sleep "$2"
echo "$tree $verdict" >> "$1"
[ "$verdict" = green ]
"#;

/// A bare repository that remembers where its branches were.
pub(crate) struct Repository {
    pub(crate) place: PathBuf,
    /// Where branches are made.
    desk: PathBuf,
    /// Where the outsider works.
    outside: PathBuf,
    log: PathBuf,
    pub(crate) start: String,
    /// The outsider's commits that were pushed.
    pub(crate) pushed: Vec<String>,
}

impl Repository {
    pub(crate) fn make(folder: &Path) -> Self {
        let at = |name: &str| folder.join(name);
        let (place, desk, outside) = (at("repository.git"), at("desk"), at("outside"));
        git(folder, &["init", "-q", "--bare", "-b", "main", "repository.git"]);
        git(&place, &["config", "core.logAllRefUpdates", "always"]);
        git(folder, &["clone", "-q", "repository.git", "desk"]);
        std::fs::write(desk.join("shared.txt"), "start\n").unwrap();
        commit(&desk, "start");
        git(&desk, &["push", "-q", "origin", "HEAD:refs/heads/main"]);
        git(folder, &["clone", "-q", "repository.git", "outside"]);
        let start = git(&desk, &["rev-parse", "HEAD"]);
        Self { place, desk, outside, log: at("checks.log"), start, pushed: Vec::new() }
    }

    /// The check, as a command that takes this many seconds.
    pub(crate) fn check(&self, seconds: &str) -> Vec<String> {
        ["sh", "-c", CHECK, "check", self.log.to_str().unwrap(), seconds].map(str::to_owned).to_vec()
    }

    /// The trees for which the check has written a verdict, by verdict.
    pub(crate) fn tested(&self, verdict: &str) -> Vec<String> {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        let lines = text.lines().filter_map(|line| line.split_once(' '));
        lines.filter(|(_, said)| *said == verdict).map(|(tree, _)| tree.to_owned()).collect()
    }

    /// How many verdicts the check has written.
    pub(crate) fn verdicts(&self) -> usize {
        std::fs::read_to_string(&self.log).unwrap_or_default().lines().count()
    }

    pub(crate) fn publish(&self, branch: &Branch) {
        let on = branch.on.as_deref().unwrap_or(&self.start);
        git(&self.desk, &["checkout", "-q", "-B", &branch.name, on]);
        for (path, text) in &branch.files {
            write(&self.desk.join(path), text);
        }
        commit(&self.desk, &branch.name);
        git(&self.desk, &["push", "-q", "origin", &branch.name]);
    }

    /// Pushes one more commit to a branch.
    pub(crate) fn push_more(&self, branch: &Branch) {
        git(&self.desk, &["checkout", "-q", &branch.name]);
        write(&self.desk.join(&branch.files[0].0), &more(branch));
        commit(&self.desk, &format!("more of {}", branch.name));
        git(&self.desk, &["push", "-q", "origin", &branch.name]);
    }

    pub(crate) fn delete(&self, branch: &Branch) {
        git(&self.place, &["update-ref", "-d", &format!("refs/heads/{}", branch.name)]);
    }

    /// The outsider pushes to the target branch, as often as it takes.
    pub(crate) fn push_to_target(&mut self) {
        let number = self.pushed.len();
        loop {
            git(&self.outside, &["fetch", "-q", "origin"]);
            git(&self.outside, &["checkout", "-q", "-B", "main", "origin/main"]);
            write(&self.outside.join(format!("outside/{number}.txt")), "from outside\n");
            commit(&self.outside, &format!("outside {number}"));
            let mut push = Command::new("git");
            push.args(["push", "-q", "origin", "main"]).current_dir(&self.outside);
            if push.output().unwrap().status.success() {
                break;
            }
        }
        self.pushed.push(git(&self.outside, &["rev-parse", "HEAD"]));
    }

    pub(crate) fn said(&self, args: &[&str]) -> String {
        git(&self.place, args)
    }
}

/// What a branch that was pushed to writes instead.
pub(crate) fn more(branch: &Branch) -> String {
    format!("more work of {}\n", branch.name)
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn commit(place: &Path, message: &str) {
    git(place, &["add", "-A"]);
    git(place, &["-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "-m", message]);
}

fn git(place: &Path, args: &[&str]) -> String {
    let out = Command::new("git").args(args).current_dir(place).output().unwrap();
    assert!(out.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap().trim_end().to_owned()
}
