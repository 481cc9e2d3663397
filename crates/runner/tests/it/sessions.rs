//! Sessions from wish to end.

use domain::SessionStatus;
use protocol::link::FactBody;
use terminal::recording::Recording;

use crate::hub::FakeHub;
use crate::support::{TestRunner, shell};

#[tokio::test]
async fn a_command_runs_in_its_workspace_and_its_end_is_told() {
    let hub = FakeHub::start().await;
    let runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let session = shell("echo hello > greeting; cat greeting; exit 3");
    hub.desire(vec![session.clone()]);
    let end = hub.over(session.session).await;
    assert_eq!((end.status, end.code, end.signal), (SessionStatus::Exited, Some(3), None), "{end:?}");
    let path = hub
        .fact("a workspace", |fact| match fact {
            FactBody::WorkspaceReady { workspace, path, .. } if *workspace == session.workspace.workspace => {
                Some(path.clone())
            }
            _ => None,
        })
        .await;
    assert_eq!(std::fs::read_to_string(format!("{path}/greeting")).unwrap(), "hello\n");
    let recording = Recording::open(&runner.session_dir(session.session).join("recording")).unwrap();
    let length = recording.verify().unwrap();
    assert_eq!(recording.output(0..length).unwrap(), b"hello\r\n");
    let kinds: Vec<_> = hub.facts().iter().filter_map(|fact| status(&fact.body)).collect();
    assert_eq!(kinds, [SessionStatus::Working, SessionStatus::Exited]);
}

fn status(fact: &FactBody) -> Option<SessionStatus> {
    match fact {
        FactBody::SessionState { state, .. } => Some(state.status),
        _ => None,
    }
}
