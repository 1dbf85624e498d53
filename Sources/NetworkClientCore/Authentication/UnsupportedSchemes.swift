/// The authentication schemes that the client refuses, with the reason.
package enum UnsupportedSchemes {
    /// Returns what a server offers and why it is refused, if NTLM is the only scheme, or is offered besides Negotiate
    /// only; nil otherwise.
    ///
    /// - Parameter challenges: The challenges of the response.
    /// - Returns: The end of a sentence that begins with a server's or a proxy's name and 'offers only'.
    package static func reason(for challenges: [AuthenticationChallenge]) -> String? {
        let schemes = Set(challenges.map(\.scheme))
        guard schemes.contains("ntlm"), schemes.isSubset(of: ["ntlm", "negotiate"]) else { return nil }
        let names = schemes.count == 1 ? "NTLM" : "NTLM and Negotiate"
        return """
            \(names), which this client does not use: NTLM authenticates a connection rather than a request and \
            protects passwords only with MD4 and MD5 (MS-NLMP, 5.1); enable Digest, or Basic with TLS, there
            """
    }
}
