//! Recipes: plans as data, their versions, and the agent profiles that their steps follow.

use domain::{ProjectId, RecipeFormat, RecipeId, Timestamp};
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::{IntoParams, ToSchema};

use crate::shapes::{inputs, queries, views};
use crate::{Sandbox, WrittenBy};

/// This subject's part of the protocol: see `verbs/mod.rs`.
macro_rules! recipes {
    ([$then:ident $($rest:tt)*] $($before:tt)*) => { $then! { [$($rest)*] $($before)* recipes {
        changes {
            /// A recipe appeared or changed.
            Recipe { recipe: Recipe },
            /// An agent profile appeared, changed or was removed.
            Profiles { project: ProjectId, profiles: Vec<AgentProfile> },
        }
        answers {
            Recipes(Vec<Recipe>),
            Recipe(Recipe),
            RecipeDetail(RecipeDetail),
            RecipeVersions(Vec<RecipeVersion>),
            RecipeChecked(RecipeChecked),
            RecipeSchema(crate::RecipeSchema),
            RecipeTemplates(Vec<RecipeTemplate>),
            AgentProfiles(Vec<AgentProfile>),
            AgentProfile(AgentProfile),
        }
        verbs {
            /// Checks the text of a recipe; stores nothing.
            RecipeCheck "recipe.check" POST "/api/recipes/check"
                { body input: RecipeText } -> 200 RecipeChecked, Anyone, reads;
            /// The JSON Schema of recipes, for editors.
            RecipeSchema "recipe.schema" GET "/api/recipes/schema"
                {} -> 200 crate::RecipeSchema, Anyone;
            /// The recipes that come with Shopfloor, to start from.
            RecipeTemplates "recipe.templates" GET "/api/recipes/templates"
                {} -> 200 Vec<RecipeTemplate>, Anyone;
            /// The recipes of a project.
            RecipeList "recipe.list" GET "/api/projects/{project}/recipes"
                { path project: ProjectId } -> 200 Vec<Recipe>, See;
            /// Saves a recipe: a new one, or a new version of the one with its name. The same content is one version.
            RecipeAdd "recipe.add" POST "/api/projects/{project}/recipes"
                { path project: ProjectId, body input: RecipeText } -> 201 Recipe, Decide;
            /// A recipe, with the text of a version.
            RecipeShow "recipe.show" GET "/api/recipes/{recipe}"
                { path recipe: RecipeId, query which: WhichVersion } -> 200 RecipeDetail, See;
            /// The versions of a recipe, newest first.
            RecipeVersions "recipe.versions" GET "/api/recipes/{recipe}/versions"
                { path recipe: RecipeId } -> 200 Vec<RecipeVersion>, See;
            /// Disables a recipe, so that nothing starts it, or enables it again.
            RecipeDisable "recipe.disable" POST "/api/recipes/{recipe}/disable"
                { path recipe: RecipeId, body input: crate::RecipeDisable } -> 200 Recipe, Decide;
            /// The agent profiles of a project.
            ProfileList "profile.list" GET "/api/projects/{project}/profiles"
                { path project: ProjectId } -> 200 Vec<AgentProfile>, See;
            /// Saves an agent profile: a new one, or a new version of the one with its name.
            ProfileSet "profile.set" POST "/api/projects/{project}/profiles"
                { path project: ProjectId, body input: AgentProfileText } -> 200 AgentProfile, Decide;
            /// The versions of an agent profile, newest first.
            ProfileVersions "profile.versions" GET "/api/projects/{project}/profiles/versions"
                { path project: ProjectId, query of: ProfileNamed } -> 200 Vec<AgentProfile>, See;
            /// Removes an agent profile; steps that follow it fail until there is another of its name.
            ProfileRemove "profile.remove" POST "/api/projects/{project}/profiles/remove"
                { path project: ProjectId, body input: ProfileName } -> 204 (), Decide;
        }
    } } };
}

pub(crate) use recipes;

inputs! {
    /// The text of a recipe.
    RecipeText {
        /// The text.
        text: String,
        /// Its format; default: YAML.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        format: Option<RecipeFormat>,
    }

    /// Whether a recipe can be started.
    RecipeDisable {
        /// Whether nothing starts it.
        disabled: bool,
    }

    /// What an agent of a step or a worker is and may do.
    AgentProfileText {
        /// Its name, unique in the project: letters, digits, `-` and `_`.
        name: String,
        /// What it is for.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        #[ts(as = "Option<String>")]
        description: String,
        /// The agent: `codex`, `claude`, `gemini`, `opencode`, or one of your own.
        agent: String,
        /// The model; default: the agent's own choice.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// Instructions that come before the prompt of its step.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        #[ts(as = "Option<String>")]
        prompt: String,
        /// Keeps its sessions from writing outside their workspaces.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sandbox: Option<Sandbox>,
        /// What a session of a step, or a worker in all, may cost, in millionths of a dollar; then it is stopped.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(type = "number")]
        budget_micros: Option<u64>,
        /// Whether it asks before it changes anything; otherwise it edits in its workspace, and in a sandbox never asks.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[ts(as = "Option<bool>")]
        asks: bool,
        /// Labels that a runner must have.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(as = "Option<Vec<String>>")]
        labels: Vec<String>,
    }

    /// An agent profile by its name.
    ProfileName {
        /// The name.
        name: String,
    }
}

queries! {
    /// Which agent profile.
    ProfileNamed {
        /// Its name.
        #[serde(default)]
        name: String,
    }

    /// Which version of a recipe.
    WhichVersion {
        /// Its content hash, or its number; default: the newest.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<String>,
    }
}

views! {
    /// A recipe of a project.
    Recipe {
        /// Its id.
        id: RecipeId,
        /// The project.
        project: ProjectId,
        /// Its name, unique in the project.
        name: String,
        /// What it is for.
        description: String,
        /// Whether nothing starts it.
        disabled: bool,
        /// The number of its newest version.
        number: u32,
        /// The content hash of its newest version.
        version: String,
        /// What an execution is started with.
        inputs: Vec<RecipeInput>,
        /// Who saved the newest version.
        saved_by: WrittenBy,
        /// When.
        saved_at: Timestamp,
    }

    /// An input of a recipe.
    RecipeInput {
        /// Its name.
        name: String,
        /// What it is for.
        description: String,
        /// Its JSON Schema.
        #[ts(type = "Record<string, unknown>")]
        #[schema(value_type = Object)]
        schema: serde_json::Value,
        /// Its value when none is given.
        #[ts(type = "unknown")]
        #[schema(value_type = Option<Value>)]
        default: Option<serde_json::Value>,
        /// Whether a value must be given.
        required: bool,
    }

    /// A recipe, with the text of one version.
    RecipeDetail {
        /// The recipe.
        recipe: Recipe,
        /// The version shown.
        version: RecipeVersion,
        /// Its text, as it was saved.
        text: String,
        /// The format of the text.
        format: RecipeFormat,
        /// The steps as the hub reads them.
        #[ts(type = "Record<string, unknown>")]
        #[schema(value_type = Object)]
        model: serde_json::Value,
    }

    /// A saved version of a recipe. It never changes.
    RecipeVersion {
        /// Counts from 1.
        number: u32,
        /// Its content hash.
        version: String,
        /// Who saved it.
        saved_by: WrittenBy,
        /// When.
        saved_at: Timestamp,
    }

    /// What was found in the text of a recipe.
    RecipeChecked {
        /// Whether it can be saved.
        ok: bool,
        /// Its name, as far as it can be read.
        name: Option<String>,
        /// Its content hash, if it can be saved.
        version: Option<String>,
        /// What must or should be changed, in the order of the text.
        findings: Vec<RecipeFinding>,
        /// What an execution is started with.
        inputs: Vec<RecipeInput>,
        /// The steps as the hub reads them, if it can be saved.
        #[ts(type = "Record<string, unknown> | null")]
        #[schema(value_type = Option<Value>)]
        model: Option<serde_json::Value>,
    }

    /// Something in the text of a recipe that must or should be changed.
    RecipeFinding {
        /// The line, counted from 1.
        line: u32,
        /// The column, counted from 1 in characters.
        column: u32,
        /// Whether it can be saved despite this.
        warning: bool,
        /// What is wrong.
        message: String,
        /// What to write instead.
        instead: Option<String>,
    }

    /// The JSON Schema of recipes.
    RecipeSchema {
        /// The schema.
        #[ts(type = "Record<string, unknown>")]
        #[schema(value_type = Object)]
        schema: serde_json::Value,
    }

    /// A recipe that comes with Shopfloor.
    RecipeTemplate {
        /// Its name.
        name: String,
        /// What it does, in a line.
        title: String,
        /// Its text, in YAML.
        text: String,
    }

    /// What an agent of a step or a worker is and may do.
    AgentProfile {
        /// Its name, unique in the project.
        name: String,
        /// Counts its versions from 1.
        number: u32,
        /// What it is for.
        description: String,
        /// The agent.
        agent: String,
        /// The model; absent: the agent's own choice.
        model: Option<String>,
        /// Instructions that come before the prompt of its step.
        prompt: String,
        /// What its sessions may reach; absent: everything.
        sandbox: Option<Sandbox>,
        /// What a session of a step, or a worker in all, may cost, in millionths of a dollar; then it is stopped.
        #[ts(type = "number | null")]
        budget_micros: Option<u64>,
        /// Whether it asks before it changes anything.
        asks: bool,
        /// Labels that a runner must have.
        labels: Vec<String>,
        /// Who saved it.
        saved_by: WrittenBy,
        /// When.
        saved_at: Timestamp,
    }
}
