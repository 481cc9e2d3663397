//! Recipes and agent profiles.

use domain::RecipeFormat;
use protocol::{ProblemKind, RecipeChecked, RecipeFinding, RecipeInput, RecipeSchema, RecipeTemplate, RecipeText};
use store::SaveRecipe;

use super::{handle, stored};
use crate::AppError;

stored! { RecipeDisable ProfileSet ProfileRemove }

handle! {
    RecipeCheck(verb, _asked) { Ok(check(verb.input).await?.0) }

    RecipeSchema(_verb, _asked) { Ok(RecipeSchema { schema: recipes::schema() }) }

    RecipeTemplates(_verb, _asked) {
        let shown = |one: &recipes::Shipped| RecipeTemplate {
            name: one.name.to_owned(),
            title: one.title.to_owned(),
            text: one.text.to_owned(),
        };
        Ok(recipes::templates().iter().map(shown).collect())
    }

    RecipeList(verb, asked) { Ok(asked.hub.store.recipes(asked.caller, verb.project).await?) }

    RecipeAdd(verb, asked) {
        // Refuse first: findings are only for those who may add a recipe.
        asked.hub.store.may_add_recipes(asked.caller, verb.project).await?;
        let (checked, read) = check(verb.input.clone()).await?;
        let Some(read) = read else { return Err(refused(&checked.findings)) };
        asked.commit(SaveRecipe { verb, model: read.recipe, version: read.hash }).await
    }

    RecipeShow(verb, asked) { Ok(asked.hub.store.recipe(asked.caller, verb.recipe, verb.which).await?) }

    RecipeVersions(verb, asked) { Ok(asked.hub.store.recipe_versions(asked.caller, verb.recipe).await?) }

    ProfileVersions(verb, asked) {
        Ok(asked.hub.store.profile_versions(asked.caller, verb.project, &verb.of.name).await?)
    }

    ProfileList(verb, asked) { Ok(asked.hub.store.profiles(asked.caller, verb.project).await?) }
}

/// Reads a text beside the other requests: a large one takes a while.
async fn check(input: RecipeText) -> Result<(RecipeChecked, Option<recipes::Checked>), AppError> {
    let look = move || {
        let read = recipes::read(&input.text, input.format.unwrap_or(RecipeFormat::Yaml));
        (checked(&read), read.ok())
    };
    tokio::task::spawn_blocking(look)
        .await
        .map_err(|_| AppError::new(ProblemKind::Invalid, "the text could not be read as a recipe"))
}

fn checked(read: &Result<recipes::Checked, Vec<recipes::Finding>>) -> RecipeChecked {
    match read {
        Ok(read) => RecipeChecked {
            ok: true,
            name: Some(read.recipe.name.clone()),
            version: Some(read.hash.clone()),
            findings: read.warnings.iter().map(|one| finding(one, true)).collect(),
            inputs: read.recipe.inputs.iter().map(input).collect(),
            model: serde_json::to_value(&read.recipe).ok(),
        },
        Err(findings) => RecipeChecked {
            ok: false,
            name: None,
            version: None,
            findings: findings.iter().map(|one| finding(one, false)).collect(),
            inputs: Vec::new(),
            model: None,
        },
    }
}

fn input(input: &engine::recipes::model::Input) -> RecipeInput {
    RecipeInput {
        name: input.name.clone(),
        description: input.description.clone(),
        schema: input.schema.clone(),
        default: input.default.clone(),
        required: input.default.is_none(),
    }
}

fn finding(finding: &recipes::Finding, warning: bool) -> RecipeFinding {
    RecipeFinding {
        line: u32::try_from(finding.line).unwrap_or(u32::MAX),
        column: u32::try_from(finding.column).unwrap_or(u32::MAX),
        warning,
        message: match finding.path.as_str() {
            "" => finding.message.clone(),
            path => format!("{path}: {}", finding.message),
        },
        instead: finding.instead.clone(),
    }
}

/// The errors of a text, each with its line and column.
fn refused(findings: &[RecipeFinding]) -> AppError {
    let line = |one: &RecipeFinding| {
        let instead = one.instead.as_ref().map(|instead| format!(" (write {instead})")).unwrap_or_default();
        format!("line {}, column {}: {}{instead}", one.line, one.column, one.message)
    };
    let lines: Vec<String> = findings.iter().take(20).map(line).collect();
    AppError::new(ProblemKind::Invalid, lines.join("\n"))
}
