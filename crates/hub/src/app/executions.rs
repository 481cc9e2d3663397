//! Executions and schedules.

use super::{handle, stored};

stored! {
    ExecutionStart ExecutionPause ExecutionResume ExecutionCancel ExecutionAnswer ExecutionRetry ExecutionSkip
    ExecutionCorrect ExecutionInputs ExecutionSwap ExecutionRewind ScheduleAdd SchedulePause ScheduleResume
    ScheduleRunNow ScheduleBackfill ScheduleRemove
}

handle! {
    ExecutionList(verb, asked) { Ok(asked.hub.store.executions(asked.caller, verb.project, verb.filter).await?) }

    ExecutionShow(verb, asked) { Ok(asked.hub.store.execution(asked.caller, verb.execution).await?) }

    ExecutionLog(verb, asked) { Ok(asked.hub.store.execution_log(asked.caller, verb.execution, verb.page).await?) }

    ExecutionReplay(verb, asked) { Ok(asked.hub.store.execution_replay(asked.caller, verb.execution).await?) }

    ScheduleList(verb, asked) { Ok(asked.hub.store.schedules(asked.caller, verb.project).await?) }

    ScheduleShow(verb, asked) { Ok(asked.hub.store.schedule(asked.caller, verb.schedule).await?) }

    ScheduleTicks(verb, asked) { Ok(asked.hub.store.schedule_ticks(asked.caller, verb.schedule, verb.page).await?) }
}
