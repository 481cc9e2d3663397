//! The page is compiled into the hub: a new build of the page needs a new build of the hub.

fn main() {
    let page = std::path::Path::new("../../web/dist");
    // A folder that is missing could not be watched. Failing to make it is no matter: the hub then has no page.
    let _ = std::fs::create_dir_all(page);
    println!("cargo::rerun-if-changed={}", page.display());
}
