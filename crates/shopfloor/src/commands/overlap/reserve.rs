//! `overlap reserve`, `release` and `reservations`: files that activities say they will change.

use clap::{ArgGroup, Args};
use client::Client;
use domain::OverlapKind;
use protocol::{Activity, Call, NewReservation, OverlapFilter, Project, Reservation, ReservationFilter, WorkOverlap};

use super::{side, sides, summary};
use crate::output::clean;
use crate::pick::pick;
use crate::table::{Table, fields};
use crate::{Failure, Output, when};

/// Which files to reserve.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  shopfloor overlap reserve src/parser.rs docs --activity 'Add parser'
  shopfloor overlap reserve 'src/**/*.rs' --activity 'Add parser' --for 30m --reason 'splitting the module'")]
pub(crate) struct ReserveArgs {
    /// Paths or globs from the root of the repository; a folder stands for everything in it
    #[arg(value_name = "PATTERN", required = true)]
    patterns: Vec<String>,
    /// The activity (id or name)
    #[arg(long, value_name = "ACTIVITY")]
    activity: String,
    /// How long, up to 24h
    #[arg(long = "for", value_name = "TIME", default_value = "2h", value_parser = when::span)]
    seconds: u32,
    /// Why, for others
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

/// What to release.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("what").required(true).args(["reservation", "activity"]))]
pub(crate) struct ReleaseArgs {
    /// The reservation's id, or its beginning
    reservation: Option<String>,
    /// All reservations of this activity (id or name)
    #[arg(long, value_name = "ACTIVITY")]
    activity: Option<String>,
}

/// Which reservations.
#[derive(Debug, Args)]
pub(crate) struct ReservationsArgs {
    /// Only reservations in this project (id or name)
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
    /// Only reservations of this activity (id or name)
    #[arg(long, value_name = "ACTIVITY")]
    activity: Option<String>,
}

/// Reserves files, and says whose work they meet.
pub(super) async fn reserve(args: ReserveArgs, client: &Client, out: &Output) -> Result<(), Failure> {
    let activity = pick::<Activity>(client, &args.activity).await?;
    let input = NewReservation { patterns: args.patterns, reason: args.reason, seconds: Some(args.seconds) };
    let made: Reservation = client.ask(Call::OverlapReserve { activity, input }).await?;
    out.show(&made, |out| details(&made, out))?;
    let filter = OverlapFilter { activity: Some(activity), ..OverlapFilter::default() };
    let met: Vec<WorkOverlap> = client.ask(Call::OverlapList { filter }).await?;
    for overlap in met.iter().filter(|one| one.kind == OverlapKind::Declared) {
        if sides(overlap).any(|side| side.reservation == Some(made.id))
            && let Some(theirs) = sides(overlap).find(|side| side.reservation != Some(made.id))
        {
            out.note(&format!("note: meets {} in {}", side(theirs, out), summary(overlap)));
        }
    }
    Ok(())
}

/// Releases one reservation, or all of an activity.
pub(super) async fn release(args: ReleaseArgs, client: &Client, out: &Output) -> Result<(), Failure> {
    if let Some(reservation) = &args.reservation {
        let reservation = pick::<Reservation>(client, reservation).await?;
        client.call(Call::OverlapRelease { reservation }).await?;
        return out.did("released", reservation);
    }
    let activity = pick::<Activity>(client, args.activity.as_deref().unwrap_or_default()).await?;
    let filter = ReservationFilter { activity: Some(activity), project: None };
    let mut ended: Vec<Reservation> = Vec::new();
    for one in client.ask::<Vec<Reservation>>(Call::OverlapReservations { filter }).await? {
        ended.push(client.ask(Call::OverlapRelease { reservation: one.id }).await?);
    }
    out.show(&ended, |_| match ended.as_slice() {
        [] => "no reservations".to_owned(),
        all => all.iter().map(|one| format!("released {}", files(one))).collect::<Vec<_>>().join("\n"),
    })
}

/// Lists reservations.
pub(super) async fn list(args: ReservationsArgs, client: &Client, out: &Output) -> Result<(), Failure> {
    let project = match &args.project {
        Some(project) => Some(pick::<Project>(client, project).await?),
        None => None,
    };
    let activity = match &args.activity {
        Some(activity) => Some(pick::<Activity>(client, activity).await?),
        None => None,
    };
    let filter = ReservationFilter { project, activity };
    let found: Vec<Reservation> = client.ask(Call::OverlapReservations { filter }).await?;
    out.show(&found, |out| {
        let mut table = Table::new(&["ID", "ACTIVITY…", "FILES…", "ENDS", "REASON…"], "no reservations");
        for one in &found {
            table.row([
                one.id.into(),
                one.name.clone().into(),
                files(one).into(),
                when::ahead(one.expires_at, out.now).into(),
                one.reason.clone().unwrap_or_default().into(),
            ]);
        }
        table.render(out)
    })
}

fn details(reservation: &Reservation, out: &Output) -> String {
    let mut pairs = vec![
        ("id", reservation.id.into()),
        ("activity", reservation.name.clone().into()),
        ("files", files(reservation).into()),
        ("ends", when::ahead(reservation.expires_at, out.now).into()),
    ];
    pairs.extend(reservation.reason.clone().map(|reason| ("reason", reason.into())));
    fields(out, &pairs)
}

fn files(reservation: &Reservation) -> String {
    clean(&reservation.patterns.join(", ")).replace('\n', " ")
}
