//! `shopfloor recording`.

mod cast;
mod pages;
mod play;

use std::path::PathBuf;

use clap::Subcommand;
use protocol::{Call, RecordingDetail, RecordingHits, RecordingKeep, RecordingQuery, Session};

use super::session::{self, ScopeArgs};
use super::words;
use crate::table::{Table, fields};
use crate::{Context, Exit, Failure, Output, when};

/// Subcommands for recordings.
#[derive(Debug, Subcommand)]
pub(crate) enum RecordingCommand {
    /// List the recordings that you can see, by session
    List(ScopeArgs),
    /// Show one recording and its markers
    Show {
        /// The session's id or title
        session: String,
    },
    /// Play a recording in this terminal; space pauses, q quits
    Play {
        /// The session's id or title
        session: String,
        #[command(flatten)]
        pace: play::Pace,
    },
    /// Export a recording as an asciicast, for `asciinema play` and other players
    Export {
        /// The session's id or title
        session: String,
        /// The file [default: standard output]
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
        /// The asciicast version: 3 for asciinema 3, 2 for older players
        #[arg(long, value_name = "VERSION", default_value = "3", value_parser = clap::value_parser!(u8).range(2..=3))]
        asciicast: u8,
    },
    /// Find when a text was on the screen
    Search {
        /// The session's id or title
        session: String,
        /// The text, ignoring case
        text: String,
    },
    /// Keep one of your recordings, even when space is needed
    Keep {
        /// The session's id or title
        session: String,
        /// Let the recording be deleted again when space is needed
        #[arg(long)]
        no: bool,
    },
}

/// Runs the subcommand.
pub(crate) async fn run(command: RecordingCommand, context: &Context) -> Result<Exit, Failure> {
    let (client, out) = (&context.client()?, &context.out);
    match command {
        RecordingCommand::List(args) => {
            let filter = args.filter(client).await?;
            let recordings: Vec<Session> = client.ask(Call::RecordingList { filter }).await?;
            out.show(&recordings, |out| table(&recordings, out))?;
        }
        RecordingCommand::Show { session } => {
            let session = session::id(client, &session).await?;
            let recording: RecordingDetail = client.ask(Call::RecordingShow { session }).await?;
            out.show(&recording, |out| details(&recording, out))?;
        }
        RecordingCommand::Play { session, pace } => {
            let session = session::id(client, &session).await?;
            play::run(client, session, &pace, out).await?;
        }
        RecordingCommand::Export { session, output, asciicast } => {
            let session = session::id(client, &session).await?;
            cast::export(client, session, output.as_deref(), asciicast, out).await?;
        }
        RecordingCommand::Search { session, text } => {
            let session = session::id(client, &session).await?;
            let query = RecordingQuery { text };
            let found: RecordingHits = client.ask(Call::RecordingSearch { session, query }).await?;
            out.show(&found, |out| hits_table(&found, out))?;
            if found.truncated && !out.json {
                let first = found.hits.len();
                out.note(&format!("only the first {first} matches are shown: search for a rarer text"));
            }
        }
        RecordingCommand::Keep { session, no } => {
            let session = session::id(client, &session).await?;
            let input = RecordingKeep { keep: !no };
            let session: Session = client.ask(Call::RecordingKeep { session, input }).await?;
            out.show(&session, |out| session::line(&session, out))?;
        }
    }
    Ok(Exit::Done)
}

fn table(recordings: &[Session], out: &Output) -> String {
    let mut table = Table::new(&["ID", "AGENT", "TITLE…", "LENGTH", "DISK", "KEPT", "STARTED"], "no recordings");
    for session in recordings {
        table.row([
            session.id.into(),
            (&session.agent).into(),
            (&session.title).into(),
            words::clock(session.recording.duration_ms).into(),
            words::bytes(session.recording.disk_bytes).into(),
            words::yes(session.recording.keep).into(),
            when::relative(session.created_at, out.now).into(),
        ]);
    }
    table.render(out)
}

fn details(recording: &RecordingDetail, out: &Output) -> String {
    let session = &recording.session;
    let pairs = [
        ("session", session.id.into()),
        ("title", (&session.title).into()),
        ("started", when::relative(recording.started_at, out.now).into()),
        ("length", words::clock(recording.duration_ms).into()),
        ("size", format!("{}×{}", recording.cols, recording.rows).into()),
        ("disk", words::bytes(session.recording.disk_bytes).into()),
        ("kept", words::yes(session.recording.keep).into()),
    ];
    let mut table = Table::new(&["AT", "KIND", "WHAT…"], "no markers");
    for marker in &recording.markers {
        table.row([words::clock(marker.at_ms).into(), (&marker.kind).into(), (&marker.text).into()]);
    }
    format!("{}\n\n{}", fields(out, &pairs), table.render(out))
}

fn hits_table(found: &RecordingHits, out: &Output) -> String {
    let mut table = Table::new(&["AT", "LINE…"], "the text was never on the screen");
    for hit in &found.hits {
        table.row([words::clock(hit.at_ms).into(), hit.line.trim().into()]);
    }
    table.render(out)
}
