//! The work settings of a project, and who may change them.

use domain::AssignStrategy;
use protocol::{Change, WorkConfigure, verbs};
use store::StoreError;

use super::Shop;
use crate::fixture::Fixture;

both!(settings_have_defaults_and_only_the_owner_changes_them);

async fn settings_have_defaults_and_only_the_owner_changes_them(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    let (project, fixture) = (shop.project.id, &shop.fixture);
    let before = fixture.store.work_settings(&fixture.bo, project).await.unwrap();
    assert_eq!((before.strategy, before.lease_seconds), (AssignStrategy::LeastLoaded, 90));
    assert_eq!((before.tries_per_worker, before.workers_per_task, before.scale_most), (2, 2, 0));
    let input = WorkConfigure { strategy: Some(AssignStrategy::Stealing), ..Default::default() };
    let error = fixture.refused(&fixture.bo, verbs::WorkConfigure { project, input: input.clone() }).await;
    assert!(matches!(error, StoreError::Forbidden(_)), "{error}");
    let after = fixture.done(&fixture.ada, verbs::WorkConfigure { project, input }).await;
    assert_eq!((after.strategy, after.lease_seconds), (AssignStrategy::Stealing, 90));
    assert_eq!(fixture.store.work_settings(&fixture.ada, project).await.unwrap(), after);
    let bad = WorkConfigure { lease_seconds: Some(10), ..Default::default() };
    let error = fixture.refused(&fixture.ada, verbs::WorkConfigure { project, input: bad }).await;
    assert!(matches!(error, StoreError::Invalid { field: "heartbeat_seconds", .. }), "{error}");
    let (_, state) = fixture.store.state(&fixture.bo).await.unwrap();
    let told = |change: &Change| matches!(change, Change::WorkSettings { settings, .. } if *settings == after);
    assert!(state.iter().any(told));
}
