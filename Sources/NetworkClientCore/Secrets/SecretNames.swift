/// Decides by name which fields (RFC 9110, 5) and URL parameters are secret, so that their values are masked in output.
///
/// The decision depends on the words in the name. It errs on the side of masking too much.
package enum SecretNames {
    /// Text that makes a name secret anywhere in it.
    private static let parts = [
        "token", "secret", "passw", "passphrase", "credential", "signature", "cookie", "authoriz", "jwt", "sessid",
        "sessionid", "assertion",
    ]
    /// Text that makes a name secret as a whole word.
    private static let words: Set<String> = [
        "auth", "keys", "pass", "passcode", "pwd", "sig", "session", "sid", "otp", "pin", "bearer",
    ]
    /// Names of secret parameters: those for which OAuth issues tokens (RFC 6749, 4.1; RFC 8628).
    private static let parameters: Set<String> = ["code", "device_code", "user_code", "code_verifier"]
    /// Fields whose values are URLs.
    private static let references: Set<String> = ["location", "content-location", "referer"]

    /// Returns whether a field's value is secret.
    ///
    /// - Parameters:
    ///   - name: The field's name, in any case.
    ///   - others: Additional names that the user declared secret.
    /// - Returns: Whether the value is secret.
    package static func isSecret(field name: String, _ others: [String] = []) -> Bool {
        let lower = name.lowercased()
        return RedirectRules.secretFields.contains(lower) || others.contains { $0.lowercased() == lower }
            || speaksOfSecret(name)
    }

    /// Returns whether a parameter's value is secret.
    package static func isSecret(parameter name: String) -> Bool {
        parameters.contains(name.lowercased()) || speaksOfSecret(name)
    }

    /// Returns a field's value for display, with a mask in place of a secret value or of secrets in a URL.
    package static func shown(field name: String, _ value: String, by mask: String, _ others: [String] = []) -> String {
        if isSecret(field: name, others) { return mask }
        return references.contains(name.lowercased()) ? masked(value, by: mask) : value
    }

    private static func speaksOfSecret(_ name: String) -> Bool {
        let lower = name.lowercased()
        return parts.contains { lower.contains($0) }
            || split(name).contains { words.contains($0) || $0.hasSuffix("key") }
    }

    /// Returns the words of a name such as `X-Api-Key`, `api_key` or `apiKey`, in lower case.
    private static func split(_ name: String) -> [String] {
        var words: [[UInt8]] = [[]]
        var wasLower = false
        for byte in name.utf8 {
            let isUpper = byte.isASCIIUppercase
            let isWord = byte.isASCIIAlphanumeric
            if !isWord || (isUpper && wasLower) { words.append([]) }
            if isWord { words[words.count - 1].append(isUpper ? byte | 0x20 : byte) }
            wasLower = byte.isASCIILetter && !isUpper
        }
        return words.map { String(decoding: $0, as: UTF8.self) }
    }
}

extension SecretNames {
    /// Returns a URL or request target for display, with a mask in place of user information and secret parameters.
    package static func masked(_ reference: String, by mask: String) -> String {
        let bytes = Array(reference.utf8)
        let mask = Array(mask.utf8)
        guard let user = userInformation(bytes) else {
            return String(decoding: maskedParameters(bytes[...], mask), as: UTF8.self)
        }
        let rest = maskedParameters(bytes[user.upperBound...], mask)
        return String(decoding: bytes[..<user.lowerBound] + mask + rest, as: UTF8.self)
    }

    /// Returns the range of `user:password` in `scheme://user:password@host`.
    private static func userInformation(_ bytes: [UInt8]) -> Range<Int>? {
        guard let slash = bytes.firstIndex(of: UInt8(ascii: "/")), bytes[slash...].starts(with: "//".utf8) else {
            return nil
        }
        let start = slash + 2
        let authority = bytes[start...].prefix { !"/?#".utf8.contains($0) }
        return authority.lastIndex(of: UInt8(ascii: "@")).map { start..<$0 }
    }

    /// Whether a parameter follows this byte: in a query, a fragment or a path segment.
    private static func isDelimiter(_ byte: UInt8) -> Bool { "?&;#".utf8.contains(byte) }

    private static func maskedParameters(_ bytes: ArraySlice<UInt8>, _ mask: [UInt8]) -> [UInt8] {
        var rest = bytes
        let beginning = rest.prefix { !isDelimiter($0) }
        var result = Array(beginning)
        rest = rest[beginning.endIndex...]
        while let delimiter = rest.popFirst() {
            let pair = rest.prefix { !isDelimiter($0) }
            rest = rest[pair.endIndex...]
            result.append(delimiter)
            if let equals = pair.firstIndex(of: UInt8(ascii: "=")), isSecret(parameter: decoded(pair[..<equals])) {
                result += pair[...equals] + mask
            } else {
                result += pair
            }
        }
        return result
    }

    /// Returns a percent-decoded name.
    private static func decoded(_ name: ArraySlice<UInt8>) -> String {
        String(decoding: PercentEncoding.decoded(name), as: UTF8.self)
    }
}
