//! Moving and copying databases.

use std::os::unix::fs::PermissionsExt;

use crate::fixture::Fixture;

#[test]
fn db_export_import_and_backup_round_trip() {
    let fixture = Fixture::up();
    fixture.text(&["project", "create", "Parser"]);
    let (archive, copy) = (fixture.path("archive"), fixture.path("copy.db"));
    let shown = archive.display().to_string();
    fixture.text(&["db", "export", &shown]);
    fixture.text(&["db", "backup", &copy.display().to_string()]);
    for file in [&archive, &copy] {
        assert_eq!(std::fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    }
    fixture.fail(4, &["db", "export", &shown]);
    let mut other = Fixture::empty();
    std::fs::create_dir(other.data_dir()).unwrap();
    other.text(&["db", "import", &shown]);
    let text = std::fs::read_to_string(&archive).unwrap();
    let again = Fixture::empty();
    std::fs::create_dir(again.data_dir()).unwrap();
    let ended = again.run_with_input(&["db", "import", "-"], &text[..text.len() / 2]);
    assert_eq!(ended.code, 2, "half an archive is refused: {}", ended.stderr);
    std::fs::copy(fixture.data_dir().join("token"), other.data_dir().join("token")).unwrap();
    other.start("127.0.0.1:0");
    assert_eq!(other.json(&["project", "list"])[0]["name"], "Parser");
    assert!(other.fail(4, &["db", "import", &shown, "--database", &database(&fixture)]).contains("not empty"));
}

fn database(fixture: &Fixture) -> String {
    let copy = fixture.path("copy.db");
    format!("sqlite:{}", copy.display())
}
