//! A hub does not listen where others could read what is sent.

use hub::{Options, StartError, start};

#[tokio::test]
async fn a_hub_is_not_reachable_by_others_without_protection() {
    for listen in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        let folder = tempfile::tempdir().expect("a folder");
        let mut options = Options::new(folder.path().join("data"));
        options.listen = listen.parse().expect("an address");
        let refused = start(options.clone()).await.err().expect("refused");
        assert!(matches!(refused, StartError::Doors(_)), "{listen}: {refused}");
        let text = refused.to_string();
        assert!(text.contains("--tls-cert") && text.contains("--behind-proxy"), "says what to do: {text}");
        assert!(!folder.path().join("data").exists(), "nothing was made before the refusal");
        options.behind_proxy = true;
        let refused = start(options).await.err().expect("refused");
        assert!(refused.to_string().contains("--public-url"), "{listen}: {refused}");
    }
}

#[tokio::test]
async fn the_hubs_files_are_readable_only_by_its_account() {
    use std::os::unix::fs::PermissionsExt;
    let hub = testkit::TestHub::start().await;
    let mode = |path: std::path::PathBuf| std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    assert_eq!(mode(hub.data_dir()), 0o700);
    assert_eq!(mode(hub.data_dir().join("token")), 0o600);
    assert_eq!(mode(hub.data_dir().join("hub.json")), 0o600);
    let note = std::fs::read_to_string(hub.data_dir().join("hub.json")).expect("the note");
    assert!(note.contains(hub.url()) && note.contains(&std::process::id().to_string()), "{note}");
    let folder = hub.data_dir();
    hub.stop().await;
    assert!(!folder.join("hub.json").exists(), "the note goes with the hub");
}
