//! Search: prefixes and typos, the order of results, rights, and an index that is never out of date.

use std::sync::Arc;

use domain::{SearchKind, SessionStatus, TaskStatus, Timestamp, Visibility};
use protocol::{
    ActivityCreate, MessageText, ProjectUpdate, SearchHit, SearchQuery, SearchResults, TaskEdit, TaskReason, verbs,
};
use store::transfer::{export, import};
use store::{Caller, Event, Store};

use crate::execution::{Memory, in_project, runner, spawn};
use crate::fixture::{Fixture, Place, create_project, send};
use crate::{execution, tasks};

both! {
    titles_and_texts_are_found_by_the_beginnings_of_their_words,
    a_typo_in_a_title_is_forgiven,
    better_matches_come_first_then_open_ones_then_newer_ones,
    a_task_is_found_by_its_short_name_and_its_id,
    what_one_may_not_see_is_not_found,
    executions_are_found_only_by_those_who_may_see_them,
    the_index_follows_every_change,
    deleted_texts_leave_the_index,
    an_import_and_an_older_index_are_indexed_again,
    signs_in_a_query_have_no_meaning,
}

async fn results(fixture: &Fixture, caller: &Caller, query: SearchQuery) -> SearchResults {
    fixture.store.find(caller, &query).await.unwrap()
}

async fn hits(fixture: &Fixture, caller: &Caller, text: &str) -> Vec<SearchHit> {
    results(fixture, caller, SearchQuery { text: text.into(), ..Default::default() }).await.hits
}

/// The titles of the results, or the snippets of those without a title, with kinds.
async fn found(fixture: &Fixture, caller: &Caller, text: &str) -> Vec<String> {
    let hits = hits(fixture, caller, text).await;
    let words = |hit: &SearchHit| {
        let pieces = if hit.kind == SearchKind::Message { &hit.snippet } else { &hit.title };
        pieces.iter().map(|piece| piece.text.as_str()).collect::<String>()
    };
    hits.iter().map(|hit| format!("{}: {}", hit.kind, words(hit))).collect()
}

fn activity(project: domain::ProjectId, content: &str) -> verbs::ActivityCreate {
    verbs::ActivityCreate { project, input: ActivityCreate { content: content.into(), ..Default::default() } }
}

async fn titles_and_texts_are_found_by_the_beginnings_of_their_words(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadWrite).await.id;
    fixture.done(&fixture.ada, activity(project, "Rewrite the lexer\nuses lookAhead tables")).await;
    tasks::add_one(&fixture, project, tasks::task("Deploy to staging\nwith Éclair")).await;
    fixture.say(&fixture.bo, project, "the deployment of eclairs").await;
    let find = |text: &'static str| found(&fixture, &fixture.ada, text);
    assert_eq!(find("pars").await, ["project: Parser"]);
    assert_eq!(find("lexer REWR").await, ["activity: Rewrite the lexer"]);
    assert_eq!(find("ahead").await, ["activity: Rewrite the lexer"]);
    assert_eq!(find("deploy").await, ["task: Deploy to staging", "message: the deployment of eclairs"]);
    assert_eq!(find("ecl dep").await.len(), 2);
    assert_eq!(find("ploy").await, Vec::<String>::new());
    let hit = hits(&fixture, &fixture.ada, "eclairs").await.remove(0);
    assert_eq!((hit.number, hit.title[0].text.as_str(), hit.project_name.as_str()), (Some(1), "Bo", "Parser"));
    assert!(hit.snippet.iter().any(|piece| piece.hit && piece.text == "eclairs"), "{hit:?}");
    let only = SearchQuery { text: "deploy".into(), kind: Some(SearchKind::Message), ..Default::default() };
    assert_eq!(results(&fixture, &fixture.ada, only).await.hits.len(), 1);
}

async fn a_typo_in_a_title_is_forgiven(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadWrite).await.id;
    tasks::add_one(&fixture, project, tasks::task("Deploy to staging")).await;
    fixture.say(&fixture.ada, project, "deployed").await;
    for typo in ["depoly", "dploy", "deplooy", "deplxy stag", "staginh"] {
        assert_eq!(found(&fixture, &fixture.ada, typo).await, ["task: Deploy to staging"], "{typo}");
    }
    assert_eq!(found(&fixture, &fixture.ada, "dpely").await, Vec::<String>::new());
}

async fn better_matches_come_first_then_open_ones_then_newer_ones(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadWrite).await.id;
    let mut ids = Vec::new();
    for text in ["parse it", "old parse", "the rest\nparse", "new parse"] {
        fixture.pass(1000);
        ids.push(tasks::add_one(&fixture, project, tasks::task(text)).await);
    }
    fixture.pass(1000);
    let cancel = verbs::TaskCancel { task: ids[3], input: TaskReason::default() };
    assert_eq!(fixture.done(&fixture.ada, cancel).await.status, TaskStatus::Cancelled);
    fixture.say(&fixture.ada, project, "parse").await;
    let titles = ["task: old parse", "task: parse it", "project: Parser", "task: new parse"];
    let texts = ["message: parse", "task: the rest"];
    assert_eq!(found(&fixture, &fixture.ada, "parse").await, [&titles[..], &texts].concat());
    let some = SearchQuery { text: "parse".into(), limit: Some(2), ..Default::default() };
    let some = results(&fixture, &fixture.ada, some).await;
    assert_eq!((some.hits.len(), some.truncated), (2, true));
}

async fn a_task_is_found_by_its_short_name_and_its_id(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadWrite).await;
    tasks::add_one(&fixture, project.id, tasks::task("first")).await;
    let id = tasks::add_one(&fixture, project.id, tasks::task("second")).await;
    let short = format!("{}-2", project.key);
    for text in [short.clone(), short.to_lowercase(), id.to_string()] {
        let hit = hits(&fixture, &fixture.ada, &text).await.remove(0);
        assert_eq!((hit.id, hit.short), (id.to_string(), Some(short.clone())), "{text}");
        assert!(hits(&fixture, &fixture.bo, &text).await.len() == 1);
    }
}

async fn what_one_may_not_see_is_not_found(fixture: Fixture) {
    let secret = fixture.done(&fixture.ada, create_project("Falcon\nsecret", Visibility::Private)).await.id;
    let open = fixture.done(&fixture.ada, create_project("Falcon wing", Visibility::ReadOnly)).await.id;
    fixture.say(&fixture.ada, secret, "the falcon flies").await;
    let task = tasks::add_one(&fixture, secret, tasks::task("feed the falcon")).await;
    assert_eq!(found(&fixture, &fixture.ada, "falcon").await.len(), 4);
    let observer = Fixture::observer(open);
    for caller in [&fixture.bo, &observer] {
        assert_eq!(found(&fixture, caller, "falcon").await, ["project: Falcon wing"]);
        assert_eq!(found(&fixture, caller, &task.to_string()).await, Vec::<String>::new());
        assert_eq!(found(&fixture, caller, "flacon").await, ["project: Falcon wing"], "no hint by typos");
        let within = SearchQuery { text: "falcon".into(), project: Some(secret), ..Default::default() };
        assert!(matches!(fixture.store.find(caller, &within).await, Err(store::StoreError::NotFound("project"))));
    }
    // Many hidden matches do not displace those that one may see.
    for number in 0..120 {
        fixture.say(&fixture.ada, secret, &format!("falcon {number}")).await;
    }
    assert_eq!(found(&fixture, &fixture.bo, "falcon").await, ["project: Falcon wing"]);
    let share = ProjectUpdate { visibility: Some(Visibility::Private), ..Default::default() };
    fixture.done(&fixture.ada, verbs::ProjectUpdate { project: open, input: share }).await;
    assert_eq!(found(&fixture, &fixture.bo, "falcon").await, Vec::<String>::new());
}

async fn executions_are_found_only_by_those_who_may_see_them(fixture: Fixture) {
    let project = execution::project(&fixture, Visibility::ReadWrite, false).await;
    let laptop = runner(&fixture, &fixture.ada, "laptop", 2).await;
    let session = fixture.done(&fixture.ada, spawn(in_project(&project, "Hunt the walrus"), &[laptop])).await;
    let walrus = |caller| found(&fixture, caller, "walrus");
    let own = walrus(&fixture.ada).await;
    assert!(own.contains(&"session: Hunt the walrus".to_owned()), "{own:?}");
    let sees = |found: Vec<String>| found.iter().any(|hit| hit.starts_with("session") || hit.starts_with("recording"));
    assert!(!sees(walrus(&fixture.bo).await));
    assert!(!sees(found(&fixture, &fixture.bo, &session.id.to_string()).await));
    let share = ProjectUpdate { share_execution: Some(true), ..Default::default() };
    fixture.done(&fixture.ada, verbs::ProjectUpdate { project: project.id, input: share }).await;
    assert!(sees(walrus(&fixture.bo).await));
    let mut memory = Memory::new(laptop);
    memory.at(&fixture, session.id, SessionStatus::Exited).await;
    let hit = hits(&fixture, &fixture.ada, "walrus").await.into_iter().find(|hit| hit.id == session.id.to_string());
    assert!(!hit.unwrap().open, "an ended session is closed");
}

async fn the_index_follows_every_change(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadWrite).await.id;
    let task = tasks::add_one(&fixture, project, tasks::task("alpha")).await;
    let message = fixture.say(&fixture.ada, project, "bravo").await.id;
    let input = TaskEdit { description: Some("charlie".into()), ..Default::default() };
    fixture.done(&fixture.ada, verbs::TaskEdit { task, input }).await;
    let input = MessageText { content: "delta".into() };
    fixture.done(&fixture.ada, verbs::ChatEdit { message, input }).await;
    let input = ProjectUpdate { content: Some("Echo\nfoxtrot".into()), ..Default::default() };
    fixture.done(&fixture.ada, verbs::ProjectUpdate { project, input }).await;
    for gone in ["alpha", "bravo", "goals"] {
        assert_eq!(found(&fixture, &fixture.ada, gone).await, Vec::<String>::new(), "{gone}");
    }
    let input = TaskEdit { labels: Some(vec!["golf".into(), "area/hotel".into()]), ..Default::default() };
    fixture.done(&fixture.ada, verbs::TaskEdit { task, input }).await;
    for label in ["golf", "area/hotel", "hotel"] {
        assert_eq!(found(&fixture, &fixture.ada, label).await, ["task: charlie"], "{label}");
    }
    for there in ["charlie", "delta", "echo", "foxtrot"] {
        assert_eq!(found(&fixture, &fixture.ada, there).await.len(), 1, "{there}");
    }
    // Another hub on the same database, or the next start, knows the same.
    let fixture = fixture.reopened().await;
    for word in ["charlie", "golf"] {
        assert_eq!(found(&fixture, &fixture.ada, word).await, ["task: charlie"], "{word}");
    }
}

async fn deleted_texts_leave_the_index(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadWrite).await.id;
    let message = fixture.say(&fixture.ada, project, "hunter2 is the password").await.id;
    fixture.done(&fixture.ada, verbs::ChatDelete { message }).await;
    assert_eq!(found(&fixture, &fixture.ada, "hunter2").await, Vec::<String>::new());
    let sql = "SELECT COUNT(*) FROM search_entries WHERE terms LIKE '%hunter2%' OR body LIKE '%hunter2%'";
    assert_eq!(fixture.raw().await.number(sql).await, 0);
    tasks::add_one(&fixture, project, tasks::task("one")).await;
    fixture.done(&fixture.ada, verbs::ProjectDelete { project }).await;
    assert_eq!(fixture.raw().await.number("SELECT COUNT(*) FROM search_entries").await, 0);
}

async fn an_import_and_an_older_index_are_indexed_again(fixture: Fixture) {
    let project = execution::project(&fixture, Visibility::ReadWrite, false).await;
    let laptop = runner(&fixture, &fixture.ada, "laptop", 2).await;
    fixture.done(&fixture.ada, spawn(in_project(&project, "alpha session"), &[laptop])).await;
    fixture.pass(1000);
    fixture.done(&fixture.ada, activity(project.id, "alpha activity")).await;
    fixture.pass(1000);
    tasks::add_one(&fixture, project.id, tasks::task("alpha task")).await;
    fixture.pass(1000);
    let gone = fixture.say(&fixture.ada, project.id, "alpha but gone").await.id;
    fixture.pass(1000);
    fixture.say(&fixture.ada, project.id, "alpha message").await;
    fixture.done(&fixture.ada, verbs::ChatDelete { message: gone }).await;
    let before = hits(&fixture, &fixture.ada, "alpha").await;
    assert!(before.len() >= 4, "{before:?}");

    let mut archive = Vec::new();
    export(&fixture.url, &mut archive).await.unwrap();
    let there = match fixture.place {
        Place::Sqlite(_) => Place::postgres().await,
        Place::Postgres(_) => Place::sqlite(),
    };
    import(&there.url(), &mut archive.as_slice()).await.unwrap();
    let moved = Store::open(&there.url(), || Timestamp::from_millis(0), |_: &[Arc<Event>]| {}).await.unwrap();
    let query = SearchQuery { text: "alpha".into(), ..Default::default() };
    assert_eq!(moved.find(&fixture.ada, &query).await.unwrap().hits, before);
    moved.close().await;
    fixture.raw().await.run("UPDATE search_index SET version = 0").await;
    fixture.raw().await.run("DELETE FROM search_entries").await;
    let fixture = fixture.reopened().await;
    assert_eq!(hits(&fixture, &fixture.ada, "alpha").await, before);
    fixture.done(&fixture.ada, send(project.id, "alpha again")).await;
    assert_eq!(hits(&fixture, &fixture.ada, "alpha").await.len(), before.len() + 1);
}

async fn signs_in_a_query_have_no_meaning(fixture: Fixture) {
    fixture.project(Visibility::ReadWrite).await;
    for text in ["parser\" OR \"x", "parser*", "^parser", "-parser", "(parser", "'parser' & !x", "NEAR(parser)"] {
        fixture.store.find(&fixture.ada, &SearchQuery { text: text.into(), ..Default::default() }).await.unwrap();
    }
    assert_eq!(found(&fixture, &fixture.ada, "(\"parser*").await, ["project: Parser"]);
    assert_eq!(found(&fixture, &fixture.ada, "*").await, Vec::<String>::new());
    let long = SearchQuery { text: "x".repeat(201), ..Default::default() };
    assert!(fixture.store.find(&fixture.ada, &long).await.is_err());
}
