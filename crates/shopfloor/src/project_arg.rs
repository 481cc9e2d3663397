//! The project that a command works in: `--project PROJECT`, or the first argument where earlier versions took it there.

use std::path::PathBuf;

use clap::Args;
use client::Client;
use domain::ProjectId;
use protocol::Project;

use crate::Failure;
use crate::pick::pick;
use crate::text_arg::TextArg;

/// The project of a command that takes no other argument.
#[derive(Debug, Clone, Args)]
pub(crate) struct ProjectArg {
    /// The project (id or name)
    #[arg(long = "project", value_name = "PROJECT", required_unless_present = "project_argument")]
    project: Option<String>,
    #[arg(id = "project_argument", value_name = "PROJECT", hide = true, conflicts_with = "project")]
    argument: Option<String>,
}

impl ProjectArg {
    /// What the person typed.
    pub(crate) fn name(&self) -> &str {
        self.project.as_deref().or(self.argument.as_deref()).unwrap_or_default()
    }

    /// The id of the project.
    pub(crate) async fn id(&self, client: &Client) -> Result<ProjectId, Failure> {
        pick::<Project>(client, self.name()).await
    }
}

/// The project of a command that is about the project itself.
#[derive(Debug, Clone, Args)]
pub(crate) struct ThisProject {
    /// The project's id or name
    #[arg(id = "which", value_name = "PROJECT", required_unless_present = "project")]
    argument: Option<String>,
    #[arg(long = "project", value_name = "PROJECT", hide = true, conflicts_with = "which")]
    project: Option<String>,
}

impl ThisProject {
    /// What the person typed.
    pub(crate) fn name(&self) -> &str {
        self.argument.as_deref().or(self.project.as_deref()).unwrap_or_default()
    }

    /// The id of the project.
    pub(crate) async fn id(&self, client: &Client) -> Result<ProjectId, Failure> {
        pick::<Project>(client, self.name()).await
    }
}

/// A project and maybe its new text, as in `project update PROJECT TEXT`; `project update --project PROJECT TEXT` is the
/// same.
#[derive(Debug, Clone, Args)]
pub(crate) struct ThisProjectText {
    /// The project's id or name
    #[arg(id = "which", value_name = "PROJECT", required_unless_present = "project")]
    argument: Option<String>,
    /// The text; `-` reads standard input
    #[arg(value_name = "TEXT")]
    text: Option<String>,
    #[arg(long = "project", value_name = "PROJECT", hide = true)]
    project: Option<String>,
    /// Read the text from this file
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
}

impl ThisProjectText {
    /// The project as the person typed it, and the text.
    pub(crate) fn parts(&self) -> Result<(&str, TextArg), Failure> {
        let (project, text) = match (&self.project, &self.argument, &self.text) {
            (Some(project), text, None) | (None, Some(project), text) => (project, text),
            (Some(_), Some(first), Some(_)) => return Err(too_many(first, "text")),
            (_, None, _) => {
                return Err(Failure::usage("the project is missing").advise("name it as the first argument"));
            }
        };
        text_of(project, text.as_ref(), self.file.as_ref())
    }
}

/// The refusal of an argument beside `--project`.
fn too_many(first: &str, what: &str) -> Failure {
    Failure::usage(format!("`{first}` is one argument too many: --project names the project"))
        .advise(format!("pass one {what}, in quotes"))
}

/// A project with a text or a file, not both.
fn text_of<'a>(project: &'a str, text: Option<&String>, file: Option<&PathBuf>) -> Result<(&'a str, TextArg), Failure> {
    match (text, file) {
        (Some(_), Some(_)) => Err(Failure::usage("a text and --file cannot be used together")),
        (text, file) => Ok((project, TextArg::from_parts(text.cloned(), file.cloned()))),
    }
}

/// A project and a text, as in `chat send --project PROJECT TEXT`; `chat send PROJECT TEXT` is the same.
#[derive(Debug, Clone, Args)]
pub(crate) struct ProjectText {
    /// The project (id or name)
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
    /// The text; `-` reads standard input
    #[arg(value_name = "TEXT", num_args = 0..=2)]
    words: Vec<String>,
    /// Read the text from this file
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
}

impl ProjectText {
    /// The project as the person typed it, and the text.
    pub(crate) fn parts(&self) -> Result<(&str, TextArg), Failure> {
        let (project, text) = match (&self.project, self.words.as_slice()) {
            (Some(project), []) => (project, None),
            (Some(project), [text]) => (project, Some(text)),
            (None, [project, text]) => (project, Some(text)),
            (None, [project]) if self.file.is_some() => (project, None),
            (None, _) => {
                return Err(Failure::usage("the project is missing").advise("name it with --project PROJECT"));
            }
            (Some(_), [first, ..]) => return Err(too_many(first, "text")),
        };
        text_of(project, text, self.file.as_ref())
    }

    /// The id of the project, and the text, which is required.
    pub(crate) async fn read(&self, client: &Client) -> Result<(ProjectId, String), Failure> {
        let (project, text) = self.parts()?;
        let text = text.required()?;
        Ok((pick::<Project>(client, project).await?, text))
    }
}

/// A project and a name, as in `observer create --project PROJECT NAME`; `observer create PROJECT NAME` is the same.
#[derive(Debug, Clone, Args)]
pub(crate) struct ProjectName {
    /// The project (id or name)
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
    /// The observer's name
    #[arg(value_name = "NAME", num_args = 1..=2, required = true)]
    words: Vec<String>,
}

impl ProjectName {
    /// The project as the person typed it, and the name.
    pub(crate) fn parts(&self) -> Result<(&str, &str), Failure> {
        match (&self.project, self.words.as_slice()) {
            (Some(project), [name]) | (None, [project, name]) => Ok((project, name)),
            (None, _) => Err(Failure::usage("the project is missing").advise("name it with --project PROJECT")),
            (Some(_), [first, ..]) => Err(too_many(first, "name")),
            (Some(_), []) => Err(Failure::usage("the name is missing")),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        text: ProjectText,
    }

    fn parts(line: &[&str]) -> Result<(String, Option<String>), String> {
        let line = Line::try_parse_from(["x"].iter().chain(line)).map_err(|error| error.to_string())?;
        let (project, text) = line.text.parts().map_err(|error| error.render(false))?;
        Ok((project.to_owned(), text.read().map_err(|error| error.render(false))?))
    }

    #[test]
    fn the_project_is_an_option_or_the_first_of_two_arguments() {
        let both = Ok(("P".to_owned(), Some("a text".to_owned())));
        assert_eq!(parts(&["--project", "P", "a text"]), both);
        assert_eq!(parts(&["a text", "--project", "P"]), both);
        assert_eq!(parts(&["P", "a text"]), both);
        assert_eq!(parts(&["--project", "P"]), Ok(("P".to_owned(), None)));
        assert!(parts(&["a text"]).unwrap_err().contains("--project PROJECT"));
        assert!(parts(&["--project", "P", "Q", "text"]).unwrap_err().contains("one argument too many"));
        assert!(parts(&["--file", "f", "P", "text"]).unwrap_err().contains("cannot be used together"));
    }

    #[derive(Parser)]
    struct Update {
        #[command(flatten)]
        text: ThisProjectText,
    }

    fn updated(line: &[&str]) -> Result<(String, Option<String>), String> {
        let line = Update::try_parse_from(["x"].iter().chain(line)).map_err(|error| error.to_string())?;
        let (project, text) = line.text.parts().map_err(|error| error.render(false))?;
        Ok((project.to_owned(), text.read().map_err(|error| error.render(false))?))
    }

    #[test]
    fn an_update_names_its_project_either_way() {
        let both = Ok(("P".to_owned(), Some("a text".to_owned())));
        assert_eq!(updated(&["P", "a text"]), both);
        assert_eq!(updated(&["--project", "P", "a text"]), both);
        assert_eq!(updated(&["a text", "--project", "P"]), both);
        assert_eq!(updated(&["P"]), Ok(("P".to_owned(), None)));
        assert_eq!(updated(&["--project", "P"]), Ok(("P".to_owned(), None)));
        assert!(updated(&[]).unwrap_err().contains("PROJECT"));
        assert!(updated(&["--project", "P", "Q", "text"]).unwrap_err().contains("one argument too many"));
        assert!(updated(&["--file", "f", "P", "text"]).unwrap_err().contains("cannot be used together"));
    }
}
