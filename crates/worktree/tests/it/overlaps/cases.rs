//! Hand-made pairs of branches, each with what git says about it.

use engine::overlaps::{self, MeetingKind};

use super::oracle::{Repository, Tree, tree};

const TEXT: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n";

fn base() -> Tree {
    tree(&[
        ("text", TEXT),
        ("script", TEXT),
        ("link@", "text"),
        ("old/a", "a1\na2\na3\na4\na5\n"),
        ("old/b", "b1\nb2\nb3\nb4\nb5\n"),
        ("old/deep/c", "c1\nc2\nc3\nc4\nc5\n"),
        ("binary", "a\0b"),
        ("open", "one\ntwo"),
    ])
}

fn with(change: impl FnOnce(&mut Tree)) -> Tree {
    let mut tree = base();
    change(&mut tree);
    tree
}

fn put(path: &'static str, content: impl Into<Vec<u8>>) -> impl FnOnce(&mut Tree) {
    let content = content.into();
    move |tree| drop(tree.insert(path.into(), ("100644", content)))
}

fn gone(path: &'static str) -> impl FnOnce(&mut Tree) {
    move |tree| drop(tree.remove(path).unwrap())
}

fn moved(from: &'static str, to: &'static str) -> impl FnOnce(&mut Tree) {
    move |tree| {
        let file = tree.remove(from).unwrap();
        tree.insert(to.into(), file);
    }
}

fn mode(path: &'static str, mode: &'static str) -> impl FnOnce(&mut Tree) {
    move |tree| tree.get_mut(path).unwrap().0 = mode
}

fn line(old: &str, new: &str) -> String {
    TEXT.replace(old, new)
}

fn both(a: impl FnOnce(&mut Tree), b: impl FnOnce(&mut Tree)) -> impl FnOnce(&mut Tree) {
    move |tree| {
        a(tree);
        b(tree);
    }
}

#[tokio::test]
async fn git_and_facts_agree_about_every_kind_of_change() {
    use MeetingKind::{Contradiction, RenamedUnder, SameFile, SameLines};
    let link =
        |target: &'static str| move |tree: &mut Tree| drop(tree.insert("link".into(), ("120000", target.into())));
    let folder = || both(moved("old/a", "new/a"), both(moved("old/b", "new/b"), moved("old/deep/c", "new/deep/c")));
    let pairs: Vec<(&str, Tree, Tree, Option<MeetingKind>)> = vec![
        ("different files", with(put("text", line("two", "2"))), with(put("script", line("two", "2"))), None),
        ("lines apart", with(put("text", line("two", "2"))), with(put("text", line("five", "5"))), Some(SameFile)),
        ("one line between", with(put("text", line("two", "2"))), with(put("text", line("four", "4"))), Some(SameFile)),
        (
            "lines that touch",
            with(put("text", line("two", "2"))),
            with(put("text", line("three", "3"))),
            Some(SameLines),
        ),
        ("the same line", with(put("text", line("two", "2"))), with(put("text", line("two", "zwei"))), Some(SameLines)),
        ("equal changes", with(put("text", line("two", "2"))), with(put("text", line("two", "2"))), None),
        (
            "equal changes and one more",
            with(put("text", line("two", "2"))),
            with(put("text", line("two", "2").replace("nine", "9"))),
            Some(SameFile),
        ),
        (
            "both append",
            with(put("text", line("ten\n", "ten\nx\n"))),
            with(put("text", line("ten\n", "ten\ny\n"))),
            Some(SameLines),
        ),
        (
            "both insert at the start",
            with(put("text", format!("x\n{TEXT}"))),
            with(put("text", format!("y\n{TEXT}"))),
            Some(SameLines),
        ),
        (
            "insert beside a change",
            with(put("text", line("two\n", "two\nx\n"))),
            with(put("text", line("two", "2"))),
            Some(SameLines),
        ),
        ("delete and change", with(gone("text")), with(put("text", line("two", "2"))), Some(Contradiction)),
        ("delete and change the mode", with(gone("text")), with(mode("text", "100755")), Some(Contradiction)),
        ("delete twice", with(gone("text")), with(gone("text")), None),
        ("delete and move", with(gone("text")), with(moved("text", "there")), Some(Contradiction)),
        ("change and move", with(put("text", line("two", "2"))), with(moved("text", "there")), Some(RenamedUnder)),
        (
            "change and move with the same line",
            with(put("text", line("two", "2"))),
            with(both(put("text", line("two", "zwei")), moved("text", "there"))),
            Some(SameLines),
        ),
        (
            "change and move with another line",
            with(put("text", line("two", "2"))),
            with(both(put("text", line("nine", "9")), moved("text", "there"))),
            Some(RenamedUnder),
        ),
        ("move to two places", with(moved("text", "x")), with(moved("text", "y")), Some(Contradiction)),
        ("move to the same place", with(moved("text", "x")), with(moved("text", "x")), None),
        ("move two files to one place", with(moved("old/a", "x")), with(moved("old/b", "x")), Some(Contradiction)),
        ("move onto a new file", with(moved("text", "x")), with(put("x", "new\n")), Some(Contradiction)),
        ("mode and lines", with(mode("script", "100755")), with(put("script", line("two", "2"))), Some(SameFile)),
        ("add differently", with(put("new", "x\n")), with(put("new", "y\n")), Some(Contradiction)),
        ("add alike", with(put("new", "x\n")), with(put("new", "x\n")), None),
        (
            "add alike with other modes",
            with(put("new", "x\n")),
            with(both(put("new", "x\n"), mode("new", "100755"))),
            Some(Contradiction),
        ),
        ("binary both", with(put("binary", "a\0c")), with(put("binary", "a\0d")), Some(Contradiction)),
        ("binary alike", with(put("binary", "a\0c")), with(put("binary", "a\0c")), None),
        ("link both", with(link("script")), with(link("binary")), Some(Contradiction)),
        ("link and unchanged", with(link("script")), with(put("text", "x\n")), None),
        (
            "a link now, and changed",
            with(both(gone("text"), |tree| drop(tree.insert("text".into(), ("120000", b"x".to_vec()))))),
            with(put("text", line("two", "2"))),
            Some(Contradiction),
        ),
        (
            "a link now, and moved",
            with(both(gone("text"), |tree| drop(tree.insert("text".into(), ("120000", b"x".to_vec()))))),
            with(moved("text", "there")),
            Some(Contradiction),
        ),
        ("file and folder", with(put("new", "x\n")), with(put("new/file", "y\n")), Some(Contradiction)),
        ("a name that begins alike", with(put("new", "x\n")), with(put("new.file", "y\n")), None),
        (
            "a folder in place of a file",
            with(both(gone("text"), put("text/x", "x\n"))),
            with(put("text", line("two", "2"))),
            Some(Contradiction),
        ),
        (
            "carriage returns",
            with(put("text", TEXT.replace('\n', "\r\n"))),
            with(put("text", line("two", "2"))),
            Some(SameLines),
        ),
        ("a moved folder gets a file", with(folder()), with(put("old/d", "new\n")), Some(Contradiction)),
        ("a moved folder gets a file below", with(folder()), with(put("old/deep/d", "new\n")), Some(Contradiction)),
        ("a moved folder gets a folder", with(folder()), with(put("old/sub/d", "new\n")), None),
        ("a folder that stays in part", with(moved("old/a", "new/a")), with(put("old/d", "new\n")), None),
        (
            "a split folder gets a file",
            with(both(moved("old/a", "x/a"), both(moved("old/b", "y/b"), gone("old/deep/c")))),
            with(put("old/d", "new\n")),
            Some(Contradiction),
        ),
        (
            "a folder that both move and one fills again",
            with(folder()),
            with(both(folder(), put("old/d", "new\n"))),
            Some(Contradiction),
        ),
        ("a folder that both move", with(folder()), with(folder()), None),
        ("no line feed at the end", with(put("open", "one\ntwo\n")), with(put("open", "1\ntwo")), Some(SameLines)),
        ("no line feed, alike", with(put("open", "one\n2")), with(put("open", "one\n2")), None),
        ("a line feed or none", with(put("open", "one\n2")), with(put("open", "one\n2\n")), Some(SameLines)),
        ("strange names", with(put("-x \"y\"\nz", "x\n")), with(put("-x \"y\"\nz", "y\n")), Some(Contradiction)),
    ];
    let trees: Vec<Tree> = pairs.iter().flat_map(|(_, a, b, _)| [a.clone(), b.clone()]).collect();
    let repository = Repository::new(&base(), &trees).await;
    let facts = repository.facts().await;
    for (at, (what, _, _, expected)) in pairs.iter().enumerate() {
        let found = overlaps::overlaps(&facts[2 * at], &facts[2 * at + 1]);
        let worst = found.iter().map(|meeting| meeting.kind).max();
        assert_eq!(worst, *expected, "{what}: {found:?}\n{:?}\n{:?}", facts[2 * at], facts[2 * at + 1]);
        assert_eq!(found, overlaps::overlaps(&facts[2 * at + 1], &facts[2 * at]), "{what}: the order does not matter");
    }
    // All of them beside all others, too: git is the judge.
    let (wrong, conflicts) = repository.disagreements().await;
    assert!(conflicts > 100, "{conflicts} conflicts are too few to learn from");
    assert!(wrong.is_empty(), "{} disagreements\n{}", wrong.len(), wrong.join("\n"));
}
