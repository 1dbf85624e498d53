/// Which proxy leads to which URL, as a configuration says.
///
/// Made once for a session, and only where there is a proxy at all.
final class ProxyTable: Sendable {
    private typealias Entry = Result<ProxyServer, HTTPError>

    private let http: Entry?
    private let https: Entry?
    private let exceptions: ProxyExceptions

    /// Reads a configuration; nil if it has no proxy.
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

    /// The proxy that leads to a URL; nil for none.
    ///
    /// - Throws: `invalidConfiguration`, if the environment names one that is none.
    func proxy(for url: HTTPURL) throws(HTTPError) -> ProxyServer? {
        guard let entry = url.isSecure ? https : http, !exceptions.contains(url.host) else { return nil }
        return try entry.get()
    }
}

extension String {
    /// What follows the first colon and a blank.
    fileprivate var afterColon: String { firstRange(of: ": ").map { String(self[$0.upperBound...]) } ?? self }
}
