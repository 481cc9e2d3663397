//! Moving and copying databases.

use std::os::unix::fs::PermissionsExt;

use crate::floor::Floor;

#[test]
fn everything_moves() {
    let floor = Floor::up();
    floor.text(&["project", "create", "Parser"]);
    let (archive, copy) = (floor.path("archive"), floor.path("copy.db"));
    let shown = archive.display().to_string();
    floor.text(&["db", "export", &shown]);
    floor.text(&["db", "backup", &copy.display().to_string()]);
    for file in [&archive, &copy] {
        assert_eq!(std::fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    }
    floor.fail(4, &["db", "export", &shown]);
    let mut other = Floor::empty();
    std::fs::create_dir(other.data_dir()).unwrap();
    other.text(&["db", "import", &shown]);
    let text = std::fs::read_to_string(&archive).unwrap();
    let again = Floor::empty();
    std::fs::create_dir(again.data_dir()).unwrap();
    let ended = again.run_with_input(&["db", "import", "-"], &text[..text.len() / 2]);
    assert_eq!(ended.code, 2, "half an archive is refused: {}", ended.stderr);
    std::fs::copy(floor.data_dir().join("token"), other.data_dir().join("token")).unwrap();
    other.start("127.0.0.1:0");
    assert_eq!(other.json(&["project", "list"])[0]["name"], "Parser");
    assert!(other.fail(4, &["db", "import", &shown, "--database", &database(&floor)]).contains("not empty"));
}

fn database(floor: &Floor) -> String {
    let copy = floor.path("copy.db");
    format!("sqlite:{}", copy.display())
}
