//! Saving recipes and agent profiles.

use domain::Visibility;
use protocol::{AgentProfileText, ProfileName, RecipeDisable, WhichVersion, verbs};
use serde_json::json;
use store::StoreError;

use super::{save, saving, starting};
use crate::fixture::Fixture;
use crate::workers::Shop;

both! {
    the_same_content_is_one_version,
    a_version_is_found_by_number_and_by_hash,
    a_disabled_recipe_starts_nothing,
    profiles_have_versions_and_can_be_removed,
    readers_save_no_recipe,
}

const ONE: &str = "name: hello\nsteps:\n  - id: tell\n    notify: {to: chat, text: Hello}\n";
const TWO: &str = "name: hello\nsteps:\n  - id: tell\n    notify: {to: chat, text: Goodbye}\n";

async fn the_same_content_is_one_version(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    let first = save(&shop, ONE).await;
    let again = save(&shop, &format!("# A comment.\n{ONE}")).await;
    assert_eq!((again.id, again.number), (first.id, 1));
    let second = save(&shop, TWO).await;
    assert_eq!((second.id, second.number), (first.id, 2));
    assert_ne!(second.version, first.version);
    let versions = shop.fixture.store.recipe_versions(&shop.fixture.ada, first.id).await.unwrap();
    assert_eq!(versions.iter().map(|one| one.number).collect::<Vec<_>>(), [2, 1]);
}

async fn a_version_is_found_by_number_and_by_hash(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    let first = save(&shop, ONE).await;
    save(&shop, TWO).await;
    for asked in ["1".to_owned(), first.version.clone()] {
        let which = WhichVersion { version: Some(asked) };
        let found = shop.fixture.store.recipe(&shop.fixture.ada, first.id, which).await.unwrap();
        assert_eq!((found.version.number, found.text.as_str()), (1, ONE));
    }
    let which = WhichVersion { version: Some("7".into()) };
    let missing = shop.fixture.store.recipe(&shop.fixture.ada, first.id, which).await;
    assert!(matches!(missing, Err(StoreError::Invalid { field: "version", .. })), "{missing:?}");
}

async fn a_disabled_recipe_starts_nothing(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    let recipe = save(&shop, ONE).await;
    let disable = |disabled| verbs::RecipeDisable { recipe: recipe.id, input: RecipeDisable { disabled } };
    assert!(shop.fixture.done(&shop.fixture.ada, disable(true)).await.disabled);
    let refused = shop.fixture.refused(&shop.fixture.ada, starting(&recipe, json!({}))).await;
    assert!(refused.to_string().contains("disabled"), "{refused}");
    assert!(!shop.fixture.done(&shop.fixture.ada, disable(false)).await.disabled);
    shop.fixture.done(&shop.fixture.ada, starting(&recipe, json!({}))).await;
}

async fn profiles_have_versions_and_can_be_removed(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    let project = shop.project.id;
    let set = |model: &str| {
        let input = AgentProfileText {
            name: "fixer".into(),
            agent: "codex".into(),
            model: Some(model.into()),
            ..Default::default()
        };
        verbs::ProfileSet { project, input }
    };
    assert_eq!(shop.fixture.done(&shop.fixture.ada, set("small")).await.number, 1);
    let second = shop.fixture.done(&shop.fixture.ada, set("large")).await;
    assert_eq!((second.number, second.model.as_deref()), (2, Some("large")));
    assert_eq!(shop.fixture.store.profiles(&shop.fixture.ada, project).await.unwrap().len(), 1);
    let remove = || verbs::ProfileRemove { project, input: ProfileName { name: "fixer".into() } };
    shop.fixture.done(&shop.fixture.ada, remove()).await;
    assert!(shop.fixture.store.profiles(&shop.fixture.ada, project).await.unwrap().is_empty());
    let refused = shop.fixture.refused(&shop.fixture.ada, remove()).await;
    assert!(matches!(refused, StoreError::NotFound("agent profile")), "{refused}");
    assert_eq!(shop.fixture.done(&shop.fixture.ada, set("third")).await.number, 3);
    let versions = shop.fixture.store.profile_versions(&shop.fixture.ada, project, "fixer").await.unwrap();
    let models: Vec<_> = versions.iter().map(|one| (one.number, one.model.as_deref().unwrap_or("-"))).collect();
    assert_eq!(models, [(3, "third"), (2, "large"), (1, "small")]);
}

async fn readers_save_no_recipe(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.project = shop.fixture.project(Visibility::ReadOnly).await;
    let refused = shop.fixture.refused(&shop.fixture.bo, saving(&shop, ONE)).await;
    assert!(matches!(refused, StoreError::Forbidden(_)), "{refused}");
    shop.project = shop.fixture.project(Visibility::Private).await;
    let refused = shop.fixture.refused(&shop.fixture.bo, saving(&shop, ONE)).await;
    assert!(matches!(refused, StoreError::NotFound("project")), "{refused}");
}
