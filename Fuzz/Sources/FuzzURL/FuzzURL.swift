import FuzzSupport
import NetworkClientCore

/// Any text as a base URL and as a reference, such as a `Location`: what is accepted is in its normal form, keeps that form
/// when it is parsed again, and leads where RFC 3986 says.
@main
enum FuzzURL {
    static func main() {
        Fuzzer.run { start, count in
            FuzzURL.run(Array(UnsafeRawBufferPointer(start: start, count: count)))
            return 0
        }
    }

    /// The first line is the base, the rest the reference.
    private static func run(_ input: [UInt8]) {
        let (text, rest) = InputText.firstLineAndRest(input)
        guard let base = try? HTTPURL(text) else { return }
        checkNormalForm(of: base)
        Fuzzer.expect(base.asBase.asBase == base.asBase, "as a base of a base, '\(text)' changes")
        checkNormalForm(of: base.asBase)
        let reference = String(decoding: rest, as: UTF8.self)
        let url = try? base.resolvingByTheBook(reference)
        if let joined = base.joined(reference) {
            Fuzzer.expect(joined == url, "'\(reference)' joined is \(joined.target), not \(url?.target ?? "invalid")")
        }
        guard let url else { return }
        checkNormalForm(of: url)
        checkRelation(of: url, to: base, reference)
        if let target = ReferenceTarget(reference, base: base) {
            Fuzzer.expect(url.target == target.text, "'\(reference)' leads to '\(url.target)', not '\(target.text)'")
        }
    }

    /// What was resolved leads to itself, and an empty reference to the same target.
    private static func checkRelation(of url: HTTPURL, to base: HTTPURL, _ reference: String) {
        Fuzzer.expect((try? base.resolving(text(of: url))) == url, "'\(text(of: url))' does not lead to itself")
        let same = try? url.resolving("")
        Fuzzer.expect(same?.target == url.target && same?.host == url.host, "'\(url.target)' is not its own reference")
        guard !reference.utf8.contains(UInt8(ascii: ":")), !reference.utf8.starts(with: "//".utf8) else { return }
        let isSameOrigin = url.isSecure == base.isSecure && url.host == base.host && url.port == base.port
        Fuzzer.expect(isSameOrigin, "'\(reference)' leads from \(base.authority) to \(url.authority)")
    }

    private static func checkNormalForm(of url: HTTPURL) {
        Fuzzer.expect((try? HTTPURL(text(of: url))) == url, "parsed again, '\(text(of: url))' is another URL")
        Fuzzer.expect(1...65_535 ~= url.port, "\(url.port) is no port")
        Fuzzer.expect(isHost(url.host), "'\(url.host)' is no host")
        Fuzzer.expect(isTarget(Array(url.target.utf8)), "'\(url.target)' can't go on a request line")
        let segments = url.path.split(separator: "/", omittingEmptySubsequences: false)
        Fuzzer.expect(!segments.contains("."), "'\(url.target)' has a dot segment")
        Fuzzer.expect(!segments.contains(".."), "'\(url.target)' has a dot segment")
        let slash = url.path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let length = slash.map { url.path.utf8.distance(from: url.path.startIndex, to: $0) + 1 }
        Fuzzer.expect(length == url.directoryLength, "the directory of '\(url.target)' has \(length ?? 0) bytes")
    }

    /// Letters in lower case, digits and what stands between them; of an IPv6 address's zone any visible character.
    private static func isHost(_ host: String) -> Bool {
        let name = HostText.withoutZone(host).utf8
        let isName = name.allSatisfy { $0.isASCIIAlphanumeric && !$0.isASCIIUppercase || "-_.:".utf8.contains($0) }
        return isName && !name.isEmpty && host.utf8.allSatisfy { 0x21...0x7E ~= $0 && !"/@[]".utf8.contains($0) }
    }

    private static func isTarget(_ bytes: [UInt8]) -> Bool {
        bytes.first == UInt8(ascii: "/")
            && bytes.indices.allSatisfy { index in
                URLBytes.isTargetByte(bytes[index]) || PercentEncoding.byte(at: index, in: bytes[...]) != nil
            }
    }

    /// The URL as text, with all of its parts.
    private static func text(of url: HTTPURL) -> String {
        let encoded = { (text: String) in PercentEncoding.encoded(text.utf8) { $0.isASCIIAlphanumeric } }
        let login = [url.user, url.password].compactMap { $0.map(encoded) }.joined(separator: ":")
        let host = HostText.hostAndPort(url.host.split(separator: "%", maxSplits: 1).joined(separator: "%25"), url.port)
        let fragment = url.fragment.map { "#\($0)" } ?? ""
        return "\(url.scheme)://\(login)\(url.hasCredentials ? "@" : "")\(host)\(url.target)\(fragment)"
    }
}

/// Where a reference without scheme and authority leads, by the letter of RFC 3986, 5.2.
private struct ReferenceTarget {
    let text: String

    /// Nil for a reference that names a scheme or a host.
    init?(_ reference: String, base: HTTPURL) {
        let bytes = reference.utf8.prefix { $0 != UInt8(ascii: "#") }
        let firstMark = bytes.first { ":/?".utf8.contains($0) }
        guard firstMark != UInt8(ascii: ":"), !bytes.starts(with: "//".utf8) else { return nil }
        let path = Self.encoded(bytes.prefix { $0 != UInt8(ascii: "?") })
        let mark = bytes.firstIndex(of: UInt8(ascii: "?"))
        let query = mark.map { Self.encoded(bytes[$0...]) }
        if path.isEmpty {
            text = base.path + (query ?? String(base.target.dropFirst(base.path.count)))
        } else {
            let slash = base.path.lastIndex(of: "/") ?? base.path.startIndex
            let merged = path.hasPrefix("/") ? path : base.path[...slash] + path
            text = Self.withoutDotSegments(merged) + (query ?? "")
        }
    }

    private static func encoded(_ bytes: some Sequence<UInt8>) -> String {
        PercentEncoding.encoded(bytes) { URLBytes.isTargetByte($0) || $0 == UInt8(ascii: "%") }
    }

    /// RFC 3986, 5.2.4, step by step.
    private static func withoutDotSegments(_ path: String) -> String {
        var (input, output) = (path, "")
        let removeLastSegment = { (output: inout String) in
            output = output.lastIndex(of: "/").map { String(output[..<$0]) } ?? ""
        }
        while !input.isEmpty {
            if input.hasPrefix("../") || input.hasPrefix("./") {
                input = String(input.drop { $0 == "." }.dropFirst())
            } else if input.hasPrefix("/./") || input == "/." {
                input = "/" + input.dropFirst(3)
            } else if input.hasPrefix("/../") || input == "/.." {
                input = "/" + input.dropFirst(4)
                removeLastSegment(&output)
            } else if input == "." || input == ".." {
                input = ""
            } else {
                let segment = input.prefix(1) + input.dropFirst().prefix { $0 != "/" }
                output += segment
                input.removeFirst(segment.count)
            }
        }
        return output
    }
}
