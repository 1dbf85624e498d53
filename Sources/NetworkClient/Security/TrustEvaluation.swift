import X509

/// Evaluates a server in the order that ``SecurityPolicy`` documents.
///
/// Step 1 takes place when the session is made: see `SecurityPolicy.check(of:)`.
struct TrustEvaluation: Sendable {
    let prepared: PreparedPolicy
    let roots: Anchors
    let chain: PresentedChain
    let name: ServerName
    private let validator: ChainValidator

    init(_ prepared: PreparedPolicy, roots: Anchors, chain: PresentedChain, name: ServerName) {
        self.prepared = prepared
        self.roots = roots
        self.chain = chain
        self.name = name
        let validatedName = prepared.policy.validatesDomainName ? name : nil
        validator = ChainValidator(chain: chain, name: validatedName, host: name.text)
    }

    /// Returns the reason why the server is refused; nil if it is accepted.
    func refusal() async -> HTTPError? {
        do {
            try await check()
            return nil
        } catch {
            return error
        }
    }

    private func check() async throws(HTTPError) {
        let allowsInvalid = prepared.policy.allowsInvalidCertificates
        if prepared.policy.mode == .none, allowsInvalid { return }
        var path: [Certificate]?
        do throws(ChainFailure) {
            path = try await validator.validate(against: roots)
        } catch {
            guard allowsInvalid else { throw error.error }
        }
        switch prepared.policy.mode {
        case .none: return
        case .certificate: try await checkCertificates(path)
        case .publicKey: try await checkKeys(path)
        }
    }

    /// Validates the chain with the pins as the only anchors, so that every valid path ends in one of them.
    private func checkCertificates(_ path: [Certificate]?) async throws(HTTPError) {
        do throws(ChainFailure) {
            _ = try await validator.validate(against: Anchors(prepared.certificates))
        } catch {
            throw error.hasPath ? error.error : failure.pinMismatch(in: path)
        }
    }

    private func checkKeys(_ path: [Certificate]?) async throws(HTTPError) {
        if let path {
            if path.contains(where: isPinned) { return }
            // Cross-signed CAs have several valid paths: any path with a pin is sufficient.
            if (try? await validator.validate(against: roots, through: prepared.keyHashes)) != nil { return }
        }
        if prepared.policy.allowsInvalidCertificates {
            let known = [chain.leaf].compactMap { $0 } + chain.others + prepared.certificates
            let pinned = known.filter(isPinned)
            if await validator.isLinked(to: pinned, orRootsOf: roots, by: prepared.keyHashes) { return }
        }
        throw failure.pinMismatch(in: path)
    }

    private func isPinned(_ certificate: Certificate) -> Bool {
        certificate.keyHash.map(prepared.keyHashes.contains) ?? false
    }

    private var failure: TrustFailure { TrustFailure(host: name.text, chain: chain) }
}
