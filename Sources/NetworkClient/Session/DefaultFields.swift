import Glibc

/// The fields of every request that neither it nor its session's configuration sets otherwise.
enum DefaultFields {
    /// The session's fields: what the configuration says, and where it is silent, who asks and what can be read.
    static func fields(for configuration: HTTPConfiguration) -> HTTPFields {
        var fields = configuration.headers
        setIfAbsent(.userAgent, "\(programName) netwatch (Linux)", in: &fields)
        if fields[.range] != nil {
            setIfAbsent(.acceptEncoding, codingOfParts, in: &fields)
        } else if configuration.decompresses {
            setIfAbsent(.acceptEncoding, "gzip, deflate", in: &fields)
        }
        let names = ["LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"]
        let environment = Dictionary(
            uniqueKeysWithValues: names.compactMap { name in getenv(name).map { (name, String(cString: $0)) } }
        )
        if let languages = AcceptLanguage.value(in: environment) {
            setIfAbsent(.acceptLanguage, languages, in: &fields)
        }
        return fields
    }

    /// How parts are asked for: one of what is compressed could not be decompressed.
    static let codingOfParts = "identity"

    private static func setIfAbsent(_ name: HTTPField.Name, _ value: String, in fields: inout HTTPFields) {
        if fields[name] == nil { fields[name] = value }
    }

    /// The program's name as a product token (RFC 9110, 10.1.5).
    private static var programName: String {
        let name = CommandLine.arguments.first?.split(separator: "/").last ?? ""
        let token = name.utf8.filter { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
            default: false
            }
        }
        return token.isEmpty ? "program" : String(decoding: token, as: UTF8.self)
    }
}
