import ArgumentParser
import CommandLineSupport
import NetwatchCore
import NetworkClient

/// The request options of `netwatch fetch`.
struct FetchRequestOptions: ParsableArguments {
    @Option(
        name: [.customShort("X", allowingJoined: true), .long],
        parsing: .unconditional,
        help: .init("The method (default: GET; POST with a body, PUT for --upload).", valueName: "method"),
        transform: MethodArgument.parse
    )
    var request: HTTPRequest.Method?

    @Option(
        name: [.customShort("H", allowingJoined: true), .long],
        parsing: .unconditionalSingleValue,
        help: .init(
            "Set a header field, in place of the default. Repeatable.",
            valueName: "name: value"
        ),
        transform: FieldArgument.parse
    )
    var header: [HTTPField] = []

    @Option(
        name: .customLong("param"),
        parsing: .unconditionalSingleValue,
        help: .init(
            """
            Add a parameter: to the form with --form, to the query for GET, HEAD, DELETE and with another body, else to \
            a form body. Names may be nested, as in 'filter[open]=yes' and 'tags[]=a'. Repeatable; values of one name \
            make a set.
            """,
            valueName: "name=value"
        ),
        transform: ParameterArgument.parse
    )
    var parameters: [ParameterArgument] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: .init("Send a JSON body, which is checked, and accept JSON.", valueName: "text|@file|-"),
        transform: BodyArgument.parse
    )
    var json: [BodySource] = []

    @Option(
        name: [.customShort("d", allowingJoined: true), .long],
        parsing: .unconditionalSingleValue,
        help: .init(
            "Send a body as it is; a form unless -H says otherwise. Repeatable, joined by '&'.",
            valueName: "text|@file|-"
        ),
        transform: BodyArgument.parse
    )
    var data: [BodySource] = []

    @Option(
        name: [.customShort("F", allowingJoined: true), .customLong("form")],
        parsing: .unconditionalSingleValue,
        help: .init(
            "Add a field or a file to a form (multipart/form-data), streamed. Repeatable.",
            valueName: "name=value|name=@file"
        ),
        transform: FormArgument.parse
    )
    var form: [FormArgument] = []

    @Option(
        name: [.customShort("T", allowingJoined: true), .customLong("upload")],
        parsing: .unconditional,
        help: .init(
            "Send this file, streamed; under its name if the URL ends with '/'.",
            valueName: "file"
        ),
        completion: .file()
    )
    var upload: String?

    @Flag(name: [.customShort("I"), .customLong("head")], help: "Send HEAD, and print the response head.")
    var isHead = false

    func validate() throws {
        guard json.count < 2 else { throw ValidationError("There are two --json; give one whole text") }
        guard bodies.count < 2 else {
            throw ValidationError("\(bodies[0]) and \(bodies[1]) are both bodies; give one")
        }
        guard header.count(where: { $0.name.canonicalName == "host" }) < 2 else {
            throw ValidationError("There are two -H Host; give one")
        }
        guard upload != "" else { throw ValidationError("The name of the file to upload is empty; name one") }
        guard upload != "-" else {
            throw ValidationError("--upload takes a file with a name; give that, or --data - for what comes from stdin")
        }
        guard (json + data).count(where: { $0 == .standardInput }) < 2 else {
            throw ValidationError("stdin can be read once only; give '-' once")
        }
        guard !isHead || request == nil else { throw ValidationError("--head is a method; leave out --request") }
        guard !isHead || bodies.isEmpty else { throw ValidationError("--head sends no body; leave out \(bodies[0])") }
        do {
            _ = try ParameterTree.parameters(parameters)
        } catch {
            throw ValidationError("The values of --param contradict each other: \(error)")
        }
    }
}

extension FetchRequestOptions {
    /// The method.
    var method: HTTPRequest.Method {
        if let request { return request }
        if isHead { return .head }
        if upload != nil { return .put }
        return bodies.isEmpty ? .get : .post
    }

    /// The options that set a body.
    var bodies: [String] {
        [
            json.isEmpty ? nil : "--json", data.isEmpty ? nil : "--data", form.isEmpty ? nil : "--form",
            upload == nil ? nil : "--upload",
        ].compactMap(\.self)
    }

    /// Whether the body is read while it is sent, which may take long.
    var isStreamed: Bool { upload != nil || !form.isEmpty }

    /// The fields that are set.
    var headers: HTTPFields {
        var fields = HTTPFields()
        for field in header { fields.append(field) }
        if !json.isEmpty, fields[.accept] == nil { fields[.accept] = "application/json" }
        return fields
    }

    /// Combines the parameters.
    ///
    /// - Throws: The error for the user if they contradict each other.
    func tree() throws(ToolError) -> Parameters? {
        do throws(ArgumentError) { return try ParameterTree.parameters(parameters) } catch {
            throw .init("--param: \(error)", exit: .usage)
        }
    }

    /// Reads and checks the body; files of forms and uploads are read later.
    ///
    /// - Throws: The error for the user.
    func body() throws(ToolError) -> RequestBody {
        if let upload { return .file(upload) }
        if !form.isEmpty { return .multipart(MultipartForm(form.map(\.part))) }
        let (bytes, type) = try bytes()
        return bytes.map { .bytes($0, contentType: type) } ?? .none
    }

    /// Reads and checks the body of `--json` or `--data`; nil without one.
    ///
    /// - Throws: The error for the user.
    func bytes() throws(ToolError) -> (bytes: [UInt8]?, contentType: String?) {
        if let json = json.first {
            let bytes = try json.bytes()
            do throws(JSONError) { _ = try JSONText(bytes[...]) } catch {
                throw .init("\(json.name) of --json is no JSON: \(error)", exit: .usage)
            }
            return (bytes, "application/json")
        }
        guard !data.isEmpty else { return (nil, nil) }
        var bytes: [UInt8] = []
        for (index, part) in data.enumerated() { bytes += (index == 0 ? [] : [UInt8(ascii: "&")]) + (try part.bytes()) }
        return (bytes, "application/x-www-form-urlencoded")
    }
}

/// Parses a method, the value of `--request`.
enum MethodArgument {
    /// Parses a method, which is case-sensitive (RFC 9110, 9.1).
    ///
    /// - Throws: ``ArgumentError``, which says what was wrong and how to write it.
    static func parse(_ text: String) throws(ArgumentError) -> HTTPRequest.Method {
        guard let method = HTTPRequest.Method(rawValue: text) else {
            throw .init("it is no method; write a word such as GET, POST or PROPFIND")
        }
        guard method != .connect else { throw .init("CONNECT makes tunnels, not requests; write another method") }
        return method
    }
}

/// Parses `Name: value`, the value of `--header`.
enum FieldArgument {
    /// Parses a header field (RFC 9110, 5).
    ///
    /// - Throws: ``ArgumentError``, which says what was wrong and how to write it.
    static func parse(_ text: String) throws(ArgumentError) -> HTTPField {
        guard let colon = text.firstIndex(of: ":") else { throw .init("the ':' is missing; \(howTo)") }
        guard let name = HTTPField.Name(String(text[..<colon])) else {
            throw .init("what comes before the ':' is no field's name; \(howTo)")
        }
        guard !framing.contains(name) else { throw .init("\(name.rawName) follows from the body; leave it out") }
        let value = text[text.index(after: colon)...]
        guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
            throw .init("the value has a line's end or another control character; leave it out")
        }
        return .init(name: name, value: String(value))
    }

    private static let howTo = "write 'Name: value', such as 'Accept: application/json'"

    /// The fields that delimit a body; wrong values would make server and client disagree about its end.
    private static let framing = [HTTPField.Name.contentLength, .transferEncoding]
}
