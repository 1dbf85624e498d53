import NIOCore
import NetworkClientCore

/// The way from the proxy on.
extension ConnectionProcess {
    private var failure: ProxyFailure? { endpoint.proxy.map { .init(proxy: $0, endpoint: endpoint) } }

    /// An error of the next hop, named as the proxy's where it is one.
    func named(_ error: HTTPError) -> HTTPError { failure?.of(error) ?? error }

    /// Looks the origin up, for a proxy that is to be given its address.
    func resolveOrigin() {
        resolve(endpoint.host) { [self] addresses throws(HTTPError) in
            passage?.take(try addresses.get())
            if passage?.needsAddresses == true {
                throw .init(.nameNotFound, .neverSent, "'\(endpoint.host)' has no address")
            }
            start()
        }
    }

    /// Gets past the proxy.
    func pass(_ prepared: PreparedChannel) {
        guard let handshake = prepared.proxyHandshake else { return open(prepared) }
        handshake.whenComplete { [self] result in
            guard !isOver else { return }
            switch result {
            case .success: open(prepared)
            case .failure(let error): fail(named(handshake.verdict.error(for: error, host: nextHop.nameForTLS)))
            }
        }
    }

    /// Asks the proxy to lead on.
    private func open(_ prepared: PreparedChannel) {
        guard let tunnel = prepared.tunnel else {
            passage = nil
            return initialize(prepared) { $0() }
        }
        tunnel.begin { [self] outcome in
            guard !isOver else { return }
            switch outcome {
            case .open(let rest):
                passage = nil
                metrics.proxy = (metrics.proxy ?? .zero) + lap()
                initialize(prepared) { ready in tunnel.stepAside(rest, ready) }
            case .refused(let refusal): refused(refusal)
            case .lost(let cause): fail(failure?.error(forLoss: cause) ?? Self.cancelled(endpoint))
            }
        }
    }

    private func refused(_ refusal: ProxyRefusal) {
        metrics.proxy = (metrics.proxy ?? .zero) + lap()
        guard passage?.mayGoAgain(after: refusal) == true else {
            return fail(failure?.error(for: refusal) ?? Self.cancelled(endpoint))
        }
        abandonChannels()
        metrics.remoteAddress = nil
        do throws(HTTPError) { try connect() } catch { fail(named(error)) }
    }

    /// The time for connecting is up while the proxy is spoken to.
    func proxyTimedOut(_ prepared: PreparedChannel?) -> HTTPError? {
        guard let proxy = passage?.proxy, let failure else { return nil }
        if let refusal = prepared?.tunnel?.refusalSoFar() { return failure.error(for: refusal) }
        let reason = "it did not lead there within \(plan.limits.connect ?? .zero): see whether \(proxy) is a proxy"
        return failure.of(.init(.connectTimedOut, .neverSent, reason))
    }
}
