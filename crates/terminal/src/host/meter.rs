//! Measures the resources of a session's processes, and checks the limits.

use std::time::{Duration, Instant};

use super::processes::descendants;
use crate::spec::Limits;

/// How often to measure.
const LOOK: Duration = Duration::from_secs(1);
/// Linux counts processor time in these for everybody, whatever it uses itself.
const TICKS_PER_SECOND: u64 = 100;

/// Looks once in a while.
pub(crate) struct Meter {
    limits: Limits,
    next: Instant,
}

/// What is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Used {
    memory: u64,
    processes: u32,
    ticks: u64,
}

impl Meter {
    /// Nothing where there is no limit.
    pub(crate) fn new(limits: Limits) -> Option<Self> {
        (limits != Limits::default()).then(|| Self { limits, next: Instant::now() + LOOK })
    }

    /// When to measure again, or which limit was exceeded.
    pub(crate) fn look(&mut self, now: Instant) -> Result<Instant, String> {
        if now < self.next {
            return Ok(self.next);
        }
        self.next = now + LOOK;
        exceeded(self.limits, used()).map_or(Ok(self.next), Err)
    }
}

/// The exceeded limit, for people.
fn exceeded(limits: Limits, used: Used) -> Option<String> {
    let mib = |bytes: u64| bytes.div_ceil(1 << 20);
    let seconds = used.ticks / TICKS_PER_SECOND;
    if let Some(most) = limits.processes.filter(|most| used.processes > *most) {
        return Some(format!("stopped: it had {} processes; the limit (session_processes) is {most}", used.processes));
    }
    if let Some(most) = limits.memory.filter(|most| used.memory > *most) {
        let (used, most) = (mib(used.memory), mib(most));
        return Some(format!("stopped: it used {used} MiB of memory; the limit (session_memory) is {most} MiB"));
    }
    let most = limits.cpu_seconds.filter(|most| seconds > *most)?;
    Some(format!("stopped: it used {seconds} s of processor time; the limit (session_cpu_seconds) is {most} s"))
}

/// The usage of all descendants, including exited ones.
fn used() -> Used {
    let mut sum = Used { ticks: ticks("self").map_or(0, |(_, of_ended)| of_ended), ..Used::default() };
    for pid in descendants() {
        let pid = pid.as_raw_nonzero().to_string();
        sum.processes += 1;
        sum.memory += memory(&pid).unwrap_or(0);
        sum.ticks += ticks(&pid).map_or(0, |(own, of_ended)| own + of_ended);
    }
    sum
}

/// Memory that is not backed by a file.
fn memory(pid: &str) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
}

/// The time of a process, and that of its children that have ended and were waited for.
fn ticks(pid: &str) -> Option<(u64, u64)> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program is in parentheses and may itself contain some; times are the 14th to 17th field.
    let mut times = stat[stat.rfind(')')? + 1..].split_whitespace().skip(11);
    let mut next = || times.next()?.parse::<u64>().ok();
    let (user, system, ended_user, ended_system) = (next()?, next()?, next()?, next()?);
    Some((user + system, ended_user + ended_system))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exceeded_limit_is_named_with_its_setting() {
        let limits = Limits { memory: Some(64 << 20), processes: Some(8), cpu_seconds: Some(60) };
        let within = Used { memory: 64 << 20, processes: 8, ticks: 6_099 };
        assert_eq!(exceeded(limits, within), None);
        let check = |used: Used, words: &str| {
            let told = exceeded(limits, used).unwrap();
            assert!(told.contains(words), "{told}");
            assert_eq!(exceeded(Limits::default(), used), None, "no limit");
        };
        check(Used { memory: (64 << 20) + 1, ..within }, "65 MiB of memory; the limit (session_memory) is 64 MiB");
        check(Used { processes: 9, ..within }, "9 processes; the limit (session_processes) is 8");
        check(Used { ticks: 6_100, ..within }, "61 s of processor time; the limit (session_cpu_seconds) is 60 s");
    }

    #[test]
    fn this_process_uses_memory() {
        assert!(memory("self").unwrap() > 0);
        assert!(ticks("self").is_some());
    }
}
