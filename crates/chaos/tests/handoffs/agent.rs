//! An agent that acknowledges the handoff it continues, writes work of every kind, and writes a document when asked.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// It holds a lock while it runs: one that finds the lock held runs beside another. Children do not inherit the lock.
const AGENT: &str = r#"#!/bin/sh
[ "$1" = --version ] && { echo "scripted 1.0"; exit 0; }
me=$SHOPFLOOR_SESSION
exec 9> OUT/lock
flock -n 9 || echo "$me started while another session ran" >> OUT/violations
run() { "$@" 9>&-; }
run cp "$SHOPFLOOR_PROMPT_FILE" "OUT/$me.new" && run mv "OUT/$me.new" "OUT/$me.prompt"
set -- $(run grep -o 'shopfloor handoff ack hnd_[0-9a-f]* [0-9a-f]*' "$SHOPFLOOR_PROMPT_FILE" | run head -1)
if [ -n "$5" ]; then
    until run BIN handoff ack "$4" "$5" >> OUT/log 2>&1; do run sleep 0.2; done
fi
run mkdir -p work
run head -c 30000 /dev/urandom > "work/$me.committed"
run git add "work/$me.committed" && run git -c user.name=a -c user.email=a@b commit -qm "$me"
run head -c 2000 /dev/urandom > "work/$me.staged"
run git add "work/$me.staged"
run head -c 2000 /dev/urandom > "work/$me. not added"
echo "$me" >> README.md
run sha256sum work/"$me"* > "OUT/$me.new" && run mv "OUT/$me.new" "OUT/$me.sums"
echo ready
while read -r line; do
    case "$line" in *handoff_write*)
        id=
        for try in 1 2 3 4 5 6 7 8; do
            [ -n "$id" ] || id=$(run BIN handoff list --json 2>> OUT/log | run grep -o 'hnd_[0-9a-f]*' | run head -1)
            [ -n "$id" ] && run BIN handoff write "$id" --done "the work of $me" --next "test it" >> OUT/log 2>&1 && break
            run sleep 0.3
        done
    ;; esac
done
"#;

/// The home of the runners' owner, with the agent, which writes to `out`.
pub(crate) fn home(folder: &Path) -> PathBuf {
    let (home, out) = (folder.join("home"), out(folder));
    let agents = home.join(".config/shopfloor/agents");
    std::fs::create_dir_all(&agents).unwrap();
    std::fs::create_dir_all(&out).unwrap();
    let script = folder.join("scripted");
    let text = AGENT.replace("OUT", out.to_str().unwrap()).replace("BIN", testkit::binary().to_str().unwrap());
    std::fs::write(&script, text).unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let adapter = format!(
        "name = \"scripted\"\nlabel = \"Scripted\"\ncommand = [\"{}\"]\nversion = [\"--version\"]\n\n[env]\n\
         SHOPFLOOR_PROMPT_FILE = \"{{prompt_file}}\"\n\n[interactive]\nprompt = \"none\"\nsubmit = \"\\r\"\n\n\
         [[screen]]\nstate = \"working\"\n",
        script.display()
    );
    std::fs::write(agents.join("scripted.toml"), adapter).unwrap();
    home
}

/// Where the agents say what they did.
pub(crate) fn out(folder: &Path) -> PathBuf {
    folder.join("out")
}
