//! Who gets what: the written table.

use domain::Visibility;

/// What each kind of actor gets: `+` it is done, `-` forbidden, `.` not found; `h` only the hub's owner may.
/// Peers by the project's visibility; an observer's link is to this project, a stranger's to another.
/// What is the owner's alone (token, login, invite, runner) belongs to the project's owner here.
/// `x` follows share_execution: done, or not found. What a runner must answer comes to it (`r`; it has no time), `s` if
/// execution is shared; `f` is forbidden if it is and otherwise not found; `c` is a conflict: no runner of one's own, or
/// not over yet. An agent is that of a session of the owner's, and the tasks are held by other workers of theirs. A runner's
/// token is forbidden everything, and opens no socket. Whoever shows no credential gets 401 everywhere.
const TABLE: &str = "
    verb                    owner  private read-only read-write  observer stranger  agent
    me                        +       +        +         +          +        +       +
    me.rename                 +       +        +         +          -        -       -
    user.list                 +       +        +         +          -        -       -
    user.show                 +       +        +         +          -        -       -
    user.disable              -       h        h         h          -        -       -
    user.enable               -       h        h         h          -        -       -
    project.list              +       +        +         +          +        +       +
    project.show              +       .        +         +          +        .       +
    project.create            +       +        +         +          -        -       -
    project.update            +       .        -         +          -        .       -
    project.update/visibility +       .        -         -          -        .       -
    project.update/execution  +       .        -         -          -        .       -
    project.update/archive    +       .        -         -          -        .       -
    project.update/retention  +       .        -         -          -        .       -
    project.update/code       +       .        -         -          -        .       -
    project.update/sandbox    +       .        -         -          -        .       -
    project.versions          +       .        +         +          +        .       +
    project.diff              +       .        +         +          +        .       +
    activity.list             +       +        +         +          +        +       +
    activity.list/project     +       .        +         +          +        .       +
    activity.show             +       .        +         +          +        .       +
    activity.create           +       .        -         +          -        .       -
    activity.update           +       .        -         +          -        .       +
    activity.versions         +       .        +         +          +        .       +
    activity.diff             +       .        +         +          +        .       +
    chat.history              +       .        +         +          +        .       +
    chat.send                 +       .        -         +          -        .       +
    chat.edit                 +       .        -         -          -        .       -
    chat.read                 +       .        +         +          -        .       -
    chat.unread               +       +        +         +          -        -       -
    token.list                +       +        +         +          -        -       -
    token.create              +       +        +         +          -        -       -
    token.revoke              +       .        .         .          .        .       .
    login.list                +       +        +         +          -        -       -
    login.link                +       +        +         +          -        -       -
    login.revoke              +       .        .         .          -        -       -
    login.revoke_all          +       +        +         +          -        -       -
    invite.list               +       +        +         +          -        -       -
    invite.create             +       +        +         +          -        -       -
    invite.revoke             +       .        .         .          .        .       .
    observer.list             +       .        -         -          -        .       -
    observer.create           +       .        -         -          -        .       -
    observer.revoke           +       .        -         -          -        .       -
    runner.list               +       +        +         +          -        -       -
    runner.create             +       +        +         +          -        -       -
    runner.update             +       -        -         -          -        -       -
    runner.remove             +       -        -         -          -        -       -
    approval.list             +       +        +         +          -        -       -
    approval.show             +       .        .         .          .        .       .
    approval.answer           +       .        .         .          .        .       .
    grant.list                +       +        +         +          -        -       -
    grant.revoke              +       .        .         .          .        .       .
    session.list              +       +        +         +          +        +       +
    session.list/project      +       .        +         +          +        .       +
    session.show              +       .        x         x          x        .       +
    session.spawn             +       .        -         c          -        -       -
    session.log               r       .        s         s          s        .       r
    session.send              r       .        f         f          f        .       -
    session.resume            c       .        f         f          f        .       -
    workspace.list            +       +        +         +          +        +       +
    workspace.list/project    +       .        +         +          +        .       +
    workspace.show            +       .        x         x          x        .       +
    workspace.diff            r       .        s         s          s        .       r
    workspace.saves           r       .        s         s          s        .       r
    workspace.restore         r       .        f         f          f        .       -
    workspace.clean           r       .        f         f          f        .       -
    recording.list            +       +        +         +          +        +       +
    recording.list/project    +       .        +         +          +        .       +
    recording.show            r       .        s         s          s        .       r
    recording.part            r       .        s         s          s        .       r
    recording.search          r       .        s         s          s        .       r
    recording.keep            +       .        f         f          f        .       -
    session.stop              +       .        f         f          f        .       -
    task.list                 +       +        +         +          +        +       +
    task.list/project         +       .        +         +          +        .       +
    task.export               +       +        +         +          +        +       +
    task.export/project       +       .        +         +          +        .       +
    task.show                 +       .        +         +          +        .       +
    task.add                  +       .        -         +          -        .       +
    task.heartbeat            +       .        -         -          -        .       -
    task.ask                  +       .        -         -          -        .       -
    task.release              +       .        -         -          -        .       -
    task.report               +       .        -         -          -        .       -
    task.cancel               +       .        -         +          -        .       -
    task.retry                +       .        -         +          -        .       -
    task.take                 +       .        -         +          -        .       +
    task.turn                 +       .        -         +          -        .       +
    task.take_over            +       .        -         c          -        -       -
    escalation.list           +       +        +         +          +        +       +
    escalation.list/project   +       .        +         +          +        .       +
    escalation.show           +       .        +         +          +        .       +
    escalation.answer         +       .        -         +          -        .       -
    worker.list               +       +        +         +          +        +       +
    worker.list/project       +       .        +         +          +        .       +
    worker.show               +       .        +         +          +        .       +
    worker.update             +       .        -         -          -        .       -
    worker.start              +       .        -         c          -        -       -
    worker.stop               +       .        -         -          -        .       -
    worker.restart            +       .        -         -          -        .       -
    worker.stop_all           +       .        +         +          -        .       -
    worker.remove             +       .        -         -          -        .       -
    work.log                  +       .        +         +          +        .       +
    work.settings             +       .        +         +          +        .       +
    work.configure            +       .        -         -          -        .       -
    work.metrics              +       .        +         +          +        .       +
    work.doing                +       .        +         +          +        .       +
    floor.freeze              +       +        +         +          -        -       -
    floor.freeze/project      +       .        +         +          -        .       -
    floor.thaw                +       +        +         +          -        -       -
    floor.thaw/project        +       .        +         +          -        .       -
    audit.list                +       +        +         +          -        -       -
    audit.list/project        +       .        +         +          -        -       -
    presence.list             +       +        +         +          -        -       -
    chat.delete               +       .        -         -          -        .       -
    project.delete            +       .        -         -          -        .       -
";

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

/// The rows: case and its seven cells.
pub(super) fn rows() -> Vec<(&'static str, Vec<&'static str>)> {
    let rows = TABLE.trim().lines().skip(1).map(|line| {
        let cells: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(cells.len(), 8, "{line}");
        (cells[0], cells[1..].to_vec())
    });
    rows.collect()
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
