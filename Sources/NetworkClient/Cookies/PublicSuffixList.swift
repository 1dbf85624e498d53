import CPublicSuffix
import Glibc
import NetworkClientCore

/// The domains under which anyone can register names, such as `com`, `co.uk` and `github.io` (publicsuffix.org).
///
/// The list is the newer one of the file in Debian's package `publicsuffix` and of libpsl's own, and is read when it is
/// first needed.
enum PublicSuffixList {
    /// Unchecked, because libpsl's functions only read from it.
    private struct Context: @unchecked Sendable { let pointer: OpaquePointer? }

    private static let context = Context(pointer: psl_latest(nil) ?? psl_builtin())

    /// Returns whether a domain is a public suffix; every single label is one.
    ///
    /// - Parameter domain: The domain in lower case and its ASCII form.
    /// - Returns: Whether it is one.
    static func contains(_ domain: String) -> Bool {
        guard let list = context.pointer else { return !domain.contains(".") }
        return psl_is_public_suffix(list, domain) != 0
    }

    /// Returns a host's registrable domain, such as `example.co.uk`; the host itself if it is an address or a suffix.
    static func site(of host: String) -> String {
        guard !CookieDomain.isAddress(host), let list = context.pointer else { return host }
        // The result points into the name.
        return host.withCString { name in psl_registrable_domain(list, name).map { String(cString: $0) } } ?? host
    }
}
