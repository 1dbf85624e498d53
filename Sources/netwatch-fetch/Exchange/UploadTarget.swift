/// Where a file is uploaded to.
enum UploadTarget {
    /// The URL, with the file's name behind it where it names a folder, as curl has it: it ends with a slash, or has no
    /// path at all.
    static func url(_ url: String, uploading file: String) -> String {
        guard let mark = url.firstRange(of: "://"), !url.contains(where: { "?#".contains($0) }) else { return url }
        let hasPath = url[mark.upperBound...].utf8.contains(UInt8(ascii: "/"))
        guard !hasPath || url.hasSuffix("/") else { return url }
        // By bytes, as the kernel does it: of characters, a slash with an accent is none.
        let name = file.utf8.split(separator: UInt8(ascii: "/")).last ?? file.utf8[...]
        return url + (hasPath ? "" : "/") + name.map(escaped).joined()
    }

    /// A byte as it stands in a URL (RFC 3986, 2.3).
    private static func escaped(_ byte: UInt8) -> String {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            return String(Unicode.Scalar(byte))
        default:
            let digits = String(byte, radix: 16, uppercase: true)
            return "%" + (digits.utf8.count == 1 ? "0" : "") + digits
        }
    }
}
