import ArgumentParser
import NetworkClient

/// What `netwatch fetch` sends.
struct FetchRequestOptions: ParsableArguments {
    @Option(
        name: [.customShort("X", allowingJoined: true), .long],
        parsing: .unconditional,
        help: .init("The method; GET, or POST where there is a body.", valueName: "method"),
        transform: MethodArgument.parse
    )
    var request: HTTPRequest.Method?

    @Option(
        name: [.customShort("H", allowingJoined: true), .long],
        parsing: .unconditionalSingleValue,
        help: .init(
            "A field of the head, in place of the usual one of that name; may be repeated.",
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
            A parameter, into the query of GET, HEAD, DELETE and of what has a body, else into a form. Names may be \
            nested, as in 'filter[open]=yes' and 'tags[]=a'; may be repeated, where one name makes a set.
            """,
            valueName: "name=value"
        ),
        transform: ParameterArgument.parse
    )
    var parameters: [ParameterArgument] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: .init("A body of JSON, which is checked; accepts JSON too.", valueName: "text|@file|-"),
        transform: BodyArgument.parse
    )
    var json: [BodySource] = []

    @Option(
        name: [.customShort("d", allowingJoined: true), .long],
        parsing: .unconditionalSingleValue,
        help: .init(
            "A body, as it is; a form unless -H says otherwise. May be repeated, joined by '&'.",
            valueName: "text|@file|-"
        ),
        transform: BodyArgument.parse
    )
    var data: [BodySource] = []

    @Flag(name: [.customShort("I"), .customLong("head")], help: "Ask for the head alone (HEAD), and print it.")
    var isHead = false

    func validate() throws {
        guard json.count < 2 else { throw ValidationError("There are two --json; give one whole text") }
        guard json.isEmpty || data.isEmpty else { throw ValidationError("--json and --data are both bodies; give one") }
        guard (json + data).count(where: { $0 == .standardInput }) < 2 else {
            throw ValidationError("stdin can be read once only; give '-' once")
        }
        guard !isHead || request == nil else { throw ValidationError("--head is a method; leave out --request") }
        guard !isHead || json.isEmpty && data.isEmpty else {
            throw ValidationError("--head sends no body; leave out --json and --data")
        }
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
        return json.isEmpty && data.isEmpty ? .get : .post
    }

    /// The fields that are set.
    var headers: HTTPFields {
        var fields = HTTPFields()
        for field in header { fields.append(field) }
        if !json.isEmpty, fields[.accept] == nil { fields[.accept] = "application/json" }
        return fields
    }

    /// The body, read and checked.
    ///
    /// - Throws: What to tell the user.
    func body() throws(ToolError) -> RequestBody {
        if let json = json.first {
            let bytes = try json.bytes()
            do throws(ArgumentError) { try JSONCheck.check(bytes) } catch {
                throw .init("\(json.name) of --json is no JSON: \(error)", exit: .usage)
            }
            return .bytes(bytes, contentType: "application/json")
        }
        guard !data.isEmpty else { return .none }
        var bytes: [UInt8] = []
        for (index, part) in data.enumerated() { bytes += (index == 0 ? [] : [UInt8(ascii: "&")]) + (try part.bytes()) }
        return .bytes(bytes, contentType: "application/x-www-form-urlencoded")
    }
}
