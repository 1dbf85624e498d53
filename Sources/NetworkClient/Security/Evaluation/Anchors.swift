import X509

/// The certificates that a chain may end in.
struct Anchors: Sendable {
    /// Those that a search finds by their subjects.
    var store: CertificateStore
    /// Those of them that somebody named one by one: a server may have such a one for its own, authority or not.
    var named: [Certificate]

    /// Anchors that somebody named.
    init(_ certificates: [Certificate]) {
        store = CertificateStore(certificates)
        named = certificates
    }

    /// Anchors that somebody named, with the system's beside them.
    init(_ certificates: [Certificate], beside system: CertificateStore) {
        store = system.appending(contentsOf: certificates)
        named = certificates
    }
}
