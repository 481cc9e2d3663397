//! Evidence from a session: visible only to people with access to it.

use domain::{AnswerAct, AttemptOutcome};
use protocol::{Change, Criterion, Escalation, EscalationAnswer, TaskAdd, verbs};
use store::{Caller, EventBody, ShowEvidence};

use super::{Shop, checked, plain};
use crate::fixture::Fixture;

both!(evidence_is_sent_to_people_with_access_to_the_session, an_escalation_shows_the_earlier_workers_of_its_task);

/// Published escalations, each with whether only people with access to the session receive it.
fn told(fixture: &Fixture) -> Vec<(Escalation, bool)> {
    let heard = fixture.heard();
    let escalation = |event: &std::sync::Arc<store::Event>| match &event.body {
        EventBody::Change { change: Change::Escalation { escalation } } => {
            Some((escalation.clone(), event.execution_of.is_some()))
        }
        _ => None,
    };
    heard.iter().filter_map(escalation).collect()
}

/// The escalations in a person's state.
async fn state(fixture: &Fixture, caller: &Caller) -> Vec<Escalation> {
    let (_, changes) = fixture.store.state(caller).await.unwrap();
    let asked = changes.into_iter().filter_map(|change| match change {
        Change::Escalation { escalation } => Some(escalation),
        _ => None,
    });
    asked.collect()
}

async fn evidence_is_sent_to_people_with_access_to_the_session(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    let hub = Caller::hub("witness");
    shop.start(1).await;
    let acceptance = vec![Criterion::Text { text: "It is beautiful".into() }];
    let task = shop.add(vec![TaskAdd { acceptance, ..plain("Paint a picture") }]).await[0];
    shop.dispatch().await;
    let session = shop.session(task).await;
    shop.finishes(task, "Here it is.").await;
    let unseen = shop.fixture.store.unseen_escalations().await.unwrap();
    assert_eq!((unseen.len(), unseen[0].session, unseen[0].runner), (1, session, shop.runner));
    let escalation = unseen[0].escalation;
    let show = |screen: Option<&str>, missing: Option<&str>| ShowEvidence {
        escalation,
        screen: screen.map(str::to_owned),
        diff: screen.map(|_| "+\tnew\n".to_owned()),
        missing: missing.map(str::to_owned),
    };
    shop.fixture.done(&hub, show(None, Some("the runner is away"))).await;
    let mut news = told(&shop.fixture);
    for expected in [true, false] {
        let (last, hidden) = news.pop().unwrap();
        assert_eq!((last.context.missing.as_deref(), hidden), (expected.then_some("the runner is away"), expected));
        assert_eq!((last.session.is_some(), last.context.text.contains("Here it is")), (expected, expected));
    }
    assert_eq!(shop.fixture.store.unseen_escalations().await.unwrap().len(), 1, "the evidence may still come");
    let before = told(&shop.fixture).len();
    let long = format!("{}\u{1b}[1mthe end", "x".repeat(20_000));
    shop.fixture.done(&hub, show(Some(&long), None)).await;
    shop.fixture.done(&hub, show(Some("later"), None)).await;
    let news = told(&shop.fixture).split_off(before);
    let shown =
        |(one, hidden): &(Escalation, bool)| (one.context.screen.is_some(), one.context.diff.is_some(), *hidden);
    assert_eq!(news.iter().map(shown).collect::<Vec<_>>(), [(false, false, false), (true, true, true)]);
    let context = &news[1].0.context;
    let screen = context.screen.as_deref().unwrap();
    assert!(screen.ends_with("x[1mthe end") && screen.len() == 8_000, "the last lines, sanitized");
    assert_eq!((context.diff.as_deref(), context.missing.as_deref()), (Some("+    new\n"), None));
    assert!(shop.fixture.store.unseen_escalations().await.unwrap().is_empty());
    let (mine, theirs) = (state(&shop.fixture, &shop.fixture.ada).await, state(&shop.fixture, &shop.fixture.bo).await);
    assert_eq!((mine.len(), theirs.len()), (1, 1), "everybody who sees the project sees the escalation");
    assert!(mine[0].context.screen.is_some());
    assert_eq!((theirs[0].context.screen.as_ref(), theirs[0].context.diff.as_ref()), (None, None));
    let before = told(&shop.fixture).len();
    let input = EscalationAnswer { option: None, act: Some(AnswerAct::Accept), text: None };
    let answered = shop.fixture.done(&shop.fixture.bo, verbs::EscalationAnswer { escalation, input }).await;
    assert_eq!((answered.context.screen, answered.act), (None, Some(AnswerAct::Accept)));
    let news = told(&shop.fixture).split_off(before);
    assert_eq!(news.iter().map(shown).collect::<Vec<_>>(), [(false, false, false), (true, true, true)]);
    shop.fixture.done(&hub, show(Some("too late"), None)).await;
    assert_eq!(told(&shop.fixture).len(), before + 2, "an answered escalation does not change");
}

async fn an_escalation_shows_the_earlier_workers_of_its_task(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    let workers = shop.start(2).await;
    let task = shop.add(vec![checked("Hopeless")]).await[0];
    let long = "x".repeat(2_000);
    for round in 0..6 {
        shop.dispatch().await;
        shop.finishes(task, &format!("Try {round}")).await;
        shop.found(task, false, &long, None).await;
    }
    let other = shop.add(vec![checked("Something else")]).await[0];
    shop.dispatch().await;
    shop.finishes(other, "Cannot be checked").await;
    let report = shop.pending(other).await;
    let cause = protocol::link::CheckTrouble::Other;
    let fact = protocol::link::FactBody::CheckFailed { report, detail: "the disk is full".into(), cause };
    shop.memory.happened(&shop.fixture, fact).await;
    let list = shop.fixture.store.escalations(&shop.fixture.bo, Default::default()).await.unwrap();
    let of = |task| list.iter().find(|one| one.task == task).unwrap();
    let attempts = &of(task).context.attempts;
    assert_eq!(attempts.iter().map(|one| one.number).collect::<Vec<_>>(), [1, 2]);
    let mut names: Vec<&str> = attempts.iter().map(|one| one.worker_name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, workers.iter().map(|worker| worker.name.as_str()).collect::<Vec<_>>());
    assert!(attempts.iter().all(|one| one.outcome == AttemptOutcome::Refused && one.ended_at.is_some()));
    assert!(attempts.iter().all(|one| one.agent.starts_with("codex")), "{attempts:?}");
    assert_eq!(attempts[0].reason.as_ref().map(|reason| reason.chars().count()), Some(300), "shortened");
    assert_eq!(of(other).context.attempts.len(), 1, "each escalation has its own attempts");
    assert_eq!(of(other).context.attempts[0].outcome, AttemptOutcome::Open);
    let one = shop.fixture.store.escalation(&shop.fixture.bo, of(task).id).await.unwrap();
    assert_eq!(one.context.attempts, *attempts);
    let mine = state(&shop.fixture, &shop.fixture.ada).await;
    assert!(mine.iter().all(|one| one.context.attempts.is_empty()), "changes do not contain attempts");
}
