import HTTPTypes
import NIOCore
import NetworkClientCore

/// Makes errors of what proxies say, and of what becomes of connections to them.
struct ProxyFailure {
    let proxy: ProxyServer
    let endpoint: Endpoint

    /// A proxy's refusal.
    func error(for refusal: ProxyRefusal) -> HTTPError {
        switch refusal {
        case .response(let answer): self.error(for: answer)
        case .reply(let code):
            make(
                SOCKSReply.isFinal(code) ? .proxyRefused : .proxyConnectFailed,
                "the proxy \(proxy) does not connect to \(endpoint.text): \(SOCKSReply.words(code))"
            )
        case .noAcceptableMethod, .invalidCredential: make(.proxyAuthenticationRequired, words(for: nil))
        case .closed:
            make(.connectionLost, "the proxy \(proxy) closed the connection before it led to \(endpoint.text)")
        case .headTooLarge(let limit):
            make(.invalidProxyAnswer, "the head of the proxy \(proxy)'s answer is larger than \(limit) bytes")
        case .protocolViolation(let what):
            make(
                .invalidProxyAnswer,
                "\(proxy) does not answer as a proxy: \(what); see whether scheme and port are right"
            )
        }
    }

    private func error(for answer: ProxyResponse) -> HTTPError {
        let status = "\(answer.status)\(answer.reason.isEmpty ? "" : " \(answer.reason)")"
        var error =
            switch answer.status {
            // tinyproxy answers 401 to a wrong password.
            case 401, 407: make(.proxyAuthenticationRequired, words(for: status))
            case 408, 429, 500...:
                make(.proxyConnectFailed, "the proxy \(proxy) can't connect to \(endpoint.text): it answered \(status)")
            default:
                make(.proxyRefused, "the proxy \(proxy) does not connect to \(endpoint.text): it answered \(status)")
            }
        error.response = HTTPResponse(answer)
        error.body = answer.body
        return error
    }

    /// For one that wants to know the user.
    func words(for status: String?) -> String {
        let answer = status.map { " (it answered \($0))" } ?? ""
        guard let user = proxy.user else {
            return "the proxy \(proxy) wants a user name and a password\(answer): give it as \(example)"
        }
        let name = user.printable
        return
            "the proxy \(proxy) does not take the user '\(name)' or the password\(answer): see whether both are right"
    }

    private var example: String {
        "\(proxy.scheme.rawValue)://user:password@\(HostText.hostAndPort(proxy.host, proxy.port))"
    }

    /// The connection failed while the proxy was spoken to.
    func error(forLoss cause: any Error) -> HTTPError {
        if let error = cause as? HTTPError { return of(error) }
        let errno = (cause as? IOError)?.errnoCode
        let how = errno.map { HTTPError.describe($0) } ?? "\(cause)"
        var error = make(.connectionLost, "the connection to the proxy \(proxy) was lost: \(how.printable)")
        error.errno = errno
        error.cause = cause
        return error
    }

    /// An error of reaching the proxy, named as such.
    func of(_ error: HTTPError) -> HTTPError {
        guard error.code != .cancelled, error.proxy == nil else { return error }
        var error = error
        error.reason = "the proxy for \(endpoint.text) can't be used: \(error.reason)"
        error.proxy = proxy.description
        return error
    }

    private func make(_ code: HTTPError.Code, _ reason: String) -> HTTPError {
        var error = HTTPError(code, .neverSent, reason)
        error.proxy = proxy.description
        return error
    }
}

extension HTTPResponse {
    /// A proxy's answer, without what is no field.
    init(_ answer: ProxyResponse) {
        var fields = HTTPFields()
        for field in answer.fields {
            guard let name = HTTPField.Name(field.name) else { continue }
            fields.append(.init(name: name, value: field.value))
        }
        self.init(status: .init(code: answer.status, reasonPhrase: answer.reason), headerFields: fields)
    }
}

/// The replies of SOCKS proxies (RFC 1928, 6).
enum SOCKSReply {
    /// What a reply means.
    static func words(_ code: UInt8) -> String {
        switch code {
        case 1: "it failed"
        case 2: "its rules do not allow that connection"
        case 3: "it has no route to that network"
        case 4: "the host can't be reached"
        case 5: "the connection was refused"
        case 6: "a packet's time to live ran out on the way"
        case 7: "it makes no connections (the command is not supported)"
        case 8: "it knows no addresses of that kind"
        default: "it replied with the unknown code \(code)"
        }
    }

    /// Whether the proxy will say the same again.
    static func isFinal(_ code: UInt8) -> Bool { [2, 7, 8].contains(code) }

    /// Whether another address of the same host may do better.
    static func isOfTheAddress(_ code: UInt8) -> Bool { [1, 3, 4, 5, 6, 8].contains(code) }
}
