//! `shopfloor search`.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use domain::SearchKind;
use domain::text::counted;
use protocol::{
    Call, Project, SearchHit, SearchPiece, SearchQuery, SearchResults, TerminalHit, TerminalQuery, TerminalResults,
};
use serde::Serialize;

use crate::output::clean;
use crate::pick::pick;
use crate::table::Style;
use crate::{Context, Failure, Output, when};

/// Arguments of `search`.
#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// Words, or the beginnings of words, in any order; a short name such as CALC-12; or an id
    #[arg(required = true, value_name = "QUERY")]
    words: Vec<String>,
    /// Only in this project: its id or name
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
    /// Only things of this kind
    #[arg(long, value_name = "KIND", value_parser = kind())]
    kind: Option<Kind>,
    /// How many results, at most 50 [default: 20]
    #[arg(long, value_name = "N")]
    limit: Option<u32>,
}

/// A kind of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Thing(SearchKind),
    /// Lines that terminals have shown.
    Terminal,
}

const TERMINAL: &str = "terminal";

/// The results as JSON.
#[derive(Debug, Serialize)]
struct Found {
    #[serde(flatten)]
    results: SearchResults,
    /// Absent if terminals were not searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    terminals: Option<TerminalResults>,
}

/// Parses a kind.
fn kind() -> impl TypedValueParser<Value = Kind> {
    let words = SearchKind::ALL.iter().map(|value| value.word()).chain([TERMINAL]);
    PossibleValuesParser::new(words).try_map(|text| match text.as_str() {
        TERMINAL => Ok(Kind::Terminal),
        word => word.parse().map(Kind::Thing),
    })
}

/// Runs the command.
pub(crate) async fn run(args: SearchArgs, context: &Context) -> Result<(), Failure> {
    let (client, out) = (&context.client()?, &context.out);
    let project = match &args.project {
        Some(project) => Some(pick::<Project>(client, project).await?),
        None => None,
    };
    let (text, limit) = (args.words.join(" "), args.limit);
    let of_hub = match args.kind {
        Some(Kind::Terminal) => None,
        Some(Kind::Thing(kind)) => Some(SearchQuery { text: text.clone(), project, kind: Some(kind), limit }),
        None => Some(SearchQuery { text: text.clone(), project, kind: None, limit }),
    };
    let wanted = !matches!(args.kind, Some(Kind::Thing(_)));
    let of_runners = wanted.then_some(TerminalQuery { text, project, limit });
    let results = async {
        match of_hub {
            Some(query) => client.ask(Call::SearchFind { query }).await,
            None => Ok(SearchResults { hits: Vec::new(), truncated: false }),
        }
    };
    let terminals = async {
        match of_runners {
            Some(query) => client.ask(Call::SearchTerminals { query }).await.map(Some),
            None => Ok(None),
        }
    };
    let (results, terminals) = tokio::try_join!(results, terminals)?;
    let found = Found { results, terminals };
    out.show(&found, |out| list(&found, out))?;
    if !out.json {
        notes(&found, out);
    }
    Ok(())
}

/// What the list leaves out.
fn notes(found: &Found, out: &Output) {
    if found.results.truncated {
        let shown = counted(found.results.hits.len(), "result is", "results are");
        out.note(&format!("only the first {shown} shown: add a word, or use --project, --kind or --limit"));
    }
    let Some(terminals) = &found.terminals else { return };
    if terminals.truncated {
        out.note("more lines of terminals match: add a word, or search one recording (`shopfloor recording search`)");
    }
    if terminals.unanswered > 0 {
        let runners = counted(terminals.unanswered, "runner", "runners");
        out.note(&format!("{runners} did not answer: lines of terminals there are missing"));
    }
}

fn list(found: &Found, out: &Output) -> String {
    let mut entries: Vec<String> = found.results.hits.iter().map(|hit| entry(hit, out)).collect();
    let lines = found.terminals.iter().flat_map(|terminals| &terminals.hits);
    let lines: Vec<String> = lines.map(|hit| line(hit, out)).collect();
    if !lines.is_empty() {
        let gap = if entries.is_empty() { "" } else { "\n" };
        entries.push(format!("{gap}{}", Style::Bold.paint("Terminals", out.color)));
        entries.extend(lines);
    }
    if entries.is_empty() { Style::Dim.paint("nothing found", out.color) } else { entries.join("\n") }
}

/// A line of a terminal: the session, and when the line was on its screen.
fn line(hit: &TerminalHit, out: &Output) -> String {
    let seconds = hit.at_ms / 1000;
    let at = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    let state = if hit.open { "running" } else { "ended" };
    let place = format!("{} at {at} · {} · {state}", hit.session, clean(&hit.project_name));
    let about = format!("{place} · {}", when::relative(hit.at, out.now));
    let title = clean(&hit.title).replace(['\n', '\t'], " ");
    let shown = painted(&hit.line, Style::Plain, out);
    format!("terminal   {title}  {}\n           {shown}", Style::Dim.paint(&about, out.color))
}

/// One result: what it is, where it is, and the part of its text that matches.
fn entry(hit: &SearchHit, out: &Output) -> String {
    let dim = |text: &str| Style::Dim.paint(text, out.color);
    let title = painted(&hit.title, Style::Plain, out);
    let id = hit.short.clone().unwrap_or_else(|| hit.id.clone());
    let place = match hit.kind {
        SearchKind::Project => String::new(),
        SearchKind::Message => {
            let number = hit.number.map(|number| format!(", message {number}")).unwrap_or_default();
            format!(" · {}{number}", clean(&hit.project_name))
        }
        _ => format!(" · {}", clean(&hit.project_name)),
    };
    let closed = if hit.open { "" } else { " · closed" };
    let about = format!("{id}{place}{closed} · {}", when::relative(hit.at, out.now));
    let mut lines = format!("{:<9}  {title}  {}", hit.kind.word(), dim(&about));
    if !hit.snippet.is_empty() {
        lines.push_str(&format!("\n           {}", painted(&hit.snippet, Style::Dim, out)));
    }
    lines
}

/// A text with its matches in bold.
fn painted(pieces: &[SearchPiece], style: Style, out: &Output) -> String {
    let paint = |piece: &SearchPiece| {
        let text = clean(&piece.text).replace(['\n', '\t'], " ");
        if piece.hit { Style::Bold.paint(&text, out.color) } else { style.paint(&text, out.color) }
    };
    pieces.iter().map(paint).collect()
}
