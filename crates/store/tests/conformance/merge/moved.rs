//! Somebody pushes to the branch of accepted work while it waits in the queue.

use super::*;

both! {
    accepted_work_whose_branch_moved_goes_to_a_person,
    a_branch_in_the_queue_is_pinned_to_the_work_that_was_accepted_later,
}

async fn accepted_work_whose_branch_moved_goes_to_a_person(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    checks(&shop).await;
    shop.start(1).await;
    let [first, _] = required(&shop).await;
    let landing = reports_work(&mut shop, first).await;
    let mut repository = repository();
    // The first run still finds the accepted commit.
    let look = orders(&shop).await.remove(0);
    does(&mut shop, &mut repository, &look).await;
    repository.pushed.insert(landing.branch.clone());
    work(&mut shop, &mut repository).await;
    assert_eq!(repository.tip, "tip", "nothing that nobody accepted lands");
    let [one] = history(&shop).await.try_into().unwrap();
    let accepted = format!("{}@0", landing.branch);
    assert_eq!((one.state, one.head.as_ref()), (CandidateState::Ejected, Some(&accepted)));
    let why = one.reason.unwrap();
    assert!(why.starts_with("the branch moved after the work was accepted"), "{why}");
    assert_eq!(queue(&shop).await.failure_percent, queue_before_any_failure(), "it does not count as a failure");
    let ended = newest(&shop).await;
    assert_eq!((ended.id, ended.state, ended.detail), (landing.id, LandingState::Refused, Some(why.clone())));
    let open = shop.detail(first).await.escalations.pop().unwrap();
    assert_eq!(open.kind, EscalationKind::Uncheckable);
    assert!(open.question.contains(&why), "{}", open.question);
    let chat = shop.fixture.store.messages(&shop.fixture.ada, shop.project.id, Default::default()).await.unwrap();
    assert!(chat.iter().any(|message| message.content.contains(&why)), "{chat:?}");
}

/// What the queue expects of branches about which nothing is known.
fn queue_before_any_failure() -> u32 {
    (engine::merge::Rates::default().failure() * 100.0).round() as u32
}

async fn a_branch_in_the_queue_is_pinned_to_the_work_that_was_accepted_later(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    checks(&shop).await;
    shop.start(1).await;
    let [first, _] = required(&shop).await;
    let input = protocol::MergeGateChange::default();
    shop.fixture.done(&shop.fixture.ada, verbs::MergePause { project: shop.project.id, input: input.clone() }).await;
    let landing = reports_work(&mut shop, first).await;
    shop.fixture.done(&shop.fixture.ada, verbs::MergeRemove { candidate: landing.candidate.unwrap() }).await;
    // A person adds the same branch by hand, and then the work is landed.
    let by_hand = add(&shop, &landing.branch).await;
    assert_eq!(by_hand.head, None);
    let open = shop.detail(first).await.escalations.pop().unwrap();
    let input_answer = EscalationAnswer { option: Some("Accept".into()), act: None, text: None };
    shop.fixture.done(&shop.fixture.ada, verbs::EscalationAnswer { escalation: open.id, input: input_answer }).await;
    let wanted = protocol::Land { tasks: vec![first], ..Default::default() };
    let landed = verbs::LandingLand { project: shop.project.id, input: wanted };
    shop.fixture.done(&shop.fixture.ada, landed).await;
    let one = shop.fixture.store.publishing().await.unwrap().remove(0);
    let commit = format!("{}@0", one.branch);
    let result =
        PublishResult::Done { commit: commit.clone(), pull_request: None, default_branch: Some("main".to_owned()) };
    shop.fixture.done(&Caller::hub("lander"), PublishEnded { landing: one.landing, result }).await;
    let again = newest(&shop).await;
    assert_eq!(again.candidate, Some(by_hand.id), "it waits already");
    let waiting = queue(&shop).await.candidates.remove(0);
    assert_eq!((waiting.head, waiting.task), (Some(commit), Some(first)));
    let mut repository = repository();
    repository.pushed.insert(landing.branch.clone());
    shop.fixture.done(&shop.fixture.ada, verbs::MergeThaw { project: shop.project.id, input }).await;
    work(&mut shop, &mut repository).await;
    assert_eq!((repository.tip.as_str(), newest(&shop).await.state), ("tip", LandingState::Refused));
    assert_eq!(shop.task(first).await.status, TaskStatus::Done, "what was accepted stays accepted");
}
