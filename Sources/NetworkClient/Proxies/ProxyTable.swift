import Glibc
import NetworkClientCore

/// The proxies for URLs, according to a configuration.
///
/// Made once per session, and only if there is a proxy at all.
final class ProxyTable: Sendable {
    private typealias Entry = Result<ProxyServer, HTTPError>

    private let http: Entry?
    private let https: Entry?
    private let exceptions: ProxyExceptions

    /// Makes the table for a configuration; nil if that has no proxy.
    convenience init?(_ configuration: ProxyConfiguration, _ environment: @autoclosure () -> ProxyEnvironment) {
        switch configuration {
        case .direct: return nil
        case .environment:
            let environment = environment()
            self.init(environment, except: .init(environment.exceptions?.value ?? ""))
        case .environmentExcept(let exceptions): self.init(environment(), except: exceptions)
        case .proxies(let http, let https, let exceptions):
            self.init(http.map { .success($0) }, https.map { .success($0) }, exceptions)
        }
    }

    private convenience init?(_ environment: ProxyEnvironment, except exceptions: ProxyExceptions) {
        self.init(environment.http.map(Self.entry), environment.https.map(Self.entry), exceptions)
    }

    private init?(_ http: Entry?, _ https: Entry?, _ exceptions: ProxyExceptions) {
        guard http != nil || https != nil else { return nil }
        (self.http, self.https, self.exceptions) = (http, https, exceptions)
    }

    private static func entry(_ setting: ProxyEnvironment.Setting) -> Entry {
        do throws(HTTPError) {
            return .success(try ProxyServer(setting.value))
        } catch {
            var error = error
            error.reason = "the environment's variable \(setting.variable) names no proxy: \(error.reason.afterColon)"
            return .failure(error)
        }
    }

    /// Returns the proxy for a URL; nil for none.
    ///
    /// - Throws: `invalidConfiguration` if the environment names an invalid one.
    func proxy(for url: HTTPURL) throws(HTTPError) -> ProxyServer? {
        guard let entry = url.isSecure ? https : http, !exceptions.contains(url.host) else { return nil }
        return try entry.get()
    }
}

extension String {
    /// The text after the first colon and space.
    fileprivate var afterColon: String { firstRange(of: ": ").map { String(self[$0.upperBound...]) } ?? self }
}

/// The proxies that requests use.
///
/// A request to a Unix socket, or through a custom ``Transport``, uses none, whatever the configuration is.
public enum ProxyConfiguration: Sendable, Hashable {
    /// The proxies that the environment variables name: `http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`, by the
    /// rules of `docs/proxies.md`.
    ///
    /// They are read when the session is made. An invalid value is an error of the requests that would use it.
    case environment
    /// No proxy.
    case direct
    /// The proxies that the environment variables name, with other exceptions.
    indirect case environmentExcept(ProxyExceptions)
    /// One proxy per scheme; nil for none.
    indirect case proxies(http: ProxyServer?, https: ProxyServer?, except: ProxyExceptions = .none)

    /// The same proxy for all schemes.
    ///
    /// - Parameters:
    ///   - proxy: The proxy.
    ///   - exceptions: The hosts that are reached without the proxy.
    /// - Returns: The configuration.
    public static func all(_ proxy: ProxyServer, except exceptions: ProxyExceptions = .none) -> Self {
        .proxies(http: proxy, https: proxy, except: exceptions)
    }
}

extension ProxyExceptions {
    /// The exceptions in the environment: `no_proxy`, or else `NO_PROXY`.
    public static var environment: Self { .init(ProxyEnvironment.current.exceptions?.value ?? "") }
}

extension ProxyEnvironment {
    /// The environment of this process, read now.
    static var current: Self { .init { name in getenv(name).map { String(cString: $0) } } }
}
