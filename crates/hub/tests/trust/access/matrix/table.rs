//! Who gets what: the written table.

use domain::Visibility;

use protocol::{Access, Call};

/// What each kind of actor gets: `+` it is done, `-` forbidden, `.` not found; `h` only the hub's owner may.
/// Peers by the project's visibility; an observer's link is to this project, a stranger's to another.
/// What is the owner's alone (token, login, invite, runner) belongs to the project's owner here.
/// `x` follows share_execution: done, or not found. What a runner must answer comes to it (`r`; it has no time), `s` if
/// execution is shared; `f` is forbidden if it is and otherwise not found; `c` is a conflict: no runner of one's own, or
/// not over yet. An agent is that of a session of the owner's, and the tasks are held by other workers of theirs. A runner's
/// token is forbidden everything, and opens no socket. A request without a credential gets 401 everywhere.
///
///                              owner  private  read-only  read-write  observer  stranger  agent
fn cells(access: Access) -> &'static str {
    match access {
        Access::Anyone => "+       +        +          +           +         +        +",
        Access::Person => "+       +        +          +           -         -        -",
        Access::HubOwner => "-       h        h          h           -         -        -",
        Access::See => "+       .        +          +           +         .        +",
        Access::PersonSees => "+       .        +          +           -         .        -",
        Access::Write => "+       .        -          +           -         .        +",
        Access::Decide => "+       .        -          +           -         .        -",
        Access::Owner => "+       .        -          -           -         .        -",
        Access::Mine => "+       .        .          .           .         .        .",
        Access::MyRunner => "+       -        -          -           -         -        -",
        Access::Look => "+       .        x          x           x         .        +",
        Access::PersonLooks => "+       .        x          x           f         .        -",
        Access::LookOnRunner => "r       .        s          s           s         .        r",
        Access::Drive => "+       .        f          f           f         .        -",
        Access::DriveOnRunner => "r       .        f          f           f         .        -",
        Access::Spawn => "+       .        -          c           -         -        -",
    }
}

/// Rows that differ from their verb's declaration, and further cases of a verb.
const CASES: &str = "
    login.revoke              +       .        .         .          -        -       -
    runner.look               r       -        -         -          -        -       -
    session.resume            c       .        f         f          f        .       -
    session.ask               c       .        f         f          f        .       -
    handoff.write             +       .        f         f          f        .       +
    handoff.ack               c       .        f         f          f        .       -
    workspace.comment         +       .        f         x          f        .       +
    project.update/visibility +       .        -         -          -        .       -
    project.update/execution  +       .        -         -          -        .       -
    project.update/archive    +       .        -         -          -        .       -
    project.update/retention  +       .        -         -          -        .       -
    project.update/code       +       .        -         -          -        .       -
    project.update/sandbox    +       .        -         -          -        .       -
    project.update/key        +       .        -         -          -        .       -
    activity.list/project     +       .        +         +          +        .       +
    session.list/project      +       .        +         +          +        .       +
    workspace.list/project    +       .        +         +          +        .       +
    overlap.list/project      +       .        +         +          +        .       +
    overlap.reservations/project +    .        +         +          +        .       +
    search.find/project       +       .        +         +          +        .       +
    search.terminals/project  +       .        +         +          +        .       +
    recording.list/project    +       .        +         +          +        .       +
    task.list/project         +       .        +         +          +        .       +
    task.export/project       +       .        +         +          +        .       +
    escalation.list/project   +       .        +         +          +        .       +
    worker.list/project       +       .        +         +          +        .       +
    floor.freeze/project      +       .        +         +          -        .       -
    floor.thaw/project        +       .        +         +          -        .       -
    audit.list/project        +       .        +         +          -        -       -
";

/// A verb that ends what another one needs, and the verb that it must follow.
const LATER: [(&str, &str); 9] = [
    ("session.stop", "workspace.send_back"),
    ("handoff.skip", "session.stop"),
    ("handoff.cancel", "handoff.skip"),
    ("handoff.ack", "handoff.cancel"),
    ("task.report", "task.ask"),
    ("worker.remove", "worker.stop_all"),
    ("recipe.disable", "schedule.remove"),
    ("chat.delete", "audit.list/project"),
    ("project.delete", "chat.delete"),
];

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Owner,
    Peer,
    HubOwner,
    Observer,
    Stranger,
    Agent,
    Runner,
    Anonymous,
}

pub(super) const KINDS: [Kind; 8] = [
    Kind::Owner,
    Kind::Peer,
    Kind::HubOwner,
    Kind::Observer,
    Kind::Stranger,
    Kind::Agent,
    Kind::Runner,
    Kind::Anonymous,
];

/// The rows: every verb of the protocol, each followed by its further cases, with seven cells.
pub(super) fn rows() -> Vec<(&'static str, Vec<&'static str>)> {
    let split = |cells: &'static str| cells.split_whitespace().collect::<Vec<_>>();
    let cases: Vec<_> = CASES.trim().lines().map(split).map(|row| (row[0], row[1..].to_vec())).collect();
    let mut rows = Vec::new();
    for spec in Call::SPECS {
        let own = cases.iter().find(|(case, _)| *case == spec.name).cloned();
        rows.push(own.unwrap_or_else(|| (spec.name, split(cells(spec.access)))));
        rows.extend(cases.iter().filter(|(case, _)| *case != spec.name && verb_of(case) == spec.name).cloned());
    }
    for (verb, other) in LATER {
        let place = |rows: &Vec<(&str, Vec<&str>)>, case| rows.iter().position(|row| row.0 == case).expect("a row");
        let row = rows.remove(place(&rows, verb));
        let at = place(&rows, other) + 1;
        rows.insert(at, row);
    }
    rows.iter().for_each(|(case, cells)| assert_eq!(cells.len(), 7, "{case}"));
    rows
}

pub(super) fn verb_of(case: &str) -> &str {
    case.split('/').next().unwrap_or(case)
}

/// The status that the table wants.
pub(super) fn expected(cells: &[&str], kind: Kind, visibility: Visibility, shared: bool) -> u16 {
    let peers = match visibility {
        Visibility::Private => cells[1],
        Visibility::ReadOnly => cells[2],
        Visibility::ReadWrite => cells[3],
    };
    let cell = match kind {
        Kind::Anonymous => return 401,
        Kind::Runner => return 403,
        Kind::Owner => cells[0],
        Kind::Peer | Kind::HubOwner => peers,
        Kind::Observer => cells[4],
        Kind::Stranger => cells[5],
        Kind::Agent => cells[6],
    };
    match (cell, kind) {
        ("+", _) | ("h", Kind::HubOwner) => 200,
        ("-" | "h", _) => 403,
        (".", _) => 404,
        ("x", _) if shared => 200,
        ("f", _) if shared => 403,
        ("s", _) if shared => 503,
        ("x" | "f" | "s", _) => 404,
        ("r", _) => 503,
        ("c", _) => 409,
        other => panic!("the table has a cell of no meaning: {other:?}"),
    }
}
