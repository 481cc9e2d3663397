//! `shopfloor overlap`: where the work of activities meets, or conflicts with its base branch, before it is merged.

mod reserve;

use std::collections::HashMap;

use clap::{Args, Subcommand};
use client::Client;
use client::watch::Event;
use domain::{OverlapId, OverlapKind, Timestamp};
use protocol::{Activity, Call, Change, FromHub, OverlapFilter, OverlapPlace, OverlapSide, Project, WorkOverlap};

use crate::output::clean;
use crate::pick::pick;
use crate::table::{Cell, Style, Table, fields};
use crate::{Context, Failure, Output, when};

/// Subcommands for overlaps.
#[derive(Debug, Subcommand)]
pub(crate) enum OverlapCommand {
    /// List the overlaps of work that you can see, conflicts first
    List(ListArgs),
    /// Show one overlap, with every place
    Show {
        /// The overlap's id, or its beginning
        overlap: String,
    },
    /// Print overlaps as they appear, change and end
    Watch(ListArgs),
    /// Tell others which files an activity will change; nobody is refused anything, others are warned
    Reserve(reserve::ReserveArgs),
    /// End a reservation, or all of an activity
    Release(reserve::ReleaseArgs),
    /// List the reservations that have not ended, those that end first first
    Reservations(reserve::ReservationsArgs),
}

/// Which overlaps.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Only overlaps in this project (id or name)
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
    /// Only overlaps of this activity (id or name)
    #[arg(long, value_name = "ACTIVITY")]
    activity: Option<String>,
    /// Also those that ended in the last 7 days
    #[arg(long)]
    ended: bool,
}

impl ListArgs {
    async fn filter(&self, client: &Client) -> Result<OverlapFilter, Failure> {
        let project = match &self.project {
            Some(project) => Some(pick::<Project>(client, project).await?),
            None => None,
        };
        let activity = match &self.activity {
            Some(activity) => Some(pick::<Activity>(client, activity).await?),
            None => None,
        };
        Ok(OverlapFilter { project, activity, ended: self.ended.then_some(true) })
    }
}

/// Runs the subcommand.
pub(crate) async fn run(command: OverlapCommand, context: &Context) -> Result<(), Failure> {
    let (client, out) = (&context.client()?, &context.out);
    match command {
        OverlapCommand::List(args) => {
            let filter = args.filter(client).await?;
            let found: Vec<WorkOverlap> = client.ask(Call::OverlapList { filter }).await?;
            out.show(&found, |out| table(&found, out))
        }
        OverlapCommand::Show { overlap } => {
            let overlap = pick::<WorkOverlap>(client, &overlap).await?;
            let found: WorkOverlap = client.ask(Call::OverlapShow { overlap }).await?;
            out.show(&found, |out| details(&found, out))
        }
        OverlapCommand::Watch(args) => watch(args.filter(client).await?, client, out).await,
        OverlapCommand::Reserve(args) => reserve::reserve(args, client, out).await,
        OverlapCommand::Release(args) => reserve::release(args, client, out).await,
        OverlapCommand::Reservations(args) => reserve::list(args, client, out).await,
    }
}

/// Prints overlaps until the reader closes the pipe: first those that exist.
async fn watch(filter: OverlapFilter, client: &Client, out: &Output) -> Result<(), Failure> {
    let mut known: HashMap<OverlapId, Timestamp> = HashMap::new();
    let mut out = out.clone();
    let mut watch = client.watch().named("cli");
    loop {
        let news: Vec<WorkOverlap> = match watch.next().await? {
            Event::Lost { why, retry_in } => {
                out.note(&format!("connection lost ({why}); reconnecting in {:.1} s", retry_in.as_secs_f64()));
                vec![]
            }
            Event::Frame(FromHub::Live { .. }) => client.ask(Call::OverlapList { filter }).await?,
            Event::Frame(FromHub::Delta(delta)) => match delta.change {
                Change::Overlap { overlap } if wanted(&overlap, filter) => vec![overlap],
                _ => vec![],
            },
            Event::Frame(_) => vec![],
        };
        out.now = Timestamp::from_millis(jiff::Timestamp::now().as_millisecond());
        for overlap in news {
            if known.insert(overlap.id, overlap.updated_at) != Some(overlap.updated_at) {
                out.stream(&overlap, |out| line(&overlap, out))?;
            }
        }
    }
}

fn wanted(overlap: &WorkOverlap, filter: OverlapFilter) -> bool {
    filter.project.is_none_or(|project| project == overlap.project)
        && filter.activity.is_none_or(|activity| sides(overlap).any(|side| side.activity == activity))
}

/// The works that meet.
fn sides(overlap: &WorkOverlap) -> impl Iterator<Item = &OverlapSide> {
    [&overlap.one].into_iter().chain(&overlap.other)
}

fn table(overlaps: &[WorkOverlap], out: &Output) -> String {
    let titles = &["ID", "KIND", "ACTIVITY…", "AND…", "WHERE…", "SINCE"];
    let mut table = Table::new(titles, "no overlaps");
    for overlap in overlaps {
        table.row([
            overlap.id.into(),
            kind_cell(overlap),
            side(&overlap.one, out).into(),
            against(overlap, out).into(),
            summary(overlap).into(),
            when::relative(overlap.since, out.now).into(),
        ]);
    }
    table.render(out)
}

fn details(overlap: &WorkOverlap, out: &Output) -> String {
    let mut pairs = vec![
        ("id", overlap.id.into()),
        ("kind", kind_cell(overlap)),
        ("activity", side(&overlap.one, out).into()),
        ("and", against(overlap, out).into()),
        ("since", when::relative(overlap.since, out.now).into()),
    ];
    pairs.extend(overlap.ended_at.map(|at| ("ended", when::relative(at, out.now).into())));
    let mut lines = vec![fields(out, &pairs), String::new()];
    lines.extend(overlap.places.iter().map(|place| {
        let text = clean(&format!("{}: {}", at(place), place.why)).replace('\n', " ");
        style(place.kind).paint(&text, out.color)
    }));
    if overlap.more > 0 {
        lines.push(format!("and {} more", overlap.more));
    }
    lines.join("\n")
}

fn line(overlap: &WorkOverlap, out: &Output) -> String {
    let clock = overlap.updated_at.to_string();
    let clock = clock.get("2026-01-31T".len().."2026-01-31T12:00:00".len()).unwrap_or(&clock);
    let (one, other) = (side(&overlap.one, out), against(overlap, out));
    let text = format!("{}  {one} and {other}: {} ({})", word(overlap), summary(overlap), overlap.id);
    let shown = if overlap.ended_at.is_some() { Style::Dim } else { style(overlap.kind) };
    format!("{clock}Z  {}", shown.paint(&clean(&text).replace('\n', " "), out.color))
}

fn side(side: &OverlapSide, out: &Output) -> String {
    let declared = match (side.until, side.task) {
        (Some(until), _) => format!(", reserved: ends {}", when::ahead(until, out.now)),
        (None, Some(_)) => ", files of its task".to_owned(),
        (None, None) => String::new(),
    };
    format!("{} ({}){declared}", side.name, side.owner.name)
}

/// The other work, or the base branch.
fn against(overlap: &WorkOverlap, out: &Output) -> String {
    match &overlap.other {
        Some(other) => side(other, out),
        None => format!("branch {}", overlap.base.as_deref().unwrap_or_default()),
    }
}

/// The first place and how many more there are.
fn summary(overlap: &WorkOverlap) -> String {
    let more = (overlap.places.len() + overlap.more as usize).saturating_sub(1);
    let first = overlap.places.first().map(at).unwrap_or_default();
    if more == 0 { first } else { format!("{first} and {more} more") }
}

fn at(place: &OverlapPlace) -> String {
    if let Some(symbol) = &place.symbol {
        return format!("{symbol} in {}", place.path);
    }
    match (place.first, place.last) {
        (Some(first), Some(last)) if first != last => format!("{}:{first}-{last}", place.path),
        (Some(first), _) => format!("{}:{first}", place.path),
        _ => place.path.clone(),
    }
}

fn word(overlap: &WorkOverlap) -> &'static str {
    match (overlap.ended_at, overlap.kind) {
        (Some(_), _) => "ended",
        (None, OverlapKind::Declared) if sides(overlap).any(|side| side.task.is_some()) => "planned",
        (None, OverlapKind::Declared) => "reserved",
        (None, OverlapKind::SameFile) => "same file",
        (None, OverlapKind::RenamedUnder) => "renamed",
        (None, OverlapKind::SameSymbol) => "same symbol",
        (None, OverlapKind::SameLines | OverlapKind::Contradiction) => "conflict",
        (None, OverlapKind::Base) => "base conflict",
    }
}

fn kind_cell(overlap: &WorkOverlap) -> Cell {
    let shown = if overlap.ended_at.is_some() { Style::Dim } else { style(overlap.kind) };
    Cell::styled(word(overlap), shown)
}

fn style(kind: OverlapKind) -> Style {
    if kind.conflicts() { Style::Red } else { Style::Plain }
}

#[cfg(test)]
mod tests {
    use domain::{ActivityId, ProjectId, UserId, WorkspaceId};
    use protocol::UserRef;

    use super::*;

    #[test]
    fn a_conflict_with_the_base_names_the_branch() {
        let at = Timestamp::from_millis(0);
        let out = Output { json: false, color: false, width: None, now: at };
        let owner = UserRef { id: UserId::generate(), name: "Ada".into() };
        let (activity, workspace) = (ActivityId::generate(), WorkspaceId::generate());
        let one = OverlapSide {
            activity,
            name: "Count".into(),
            workspace: Some(workspace),
            reservation: None,
            task: None,
            until: None,
            owner,
        };
        let place = |kind, lines: Option<(u32, u32)>| OverlapPlace {
            path: "a.rs".into(),
            kind,
            first: lines.map(|lines| lines.0),
            last: lines.map(|lines| lines.1),
            symbol: None,
            why: "why".into(),
        };
        let met = WorkOverlap {
            id: OverlapId::generate(),
            project: ProjectId::generate(),
            one: one.clone(),
            other: None,
            base: Some("main".into()),
            kind: OverlapKind::Base,
            places: vec![place(OverlapKind::Base, None)],
            more: 1,
            since: at,
            updated_at: at,
            ended_at: None,
        };
        assert_eq!(
            (word(&met), against(&met, &out), summary(&met)),
            ("base conflict", "branch main".into(), "a.rs and 1 more".into())
        );
        let filter = |activity| OverlapFilter { activity: Some(activity), ..OverlapFilter::default() };
        assert!(wanted(&met, filter(activity)) && !wanted(&met, filter(ActivityId::generate())));
        let places = vec![place(OverlapKind::SameLines, Some((3, 5)))];
        let pair = WorkOverlap { other: Some(one), base: None, kind: OverlapKind::SameLines, places, more: 0, ..met };
        assert_eq!(
            (word(&pair), against(&pair, &out), summary(&pair)),
            ("conflict", "Count (Ada)".into(), "a.rs:3-5".into())
        );
    }
}
