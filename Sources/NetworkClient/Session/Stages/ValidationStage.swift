import NIOCore
import NIOHTTP1
import RequestGate

/// Keeps responses apart that a captive portal may have sent: decides before all other stages.
///
/// ``ValidationTable`` has the rules. A response over TLS proves its server and passes at once; so does any response while the
/// path is validated.
///
/// Unchecked, because everything except constants is used on the session's event loop only.
final class ValidationStage: ExchangeStage, @unchecked Sendable {
    private unowned let core: SessionCore
    private let source: any PathValidation
    /// Whether the session accepts only certificates that prove the server.
    private let provesServers: Bool

    init(_ core: SessionCore, _ source: any PathValidation) {
        (self.core, self.source) = (core, source)
        provesServers = core.configuration.tls.provesServers
    }

    /// Decides from the head whether the response is the server's, or what becomes of its body until that is known.
    func received(_ head: HTTPResponseHead, _ request: RequestHandle) -> HeadDecision {
        let verdict = ValidationTable.verdict(on: response(to: request, source.validationStatus))
        guard verdict != .accept || request.run.extras != nil else { return .proceed }
        // What followed the redirect of a portal is the portal's.
        let isApart = request.mayBeFromPortal && request.run.extras?.following?.redirects.isEmpty == false
        request.extras.validation = isApart && verdict == .accept ? .keepApart : verdict
        guard case .check(let body) = verdict else { return .proceed }
        return switch body {
        case .deliver: .proceed
        case .withhold: .withhold(isLikelyResent: false)
        case .discard: .discard
        }
    }

    /// Returns whether the current response is accepted, so that its cookies and the response itself may be stored.
    func accepts(_ request: RequestHandle) -> Bool { request.run.extras.map { $0.validation == .accept } ?? true }

    /// Checks the path because of a response that may not be the server's.
    func completed(_ response: DataResponse, _ request: RequestHandle) -> ResponseDecision {
        guard case .check(let body)? = request.run.extras?.validation else { return .proceed }
        let (core, source) = (core, source)
        Task { [self] in
            let status = await source.revalidate()
            core.loop.execute { self.checked(response, request, body, status) }
        }
        return .deferred
    }

    /// Decides on a response after the path was checked.
    private func checked(
        _ response: DataResponse,
        _ request: RequestHandle,
        _ body: UncheckedBody,
        _ status: PathValidationStatus
    ) {
        guard request.run.isDeciding else { return }
        let verdict = ValidationTable.verdictAfterCheck(on: self.response(to: request, status))
        request.extras.validation = verdict == .keepApart ? .keepApart : .accept
        guard verdict != .refuse else {
            let error = status.error(for: response, to: request)
            return core.decided(request) { [core] in core.attemptFailed(request, error) }
        }
        guard body != .discard else { return core.decided(request, .resend(request.current.copy), response) }
        if verdict == .accept { core.stages.storeChecked(response.http1, request) }
        core.finishDeferral(request, response, of: self, with: .proceed)
    }

    /// Returns the inputs of the decision on the current response.
    private func response(to request: RequestHandle, _ status: PathValidationStatus) -> ValidatedResponse {
        let current = request.current
        return .init(
            current.policy.needsValidation ? .validated : .any,
            status,
            isProven: isProven(request),
            isRepeatable: current.isRepeatable && request.canResend
        )
    }

    /// Whether the response is the server's for certain: a portal may redirect plain HTTP to a page of its own, with its own
    /// certificate.
    private func isProven(_ request: RequestHandle) -> Bool {
        let endpoint = request.current.endpoint
        guard endpoint.isOnThisMachine || (endpoint.isSecure && endpoint.tls?.provesServers ?? provesServers) else {
            return false
        }
        return request.run.extras?.following?.redirects.allSatisfy { $0.from.hasPrefix("https:") } ?? true
    }
}

extension RequestHandle {
    /// Whether the current response may be a captive portal's; confined to the session's event loop.
    var mayBeFromPortal: Bool { run.extras?.validation == .keepApart }
}

extension PathValidationStatus {
    /// Returns the error for a response that may not be the server's.
    fileprivate func error(for response: DataResponse, to request: RequestHandle) -> HTTPError {
        let finding =
            switch self {
            case .portal: "a captive portal responds in place of servers"
            case .noInternet: "the path does not lead to the internet"
            case .notChecked, .validated, .inconclusive: "the path could not be validated"
            }
        let reason =
            """
            \(request.current.endpoint.text) may not have sent the response with status \(response.status): \(finding); use \
            https, or let the request wait and retry
            """
        var error = HTTPError(.pathNotValidated, processing: .answered, reason: reason)
        error.response = response.head
        return error
    }
}
