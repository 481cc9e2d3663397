//! Schedules and their ticks as text.

use domain::{Overlap, Timestamp};
use jiff::tz::TimeZone;
use protocol::{CatchUp, Schedule, Tick, Trigger};

use crate::commands::words;
use crate::output::clean;
use crate::table::{Cell, Style, Table, fields};
use crate::{Output, when};

/// Schedules, a row each.
pub(super) fn table(schedules: &[Schedule], out: &Output) -> String {
    let titles = ["NAME…", "RECIPE…", "WHEN…", "NEXT", "LAST", "STATE…", "ID"];
    let mut table = Table::new(&titles, "no schedules; `shopfloor schedule add` adds one");
    for one in schedules {
        let last = one.last.as_ref();
        let at = last.map(|tick| format!("{} {}", tick.outcome, when::relative(tick.planned_at, out.now)));
        table.row([
            (&one.name).into(),
            (&one.recipe_name).into(),
            (&one.when).into(),
            when::ahead_or(one.next.first().copied(), out.now, "-").into(),
            at.as_deref().unwrap_or("-").into(),
            state(one),
            one.id.into(),
        ]);
    }
    table.render(out)
}

/// A schedule in a line.
pub(super) fn line(schedule: &Schedule) -> String {
    let Schedule { id, name, .. } = schedule;
    let note = schedule.note.as_ref().map(|note| format!(": {note}")).unwrap_or_default();
    let state = if schedule.paused { format!("paused{note}") } else { format!("active, {}", schedule.when) };
    clean(&format!("{id}  {name}  {state}")).replace('\n', " ")
}

/// A schedule with its next times.
pub(super) fn one(schedule: &Schedule, out: &Output) -> String {
    let recipe = format!("{} ({})", schedule.recipe_name, schedule.recipe);
    let mut pairs = vec![
        ("schedule", (&schedule.name).into()),
        ("id", schedule.id.into()),
        ("recipe", recipe.into()),
        ("when", (&schedule.when).into()),
        ("state", state(schedule)),
        ("overlap", overlap(schedule).into()),
        ("catch-up", catch_up(schedule).into()),
    ];
    let mut add = |name, value: Option<String>| pairs.extend(value.map(|value| (name, value.into())));
    add("jitter", (schedule.jitter_seconds > 0).then(|| format!("up to {}", when::spelled(schedule.jitter_seconds))));
    add("from", schedule.from.map(|at| at.to_string()));
    add("until", schedule.until.map(|at| at.to_string()));
    let most = schedule.pause_after_failures;
    add("pauses", most.map(|most| format!("after {most} failed in a row ({} so far)", schedule.failures)));
    let inputs = schedule.inputs.as_object().filter(|inputs| !inputs.is_empty());
    add("inputs", inputs.map(|_| schedule.inputs.to_string()));
    add("runs for", Some(schedule.owner.name.clone()));
    let mut text = fields(out, &pairs);
    let part = |title: &str, lines: &str| format!("\n\n{}\n{lines}", Style::Bold.paint(title, out.color));
    if !schedule.next.is_empty() {
        let next: Vec<String> = schedule.next.iter().map(|at| format!("  {}", planned(*at, schedule, out))).collect();
        text.push_str(&part("Next", &next.join("\n")));
    }
    if let Some(last) = &schedule.last {
        text.push_str(&part("Last tick", &ticks(std::slice::from_ref(last), out)));
    }
    text
}

/// What became of ticks.
pub(super) fn ticks(ticks: &[Tick], out: &Output) -> String {
    let mut table = Table::new(&["PLANNED", "OUTCOME", "EXECUTION", "BY HAND", "REASON…"], "no ticks yet");
    for tick in ticks {
        table.row([
            tick.planned_at.into(),
            words::outcome_cell(tick.outcome),
            tick.execution.map_or_else(|| "-".into(), Cell::from),
            if tick.by_hand { "yes".into() } else { "-".into() },
            tick.reason.as_deref().unwrap_or("-").into(),
        ]);
    }
    table.render(out)
}

fn state(schedule: &Schedule) -> Cell {
    match (&schedule.note, schedule.paused) {
        (_, false) => Cell::styled("active", Style::Green),
        (None, true) => Cell::styled("paused", Style::Yellow),
        (Some(note), true) => Cell::styled(format!("paused: {note}"), Style::Yellow),
    }
}

fn overlap(schedule: &Schedule) -> String {
    let most = match schedule.overlap {
        Overlap::QueueAll => format!(" (at most {})", schedule.queue_max),
        _ => String::new(),
    };
    format!("{}{most}: {}", schedule.overlap, schedule.overlap.meaning())
}

fn catch_up(schedule: &Schedule) -> String {
    let within = when::spelled(schedule.catch_up_seconds);
    match schedule.catch_up {
        CatchUp::None => "none: missed ticks are left out".to_owned(),
        CatchUp::Latest => format!("latest: of missed ticks, the latest runs if it is at most {within} old"),
        CatchUp::All { most } => format!("all: missed ticks of the last {within} run, at most {most}"),
    }
}

/// A planned time, in the time zone of its schedule, too.
fn planned(at: Timestamp, schedule: &Schedule, out: &Output) -> String {
    let zone = match &schedule.trigger {
        Trigger::Cron { time_zone: Some(zone), .. } => TimeZone::get(zone).ok(),
        _ => None,
    };
    let there = zone.and_then(|zone| Some(jiff::Timestamp::from_millisecond(at.as_millis()).ok()?.to_zoned(zone)));
    let there = there.map(|there| format!(", {}", there.strftime("%a %Y-%m-%d %H:%M %Z"))).unwrap_or_default();
    format!("{at}  {}{there}", when::ahead(at, out.now))
}
