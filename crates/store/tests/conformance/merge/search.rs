//! What people see while the queue searches for a branch that fails.

use protocol::FlakyCheck;

use super::*;

both! {
    the_queue_shows_where_its_search_stands,
    a_flaky_check_is_named,
}

/// Lets the runner work; returns the queue after each order.
async fn followed(
    shop: &mut Shop,
    repository: &mut Repository,
    mut after: impl FnMut(&mut Repository),
) -> Vec<MergeQueue> {
    let mut seen = Vec::new();
    while let Some(run) = orders(shop).await.into_iter().next() {
        does(shop, repository, &run).await;
        after(repository);
        seen.push(queue(shop).await);
        assert!(seen.len() < 100, "the queue does not come to rest");
    }
    seen
}

async fn the_queue_shows_where_its_search_stands(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    checks(&shop).await;
    let mut repository = repository();
    repository.bad.insert("c".into());
    let mut added = Vec::new();
    for branch in ["a", "b", "c", "d"] {
        added.push(add(&shop, branch).await.id);
        shop.fixture.pass(1);
    }
    let seen = followed(&mut shop, &mut repository, |_| {}).await;
    let together = seen.iter().map(|queue| &queue.failed_together).filter(|failed| failed.len() > 1);
    let together: Vec<_> = together.collect();
    assert!(!together.is_empty() && together.iter().all(|failed| failed.contains(&added[2])), "{together:?}");
    assert!(seen.iter().all(|queue| queue.suspects.is_empty() || queue.suspects == [added[2]]));
    let last = seen.last().unwrap();
    assert!(last.failed_together.is_empty() && last.suspects.is_empty() && last.flaky_checks.is_empty(), "{last:?}");
}

async fn a_flaky_check_is_named(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    checks(&shop).await;
    let mut repository = repository();
    repository.bad.insert("a".into());
    add(&shop, "a").await;
    let mut orders = 0;
    // The first order only looks; the second one tests.
    let seen = followed(&mut shop, &mut repository, |repository| {
        orders += 1;
        if orders == 2 {
            repository.bad.clear();
        }
    })
    .await;
    assert_eq!(repository.tip, "tip+a");
    let last = seen.last().unwrap();
    let named = FlakyCheck { argv: vec!["make".into(), "test".into()], runs: 1 };
    assert_eq!((last.flaky, last.flaky_checks.as_slice()), (1, [named].as_slice()));
}
