import NetwatchCore
import NetworkClient

/// Heads of requests and answers as text.
enum HeadText {
    /// An answer's head as it goes before the body, with the empty line; lines end as HTTP/1.1 has them.
    static func head(of response: DataResponse, forTerminal: Bool) -> String {
        let head = response.head
        let fields = head.headerFields.map { "\($0.name.rawName): \($0.value)" }
        let lines = ["\(response.version) \(head.status.code) \(head.status.reasonPhrase)"] + fields + [""]
        return lines.map { (forTerminal ? $0.escapedForTerminal : $0) + "\r\n" }.joined()
    }

    /// A request's head, a line each, without secrets.
    static func lines(_ request: HTTPRequest) -> [String] {
        ["\(request.method) \(SecretNames.masked(request.path ?? "", by: mask)) HTTP/1.1"] + lines(request.headerFields)
    }

    /// An answer's head, a line each, without secrets.
    static func lines(_ response: HTTPResponse) -> [String] {
        ["\(response.status.code) \(response.status.reasonPhrase)"] + lines(response.headerFields)
    }

    private static func lines(_ fields: HTTPFields) -> [String] {
        fields.map { field in
            let name = field.name.rawName
            return "\(name): \(SecretNames.shown(field: name, field.value, by: mask))"
        }
    }

    /// What stands for what would let whoever reads a log act as the user.
    private static let mask = "(not shown)"
}
