//! What a person does to an execution.

use client::Client;
use domain::{ExecutionId, StepStatus};
use protocol::{
    Call, Execution, ExecutionAnswer, ExecutionAt, ExecutionInputs, ExecutionOutput, ExecutionPause, ExecutionReason,
    ExecutionStep,
};

use super::args::{AnswerArgs, ExecutionCommand, Of, StepArgs};
use super::steps::{Wanted, only};
use super::{id, line};
use crate::given;
use crate::{Failure, Output};

/// Runs one of the operations.
pub(super) async fn run(command: ExecutionCommand, client: &Client, out: &Output) -> Result<(), Failure> {
    let call = match command {
        ExecutionCommand::Pause { of, now } => {
            let input = ExecutionPause { now, reason: of.why.reason };
            Call::ExecutionPause { execution: id(client, &of.execution).await?, input }
        }
        ExecutionCommand::Resume(of) => {
            let (execution, input) = reason(of, client).await?;
            Call::ExecutionResume { execution, input }
        }
        ExecutionCommand::Cancel(of) => {
            let (execution, input) = reason(of, client).await?;
            Call::ExecutionCancel { execution, input }
        }
        ExecutionCommand::Answer { approve, answer: args, .. } => answer(args, approve, client).await?,
        ExecutionCommand::Approve(args) => answer(args, true, client).await?,
        ExecutionCommand::Reject(args) => answer(args, false, client).await?,
        ExecutionCommand::Retry(args) => {
            let (execution, path) = at(&args, &RETRIED, client).await?;
            Call::ExecutionRetry { execution, input: ExecutionAt { path, reason: args.why.reason } }
        }
        ExecutionCommand::Skip { at: args, output } => {
            let output = output.as_deref().map(given::value).transpose()?;
            let (execution, path) = at(&args, &SKIPPED, client).await?;
            Call::ExecutionSkip { execution, input: ExecutionOutput { path, output, reason: args.why.reason } }
        }
        ExecutionCommand::Correct { execution, step, output, why } => {
            let output = Some(given::value(&output)?);
            let input = ExecutionOutput { path: step, output, reason: why.reason };
            Call::ExecutionCorrect { execution: id(client, &execution).await?, input }
        }
        ExecutionCommand::Inputs { of, inputs } => {
            let inputs = inputs.read()?;
            if inputs.is_empty() {
                return Err(Failure::usage("nothing to change").advise("pass --input NAME=VALUE or --input-file FILE"));
            }
            let input = ExecutionInputs { inputs, reason: of.why.reason };
            Call::ExecutionInputs { execution: id(client, &of.execution).await?, input }
        }
        ExecutionCommand::Rewind { execution, step, why } => {
            let input = ExecutionAt { path: step, reason: why.reason };
            Call::ExecutionRewind { execution: id(client, &execution).await?, input }
        }
        // The others are handled by the caller.
        _ => return Ok(()),
    };
    let execution: Execution = client.ask(call).await?;
    out.show(&execution, |out| line(&execution, out))
}

async fn reason(of: Of, client: &Client) -> Result<(ExecutionId, ExecutionReason), Failure> {
    Ok((id(client, &of.execution).await?, ExecutionReason { reason: of.why.reason }))
}

async fn answer(args: AnswerArgs, approve: bool, client: &Client) -> Result<Call, Failure> {
    let data = args.data.as_deref().map(given::value).transpose()?;
    let execution = id(client, &args.execution).await?;
    let path = match args.step {
        Some(path) => path,
        None => only(&super::detail(client, execution).await?, &ASKING)?,
    };
    Ok(Call::ExecutionAnswer { execution, input: ExecutionAnswer { path, approve, data, comment: args.comment } })
}

/// The step that is named, or the only one that is meant.
async fn at(args: &StepArgs, wanted: &Wanted, client: &Client) -> Result<(ExecutionId, String), Failure> {
    let execution = id(client, &args.execution).await?;
    match &args.step {
        Some(path) => Ok((execution, path.clone())),
        None => Ok((execution, only(&super::detail(client, execution).await?, wanted)?)),
    }
}

const ASKING: Wanted = Wanted { is: asks, none: "no step asks anything now", several: "several steps ask" };
const RETRIED: Wanted =
    Wanted { is: failed, none: "no step has failed or was interrupted", several: "several steps can be retried" };
const SKIPPED: Wanted = Wanted { is: stuck, none: "no step can be skipped now", several: "several steps are open" };

fn asks(step: &ExecutionStep) -> bool {
    step.question.is_some()
}

fn failed(step: &ExecutionStep) -> bool {
    matches!(step.status, StepStatus::Failed | StepStatus::Interrupted)
}

fn stuck(step: &ExecutionStep) -> bool {
    use StepStatus::{Failed, Held, Interrupted, Retrying, Running, Waiting};
    matches!(step.status, Running | Waiting | Retrying | Held | Interrupted | Failed)
}
