//! The cryptography provider for TLS.

/// Selects ring for the whole process, unless the program selected another.
pub(crate) fn choose_provider() {
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        // Another thread may have installed a provider first.
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
}
