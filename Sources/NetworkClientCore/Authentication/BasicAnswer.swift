/// The answer to a challenge of the scheme Basic (RFC 7617).
public enum BasicAnswer {
    /// The field's value; nil for a credential that Basic can't carry: a user with a colon, or control characters.
    ///
    /// User and password go as UTF-8, which is what a server can ask for (`charset`), and the others mostly take.
    public static func value(_ credential: Credential) -> String? {
        guard !credential.user.utf8.contains(UInt8(ascii: ":")), !credential.hasControlCharacters else { return nil }
        return "Basic " + Base64.encoded(Array("\(credential.user):\(credential.password)".utf8))
    }
}
