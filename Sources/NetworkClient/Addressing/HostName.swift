import Glibc
import NetworkClientCore

/// Host names and addresses as they are written in URLs.
enum HostName {
    /// The host's ASCII form, lower case and without brackets.
    ///
    /// Names in other scripts are converted to their IDNA form (``InternationalName``). A name may contain only
    /// letters, digits, `-`, dots, and `_`, which occurs in hosts files and private name servers; labels have at most
    /// 63 bytes, names 253. If the last label is a number, the name must be an IPv4 address of four decimal numbers:
    /// programs disagree about `127.1`, `0x7f000001` and `010.0.0.1` (an address, another address, or a name), which
    /// has been used to bypass many filters.
    ///
    /// - Throws: `invalidURL`.
    static func ascii(_ bytes: ArraySlice<UInt8>) throws(HTTPError) -> String {
        if bytes.first == UInt8(ascii: "[") { return try ipv6(bytes.dropFirst().dropLast()) }
        let decoded = try URLBytes.decoded(bytes, what: "host")
        guard !decoded.isEmpty else {
            throw .invalidURL("the URL's host is empty: name one after the slashes, as in http://example.com/")
        }
        let isASCII = decoded.utf8.allSatisfy { $0 < 0x80 }
        let name = isASCII ? decoded.lowercased() : try InternationalName.ascii(decoded)
        try checkCharacters(of: name)
        try checkLengths(of: name)
        try checkAddress(name)
        return name
    }

    /// Whether a host is a numeric address, which needs no lookup.
    static func isNumeric(_ host: String) -> Bool { host.contains(":") || isIPv4(host) }

    /// Whether a name always refers to this machine (RFC 6761, 6.3), so that no name server is needed.
    static func isLocal(_ host: String) -> Bool {
        let name = host.hasSuffix(".") ? host.dropLast() : host[...]
        return name == "localhost" || name.hasSuffix(".localhost")
    }

    private static func checkCharacters(of name: String) throws(HTTPError) {
        let isAllowed: (UInt8) -> Bool = { $0.isASCIIAlphanumeric || "-_.".utf8.contains($0) }
        guard let stranger = name.unicodeScalars.first(where: { !$0.isASCII || !isAllowed(UInt8($0.value)) }) else {
            return
        }
        throw .invalidURL(
            "the URL's host has the character '\(stranger.escaped(asASCII: true))', which no host name has: check its spelling"
        )
    }

    private static func checkLengths(of name: String) throws(HTTPError) {
        let complete = name.hasSuffix(".") ? name.dropLast() : name[...]
        let labels = complete.split(separator: ".", omittingEmptySubsequences: false)
        guard !labels.contains(where: \.isEmpty) else {
            throw .invalidURL("the URL's host '\(name)' has nothing before or between its dots: check its spelling")
        }
        guard complete.utf8.count <= 253, !labels.contains(where: { $0.utf8.count > 63 }) else {
            throw .invalidURL("the URL's host is too long: a name has at most 253 bytes, each part between its dots 63")
        }
    }

    /// Rejects names that some programs take for an IPv4 address and others do not.
    private static func checkAddress(_ name: String) throws(HTTPError) {
        let last = name.split(separator: ".").last ?? ""
        let isNumber =
            last.utf8.allSatisfy { $0.isASCIIDigit }
            || (last.hasPrefix("0x") && UInt64(last.dropFirst(2), radix: 16) != nil)
        guard isNumber || last == "0x", !isIPv4(name) else { return }
        throw .invalidURL(
            "the URL's host '\(name)' is no IPv4 address, nor a name: write an address as four decimal numbers, as in 192.0.2.1"
        )
    }

    /// Whether the text is an IPv4 address of four decimal numbers without leading zeros; inet_pton(3).
    private static func isIPv4(_ text: String) -> Bool {
        var address = in_addr()
        return inet_pton(AF_INET, text, &address) == 1
    }

    /// Parses an IPv6 address, with the interface of a link-local one after `%25` (RFC 6874) or, as most people type
    /// it, `%`.
    private static func ipv6(_ bytes: ArraySlice<UInt8>) throws(HTTPError) -> String {
        let parts = bytes.split(separator: UInt8(ascii: "%"), maxSplits: 1, omittingEmptySubsequences: false)
        let address = String(decoding: parts[0], as: UTF8.self).lowercased()
        var binary = in6_addr()
        guard inet_pton(AF_INET6, address, &binary) == 1 else {
            throw .invalidURL("what the URL has in brackets is no IPv6 address: write one, as in http://[2001:db8::1]/")
        }
        guard parts.count > 1 else { return address }
        let zone = parts[1].starts(with: "25".utf8) ? parts[1].dropFirst(2) : parts[1]
        let isPlain = zone.allSatisfy { 0x21..<0x7F ~= $0 && !"/%[]".utf8.contains($0) }
        guard isPlain, 1..<Int(IF_NAMESIZE) ~= zone.count else {
            throw .invalidURL(
                "the zone of the URL's IPv6 address is no interface's name: write it as in http://[fe80::1%25eth0]/"
            )
        }
        return "\(address)%\(String(decoding: zone, as: UTF8.self))"
    }
}

/// Internationalized host names: IDNA 2008 with the mapping of UTS #46 (non-transitional), as in browsers.
///
/// Uses libidn2, which is loaded with dlopen(3) when the first such name occurs: few programs need it, so it is not
/// linked. The GNU C Library does the same for getaddrinfo's `AI_IDN`.
enum InternationalName {
    /// The name's ASCII form, as in `xn--mnchen-3ya.de`.
    ///
    /// - Throws: `invalidURL` if the name is not valid according to IDNA, or if the library is not installed.
    static func ascii(_ name: String) throws(HTTPError) -> String {
        guard let library else {
            throw .invalidURL(
                """
                the URL's host '\(name)' is not ASCII, and libidn2, which translates such names, is not installed: \
                install libidn2-0, or write the name's xn-- form
                """
            )
        }
        return try library.ascii(name)
    }

    /// libidn2, which stays loaded once it is; nil if it is not installed.
    private static let library = Library(name: "libidn2.so.0")

    /// The functions of libidn2 that are used, as declared in idn2.h.
    struct Library: Sendable {
        private typealias Lookup =
            @convention(c) (
                UnsafePointer<UInt8>, UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, Int32
            ) -> Int32
        private typealias Free = @convention(c) (UnsafeMutableRawPointer?) -> Void
        private typealias ErrorText = @convention(c) (Int32) -> UnsafePointer<CChar>?

        /// `IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL`.
        private static let flags: Int32 = 1 | 8

        private let lookup: Lookup
        private let free: Free
        private let errorText: ErrorText

        /// Loads the library; dlopen(3), dlsym(3).
        init?(name: String) {
            guard let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL), let lookup = dlsym(handle, "idn2_lookup_u8"),
                let free = dlsym(handle, "idn2_free"), let errorText = dlsym(handle, "idn2_strerror")
            else { return nil }
            self.lookup = unsafeBitCast(lookup, to: Lookup.self)
            self.free = unsafeBitCast(free, to: Free.self)
            self.errorText = unsafeBitCast(errorText, to: ErrorText.self)
        }

        func ascii(_ name: String) throws(HTTPError) -> String {
            var result: UnsafeMutablePointer<UInt8>?
            let code = Array(name.utf8 + [0]).withUnsafeBufferPointer { bytes in
                bytes.baseAddress.map { lookup($0, &result, Self.flags) } ?? -1
            }
            defer { free(result) }
            guard code == 0, let result else {
                let why = errorText(code).map { String(cString: $0) } ?? "error \(code)"
                throw .invalidURL("the URL's host '\(name)' is no international name (\(why)): check its spelling")
            }
            return String(cString: result)
        }
    }
}
