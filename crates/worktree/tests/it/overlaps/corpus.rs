//! Generated repositories of 40 branches: facts and git agree about every pair.

use super::oracle::{Repository, Tree};

const BRANCHES: usize = 40;
const FILES: usize = 60;

/// A small generator, so that a seed gives the same repository everywhere.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    fn pick<'a>(&mut self, tree: &'a Tree) -> &'a String {
        tree.keys().nth(self.roll(tree.len())).unwrap()
    }
}

/// Files in folders: some with lines that repeat, some with lines of their own, some binary, scripts, links.
fn base(dice: &mut Dice) -> Tree {
    let mut tree = Tree::new();
    for at in 0..FILES {
        let folder = ["", "src/", "src/deep/", "docs/", "lib/one/", "lib/two/"][dice.roll(6)];
        let lines = 8 + dice.roll(60);
        let text: String = (0..lines)
            .map(|line| match dice.roll(3) {
                0 => "}\n".to_owned(),
                1 => format!("    step({});\n", dice.roll(4)),
                _ => format!("fn f{at}_{line}() {{\n"),
            })
            .collect();
        let (mode, content) = match at % 12 {
            0 => ("100644", [text.as_bytes(), b"\0"].concat()),
            1 => ("120000", format!("target{at}").into_bytes()),
            2 => ("100755", text.into_bytes()),
            3 => ("100644", text.replace('\n', "\r\n").into_bytes()),
            4 => ("100644", text.trim_end().as_bytes().to_vec()),
            _ => ("100644", text.into_bytes()),
        };
        tree.insert(format!("{folder}file{at}"), (mode, content));
    }
    tree
}

fn branch(base: &Tree, dice: &mut Dice) -> Tree {
    let mut tree = base.clone();
    for _ in 0..=dice.roll(4) {
        change(&mut tree, dice);
    }
    tree
}

fn change(tree: &mut Tree, dice: &mut Dice) {
    let path = dice.pick(tree).clone();
    match dice.roll(16) {
        0 => drop(tree.remove(&path)),
        1 => {
            let name = path.rsplit('/').next().unwrap().to_owned();
            rename(tree, &path, &format!("moved/{name}"));
        }
        2 => rename(tree, &path, &format!("{path}.{}", dice.roll(2))),
        // Few names, so that branches meet.
        3 => add(tree, &format!("docs/new{}", dice.roll(3)), &format!("text {}\n", dice.roll(2))),
        4 => add(tree, &format!("lib/new{}", dice.roll(2)), &format!("text {}\n", dice.roll(2))),
        5 => add(tree, &format!("lib/new{}/file", dice.roll(2)), "text\n"),
        6 => {
            let file = tree.get_mut(&path).unwrap();
            file.0 = match file.0 {
                "100644" => "100755",
                "100755" => "100644",
                other => other,
            };
        }
        7 => {
            let file = tree.get_mut(&path).unwrap();
            let text = String::from_utf8_lossy(&file.1).replace("\r\n", "\n").replace('\n', "\r\n");
            file.1 = text.into_bytes();
        }
        8 => {
            let from = ["src/deep/", "lib/one/", "lib/two/", "docs/"][dice.roll(4)];
            let to = ["pkg/", "lib/three/", "src/"][dice.roll(3)];
            let files: Vec<String> = tree.keys().filter(|path| path.starts_with(from)).cloned().collect();
            for file in files {
                rename(tree, &file, &format!("{to}{}", &file[from.len()..]));
            }
        }
        9 => add(tree, &format!("lib/one/extra{}", dice.roll(2)), "extra\n"),
        _ => {
            let file = tree.get_mut(&path).unwrap();
            edit(&mut file.1, dice);
        }
    }
}

fn rename(tree: &mut Tree, from: &str, to: &str) {
    if let Some(file) = tree.remove(from) {
        add_file(tree, to, file);
    }
}

fn add(tree: &mut Tree, path: &str, text: &str) {
    add_file(tree, path, ("100644", text.as_bytes().to_vec()));
}

/// Puts a file, unless a folder is there or a file where a folder is needed.
fn add_file(tree: &mut Tree, path: &str, file: (&'static str, Vec<u8>)) {
    let below = format!("{path}/");
    tree.retain(|there, _| !there.starts_with(&below) && !path.starts_with(&format!("{there}/")));
    tree.insert(path.to_owned(), file);
}

/// Changes, adds or removes lines near the start, so that branches meet often.
fn edit(content: &mut Vec<u8>, dice: &mut Dice) {
    let mut lines: Vec<Vec<u8>> = content.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    for _ in 0..=dice.roll(2) {
        let at = dice.roll(lines.len().max(1)).min(lines.len().saturating_sub(1));
        let text = match dice.roll(4) {
            0 => b"}\n".to_vec(),
            1 => format!("    step({});\n", dice.roll(3)).into_bytes(),
            _ => format!("changed {}\n", dice.roll(3)).into_bytes(),
        };
        match dice.roll(3) {
            0 if !lines.is_empty() => lines[at] = text,
            1 if lines.len() > 1 => drop(lines.remove(at)),
            _ => lines.insert(at, text),
        }
    }
    *content = lines.concat();
}

#[tokio::test]
async fn git_and_facts_agree_about_all_pairs_of_40_branches() {
    let seeds: usize = if std::env::var_os("SHOPFLOOR_LONG").is_some() { 12 } else { 3 };
    let (mut wrong, mut conflicts) = (Vec::new(), 0);
    for seed in 0..seeds {
        let mut dice = Dice(seed as u64 + 1);
        let base = base(&mut dice);
        let branches: Vec<Tree> = (0..BRANCHES).map(|_| branch(&base, &mut dice)).collect();
        let (found, some) = Repository::new(&base, &branches).await.disagreements().await;
        wrong.extend(found.into_iter().map(|one| format!("seed {seed}: {one}")));
        conflicts += some;
    }
    assert!(conflicts > 25 * seeds, "{conflicts} conflicts are too few to learn from");
    assert!(wrong.is_empty(), "{} disagreements, {conflicts} conflicts\n{}", wrong.len(), wrong.join("\n"));
}
