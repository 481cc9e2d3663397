//! DBOS: workflows of three steps. Usage: `dbos-bench URL WORKFLOWS AT_ONCE`; with 0 workflows it stays idle.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use dbos::{Config, DBOS, Error};

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [url, count, at_once] = &words[..] else { panic!("dbos-bench URL WORKFLOWS AT_ONCE") };
    let (count, at_once): (usize, usize) = (count.parse().expect("a number"), at_once.parse().expect("a number"));
    let max_connections = u32::try_from(at_once).expect("a small number") + 5;
    let config = Config { app_version: Some("1".into()), max_connections, ..Config::new("bench", url.as_str()) };
    let dbos = DBOS::new(config);
    let three = dbos.register_workflow("three", |x: i64| async move {
        let a = dbos::step("s1", || async move { Ok::<i64, Error>(x + 1) }).await?;
        let b = dbos::step("s2", || async move { Ok::<i64, Error>(a + 1) }).await?;
        let c = dbos::step("s3", || async move { Ok::<i64, Error>(b + 1) }).await?;
        Ok::<i64, Error>(c)
    });
    let three = Arc::new(three.expect("it is registered once"));
    dbos.launch().await.expect("DBOS starts");
    if count == 0 {
        println!("ready");
        std::future::pending::<()>().await;
    }
    // Connections and statements are warm before the clock runs.
    for at in 0..at_once {
        three.run(-1 - i64::try_from(at).expect("a small number")).await.expect("it completes");
    }
    let (next, begun) = (Arc::new(AtomicUsize::new(0)), Instant::now());
    let workers: Vec<_> = (0..at_once)
        .map(|_| {
            let (three, next) = (three.clone(), next.clone());
            tokio::spawn(async move {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= count {
                        break;
                    }
                    three.run(i64::try_from(at).expect("a small number")).await.expect("it completes");
                }
            })
        })
        .collect();
    for worker in workers {
        worker.await.expect("it does not panic");
    }
    let rate = count as f64 / begun.elapsed().as_secs_f64();
    println!("{}", serde_json::json!({ "rate": rate }));
    dbos.shutdown().await;
}
