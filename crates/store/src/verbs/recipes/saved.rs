//! Saved recipes. A version never changes; the same content is one version.

use std::sync::Arc;

use domain::{Action, ProjectId, RecipeFormat, RecipeId};
use engine::recipes::model::Recipe as Model;
use protocol::{Change, Recipe, RecipeDetail, RecipeInput, RecipeVersion, Verb, WhichVersion, verbs};
use serde::Serialize;
use serde_json::Value as Json;

use super::agents;
use crate::sql::{Connection, Row, args, text};
use crate::tx::{AuditScope, Tx};
use crate::verbs::approvals::written_by;
use crate::verbs::projects;
use crate::verbs::work::workers::rows::tell;
use crate::{Caller, Command, Store, StoreError};

/// The maximum number of recipes of a project, and of versions of one.
const MAX_RECIPES: usize = 200;
const MAX_VERSIONS: u32 = 1000;

const RECIPES: &str = "SELECT r.id, r.project, r.name, r.disabled, r.number, v.version, v.model, v.author, \
    u.name AS author_name, v.author_session, v.by_agent AS author_agent, v.saved_at FROM recipes r \
    JOIN recipe_versions v ON v.recipe = r.id AND v.number = r.number JOIN users u ON u.id = v.author";
const VERSIONS: &str = "SELECT v.recipe, v.number, v.version, v.text, v.format, v.model, v.author, u.name AS author_name, \
    v.author_session, v.by_agent AS author_agent, v.saved_at FROM recipe_versions v JOIN users u ON u.id = v.author";

/// A version of a recipe, with what the machine reads.
#[derive(Debug, Clone)]
pub(crate) struct Version {
    pub(crate) about: RecipeVersion,
    pub(crate) model: Arc<Model>,
    text: String,
    format: RecipeFormat,
    json: Json,
}

fn about(row: &Row) -> Result<RecipeVersion, StoreError> {
    let author = written_by(row, "author", "author_session")?;
    Ok(RecipeVersion {
        number: row.count("number")?,
        version: row.text("version")?,
        saved_by: author.ok_or_else(|| StoreError::Corrupt("a recipe has no author".into()))?,
        saved_at: row.time("saved_at")?,
    })
}

fn read(row: &Row) -> Result<Recipe, StoreError> {
    let model: Model = row.json("model")?;
    let about = about(row)?;
    Ok(Recipe {
        id: row.parsed("id")?,
        project: row.parsed("project")?,
        name: row.text("name")?,
        description: model.description,
        disabled: row.flag("disabled")?,
        number: about.number,
        version: about.version,
        inputs: model.inputs.into_iter().map(input).collect(),
        saved_by: about.saved_by,
        saved_at: about.saved_at,
    })
}

fn input(input: engine::recipes::model::Input) -> RecipeInput {
    let required = input.default.is_none();
    let engine::recipes::model::Input { name, description, schema, default } = input;
    RecipeInput { name, description, schema, default, required }
}

fn read_version(row: &Row) -> Result<Version, StoreError> {
    let json: Json = row.json("model")?;
    let model = serde_json::from_value(json.clone()).map_err(|e| StoreError::Corrupt(format!("a recipe: {e}")))?;
    let (text, format) = (row.text("text")?, row.parsed("format")?);
    Ok(Version { about: about(row)?, model: Arc::new(model), text, format, json })
}

/// A recipe, if the caller may do this in its project.
pub(crate) async fn recipe(
    c: &mut Connection<'_>,
    caller: &Caller,
    id: RecipeId,
    action: Action,
) -> Result<Recipe, StoreError> {
    let row = c.first(&format!("{RECIPES} WHERE r.id = $1"), vec![text(id)]).await?;
    let found = read(&row.ok_or(StoreError::NotFound("recipe"))?)?;
    projects::check(c, caller, found.project, action, "recipe").await?;
    Ok(found)
}

/// A recipe of a project by its name or id, without an access check.
pub(crate) async fn named(
    c: &mut Connection<'_>,
    project: ProjectId,
    name: &str,
) -> Result<Option<Recipe>, StoreError> {
    let sql = format!("{RECIPES} WHERE r.project = $1 AND (r.name = $2 OR r.id = $2)");
    c.first(&sql, vec![text(project), text(name)]).await?.as_ref().map(read).transpose()
}

/// A version of a recipe, by content hash or number; the newest if none is asked for.
pub(crate) async fn version(
    c: &mut Connection<'_>,
    recipe: &Recipe,
    asked: Option<&str>,
) -> Result<Version, StoreError> {
    let asked = asked.map(str::trim).filter(|asked| !asked.is_empty());
    let number = match asked {
        None => Some(recipe.number),
        Some(asked) => asked.parse::<u32>().ok(),
    };
    let row = match (number, asked) {
        (Some(number), _) => {
            let sql = format!("{VERSIONS} WHERE v.recipe = $1 AND v.number = $2");
            c.first(&sql, args![recipe.id.to_string(), number]).await?
        }
        (None, asked) => {
            let sql = format!("{VERSIONS} WHERE v.recipe = $1 AND v.version = $2 ORDER BY v.number DESC LIMIT 1");
            c.first(&sql, args![recipe.id.to_string(), asked.unwrap_or_default().to_owned()]).await?
        }
    };
    read_version(&row.ok_or_else(|| {
        let asked: String = asked.unwrap_or_default().chars().take(80).collect();
        let message = format!("`{}` has no version `{asked}`: 1 to {}, or a content hash", recipe.name, recipe.number);
        StoreError::invalid("version", message)
    })?)
}

/// Saves a recipe that was read from its text.
#[derive(Debug, Clone, Serialize)]
pub struct SaveRecipe {
    /// The verb.
    pub verb: verbs::RecipeAdd,
    /// What the text says.
    #[serde(skip)]
    pub model: Model,
    /// The content hash of the model.
    #[serde(skip)]
    pub version: String,
}

impl Command for SaveRecipe {
    type Output = Recipe;
    const VERB: &'static str = verbs::RecipeAdd::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Recipe, StoreError> {
        let project = self.verb.project;
        tx.check(project, Action::Decide, "project").await?;
        let by = tx.caller.writer()?;
        agents::check_all(tx.read(), &self.model).await?;
        let before = named(tx.read(), project, &self.model.name).await?;
        let (id, number) = match &before {
            Some(there) if there.version == self.version => return Ok(there.clone()),
            Some(there) if there.number >= MAX_VERSIONS => {
                return Err(StoreError::Conflict(format!("a recipe has at most {MAX_VERSIONS} versions")));
            }
            Some(there) => (there.id, there.number + 1),
            None => {
                let sql = "SELECT COUNT(*) AS there FROM recipes WHERE project = $1";
                let there = tx.read().first(sql, vec![text(project)]).await?;
                if there.map_or(Ok(0), |row| row.count("there"))? as usize >= MAX_RECIPES {
                    return Err(StoreError::Conflict(format!("a project has at most {MAX_RECIPES} recipes")));
                }
                (RecipeId::generate(), 1)
            }
        };
        let sql = match before {
            Some(_) => "UPDATE recipes SET number = $4 WHERE id = $1 AND project = $2 AND name = $3",
            None => "INSERT INTO recipes (id, project, name, disabled, number) VALUES ($1, $2, $3, 0, $4)",
        };
        tx.run(sql, args![id.to_string(), project.to_string(), &self.model.name, number]).await?;
        let sql = "INSERT INTO recipe_versions (recipe, number, version, text, format, model, author, author_session, \
                   by_agent, saved_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
        let values = args![
            id.to_string(),
            number,
            &self.version,
            &self.verb.input.text,
            self.verb.input.format.unwrap_or(RecipeFormat::Yaml).word(),
            crate::sql::to_json(&self.model),
            by.user.id.to_string(),
            by.agent.map(|id| id.to_string()),
            by.by_agent,
            tx.now,
        ];
        tx.run(sql, values).await?;
        let detail = format!("saved version {number} of the recipe `{}`", self.model.name);
        tx.audit(Self::VERB, id, AuditScope::Project(project), detail);
        announced(tx, project, &self.model.name).await
    }
}

async fn announced(tx: &mut Tx<'_>, project: ProjectId, name: &str) -> Result<Recipe, StoreError> {
    let recipe = named(tx.read(), project, name).await?.ok_or(StoreError::NotFound("recipe"))?;
    tell(tx, project, Change::Recipe { recipe: recipe.clone() });
    Ok(recipe)
}

impl Command for verbs::RecipeDisable {
    type Output = Recipe;
    const VERB: &'static str = verbs::RecipeDisable::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Recipe, StoreError> {
        let caller = tx.caller;
        let before = recipe(tx.read(), caller, self.recipe, Action::Decide).await?;
        let disabled = self.input.disabled;
        if before.disabled == disabled {
            return Ok(before);
        }
        tx.run("UPDATE recipes SET disabled = $1 WHERE id = $2", args![disabled, before.id.to_string()]).await?;
        let what = if disabled { "disabled" } else { "enabled" };
        let detail = format!("{what} the recipe `{}`", before.name);
        tx.audit(Self::VERB, before.id, AuditScope::Project(before.project), detail);
        announced(tx, before.project, &before.name).await
    }
}

impl Store {
    /// Refuses a caller who may not add recipes to a project.
    pub async fn may_add_recipes(&self, caller: &Caller, project: ProjectId) -> Result<(), StoreError> {
        let mut reader = self.readers.get().await?;
        projects::check(&mut reader.borrow(), caller, project, Action::Decide, "project").await.map(|_| ())
    }

    /// The recipes of a project, by name.
    pub async fn recipes(&self, caller: &Caller, project: ProjectId) -> Result<Vec<Recipe>, StoreError> {
        let mut reader = self.readers.get().await?;
        let mut c = reader.borrow();
        projects::check(&mut c, caller, project, Action::See, "project").await?;
        let sql = format!("{RECIPES} WHERE r.project = $1 ORDER BY r.name");
        c.all(&sql, vec![text(project)]).await?.iter().map(read).collect()
    }

    /// A recipe, with the text of a version.
    pub async fn recipe(&self, caller: &Caller, id: RecipeId, which: WhichVersion) -> Result<RecipeDetail, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let recipe = recipe(&mut c, caller, id, Action::See).await?;
        let found = version(&mut c, &recipe, which.version.as_deref()).await?;
        Ok(RecipeDetail { recipe, version: found.about, text: found.text, format: found.format, model: found.json })
    }

    /// The versions of a recipe, newest first.
    pub async fn recipe_versions(&self, caller: &Caller, id: RecipeId) -> Result<Vec<RecipeVersion>, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let recipe = recipe(&mut c, caller, id, Action::See).await?;
        let sql = format!("{VERSIONS} WHERE v.recipe = $1 ORDER BY v.number DESC");
        c.all(&sql, vec![text(recipe.id)]).await?.iter().map(about).collect()
    }
}
