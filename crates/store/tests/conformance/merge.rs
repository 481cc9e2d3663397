//! Merge queues: what runners report becomes landings, ejections and freezes; a scripted repository stands in for git.

mod moved;
mod search;

use std::collections::BTreeSet;

use domain::{
    CandidateState, CheckOutcome, EscalationKind, LandOutcome, LandingState, MergeGate, ReportVerdict, TaskId,
    TaskStatus, Visibility,
};
use protocol::link::{
    Changes, DesiredMerge, FactBody, LevelBuilt, MergeChecked, MergeLand, MergeLevel, MergeOrder, MergeTest, Subject,
    Wish,
};
use protocol::{
    ApprovalFilter, Candidate, Change, Criterion, EscalationAnswer, Landing, LandingFilter, MergeAdd, MergeCommand,
    MergeConfigure, MergeGateChange, MergePage, MergeQueue, MergeWhatIf, ProjectUpdate, Sandbox, TaskAdd, TaskReason,
    TasksAdd, WorkerStart, verbs,
};
use store::{Caller, PublishEnded, PublishResult, StoreError, TendMerges};

use crate::execution::{Memory, runner};
use crate::fixture::Fixture;
use crate::workers::{Shop, plain};

both! {
    branches_land_together_and_the_culprit_is_sent_back_with_its_log,
    without_checks_a_person_confirms_each_branch,
    a_client_learns_of_queues_that_wait_or_stand_still_when_it_connects,
    a_red_tip_freezes_the_queue_until_a_fix_has_landed,
    a_branch_that_waits_can_become_a_fix,
    a_lost_runner_costs_a_run_and_nothing_else,
    facts_count_once_and_only_from_the_runner_of_the_run,
    a_branch_that_was_pushed_to_is_tested_again,
    another_persons_branch_and_checks_wait_for_the_runners_owner,
    settings_say_who_may_add,
    a_branch_waits_for_those_it_builds_on_and_for_a_person_once_they_left,
    a_tip_that_an_outsider_repairs_thaws_the_queue,
    a_person_freezes_the_queue_for_all_but_fixes,
    the_queue_tells_when_it_ends_and_what_a_landing_cost,
    a_task_that_requires_the_merge_is_done_once_its_work_landed,
    a_cancelled_task_leaves_the_queue,
    the_checks_of_sandboxed_work_run_in_its_sandbox,
    a_person_decides_about_work_that_was_taken_out_of_the_queue,
}

/// What git and the checks would say.
#[derive(Default)]
struct Repository {
    tip: String,
    bad: BTreeSet<String>,
    tip_bad: bool,
    pushed: BTreeSet<String>,
}

impl Repository {
    fn test(&self, run: &DesiredMerge) -> MergeTest {
        let MergeOrder::Test { base, candidates, checks } = &run.order else { panic!("not a test") };
        assert!(base.as_ref().is_none_or(|base| *base == self.tip), "on another tip");
        let (mut commit, mut levels, mut red) = (self.tip.clone(), Vec::new(), self.tip_bad);
        for one in candidates {
            commit = format!("{commit}+{}", one.branch);
            red |= self.bad.contains(&one.branch);
            red &= one.branch != "fix";
            let head = format!("{}@{}", one.branch, usize::from(self.pushed.contains(&one.branch)));
            let moved = one.head.as_ref().is_some_and(|expected| *expected != head);
            let (tree, paths) = (format!("tree of {commit}"), vec!["Makefile".to_owned()]);
            let merged = LevelBuilt::Merged { commit: commit.clone(), tree, paths, differs: Vec::new() };
            let built = if moved { LevelBuilt::Moved } else { merged };
            levels.push(MergeLevel { candidate: one.candidate, head: Some(head), built });
        }
        let outcome = if red { CheckOutcome::Failed } else { CheckOutcome::Passed };
        let ran = levels.iter().all(|level| matches!(level.built, LevelBuilt::Merged { .. }));
        let checked = MergeChecked { outcome, duration_ms: 1000, code: None, log: "the log".into() };
        let checks = checks.iter().filter(|_| ran).map(|_| checked.clone()).collect();
        MergeTest { base: Some(self.tip.clone()), levels, checks, trouble: None }
    }

    fn land(&mut self, run: &DesiredMerge) -> Option<MergeLand> {
        let MergeOrder::Land { base, commit, .. } = &run.order else { return None };
        let outcome = if *base == self.tip { LandOutcome::Landed } else { LandOutcome::BaseMoved };
        if outcome == LandOutcome::Landed {
            self.tip.clone_from(commit);
            self.tip_bad = false;
        }
        Some(MergeLand { outcome, tip: Some(self.tip.clone()), detail: String::new() })
    }
}

async fn checks(shop: &Shop) {
    let checks = vec![MergeCommand { argv: vec!["make".into(), "test".into()], seconds: 60 }];
    let input = MergeConfigure { checks: Some(checks), ..Default::default() };
    shop.fixture.done(&shop.fixture.ada, verbs::MergeConfigure { project: shop.project.id, input }).await;
}

fn adding(shop: &Shop, branch: &str, fix: bool) -> verbs::MergeAdd {
    verbs::MergeAdd { project: shop.project.id, input: MergeAdd { branch: branch.into(), fix, ..Default::default() } }
}

async fn add(shop: &Shop, branch: &str) -> Candidate {
    shop.fixture.done(&shop.fixture.ada, adding(shop, branch, false)).await
}

async fn orders(shop: &Shop) -> Vec<DesiredMerge> {
    shop.fixture.store.desired(shop.runner).await.unwrap().unwrap().merges
}

/// Lets the runner do what it is ordered, until it has nothing to do.
async fn work(shop: &mut Shop, repository: &mut Repository) {
    work_on(shop, repository, |_| false).await;
}

/// Lets the runner do what it is ordered, until it has nothing to do or an order is the last one.
async fn work_on(shop: &mut Shop, repository: &mut Repository, mut last: impl FnMut(&DesiredMerge) -> bool) {
    for _ in 0..100 {
        let Some(run) = orders(shop).await.into_iter().next() else { return };
        if last(&run) {
            return;
        }
        does(shop, repository, &run).await;
    }
    panic!("the queue does not come to rest");
}

/// Lets the runner do one order.
async fn does(shop: &mut Shop, repository: &mut Repository, run: &DesiredMerge) {
    let body = match repository.land(run) {
        Some(land) => FactBody::MergeLanded { run: run.run, land },
        None => FactBody::MergeTested { run: run.run, test: repository.test(run) },
    };
    shop.memory.happened(&shop.fixture, body).await;
}

async fn queue(shop: &Shop) -> MergeQueue {
    let found = shop.fixture.store.merge_queues(&shop.fixture.ada, shop.project.id).await.unwrap();
    found.into_iter().next().unwrap()
}

async fn history(shop: &Shop) -> Vec<Candidate> {
    let page = MergePage { limit: None };
    let mut ended = shop.fixture.store.merge_history(&shop.fixture.ada, shop.project.id, page).await.unwrap();
    ended.sort_by_key(|candidate| candidate.added_at);
    ended
}

fn repository() -> Repository {
    Repository { tip: "tip".into(), ..Default::default() }
}

async fn branches_land_together_and_the_culprit_is_sent_back_with_its_log(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    checks(&shop).await;
    let mut repository = repository();
    repository.bad.insert("b".into());
    for branch in ["a", "b", "c"] {
        add(&shop, branch).await;
        shop.fixture.pass(1);
    }
    let open = queue(&shop).await;
    assert_eq!((open.gate, open.candidates.len(), open.no_checks), (MergeGate::Open, 3, false));
    work(&mut shop, &mut repository).await;
    let ended = history(&shop).await;
    let states: Vec<_> = ended.iter().map(|candidate| (candidate.branch.as_str(), candidate.state)).collect();
    let (landed, ejected) = (CandidateState::Landed, CandidateState::Ejected);
    assert_eq!(states, [("a", landed), ("b", ejected), ("c", landed)]);
    assert_eq!(repository.tip, "tip+a+c");
    assert!(ended[1].reason.as_ref().unwrap().contains("`make test` fails"), "{:?}", ended[1].reason);
    assert_eq!(ended[0].edits_checks, ["Makefile"], "`make` reads it");
    let detail = shop.fixture.store.merge_candidate(&shop.fixture.ada, ended[1].id).await.unwrap();
    assert!(detail.runs.iter().any(|run| Some(run.id) == ended[1].run && run.checks[0].log == "the log"));
    let bo = shop.fixture.store.merge_candidate(&shop.fixture.bo, ended[1].id).await.unwrap();
    let logs: String = bo.runs.iter().flat_map(|run| &run.checks).map(|check| check.log.as_str()).collect();
    assert_eq!(logs, "", "the project does not share what runs on Ada's machine");
    let chat = shop.fixture.store.messages(&shop.fixture.ada, shop.project.id, Default::default()).await.unwrap();
    assert!(chat.iter().any(|message| message.content.contains("`b` was sent back")), "{chat:?}");
    let after = queue(&shop).await;
    assert_eq!((after.candidates.len(), after.runs.len(), after.tip.as_deref()), (0, 0, Some("tip+a+c")));
    let what = MergeWhatIf { waiting: Some(30), failure_percent: Some(2), at_once: Some(1), target: None };
    let forecast = shop.fixture.store.merge_forecast(&shop.fixture.bo, shop.project.id, what).await.unwrap();
    assert!(forecast.prefixes.len() == 1 && forecast.rounds_percent < 600, "{forecast:?}");
}

async fn without_checks_a_person_confirms_each_branch(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    let mut repository = repository();
    let one = add(&shop, "a").await;
    assert_eq!(one.state, CandidateState::NeedsPerson);
    work(&mut shop, &mut repository).await;
    assert_eq!(repository.tip, "tip");
    assert!(queue(&shop).await.no_checks);
    let heard = shop.fixture.heard().len();
    shop.fixture.done(&Caller::hub("test"), TendMerges {}).await;
    assert_eq!(shop.fixture.heard().len(), heard, "a queue that waits announces nothing");
    shop.fixture.done(&shop.fixture.bo, verbs::MergeConfirm { candidate: one.id }).await;
    work(&mut shop, &mut repository).await;
    assert_eq!(repository.tip, "tip+a");
    let again = shop.fixture.refused(&shop.fixture.ada, verbs::MergeRemove { candidate: one.id }).await;
    assert!(matches!(again, StoreError::Conflict(_)), "{again:?}");
}

async fn a_client_learns_of_queues_that_wait_or_stand_still_when_it_connects(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    let mut repository = repository();
    assert_eq!(synced(&shop, &shop.fixture.bo).await, []);
    let one = add(&shop, "a").await;
    work(&mut shop, &mut repository).await;
    let waits = synced(&shop, &shop.fixture.bo).await;
    assert_eq!(waits.len(), 1);
    assert_eq!((waits[0].no_checks, waits[0].candidates[0].state), (true, CandidateState::NeedsPerson));
    shop.fixture.done(&shop.fixture.ada, verbs::MergeConfirm { candidate: one.id }).await;
    work(&mut shop, &mut repository).await;
    assert_eq!(synced(&shop, &shop.fixture.bo).await, [], "an open queue without branches says nothing");

    let input = MergeGateChange { target: None, reason: Some("release day".into()) };
    let project = shop.project.id;
    shop.fixture.done(&shop.fixture.ada, verbs::MergeFreeze { project, input: input.clone() }).await;
    let frozen = synced(&shop, &shop.fixture.bo).await;
    assert_eq!(frozen.iter().map(|queue| queue.gate).collect::<Vec<_>>(), [MergeGate::Frozen]);
    let update = ProjectUpdate { visibility: Some(Visibility::Private), ..Default::default() };
    shop.fixture.done(&shop.fixture.ada, verbs::ProjectUpdate { project, input: update }).await;
    assert_eq!(synced(&shop, &shop.fixture.bo).await, [], "not to those who do not see the project");
    assert_eq!(synced(&shop, &shop.fixture.ada).await.len(), 1);
}

/// The queues that a client gets when it connects, and when the project becomes visible to it.
async fn synced(shop: &Shop, caller: &Caller) -> Vec<MergeQueue> {
    let queues = |changes: Vec<Change>| -> Vec<MergeQueue> {
        let queue = |change| match change {
            Change::MergeQueue { queue } => Some(queue),
            _ => None,
        };
        changes.into_iter().filter_map(queue).collect()
    };
    let whole = queues(shop.fixture.store.state(caller).await.unwrap().1);
    let one = queues(shop.fixture.store.state_of(caller, shop.project.id).await.unwrap());
    assert_eq!(whole, one);
    whole
}

async fn a_red_tip_freezes_the_queue_until_a_fix_has_landed(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    checks(&shop).await;
    let mut repository = Repository { tip_bad: true, ..repository() };
    add(&shop, "a").await;
    work(&mut shop, &mut repository).await;
    let frozen = queue(&shop).await;
    assert_eq!((frozen.gate, frozen.candidates.len()), (MergeGate::TipRed, 1));
    assert_eq!(history(&shop).await.len(), 0, "nobody is blamed");
    shop.fixture.done(&Caller::hub("test"), TendMerges {}).await;
    assert_eq!(orders(&shop).await, [], "a red tip is not looked at all the time");
    shop.fixture.pass(90_000);
    shop.fixture.done(&Caller::hub("test"), TendMerges {}).await;
    assert_eq!(orders(&shop).await.len(), 1, "but from time to time");
    work(&mut shop, &mut repository).await;
    shop.fixture.pass(1);
    shop.fixture.done(&shop.fixture.ada, adding(&shop, "fix", true)).await;
    work(&mut shop, &mut repository).await;
    assert_eq!((queue(&shop).await.gate, repository.tip.as_str()), (MergeGate::Open, "tip+fix+a"));
    let input = MergeGateChange { target: None, reason: Some("release".into()) };
    let paused = shop.fixture.done(&shop.fixture.bo, verbs::MergePause { project: shop.project.id, input }).await;
    assert!(paused.gate == MergeGate::Paused && paused.reason.unwrap().contains("release"));
    add(&shop, "later").await;
    assert_eq!(orders(&shop).await, []);
    let input = MergeGateChange::default();
    shop.fixture.done(&shop.fixture.bo, verbs::MergeThaw { project: shop.project.id, input }).await;
    work(&mut shop, &mut repository).await;
    assert_eq!(repository.tip, "tip+fix+a+later");
}

async fn a_branch_that_waits_can_become_a_fix(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    checks(&shop).await;
    let mut repository = Repository { tip_bad: true, ..repository() };
    add(&shop, "a").await;
    work(&mut shop, &mut repository).await;
    let waits = add(&shop, "fix").await;
    work(&mut shop, &mut repository).await;
    assert_eq!((queue(&shop).await.gate, waits.fix, repository.tip.as_str()), (MergeGate::TipRed, false, "tip"));
    let (user, session) = (shop.fixture.bo.person().unwrap().id, domain::SessionId::generate());
    let agent = Caller::bearer(domain::Actor::Agent { user, project: shop.project.id, session }, "Bo", "192.0.2.9");
    let refused = shop.fixture.refused(&agent, adding(&shop, "fix", true)).await;
    assert!(matches!(refused, StoreError::Forbidden(_)), "only people say that: {refused:?}");
    let marked = shop.fixture.done(&shop.fixture.bo, adding(&shop, "fix", true)).await;
    assert_eq!((marked.id, marked.fix), (waits.id, true));
    work(&mut shop, &mut repository).await;
    assert_eq!((queue(&shop).await.gate, repository.tip.as_str()), (MergeGate::Open, "tip+fix+a"));
}

async fn a_lost_runner_costs_a_run_and_nothing_else(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    checks(&shop).await;
    let mut repository = repository();
    add(&shop, "a").await;
    let lost = orders(&shop).await[0].run;
    shop.fixture.pass(600_000);
    shop.fixture.done(&Caller::hub("test"), TendMerges {}).await;
    assert_eq!(orders(&shop).await, [], "the runner is away");
    shop.fixture.pass(600_000);
    shop.runner = runner(&shop.fixture, &shop.fixture.ada, "other", 8).await;
    shop.memory = Memory::new(shop.runner);
    shop.fixture.done(&Caller::hub("test"), TendMerges {}).await;
    assert!(orders(&shop).await.iter().all(|run| run.run != lost));
    work(&mut shop, &mut repository).await;
    assert_eq!(repository.tip, "tip+a");
}

async fn facts_count_once_and_only_from_the_runner_of_the_run(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    checks(&shop).await;
    let mut repository = repository();
    add(&shop, "a").await;
    let other = runner(&shop.fixture, &shop.fixture.bo, "bos", 8).await;
    let look = orders(&shop).await.remove(0);
    let fact = FactBody::MergeTested { run: look.run, test: repository.test(&look) };
    Memory::new(other).happened(&shop.fixture, fact.clone()).await;
    assert_eq!(orders(&shop).await[0].run, look.run, "another runner says nothing about it");
    shop.memory.happened(&shop.fixture, fact).await;
    work(&mut shop, &mut repository).await;
    let tip = repository.tip.clone();
    let test = MergeTest { base: Some("elsewhere".into()), ..repository.test(&look_again(&look, &tip)) };
    shop.memory.happened(&shop.fixture, FactBody::MergeTested { run: look.run, test }).await;
    assert_eq!(queue(&shop).await.tip, Some(tip), "a second result of a run is ignored");
}

fn look_again(look: &DesiredMerge, tip: &str) -> DesiredMerge {
    let MergeOrder::Test { candidates, checks, .. } = look.order.clone() else { panic!("not a test") };
    DesiredMerge { order: MergeOrder::Test { base: Some(tip.to_owned()), candidates, checks }, ..look.clone() }
}

async fn a_branch_that_was_pushed_to_is_tested_again(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    checks(&shop).await;
    let mut repository = repository();
    add(&shop, "a").await;
    let look = orders(&shop).await.remove(0);
    let test = repository.test(&look);
    shop.memory.happened(&shop.fixture, FactBody::MergeTested { run: look.run, test }).await;
    repository.pushed.insert("a".into());
    work(&mut shop, &mut repository).await;
    let [one] = history(&shop).await.try_into().unwrap();
    assert_eq!((one.state, one.head.as_deref()), (CandidateState::Landed, Some("a@1")));
}

async fn another_persons_branch_and_checks_wait_for_the_runners_owner(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    checks(&shop).await;
    let bo = shop.fixture.bo.clone();
    shop.fixture.done(&bo, adding(&shop, "theirs", false)).await;
    let run = orders(&shop).await.remove(0);
    assert!(run.commands_by.is_none() && run.code_by.is_some(), "Ada wrote the checks, Bo the code: {run:?}");
    let (kind, text) = (domain::ApprovalKind::Code, "theirs".to_owned());
    let wishes = vec![Wish { kind, text, sha256: "0".repeat(64), sandbox: None }];
    let subject = Subject::Merge(run.run);
    shop.memory.happened(&shop.fixture, FactBody::ApprovalWanted { subject, wishes }).await;
    let open = shop.fixture.store.approvals(&shop.fixture.ada, ApprovalFilter::default()).await.unwrap();
    let [one] = open.as_slice() else { panic!("{open:?}") };
    assert!(one.why.contains("merge queue of main"), "{}", one.why);
    let input = protocol::ApprovalAnswer { answer: domain::Answered::Once };
    shop.fixture.done(&shop.fixture.ada, verbs::ApprovalAnswer { approval: one.id, input }).await;
    let answers = shop.fixture.store.desired(shop.runner).await.unwrap().unwrap().answers;
    assert!(answers.iter().any(|answer| answer.subject == subject && answer.allowed), "{answers:?}");
}

async fn settings_say_who_may_add(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    let project = shop.project.id;
    let input = MergeConfigure { adders: Some(domain::MergeAdders::Owner), ..Default::default() };
    let refused = shop.fixture.refused(&shop.fixture.bo, verbs::MergeConfigure { project, input: input.clone() }).await;
    assert!(matches!(refused, StoreError::Forbidden(_)), "{refused:?}");
    shop.fixture.done(&shop.fixture.ada, verbs::MergeConfigure { project, input }).await;
    let refused = shop.fixture.refused(&shop.fixture.bo, adding(&shop, "a", false)).await;
    assert!(matches!(refused, StoreError::Forbidden(_)), "{refused:?}");
    let input = MergeConfigure { adders: Some(domain::MergeAdders::People), ..Default::default() };
    shop.fixture.done(&shop.fixture.ada, verbs::MergeConfigure { project, input }).await;
    let (user, session) = (shop.fixture.bo.person().unwrap().id, domain::SessionId::generate());
    let agent = Caller::bearer(domain::Actor::Agent { user, project, session }, "Bo", "192.0.2.9");
    let refused = shop.fixture.refused(&agent, adding(&shop, "a", false)).await;
    assert!(matches!(refused, StoreError::Forbidden(_)), "{refused:?}");
    shop.fixture.done(&shop.fixture.bo, adding(&shop, "a", false)).await;
    let input = MergeConfigure { adders: Some(domain::MergeAdders::Owner), ..Default::default() };
    shop.fixture.done(&shop.fixture.ada, verbs::MergeConfigure { project, input }).await;
    let merged = |id: &str| TaskAdd { id: Some(id.into()), acceptance: vec![Criterion::Merged {}], ..plain("Add sub") };
    let add = |id: &str| verbs::TaskAdd { project, input: TasksAdd { tasks: vec![merged(id)] } };
    let refused = shop.fixture.refused(&shop.fixture.bo, add("bos")).await;
    assert!(matches!(refused, StoreError::Forbidden(_)), "a task that must be merged adds a branch: {refused:?}");
    shop.fixture.done(&shop.fixture.ada, add("adas")).await;
    let refused = shop.fixture.refused(&shop.fixture.ada, adding(&shop, "main", false)).await;
    assert!(matches!(refused, StoreError::Invalid { .. }), "{refused:?}");
    let none = shop.fixture.project(Visibility::Private).await.id;
    let input = MergeAdd { branch: "a".into(), ..Default::default() };
    let refused = shop.fixture.refused(&shop.fixture.ada, verbs::MergeAdd { project: none, input }).await;
    assert!(matches!(refused, StoreError::Conflict(_)), "without a repository: {refused:?}");
}

async fn a_branch_waits_for_those_it_builds_on_and_for_a_person_once_they_left(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    checks(&shop).await;
    let mut repository = repository();
    repository.bad.insert("below".into());
    let below = add(&shop, "below").await;
    shop.fixture.pass(1);
    let mut input = adding(&shop, "above", false);
    (input.input.after, input.input.priority) = (vec![below.id], Some(9));
    let above = shop.fixture.done(&shop.fixture.ada, input).await;
    assert_eq!(above.reason.as_deref(), Some("it waits for `below`, which it builds on"));
    work(&mut shop, &mut repository).await;
    assert_eq!(repository.tip, "tip", "the branch below fails, and the one above does not land without it");
    let [held] = queue(&shop).await.candidates.try_into().unwrap();
    assert_eq!((held.id, held.state), (above.id, CandidateState::NeedsPerson));
    let why = "it builds on `below`, which left the queue without landing: confirm it or remove it";
    assert_eq!(held.reason.as_deref(), Some(why));

    // The branch below comes back, repaired: nobody has to decide.
    repository.bad.clear();
    shop.fixture.pass(1);
    let again = add(&shop, "below").await;
    work(&mut shop, &mut repository).await;
    assert_eq!(repository.tip, "tip+below+above");

    // Only a person lets a branch land without the one below.
    shop.fixture.pass(1);
    let gone = add(&shop, "gone").await;
    let mut input = adding(&shop, "alone", false);
    input.input.after = vec![gone.id, again.id];
    let alone = shop.fixture.done(&shop.fixture.ada, input).await;
    shop.fixture.done(&shop.fixture.ada, verbs::MergeRemove { candidate: gone.id }).await;
    work(&mut shop, &mut repository).await;
    assert_eq!(repository.tip, "tip+below+above");
    shop.fixture.done(&shop.fixture.bo, verbs::MergeConfirm { candidate: alone.id }).await;
    work(&mut shop, &mut repository).await;
    assert_eq!(repository.tip, "tip+below+above+alone");
}

async fn a_tip_that_an_outsider_repairs_thaws_the_queue(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    checks(&shop).await;
    let mut repository = Repository { tip_bad: true, ..repository() };
    add(&shop, "a").await;
    work(&mut shop, &mut repository).await;
    assert_eq!(queue(&shop).await.gate, MergeGate::TipRed);
    (repository.tip, repository.tip_bad) = ("repaired".into(), false);
    shop.fixture.pass(90_000);
    shop.fixture.done(&Caller::hub("test"), TendMerges {}).await;
    work(&mut shop, &mut repository).await;
    assert_eq!((queue(&shop).await.gate, repository.tip.as_str()), (MergeGate::Open, "repaired+a"));
}

async fn a_person_freezes_the_queue_for_all_but_fixes(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    checks(&shop).await;
    let mut repository = repository();
    let input = MergeGateChange { target: None, reason: Some("release".into()) };
    shop.fixture.done(&shop.fixture.ada, verbs::MergeFreeze { project: shop.project.id, input }).await;
    add(&shop, "a").await;
    shop.fixture.done(&shop.fixture.ada, adding(&shop, "fix", true)).await;
    work(&mut shop, &mut repository).await;
    assert_eq!((queue(&shop).await.gate, repository.tip.as_str()), (MergeGate::Frozen, "tip+fix"));
    let input = MergeGateChange::default();
    shop.fixture.done(&shop.fixture.bo, verbs::MergeThaw { project: shop.project.id, input }).await;
    work(&mut shop, &mut repository).await;
    assert_eq!(repository.tip, "tip+fix+a");
}

async fn the_queue_tells_when_it_ends_and_what_a_landing_cost(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    checks(&shop).await;
    let mut repository = repository();
    add(&shop, "a").await;
    assert_eq!(queue(&shop).await.expected_at, None, "nobody knows how long the checks take");
    work(&mut shop, &mut repository).await;
    let [landed] = history(&shop).await.try_into().unwrap();
    assert!(landed.runs > 0 && landed.cost_ms == u64::from(landed.runs) * 1000, "{landed:?}");
    shop.fixture.pass(1);
    add(&shop, "b").await;
    shop.fixture.pass(1);
    add(&shop, "c").await;
    let open = queue(&shop).await;
    let times: Vec<_> = open.candidates.iter().filter_map(|candidate| candidate.expected_at).collect();
    assert!(times.len() == 2 && times.is_sorted(), "{open:?}");
    assert_eq!(open.expected_at, times.last().copied());
}

/// The worker reports work that meets everything but the merge; the branch is published.
async fn reports_work(shop: &mut Shop, task: TaskId) -> Landing {
    shop.dispatch().await;
    shop.ends(task, "Added it.").await;
    let kept = Some("1".repeat(40));
    let changes = Changes { base: "0".repeat(40), head: "1".repeat(40), tree: "t".into(), kept, ..Default::default() };
    shop.looked_at(task, Some(changes)).await;
    let waiting = shop.task(task).await;
    assert_eq!(waiting.status, TaskStatus::Validating, "{waiting:?}");
    assert_eq!(waiting.reason.as_deref(), Some("it waits for the merge queue"));
    assert_eq!(shop.desired().await.1, [], "a report is not checked twice");
    let one = shop.fixture.store.publishing().await.unwrap().remove(0);
    let (pull_request, default_branch) = (None, Some("main".to_owned()));
    let result = PublishResult::Done { commit: format!("{}@0", one.branch), pull_request, default_branch };
    shop.fixture.done(&Caller::hub("lander"), PublishEnded { landing: one.landing, result }).await;
    newest(shop).await
}

async fn newest(shop: &Shop) -> Landing {
    let found = shop.fixture.store.landings(&shop.fixture.ada, LandingFilter::default()).await.unwrap();
    found.into_iter().max_by_key(|landing| landing.id).unwrap()
}

async fn required(shop: &Shop) -> [TaskId; 2] {
    let first = TaskAdd { id: Some("one".into()), acceptance: vec![Criterion::Merged {}], ..plain("Add sub") };
    let tasks = shop.add(vec![first, TaskAdd { deps: vec!["one".into()], ..plain("Add mul") }]).await;
    [tasks[0], tasks[1]]
}

async fn a_task_that_requires_the_merge_is_done_once_its_work_landed(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    checks(&shop).await;
    shop.start(1).await;
    let [first, second] = required(&shop).await;
    let landing = reports_work(&mut shop, first).await;
    let mut repository = repository();
    repository.bad.insert(landing.branch.clone());
    work(&mut shop, &mut repository).await;
    let back = shop.task(first).await;
    assert_eq!((back.status, back.attempt), (TaskStatus::Running, 1), "its worker has it again: {back:?}");
    assert_eq!(shop.task(second).await.status, TaskStatus::Blocked);
    let (sessions, _) = shop.desired().await;
    assert!(sessions[0].prompt.contains("The merge queue sent this work back"), "{}", sessions[0].prompt);
    repository.bad.clear();
    let landing = reports_work(&mut shop, first).await;
    work(&mut shop, &mut repository).await;
    assert_eq!(shop.task(first).await.status, TaskStatus::Done);
    assert_eq!(shop.task(second).await.status, TaskStatus::Ready);
    assert_eq!(repository.tip, format!("tip+{}", landing.branch));
    let report =
        shop.detail(first).await.reports.into_iter().find(|one| one.verdict == ReportVerdict::Accepted).unwrap();
    assert_eq!((report.results[0].passed, report.results[0].reason.as_str()), (Some(true), "merged into `main`"));
}

async fn the_checks_of_sandboxed_work_run_in_its_sandbox(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    checks(&shop).await;
    let tight = Sandbox { network: false, home: false };
    let input = WorkerStart { agent: "codex".into(), sandbox: Some(tight.clone()), ..Default::default() };
    shop.start_as(&shop.fixture.ada, input).await;
    add(&shop, "by-hand").await;
    assert_eq!(orders(&shop).await[0].sandbox, None, "a person pushed it");
    let [first, _] = required(&shop).await;
    reports_work(&mut shop, first).await;
    let mut sandboxed = None;
    work_on(&mut shop, &mut repository(), |run| {
        let both = matches!(&run.order, MergeOrder::Test { candidates, checks, .. } if candidates.len() == 2 && !checks.is_empty());
        if both {
            sandboxed = Some(run.sandbox.clone());
        }
        both
    })
    .await;
    assert_eq!(sandboxed, Some(Some(tight)), "what a sandboxed worker wrote is tested in its sandbox");
}

async fn a_cancelled_task_leaves_the_queue(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    checks(&shop).await;
    shop.start(1).await;
    let [first, _] = required(&shop).await;
    let landing = reports_work(&mut shop, first).await;
    shop.fixture.done(&shop.fixture.ada, verbs::TaskCancel { task: first, input: TaskReason { reason: None } }).await;
    assert_eq!(history(&shop).await[0].state, CandidateState::Removed);
    assert_eq!(newest(&shop).await.state, LandingState::Refused);
    let mut repository = repository();
    work(&mut shop, &mut repository).await;
    assert_eq!((repository.tip.as_str(), landing.state), ("tip", LandingState::Queued));
}

async fn a_person_decides_about_work_that_was_taken_out_of_the_queue(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    checks(&shop).await;
    shop.start(1).await;
    let [first, _] = required(&shop).await;
    let landing = reports_work(&mut shop, first).await;
    let candidate = landing.candidate.unwrap();
    shop.fixture.done(&shop.fixture.ada, verbs::MergeRemove { candidate }).await;
    let open = shop.detail(first).await.escalations.pop().unwrap();
    assert_eq!(open.kind, EscalationKind::Uncheckable);
    assert!(open.question.contains("taken out of the merge queue"), "{}", open.question);
    let input = EscalationAnswer { option: Some("Accept".into()), act: None, text: None };
    shop.fixture.done(&shop.fixture.bo, verbs::EscalationAnswer { escalation: open.id, input }).await;
    assert_eq!(shop.task(first).await.status, TaskStatus::Done);
    assert_eq!(newest(&shop).await.id, landing.id, "it is not landed behind the person's back");
}
