//! Reports whose task went on before they were judged.

use domain::{AnswerAct, ReportVerdict, TaskId, TaskStatus};
use protocol::link::FactBody;
use protocol::{
    Criterion, Escalation, EscalationAnswer, TaskAdd, TaskReason, TaskTake, TaskTakeOver,
};
use store::{AnswerEscalation, CancelTask, RetryTask, TakeOver, TakeTask};

use super::{Shop, checked, plain};
use crate::floor::Floor;

both!(
    a_cancelled_task_refuses_what_was_being_checked,
    what_a_person_let_fail_or_has_done_again_is_refused,
    what_was_taken_over_was_not_refused_for_what_it_is,
);

fn judged(description: &str) -> TaskAdd {
    TaskAdd {
        acceptance: vec![Criterion::Text {
            text: "It reads well".into(),
        }],
        ..plain(description)
    }
}

impl Shop {
    async fn cancel(&self, task: TaskId) {
        let input = TaskReason {
            reason: Some("not needed".into()),
        };
        self.floor
            .done(&self.floor.ada, CancelTask { task, input })
            .await;
    }

    /// What is asked about a task now.
    async fn asked(&self, task: TaskId) -> Vec<Escalation> {
        self.detail(task)
            .await
            .escalations
            .into_iter()
            .filter(|one| one.answered_at.is_none())
            .collect()
    }

    async fn verdict(&self, task: TaskId) -> (ReportVerdict, String) {
        let report = self.detail(task).await.reports.remove(0);
        (report.verdict, report.reason.unwrap_or_default())
    }
}

async fn a_cancelled_task_refuses_what_was_being_checked(floor: Floor) {
    let mut shop = Shop::open(floor).await;
    shop.start(1).await;
    let task = shop.add(vec![checked("Write out.txt")]).await[0];
    shop.dispatch().await;
    shop.finishes(task, "Wrote it.").await;
    let report = shop.pending(task).await;
    shop.cancel(task).await;
    let (verdict, reason) = shop.verdict(task).await;
    assert_eq!(verdict, ReportVerdict::Refused);
    assert_eq!(
        reason,
        "the task was cancelled before this was judged: Ada cancelled it: not needed"
    );
    assert!(
        shop.desired().await.1.is_empty(),
        "nobody checks it any more"
    );
    let late = FactBody::Checked {
        report,
        results: vec![],
        changes: None,
    };
    shop.memory.happened(&shop.floor, late).await;
    assert_eq!(
        (shop.task(task).await.status, shop.verdict(task).await.1),
        (TaskStatus::Cancelled, reason)
    );
}

async fn what_a_person_let_fail_or_has_done_again_is_refused(floor: Floor) {
    let mut shop = Shop::open(floor).await;
    shop.start(2).await;
    let tasks = shop
        .add(vec![judged("Write one"), judged("Write another")])
        .await;
    shop.dispatch().await;
    for task in &tasks {
        shop.finishes(*task, "Done.").await;
    }
    let escalation = shop.asked(tasks[0]).await[0].id;
    let input = EscalationAnswer {
        option: None,
        act: Some(AnswerAct::Fail),
        text: None,
    };
    shop.floor
        .done(&shop.floor.ada, AnswerEscalation { escalation, input })
        .await;
    let (verdict, reason) = shop.verdict(tasks[0]).await;
    assert_eq!(verdict, ReportVerdict::Refused);
    assert_eq!(
        reason,
        "the task failed before this was judged: Ada let it fail"
    );
    let input = TaskReason {
        reason: Some("shorter".into()),
    };
    shop.floor
        .done(
            &shop.floor.ada,
            RetryTask {
                task: tasks[1],
                input,
            },
        )
        .await;
    let (verdict, reason) = shop.verdict(tasks[1]).await;
    assert_eq!(
        (verdict, reason.as_str()),
        (ReportVerdict::Refused, "Ada retried it: shorter")
    );
}

async fn what_was_taken_over_was_not_refused_for_what_it_is(floor: Floor) {
    let mut shop = Shop::open(floor).await;
    shop.start(1).await;
    let task = shop.add(vec![checked("Write out.txt")]).await[0];
    shop.dispatch().await;
    shop.finishes(task, "Wrote it.").await;
    let theirs = crate::execution::runner(&shop.floor, &shop.floor.bo, "theirs", 4).await;
    let over = TakeOver {
        task,
        input: TaskTakeOver::default(),
        connected: vec![shop.runner, theirs],
    };
    shop.floor.done(&shop.floor.bo, over).await;
    let (verdict, reason) = shop.verdict(task).await;
    assert_eq!(verdict, ReportVerdict::Refused);
    assert_eq!(
        reason,
        "the task went on before this was judged: Bo took it over"
    );
    let worker = shop.task(task).await.assigned_to.unwrap();
    let stop = store::StopWorker {
        worker,
        input: protocol::WorkerStop { force: true },
    };
    shop.floor.done(&shop.floor.bo, stop).await;
    shop.cancel(task).await;
    shop.floor
        .done(
            &shop.floor.ada,
            RetryTask {
                task,
                input: TaskReason { reason: None },
            },
        )
        .await;
    let input = TaskTake {
        task: Some(task),
        worker: Some("editor".into()),
        abilities: vec![],
        wait_seconds: None,
    };
    let taken = shop
        .floor
        .done(
            &shop.floor.ada,
            TakeTask {
                project: shop.project.id,
                input,
            },
        )
        .await
        .taken
        .unwrap();
    assert_eq!(taken.refused.as_deref(), None, "there is nothing to mend");
}
