/// Finds the fields of a certificate in DER without reading the certificate (RFC 5280, section 4.1; X.690).
///
/// Whoever has hundreds of roots and needs one of them is spared the keys and the extensions of all others.
struct CertificateFields {
    /// The subject's distinguished name as it is encoded.
    let subject: ArraySlice<UInt8>
    /// The SubjectPublicKeyInfo as it is encoded.
    let publicKeyInfo: ArraySlice<UInt8>

    /// nil unless the bytes have the outline of a certificate.
    init?(_ der: [UInt8]) {
        guard let certificate = Element(der[...]), certificate.tag == Element.sequence,
            let toBeSigned = Element(certificate.content), toBeSigned.tag == Element.sequence
        else { return nil }
        // Behind the version, which is there only if it is not the first: serial number, signature, issuer, validity.
        var fields: [ArraySlice<UInt8>] = []
        var rest = toBeSigned.content
        while fields.count < 6 {
            guard let field = Element(rest) else { return nil }
            rest = rest[field.encoded.endIndex...]
            if fields.isEmpty, field.tag == Element.version { continue }
            fields.append(field.encoded)
        }
        subject = fields[4]
        publicKeyInfo = fields[5]
    }
}

/// An element of DER at the beginning of some bytes: a tag, a length, and as many bytes.
private struct Element {
    static let sequence: UInt8 = 0x30
    static let version: UInt8 = 0xA0

    let tag: UInt8
    let encoded: ArraySlice<UInt8>
    let content: ArraySlice<UInt8>

    /// nil if the bytes end before the element does, or its length is written in more than four bytes.
    init?(_ bytes: ArraySlice<UInt8>) {
        var rest = bytes
        guard let tag = rest.popFirst(), let first = rest.popFirst() else { return nil }
        var length = Int(first)
        if first >= 0x80 {
            let count = Int(first & 0x7F)
            guard (1...4).contains(count), rest.count >= count else { return nil }
            length = rest.prefix(count).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(count)
        }
        guard rest.count >= length else { return nil }
        self.tag = tag
        content = rest.prefix(length)
        encoded = bytes[bytes.startIndex..<content.endIndex]
    }
}
