import HTTPTypes
import NIOCore
import NetworkClientCore

/// Converts the refusals of proxies and failed connections to them into errors.
struct ProxyFailure {
    let proxy: ProxyServer
    let endpoint: Endpoint

    /// Returns the error for a refusal.
    func error(for refusal: ProxyRefusal) -> HTTPError {
        switch refusal {
        case .response(let response): self.error(for: response)
        case .reply(let code):
            make(
                SOCKSReply.isFinal(code) ? .proxyRefused : .proxyConnectFailed,
                "the proxy \(proxy) does not connect to \(endpoint.text): \(SOCKSReply.words(code))"
            )
        case .noAcceptableMethod, .invalidCredential: make(.proxyAuthenticationRequired, words(for: nil))
        case .closed:
            make(.connectionLost, "the proxy \(proxy) closed the connection before it led to \(endpoint.text)")
        case .headTooLarge(let limit):
            make(.invalidProxyAnswer, "the head of the response from the proxy \(proxy) is larger than \(limit) bytes")
        case .protocolViolation(let what):
            make(
                .invalidProxyAnswer,
                "\(proxy) does not respond as a proxy: \(what); see whether scheme and port are right"
            )
        }
    }

    private func error(for response: ProxyResponse) -> HTTPError {
        let status = "\(response.status)\(response.reason.isEmpty ? "" : " \(response.reason)")"
        var error =
            switch response.status {
            // tinyproxy responds with 401 to a wrong password.
            case 401, 407: make(.proxyAuthenticationRequired, words(for: status, response.challenges))
            case 408, 429, 500...:
                make(
                    .proxyConnectFailed,
                    "the proxy \(proxy) can't connect to \(endpoint.text): it responded with \(status)"
                )
            default:
                make(
                    .proxyRefused,
                    "the proxy \(proxy) does not connect to \(endpoint.text): it responded with \(status)"
                )
            }
        error.response = HTTPResponse(response)
        error.body = response.body
        return error
    }

    /// Returns the reason for a proxy that requires authentication.
    ///
    /// - Parameters:
    ///   - status: The status of its response; nil if there is none.
    ///   - challenges: The values of `Proxy-Authenticate`.
    /// - Returns: The reason.
    func words(for status: String?, _ challenges: [String] = []) -> String {
        if let reason = UnsupportedSchemes.reason(for: ChallengeParser.challenges(in: challenges)) {
            return "the proxy \(proxy) offers only \(reason)"
        }
        let response = status.map { " (it responded with \($0))" } ?? ""
        guard let user = proxy.user else {
            return "the proxy \(proxy) wants a user name and a password\(response): give it as \(example)"
        }
        let name = user.printable
        return
            "the proxy \(proxy) does not take the user '\(name)' or the password\(response): see whether both are right"
    }

    private var example: String {
        "\(proxy.scheme.rawValue)://user:password@\(HostText.hostAndPort(proxy.host, proxy.port))"
    }

    /// Returns the error for a connection that failed during the negotiation.
    func error(forLoss cause: any Error) -> HTTPError {
        if let error = cause as? HTTPError { return of(error) }
        let errno = (cause as? IOError)?.errnoCode
        let how = errno.map { HTTPError.describe($0) } ?? "\(cause)"
        var error = make(.connectionLost, "the connection to the proxy \(proxy) was lost: \(how.printable)")
        error.errno = errno
        error.cause = cause
        return error
    }

    /// Attributes an error of connecting to the proxy.
    func of(_ error: HTTPError) -> HTTPError {
        guard error.code != .cancelled, error.proxy == nil else { return error }
        var error = error
        error.reason = "the proxy for \(endpoint.text) can't be used: \(error.reason)"
        error.proxy = proxy.description
        return error
    }

    private func make(_ code: HTTPError.Code, _ reason: String) -> HTTPError {
        var error = HTTPError(code, processing: .neverSent, reason: reason)
        error.proxy = proxy.description
        return error
    }
}

extension ProxyResponse {
    /// The values of `Proxy-Authenticate`.
    fileprivate var challenges: [String] {
        fields.filter { $0.name.lowercased() == "proxy-authenticate" }.map(\.value)
    }
}

extension HTTPResponse {
    /// Creates a response from the head that a proxy sent, without invalid fields.
    init(_ response: ProxyResponse) {
        var fields = HTTPFields()
        for field in response.fields {
            guard let name = HTTPField.Name(field.name) else { continue }
            fields.append(.init(name: name, value: field.value))
        }
        self.init(status: .init(code: response.status, reasonPhrase: response.reason), headerFields: fields)
    }
}

/// The replies of SOCKS proxies (RFC 1928, 6).
enum SOCKSReply {
    /// Returns the meaning of a reply.
    static func words(_ code: UInt8) -> String {
        switch code {
        case 1: "it failed"
        case 2: "its rules do not allow that connection"
        case 3: "it has no route to that network"
        case 4: "the host can't be reached"
        case 5: "the connection was refused"
        case 6: "a packet's time to live expired"
        case 7: "it makes no connections (the command is not supported)"
        case 8: "it knows no addresses of that kind"
        default: "it replied with the unknown code \(code)"
        }
    }

    /// Whether the proxy would send the same reply again.
    static func isFinal(_ code: UInt8) -> Bool { [2, 7, 8].contains(code) }

    /// Whether another address of the same host may succeed.
    static func isOfTheAddress(_ code: UInt8) -> Bool { [1, 3, 4, 5, 6, 8].contains(code) }
}
