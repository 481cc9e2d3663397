//! The conformance package's scenarios for every server, over HTTP.

use std::process::Stdio;

use tokio::process::Command;

use crate::fixture::{Fixture, clients};

#[tokio::test]
async fn the_conformance_package_finds_no_error() {
    let fixture = Fixture::open().await;
    let folder = clients();
    for scenario in ["server-initialize", "ping", "tools-list", "dns-rebinding-protection"] {
        let mut command = Command::new("node");
        command.arg("--import").arg(folder.join("token.mjs"));
        command.arg(folder.join("node_modules/@modelcontextprotocol/conformance/dist/index.js"));
        command.args(["server", "--scenario", scenario, "--url", &format!("{}/mcp", fixture.url)]);
        command.env("SHOPFLOOR_TEST_TOKEN", &fixture.token).current_dir(fixture.folder());
        let output = command.stdin(Stdio::null()).kill_on_drop(true).output().await.unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && text.contains(" 0 failed, 0 warnings"), "{scenario}: {text}");
    }
}
