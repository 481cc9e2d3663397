//! Every verb, by every kind of actor, over HTTP and WebSocket, against what its declaration says and a written table.

mod calls;
mod fixture;
mod table;

use std::collections::BTreeSet;

use domain::Visibility;
use protocol::{AuditEntry, AuditPage, Call};
use serde_json::{Value, json};

use self::calls::{Targets, ask, exceptions, plain};
use self::fixture::{Fixture, Way};
use self::table::{KINDS, Kind, expected, rows, verb_of};
use crate::support::calls::merge;
use crate::support::{Credential, Socket, view};

#[test]
fn every_row_asks_its_own_verb() {
    for (case, _) in rows() {
        assert_eq!(ask(case, &Targets::nowhere()).verb(), verb_of(case));
    }
}

#[test]
fn every_exception_names_one_row_and_changes_its_call() {
    let nowhere = Targets::nowhere();
    let rows: BTreeSet<&str> = rows().into_iter().map(|(case, _)| case).collect();
    let mut seen = BTreeSet::new();
    for (case, added) in exceptions(&nowhere) {
        assert!(rows.contains(case), "the exception {case} is of no row of the table");
        assert!(seen.insert(case), "{case} has two exceptions");
        let call = json!(plain(case, &nowhere));
        let mut with = call.clone();
        merge(&mut with, &added);
        assert_ne!(with, call, "{case}: {added} adds nothing");
    }
    for case in rows.iter().filter(|case| case.contains('/') && !case.ends_with("/project")) {
        assert!(seen.contains(case), "say in `exceptions` what makes {case} different from {}", verb_of(case));
    }
}

/// Without it, something is not answered as the table says, from there on, or leaves no trace on the audit trail.
#[tokio::test]
async fn every_exception_of_a_verb_is_needed() {
    let mut needless = Vec::new();
    for (case, _) in exceptions(&Targets::nowhere()).into_iter().filter(|(case, _)| !case.contains('/')) {
        let fixture = Fixture::new().await;
        let walked = all_of(&fixture, Kind::Owner, Visibility::ReadWrite, Some(case)).await;
        let audited = Call::SPECS.iter().any(|spec| spec.name == case && spec.audited);
        if walked.as_declared
            && audited <= walked.recorded.contains(case)
            && all_of(&fixture, Kind::Peer, Visibility::ReadOnly, Some(case)).await.as_declared
        {
            needless.push(case);
        }
    }
    assert!(needless.is_empty(), "the table holds without these exceptions: {needless:?}");
}

/// The owners can ask for every verb that changes something, so the trail shows whether each is recorded as declared.
#[tokio::test]
async fn every_change_is_on_the_audit_trail_as_declared() {
    let fixture = Fixture::new().await;
    let mut all = all_of(&fixture, Kind::Owner, Visibility::ReadWrite, None).await;
    let of_hub = all_of(&fixture, Kind::HubOwner, Visibility::ReadWrite, None).await;
    all.asked.extend(of_hub.asked);
    all.recorded.extend(of_hub.recorded);
    // They need a session that has ended, or one that a colleague watches: `audit.rs` and `links::terminals::keyboard`
    // have these.
    let elsewhere = |name: &str| {
        ["session.resume", "session.ask", "handoff.ack"].contains(&name) || name.starts_with("session.keyboard_")
    };
    for spec in Call::SPECS.iter().filter(|spec| spec.changes() && !elsewhere(spec.name)) {
        assert!(all.asked.contains(spec.name), "nobody could ask for {}", spec.name);
        assert_eq!(all.recorded.contains(spec.name), spec.audited, "{}", spec.name);
    }
}

/// What came of asking everything.
struct Walked {
    /// Whether each answer was as the table says.
    as_declared: bool,
    /// The verbs that were done, or asked of a runner that has no time.
    asked: BTreeSet<&'static str>,
    /// The verbs that people have on the audit trail.
    recorded: BTreeSet<String>,
}

/// Asks for all verbs in a project; one of them without its exception.
async fn all_of(fixture: &Fixture, kind: Kind, visibility: Visibility, without: Option<&str>) -> Walked {
    let on = fixture.targets(visibility, true).await;
    let asker = Asker { fixture, kind, visibility, shared: true, on };
    let (credential, mut way) = asker.enter(true).await;
    let (mut as_declared, mut asked) = (true, BTreeSet::new());
    for (case, cells) in rows() {
        let call = if Some(case) == without { plain(case, &on) } else { ask(case, &on) };
        let (wanted, got, _) = asker.ask(&mut way, &credential, (case, &cells), call).await;
        as_declared &= wanted == got;
        if [200, 503].contains(&got) {
            asked.insert(verb_of(case));
        }
        if without.is_some() && !as_declared {
            break;
        }
    }
    let page = AuditPage { limit: Some(500), ..Default::default() };
    let entries = view!(&fixture.hub, &credential, Audit, Call::AuditList { page });
    assert!(entries.len() < 500, "the oldest may be missing");
    let by_people = |entry: &AuditEntry| entry.actor.is_some() && entry.origin.starts_with("127.0.0.1 ");
    let recorded = entries.into_iter().filter(by_people).map(|entry| entry.verb).collect();
    Walked { as_declared, asked, recorded }
}

/// Somebody who walks the table.
struct Asker<'a> {
    fixture: &'a Fixture,
    kind: Kind,
    visibility: Visibility,
    /// Whether execution is shared in the project.
    shared: bool,
    on: Targets,
}

impl Asker<'_> {
    async fn enter(&self, over_socket: bool) -> (Credential, Way) {
        let credential = self.fixture.credential(self.kind, &self.on).await;
        let hub = self.fixture.hub.url();
        let way = match (over_socket, self.kind) {
            (false, _) => Way::Http,
            (true, Kind::Anonymous) => {
                assert_eq!(Socket::connect(hub, &credential).await.err(), Some(401));
                Way::Shut(401)
            }
            (true, Kind::Runner) => {
                assert_eq!(Socket::connect(hub, &credential).await.err(), Some(403));
                Way::Shut(403)
            }
            (true, _) => Way::Socket(Box::new(Socket::live(hub, &credential).await)),
        };
        (credential, way)
    }

    /// What the table says, what came, and what was said.
    async fn ask(
        &self,
        way: &mut Way,
        credential: &Credential,
        (case, cells): (&str, &[&str]),
        call: Call,
    ) -> (u16, u16, Value) {
        let shared = self.shared || self.kind == Kind::Owner;
        let wanted = expected(cells, self.kind, self.visibility, shared);
        if case == "project.delete" && self.kind == Kind::Owner {
            self.fixture.end(self.on.project).await;
        }
        let (got, said) = way.ask(&self.fixture.hub, credential, call).await;
        (wanted, got, said)
    }
}

/// Walks the table for one visibility. `over_socket` chooses the way.
async fn walk(visibility: Visibility, over_socket: bool) {
    let fixture = Fixture::new().await;
    let mut checked = 0;
    for shared in [false, true] {
        for kind in KINDS {
            let on = fixture.targets(visibility, shared).await;
            let asker = Asker { fixture: &fixture, kind, visibility, shared, on };
            let (credential, mut way) = asker.enter(over_socket).await;
            for (case, cells) in rows() {
                let (wanted, got, said) = asker.ask(&mut way, &credential, (case, &cells), ask(case, &on)).await;
                let about = format!("{case} by {kind:?}, {visibility}, share {shared}");
                assert_eq!(got, wanted, "{about}: {said}");
                checked += 1;
                if wanted == 404 {
                    let nothing = way.ask(&fixture.hub, &credential, ask(case, &Targets::nowhere())).await;
                    assert_eq!((got, said), nothing, "{about}: told from what does not exist");
                }
            }
        }
    }
    assert_eq!(checked, 2 * KINDS.len() * rows().len());
}

#[tokio::test]
async fn the_table_holds_over_http_in_private_projects() {
    walk(Visibility::Private, false).await;
}

#[tokio::test]
async fn the_table_holds_over_http_in_read_only_projects() {
    walk(Visibility::ReadOnly, false).await;
}

#[tokio::test]
async fn the_table_holds_over_http_in_read_write_projects() {
    walk(Visibility::ReadWrite, false).await;
}

#[tokio::test]
async fn the_table_holds_over_sockets_in_private_projects() {
    walk(Visibility::Private, true).await;
}

#[tokio::test]
async fn the_table_holds_over_sockets_in_read_only_projects() {
    walk(Visibility::ReadOnly, true).await;
}

#[tokio::test]
async fn the_table_holds_over_sockets_in_read_write_projects() {
    walk(Visibility::ReadWrite, true).await;
}
