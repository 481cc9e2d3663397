//! Which cryptography TLS uses.

/// Chooses ring for the whole process, unless the program has chosen already.
pub(crate) fn choose_provider() {
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        // Losing a race against another thread is fine: a provider is there.
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
}
