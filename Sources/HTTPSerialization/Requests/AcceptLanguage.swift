/// The user's preferred languages as the value of an `Accept-Language` field (RFC 9110, 12.5.4).
package enum AcceptLanguage {
    /// The maximum number of languages.
    ///
    /// More would identify the user rather than help the server choose.
    static let limit = 6

    /// Returns the field's value from the environment: `LANGUAGE`, then the first of `LC_ALL`, `LC_MESSAGES` and `LANG`
    /// (locale(7)).
    ///
    /// - Parameter environment: The environment variables.
    /// - Returns: A value such as `de-CH;q=1, de;q=0.9, en;q=0.8`; nil if no language is set, or it is `C` or `POSIX`.
    package static func value(in environment: [String: String]) -> String? {
        let languages = languages(in: environment)
        guard !languages.isEmpty else { return nil }
        return languages.enumerated().map { position, language in
            position == 0 ? "\(language);q=1" : "\(language);q=0.\(10 - position)"
        }
        .joined(separator: ", ")
    }

    /// Returns the languages without duplicates, most preferred first.
    static func languages(in environment: [String: String]) -> [String] {
        let names = ["LC_ALL", "LC_MESSAGES", "LANG"]
        guard let locale = names.lazy.compactMap({ environment[$0] }).first(where: { !$0.isEmpty }) else { return [] }
        // As in gettext, LANGUAGE is ignored unless the locale names a language.
        guard let chosen = tag(of: locale) else { return [] }
        var languages: [String] = []
        let preferred = environment["LANGUAGE", default: ""].split(separator: ":").compactMap { tag(of: String($0)) }
        for language in preferred.isEmpty ? [chosen] : preferred where !languages.contains(language) {
            languages.append(language)
        }
        return Array(languages.prefix(limit))
    }

    /// Returns a locale's language tag (RFC 5646), such as `sr-Latn-RS` for `sr_RS.UTF-8@latin`; nil for `C` and
    /// `POSIX`.
    static func tag(of locale: String) -> String? {
        let parts = locale.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        let base = parts.first.map { $0.prefix { $0 != "." } } ?? ""
        guard base != "C", base != "POSIX", !base.isEmpty else { return nil }
        var subtags = base.split(whereSeparator: { $0 == "_" || $0 == "-" }).map(String.init)
        guard !subtags.isEmpty, subtags.allSatisfy({ $0.utf8.allSatisfy { $0.isASCIIAlphanumeric } }) else {
            return nil
        }
        if parts.count == 2, let script = scripts[String(parts[1])] { subtags.insert(script, at: 1) }
        return subtags.joined(separator: "-")
    }

    private static let scripts = ["latin": "Latn", "cyrillic": "Cyrl", "devanagari": "Deva"]
}
