//! Verbs: what they take is one frame or body, how often is counted, and what they answer has an end.

use std::collections::{BTreeMap, BTreeSet};

use domain::limits::{MAX_OBSERVERS, MAX_OPEN_INVITES, MAX_OPEN_LOGIN_LINKS, MAX_RUNNERS};
use protocol::{
    Call, FromHub, InviteCreate, MAX_FRAME, ObserverCreate, ProblemKind, ProjectCreate, RunnerCreate, ToHub,
};
use serde_json::{Value, json};
use testkit::TestHub;

use super::{OFTEN, strict};
use crate::support::{Socket, ann, begin, call, calls, operations, send, view};

/// What bounds the answer of each verb that reads a list, and of others whose answer can be long; the rest answer one thing,
/// or that it is done. `pages N`: N at most, and asking for more is refused. `cut at N`: asking for more gets N. `newest`: the
/// newest 10,000. `fits`: the newest, 10,000 of them and 8 Mi characters at most. `at most N`: one more is not made.
/// `runner`: what fits into a runner's frame. `recent`: one thing with the newest 200 of what belongs to it.
/// `made`: what people have made, each with a request of its own, and with texts of bounded length.
const TABLE: &str = "
    user.list            made
    project.list         fits
    project.versions     pages 100
    activity.list        fits
    activity.versions    pages 100
    chat.history         pages 200
    chat.unread          made
    token.list           at most 200
    login.list           made
    invite.list          newest
    observer.list        at most 200
    runner.list          fits
    approval.list        cut at 500
    grant.list           at most 2000
    session.list         newest
    session.log          runner
    session.screen       runner
    session.questions    at most 200
    workspace.list       newest
    workspace.diff       runner
    workspace.saves      runner
    search.find          cut at 50
    search.terminals     cut at 50
    recording.list       newest
    recording.show       runner
    recording.part       runner
    recording.search     runner
    task.list            pages 1000
    task.export          pages 200
    task.show            recent
    escalation.list      fits
    worker.list          made
    work.log             cut at 500
    work.doing           made
    handoff.list         cut at 200
    landing.list         cut at 500
    overlap.list         cut at 500
    overlap.reservations cut at 500
    merge.list           made
    notify.list          at most 200
    merge.history        pages 500
    merge.show           recent
    recipe.templates     made
    recipe.list          at most 200
    recipe.versions      at most 1000
    profile.list         at most 100
    profile.versions     newest
    execution.list       cut at 200
    execution.log        cut at 1000
    artifact.list        cut at 200
    artifact.read        cut at 65536
    schedule.list        at most 200
    schedule.ticks       cut at 500
    hook.list            at most 50
    hook.deliveries      newest
    audit.list           pages 500
    presence.list        made
";

fn table() -> BTreeMap<&'static str, &'static str> {
    let rows = TABLE.lines().map(str::trim).filter(|line| !line.is_empty());
    let split = |row: &'static str| row.split_once(' ').map(|(verb, bound)| (verb, bound.trim())).expect("two columns");
    let (count, table) = (rows.clone().count(), rows.map(split).collect::<BTreeMap<_, _>>());
    assert_eq!(table.len(), count, "a verb has two rows");
    table
}

/// The verbs that read a list, by the schemas of their answers.
fn lists() -> BTreeSet<String> {
    let document = json!(hub::openapi_document());
    let paths = document["paths"].as_object().into_iter().flatten();
    let reads = paths.map(|(_, methods)| &methods["get"]).filter(|operation| operation.is_object());
    let listed = |operation: &&Value| {
        let responses = operation["responses"].as_object().into_iter().flatten();
        responses
            .map(|(_, response)| &response["content"]["application/json"]["schema"])
            .any(|it| it["type"] == "array")
    };
    reads.filter(listed).filter_map(|operation| operation["operationId"].as_str().map(str::to_owned)).collect()
}

#[test]
fn every_list_has_its_bound() {
    let (table, lists) = (table(), lists());
    assert!(lists.len() > 10 && lists.contains("task.list"), "{lists:?}");
    for verb in &lists {
        assert!(table.contains_key(verb.as_str()), "say in `TABLE` what bounds the list that {verb} answers");
    }
    let words = ["newest", "made", "runner", "fits", "recent"];
    let counted = |bound: &str| ["pages ", "at most ", "cut at "].iter().any(|word| bound.starts_with(word));
    for (verb, bound) in table {
        assert!(Call::VERBS.contains(&verb), "the row of {verb} is about no verb");
        assert!(words.contains(&bound) || counted(bound), "`{bound}` of {verb} bounds nothing; one thing needs no row");
    }
}

#[tokio::test]
async fn every_verb_is_counted() {
    let hub = strict().await;
    let mut socket = Socket::live(hub.url(), &ann(&hub)).await;
    for (number, call) in calls::one_of_each().into_iter().enumerate() {
        let verb = call.verb();
        // The first may pass; of three at once, one does not.
        let ids: Vec<u32> = (0..3).map(|nth| u32::try_from(10 * number + nth).expect("few")).collect();
        for id in &ids {
            socket.send(&ToHub::Request { id: *id, key: None, call: call.clone() }).await;
        }
        let refused = |frame: &FromHub| matches!(frame, FromHub::Error { id: Some(id), problem } if ids.contains(id) && problem.kind == OFTEN);
        socket.until(&format!("{verb} is refused"), refused).await;
    }
}

#[tokio::test]
async fn no_body_is_read_beyond_its_bound() {
    let hub = TestHub::start().await;
    let huge = vec![b' '; MAX_FRAME + 1];
    for operation in operations::all() {
        if operation.method == reqwest::Method::GET || operation.method == reqwest::Method::DELETE {
            continue;
        }
        let request = begin(&hub, operation.method.clone(), &operation.path).headers(ann(&hub).headers(hub.url()));
        let reply = send(request.header("content-type", "application/json").body(huge.clone())).await;
        let takes_none = reply.status < 500 && reply.status != 200;
        assert!(reply.status == 413 || takes_none, "{} {}: {}", operation.method, operation.template, reply.status);
    }
}

#[tokio::test]
async fn no_page_is_larger_than_it_may_be() {
    let hub = TestHub::start().await;
    let ann = ann(&hub);
    let input = ProjectCreate { content: "a project".into(), ..Default::default() };
    let project = view!(&hub, &ann, Project, Call::ProjectCreate { input }).id;
    let input = protocol::ActivityCreate { content: "an activity".into(), ..Default::default() };
    let activity = view!(&hub, &ann, Activity, Call::ActivityCreate { project, input }).id;
    let mut socket = Socket::live(hub.url(), &ann).await;
    for (verb, bound) in table() {
        let Some(most) = bound.strip_prefix("pages ").map(|most| most.parse::<u32>().expect("a number")) else {
            continue;
        };
        let one = calls::one_of_each().into_iter().find(|call| call.verb() == verb).expect("there is one of each");
        let mut asked = serde_json::to_value(one).expect("JSON");
        for (field, id) in [("project", project.to_string()), ("activity", activity.to_string())] {
            if asked.get(field).is_some() {
                asked[field] = json!(id);
            }
        }
        let holder = ["page", "filter"].into_iter().find(|name| asked.get(name).is_some()).unwrap_or("page");
        asked[holder] = json!({ "limit": most });
        let within = socket.ask(serde_json::from_value(asked.clone()).expect("a call")).await;
        assert!(within.is_ok(), "{verb}: {within:?}");
        asked[holder] = json!({ "limit": most + 1 });
        let problem = socket.ask(serde_json::from_value(asked).expect("a call")).await.expect_err(verb);
        assert_eq!(problem.kind, ProblemKind::Invalid, "{verb}: {problem:?}");
        assert!(problem.detail.contains(&most.to_string()), "{verb}: {problem:?}");
    }
}

#[tokio::test]
async fn credentials_and_links_are_not_made_without_end() {
    let hub = TestHub::start().await;
    let ann = ann(&hub);
    let input = ProjectCreate { content: "a project".into(), ..Default::default() };
    let project = view!(&hub, &ann, Project, Call::ProjectCreate { input }).id;
    let mut socket = Socket::live(hub.url(), &ann).await;
    let invite = |n| Call::InviteCreate { input: InviteCreate { name: format!("p{n}"), expires_at: None } };
    let runner = |n| Call::RunnerCreate { input: RunnerCreate { name: format!("r{n}") } };
    let observer =
        move |n| Call::ObserverCreate { project, input: ObserverCreate { name: format!("o{n}"), expires_at: None } };
    type Make<'a> = &'a dyn Fn(u32) -> Call;
    let cases: [(&str, u32, Make<'_>); 4] = [
        ("runners", MAX_RUNNERS, &runner),
        ("open invitations", MAX_OPEN_INVITES, &invite),
        ("login links", MAX_OPEN_LOGIN_LINKS, &|_| Call::LoginLink {}),
        ("observer links", MAX_OBSERVERS, &observer),
    ];
    for (what, most, make) in cases {
        let mut made = 0;
        let problem = loop {
            match socket.ask(make(made)).await {
                Ok(_) => made += 1,
                Err(problem) => break problem,
            }
            assert!(made <= most, "more than {most} {what}");
        };
        assert_eq!(problem.kind, ProblemKind::Conflict, "{what}: {problem:?}");
        assert!(problem.detail.contains(what) && problem.detail.contains(&most.to_string()), "{problem:?}");
        // A few may be there already.
        assert!(made + 3 >= most, "only {made} {what}");
    }
    assert_eq!(call(&hub, &ann, &Call::RunnerList {}).await.status, 200);
}
