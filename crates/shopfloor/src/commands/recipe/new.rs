//! `shopfloor recipe new`: a commented recipe to start from.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use domain::near::hint;
use recipes::{Format, Shipped};
use serde_json::json;

use crate::table::Table;
use crate::{Failure, Output};

/// Arguments of `recipe new`.
#[derive(Debug, Args)]
pub(crate) struct NewArgs {
    /// The recipe to start from; --list names them
    #[arg(long, value_name = "NAME", required_unless_present = "list")]
    template: Option<String>,
    /// Where to write it; `-` prints it [default: recipes/NAME.yaml]
    #[arg(conflicts_with = "list")]
    file: Option<PathBuf>,
    /// List the recipes that come with Shopfloor
    #[arg(long, conflicts_with = "template")]
    list: bool,
}

/// Writes a recipe, and overwrites nothing.
pub(super) fn run(args: &NewArgs, out: &Output) -> Result<(), Failure> {
    let Some(name) = &args.template else {
        return out.show(&super::templates(), list);
    };
    let template = named(name)?;
    let file = args.file.clone().unwrap_or_else(|| Path::new("recipes").join(format!("{}.yaml", template.name)));
    if file.to_str() == Some("-") {
        return out.raw(template.text);
    }
    if recipes::format_of(&file.to_string_lossy()) != Format::Yaml {
        return Err(Failure::usage(format!("the template is YAML, and {} would be read otherwise", file.display()))
            .advise("choose a name that ends in .yaml"));
    }
    write(&file, template.text)?;
    let shown = file.display().to_string();
    out.show(&json!({ "file": shown, "template": template.name }), |_| {
        format!("{shown}\nchange it, then: shopfloor recipe add {shown} --project PROJECT")
    })
}

/// The recipes that come with Shopfloor, as a table.
pub(super) fn list(out: &Output) -> String {
    let mut table = Table::new(&["NAME", "WHAT IT DOES…"], "no templates");
    for template in recipes::templates() {
        table.row([template.name.into(), template.title.into()]);
    }
    table.render(out)
}

fn named(name: &str) -> Result<&'static Shipped, Failure> {
    let all = recipes::templates();
    all.iter().find(|template| template.name == name).ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|template| template.name).collect();
        let meant = hint(name, names.iter().copied());
        Failure::usage(format!("there is no template `{}`{meant}", domain::text::plain(name, 60)))
            .advise(format!("the templates are {}", names.join(", ")))
    })
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let shown = path.display();
    let unwritable = |error: std::io::Error| match error.kind() {
        ErrorKind::AlreadyExists => {
            Failure::conflict(format!("{shown} exists, and nothing was changed")).advise("name another file")
        }
        _ => Failure::usage(format!("could not write {shown}: {error}")),
    };
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(unwritable)?;
    }
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).open(path).map_err(unwritable)?;
    file.write_all(text.as_bytes()).map_err(unwritable)
}
