//! Every verb, by every kind of actor, over HTTP and WebSocket, against what its declaration says and a written table.

mod calls;
mod floor;
mod table;

use domain::Visibility;

use self::calls::{Targets, ask};
use self::floor::{Floor, Way};
use self::table::{KINDS, Kind, expected, rows, verb_of};
use crate::support::Socket;

#[test]
fn every_row_asks_its_own_verb() {
    for (case, _) in rows() {
        assert_eq!(ask(case, &Targets::nowhere()).verb(), verb_of(case));
    }
}

/// Walks the table for one visibility. `over_socket` chooses the way.
async fn walk(visibility: Visibility, over_socket: bool) {
    let floor = Floor::new().await;
    let mut checked = 0;
    for share_execution in [false, true] {
        for kind in KINDS {
            let on = floor.targets(visibility, share_execution).await;
            let credential = floor.credential(kind, &on).await;
            let mut way = match (over_socket, kind) {
                (false, _) => Way::Http,
                (true, Kind::Anonymous) => {
                    assert_eq!(Socket::connect(floor.hub.url(), &credential).await.err(), Some(401));
                    Way::Shut(401)
                }
                (true, Kind::Runner) => {
                    assert_eq!(Socket::connect(floor.hub.url(), &credential).await.err(), Some(403));
                    Way::Shut(403)
                }
                (true, _) => Way::Socket(Box::new(Socket::live(floor.hub.url(), &credential).await)),
            };
            for (case, cells) in rows() {
                let shared = share_execution || (kind == Kind::Owner);
                let wanted = expected(&cells, kind, visibility, shared);
                if case == "project.delete" && kind == Kind::Owner {
                    floor.end(on.project).await;
                }
                let (got, said) = way.ask(&floor.hub, &credential, ask(case, &on)).await;
                let about = format!("{case} by {kind:?}, {visibility}, share {share_execution}");
                assert_eq!(got, wanted, "{about}: {said}");
                checked += 1;
                if wanted == 404 {
                    let nothing = way.ask(&floor.hub, &credential, ask(case, &Targets::nowhere())).await;
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
