/// The requirement of a request on what is known of its path beyond the kernel's routes.
public enum ValidationRequirement: Sendable, Hashable, CaseIterable {
    /// None: it is sent although a captive portal may respond in place of the server.
    case any
    /// The path must not be known to lead to a captive portal, or not to the internet.
    ///
    /// It is checked before the request is sent, if it was not yet. A response that is not the server's for certain is not
    /// returned while the path is not validated.
    case validated
}

/// The result of checking whether the current path leads to the internet.
public enum PathValidationStatus: String, Sendable, Hashable, CaseIterable {
    /// Servers can be reached.
    case validated
    /// A captive portal responds in place of servers.
    case portal
    /// No server can be reached.
    case noInternet
    /// The path was not checked yet, or there is none.
    case notChecked
    /// The path was checked, but the responses allow no conclusion, or there is nothing to ask.
    case inconclusive

    /// Whether requests are sent, and responses accepted, as without validation.
    fileprivate var isPassable: Bool {
        switch self {
        case .validated, .inconclusive: true
        case .portal, .noInternet, .notChecked: false
        }
    }
}

/// Decides by the validation of the path whether a request may be sent, and whether a response is the server's: the tables
/// of the requirement ``ValidationRequirement/validated``.
///
/// A path that was checked without a conclusion is used as if there was no validation: a server for checks that is down must
/// not hold back all requests. One that was not checked yet is checked first, which takes a limited time.
package enum ValidationTable {
    /// Returns what a request waits for; nil if it may be sent.
    package static func obstacle(
        _ requirement: ValidationRequirement,
        _ status: PathValidationStatus
    ) -> GateObstacle? {
        guard requirement == .validated else { return nil }
        return switch status {
        case .validated, .inconclusive: nil
        case .portal: .portal
        case .noInternet: .internet
        case .notChecked: .validation
        }
    }

    /// Returns the decision on a response when its head was received.
    package static func verdict(on response: ValidatedResponse) -> ResponseVerdict {
        if response.isProven || response.status.isPassable { return .accept }
        switch response.requirement {
        case .any: return response.status == .notChecked ? .check(.deliver) : .keepApart
        case .validated: return .check(response.isRepeatable ? .discard : .withhold)
        }
    }

    /// Returns the decision on a response after the path was checked because of it.
    package static func verdictAfterCheck(on response: ValidatedResponse) -> ResponseVerdict {
        if response.isProven || response.status.isPassable { return .accept }
        return response.requirement == .any ? .keepApart : .refuse
    }
}

/// The inputs of the decision on a response.
package struct ValidatedResponse: Sendable, Hashable {
    /// The requirement of the request.
    package var requirement: ValidationRequirement
    /// The status of the path.
    package var status: PathValidationStatus
    /// Whether the response is the server's for certain: it came over TLS, after redirects over TLS only, or from this
    /// machine.
    package var isProven: Bool
    /// Whether the request may be repeated: it is idempotent, and its body can be produced again.
    package var isRepeatable: Bool

    /// Creates the inputs.
    package init(
        _ requirement: ValidationRequirement,
        _ status: PathValidationStatus,
        isProven: Bool,
        isRepeatable: Bool
    ) {
        self.requirement = requirement
        self.status = status
        self.isProven = isProven
        self.isRepeatable = isRepeatable
    }
}

/// The decision on a response.
package enum ResponseVerdict: Sendable, Hashable {
    /// It is the server's.
    case accept
    /// It may be another's: it is returned, but neither its cookies nor the response itself are stored.
    case keepApart
    /// The path is checked, which decides; until then the body is handled as given.
    case check(UncheckedBody)
    /// It is not returned: the attempt has failed.
    case refuse
}

/// The handling of a response's body until the path was checked.
package enum UncheckedBody: Sendable, Hashable {
    /// It is delivered: the request accepts any response.
    case deliver
    /// It is kept in memory, because the request can't be repeated.
    case withhold
    /// It is discarded, because the request is repeated.
    case discard
}
