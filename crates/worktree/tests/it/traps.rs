//! A repository full of traps, in what is committed and in what an agent does to its own `.git` afterwards.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use testkit::Canary;

use crate::support::{git, try_git, write};

/// Every hook that git knows.
const HOOKS: &[&str] = &[
    "applypatch-msg",
    "commit-msg",
    "fsmonitor-watchman",
    "post-applypatch",
    "post-checkout",
    "post-commit",
    "post-merge",
    "post-index-change",
    "post-receive",
    "post-rewrite",
    "post-update",
    "pre-applypatch",
    "pre-auto-gc",
    "pre-commit",
    "pre-merge-commit",
    "pre-push",
    "pre-rebase",
    "pre-receive",
    "prepare-commit-msg",
    "proc-receive",
    "push-to-checkout",
    "reference-transaction",
    "sendemail-validate",
    "update",
];

/// Configuration that names a command; `CMD` touches a canary of that name.
const CONFIG: &[&str] = &[
    "core.fsmonitor",
    "core.sshCommand",
    "core.askPass",
    "core.pager",
    "core.editor",
    "core.gitProxy",
    "core.alternateRefsCommand",
    "credential.helper",
    "diff.external",
    "diff.evil.command",
    "diff.evil.textconv",
    "filter.evil.clean",
    "filter.evil.smudge",
    "filter.evil2.process",
    "merge.evil.driver",
    "gpg.program",
    "gpg.ssh.program",
    "gpg.ssh.defaultKeyCommand",
    "interactive.diffFilter",
    "mergetool.evil.cmd",
    "difftool.evil.cmd",
    "pager.status",
    "pager.log",
    "pager.diff",
    "remote.origin.uploadpack",
    "remote.origin.receivepack",
    "sequence.editor",
    "submodule.sub.update",
    "tar.tar.command",
    "trailer.evil.command",
    "uploadpack.packObjectsHook",
    "alias.status",
    "alias.ls-files",
    "browser.evil.cmd",
    "man.evil.cmd",
    "sendemail.smtpServer",
    "imap.tunnel",
    "guitool.evil.cmd",
    "remote.evil.vcs",
    "lsrefs.unborn",
    "instaweb.httpd",
    "web.browser",
];

/// Commits what a hostile repository can have in its tree, and pushes it.
pub(crate) fn in_the_tree(seed: &Path, canary: &Canary) {
    let evil = "* filter=evil diff=evil merge=evil\n*.two filter=evil2\n*.id ident\n*.crlf text eol=crlf\n\
                *.enc working-tree-encoding=UTF-16\n*.x export-subst export-ignore\n";
    write(seed, ".gitattributes", evil);
    let url = format!("ext::sh -c {}% >&2", canary.command("gitmodules").replace(' ', "% "));
    write(seed, ".gitmodules", format!("[submodule \"sub\"]\n\tpath = sub\n\turl = {url}\n"));
    write(seed, "a.id", "$Id$\n");
    write(seed, "b.crlf", "one\r\ntwo\n");
    write(seed, "c.two", "two\n");
    write(seed, "f.txt", "one\ntwo\nthree\n");
    write(seed, "-x", "option\n");
    write(seed, "--upload-pack=touch canary", "option\n");
    write(seed, "$(touch canary)", "shell\n");
    write(seed, "new\nline", "name\n");
    write(seed, ".lfsconfig", format!("[lfs]\n\turl = ext::{}\n", canary.command("lfs")));
    write(seed, ".gitconfig", format!("[core]\n\tfsmonitor = {}\n", canary.command("gitconfig")));
    write(seed, ".githooks/post-checkout", format!("#!/bin/sh\n{}\n", canary.command("githooks")));
    write(seed, ".envrc", canary.command("envrc"));
    write(seed, "bare/HEAD", "ref: refs/heads/main\n");
    write(seed, "bare/config", format!("[core]\n\tbare = true\n\tfsmonitor = {}\n", canary.command("bare")));
    write(seed, "bare/objects/x", "");
    write(seed, "bare/refs/x", "");
    std::fs::write(seed.join(OsStr::from_bytes(b"bad-\xff\xfe-utf8")), "bytes").unwrap();
    symlink("/etc/passwd", seed.join("link-out")).unwrap();
    symlink("../../../../../..", seed.join("dir-out")).unwrap();
    symlink("loop", seed.join("loop")).unwrap();
    git(seed, &["add", "-A"]);
    // A submodule whose commit nobody has.
    let commit = "1234567890123456789012345678901234567890";
    git(seed, &["update-index", "--add", "--cacheinfo", &format!("160000,{commit},sub")]);
    git(seed, &["commit", "-qm", "traps"]);
    for name in ["$(touch canary)", "a;touch canary", "x`id`", "a|b", "ünï", "a&b"] {
        try_git(seed, &["push", "-q", "origin", &format!("main:refs/heads/{name}")]);
    }
    git(seed, &["push", "-q", "origin", "main"]);
}

/// What an agent can write into a `.git` that is its own.
pub(crate) fn in_dot_git(dot_git: &Path, canary: &Canary) {
    for name in CONFIG {
        let command = match *name {
            "alias.status" | "alias.ls-files" | "submodule.sub.update" | "credential.helper" => {
                format!("!{}", canary.command(name))
            }
            _ => canary.command(name),
        };
        git(dot_git.parent().unwrap(), &["config", "--file", dot_git.join("config").to_str().unwrap(), name, &command]);
    }
    let set = |name: &str, value: &str| {
        git(dot_git.parent().unwrap(), &["config", "--file", dot_git.join("config").to_str().unwrap(), name, value]);
    };
    set("filter.evil.required", "true");
    set("filter.evil2.required", "true");
    set("commit.gpgSign", "true");
    set("tag.gpgSign", "true");
    set("log.showSignature", "true");
    set("protocol.ext.allow", "always");
    set("protocol.allow", "always");
    set("diff.submodule", "log");
    set("status.submoduleSummary", "true");
    set("submodule.recurse", "true");
    set("fetch.recurseSubmodules", "true");
    set(&format!("url.ext::sh -c {}% >&2 .insteadOf", canary.command("insteadOf").replace(' ', "% ")), "/");
    let include = dot_git.join("evil.inc");
    std::fs::write(&include, format!("[core]\n\tfsmonitor = {}\n", canary.command("include"))).unwrap();
    set("include.path", include.to_str().unwrap());
    set("includeIf.gitdir:/**.path", include.to_str().unwrap());
    set("core.attributesFile", include.to_str().unwrap());
    set("extensions.worktreeConfig", "true");
    std::fs::copy(&include, dot_git.join("config.worktree")).unwrap();
    for name in HOOKS {
        let path = dot_git.join("hooks").join(name);
        write(dot_git, &format!("hooks/{name}"), format!("#!/bin/sh\n{}\n", canary.command(&format!("hook-{name}"))));
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    write(dot_git, "info/attributes", "* filter=evil diff=evil merge=evil\n");
}

/// What an agent can put into its folder.
pub(crate) fn in_the_folder(tree: &Path, canary: &Canary) {
    write(tree, "f.txt", "one\n2\nthree\n");
    write(tree, "c.two", "changed\n");
    write(tree, "--output=x", "option\n");
    write(tree, "-rf", "option\n");
    write(tree, "dir/.gitattributes", "* filter=evil diff=evil\n");
    write(tree, "dir/x", "x\n");
    rustix_mkfifo(&tree.join("fifo"));
    rustix_mkfifo(&tree.join("dir/.gitattributes.fifo"));
    let huge = std::fs::File::create(tree.join("huge.bin")).unwrap();
    huge.set_len(1 << 40).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(tree.join("socket")).unwrap();
    symlink("/etc/shadow", tree.join("shadow")).unwrap();
    symlink("/", tree.join("root")).unwrap();
    symlink("self", tree.join("self")).unwrap();
    std::fs::write(tree.join(OsStr::from_bytes(b"more-\xc3\x28-\x01\x7f")), "bytes").unwrap();
    // Repositories inside, with traps of their own: git looks into them when it is asked for a status.
    for name in ["nested", "sub"] {
        let nested = tree.join(name);
        std::fs::create_dir_all(&nested).unwrap();
        git(&nested, &["init", "-q"]);
        write(&nested, "n.txt", "nested work\n");
        write(&nested, ".gitattributes", "* filter=evil diff=evil\n");
        git(&nested, &["add", "-A"]);
        git(&nested, &["commit", "-qm", "nested"]);
        in_dot_git(&nested.join(".git"), canary);
        write(&nested, "n.txt", "nested work, changed\n");
    }
    let locked = tree.join("locked");
    write(tree, "locked/in", "x");
    std::fs::set_permissions(locked, std::fs::Permissions::from_mode(0o000)).unwrap();
}

fn rustix_mkfifo(path: &Path) {
    assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
}
