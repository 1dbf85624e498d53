extension SecurityPolicy {
    /// Throws if the policy contradicts itself, or could never accept a server.
    func check(of source: String) throws(HTTPError) {
        guard let problem else { return }
        throw HTTPError(.invalidConfiguration, .neverSent, "\(source) \(problem)")
    }

    /// Throws if the policy pins, and the base URL's scheme is one that shows no certificates.
    ///
    /// `scheme` is nil where the session has no base URL.
    func check(baseScheme scheme: String?) throws(HTTPError) {
        guard mode != .none, let scheme, scheme.lowercased() != "https" else { return }
        throw HTTPError(
            .invalidConfiguration,
            .neverSent,
            "the security policy pins, but the base URL is \(scheme), which shows no certificates: make it https"
        )
    }

    private var problem: String? {
        if allowsInvalidCertificates, validatesDomainName, mode == .none || pins.isEmpty {
            return "allows invalid certificates and validates the domain name, which nothing proves without pins: "
                + "pin something, or choose one of the two"
        }
        if mode != .none, pins.isEmpty {
            return "has mode \(mode) and no pins, so that no server could be accepted: add pins, or use mode none"
        }
        if mode == .certificate, pins.contains(where: { $0.certificate == nil }) {
            return "has mode certificate, but a pin that is only the hash of a key: "
                + "pin the certificate itself, or use mode publicKey"
        }
        return nil
    }
}
