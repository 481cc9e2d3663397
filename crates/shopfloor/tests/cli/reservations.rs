//! Reservations on the command line.

use crate::fixture::Fixture;

#[test]
fn files_are_reserved_listed_and_released() {
    let fixture = Fixture::up();
    fixture.text(&["project", "create", "Parser"]);
    for name in ["Add parser", "Add lexer"] {
        fixture.text(&["activity", "create", "Parser", name]);
    }
    let why = ["--for", "30m", "--reason", "splitting the module"];
    let made =
        fixture.json(&[&["overlap", "reserve", "src/**", "docs", "--activity", "Add parser"][..], &why].concat());
    assert_eq!((&made["patterns"][0], &made["patterns"][1]), (&"docs".into(), &"src/**".into()), "{made}");
    let listed = fixture.text(&["overlap", "reservations", "--project", "Parser"]);
    assert!(
        ["Add parser", "docs, src/**", "splitting the module", "in 30 min"].iter().all(|part| listed.contains(part)),
        "{listed}"
    );
    fixture.text(&["overlap", "reserve", "src/lexer.rs", "--activity", "Add lexer"]);
    let met = fixture.text(&["overlap", "list"]);
    assert!(met.contains("reserved") && met.contains("src/lexer.rs") && met.contains("Add parser"), "{met}");
    assert_eq!(fixture.json(&["overlap", "list"])[0]["kind"], "declared");
    let id = made["id"].as_str().unwrap();
    fixture.text(&["overlap", "release", id]);
    assert_eq!(fixture.json(&["overlap", "list"]).as_array().map(Vec::len), Some(0));
    let released = fixture.json(&["overlap", "release", "--activity", "Add lexer"]);
    assert_eq!(released[0]["patterns"][0], "src/lexer.rs", "{released}");
    assert_eq!(fixture.text(&["overlap", "reservations"]).trim(), "no reservations");
    let wrong = fixture.fail(2, &["overlap", "reserve", "/etc/passwd", "--activity", "Add parser"]);
    assert!(wrong.contains("patterns[0]: a pattern starts with `/`"), "{wrong}");
}
