package import ArgumentParser
package import NetwatchCore
package import ReachabilityCore
import ValidationCore

/// How a command prints changes.
package enum ChangeFormat: Hashable {
    /// For people, with local time.
    case text
    /// JSON lines, version 1.
    case json
    /// The same with `by`, how each interface's kind is known.
    case detailedJSON
    /// As the user's template has it, with local time.
    case template(LineTemplate)

    /// Whether times are local.
    package var isForPeople: Bool {
        switch self {
        case .text, .template: true
        case .json, .detailedJSON: false
        }
    }

    /// One change as a line, with the line feed.
    package func line(_ change: ReachabilityChange, at time: Timestamp) -> [UInt8] {
        var line = ChangeLine(self)
        line.set(change, at: time)
        return line.bytes
    }

    /// One change with the report about its path as a line, with the line feed.
    package func line(_ told: ValidatedChange, at time: Timestamp) -> [UInt8] {
        var line = ChangeLine(self)
        line.set(told, at: time)
        return line.bytes
    }
}

/// How changes are printed.
package struct FormatOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: .init(
            """
            Print lines such as '{time} {status}'; '-' stands for what there is not. Fields: \
            \(TemplateField.allCases.map(\.rawValue).joined(separator: ", ")).
            """,
            valueName: "template"
        ),
        transform: TemplateArgument.parse
    )
    package var format: LineTemplate?

    package init() {}

    /// The template's format, or another.
    package func format(or other: ChangeFormat) -> ChangeFormat { format.map { .template($0) } ?? other }

    /// Says that both were given.
    package func check(besideJSON json: Bool) throws {
        if json, format != nil { throw ValidationError("--json and --format exclude each other; give one of them") }
    }
}

/// Reads a template, as `--format` takes it.
package enum TemplateArgument {
    /// Reads a template.
    ///
    /// - Throws: ``ArgumentError`` that says what was wrong, and where.
    package static func parse(_ text: String) throws(ArgumentError) -> LineTemplate {
        do throws(TemplateError) { return try LineTemplate(text) } catch { throw .init(error.description) }
    }
}

/// A change as a line; the next change's line takes the place of the one before, in the same memory.
package struct ChangeLine: ~Copyable {
    private let format: ChangeFormat
    private var clock: TimestampText
    private var line = LineBuffer()
    /// The other clock, which only templates can ask for.
    private var utc = TimestampText.utc

    /// An empty line.
    ///
    /// - Parameters:
    ///   - format: How changes are written.
    ///   - clock: How times are written, where not as the format has them.
    package init(_ format: ChangeFormat, clock: consuming TimestampText? = nil) {
        self.format = format
        self.clock = clock ?? (format.isForPeople ? .local : .utc)
    }

    /// The line, with the line feed.
    package var bytes: [UInt8] { line.withBytes { Array($0) } }

    /// Makes it the line of a change that came at a time.
    package mutating func set(_ change: ReachabilityChange, at time: Timestamp) {
        line.remove()
        switch format {
        case .text: ChangeText.append(change, at: time, by: &clock, to: &line)
        case .json: ChangeJSON.append(change, at: time, by: &clock, tellsKindSource: false, to: &line)
        case .template(let template): set(template, .init(change: change), time)
        case .detailedJSON: ChangeJSON.append(change, at: time, by: &clock, tellsKindSource: true, to: &line)
        }
    }

    /// Makes it the line of a change with the report about its path.
    package mutating func set(_ told: ValidatedChange, at time: Timestamp) {
        line.remove()
        switch format {
        case .text:
            guard told.isOfValidation, let validation = told.validation else { return set(told.change, at: time) }
            ChangeText.append(validation, of: told.change.status, at: time, by: &clock, to: &line)
        case .json: append(told, time, tellsKindSource: false)
        case .template(let template): set(template, told, time)
        case .detailedJSON: append(told, time, tellsKindSource: true)
        }
    }

    private mutating func append(_ told: ValidatedChange, _ time: Timestamp, tellsKindSource: Bool) {
        ChangeJSON.append(
            told.change,
            at: time,
            by: &clock,
            tellsKindSource: tellsKindSource,
            validation: told.validation,
            isOfValidation: told.isOfValidation,
            to: &line
        )
    }

    private mutating func set(_ template: LineTemplate, _ told: ValidatedChange, _ time: Timestamp) {
        let (local, utc) = (clock.text(time), utc.text(time))
        let text = template.line { field in
            switch field {
            case .time: local
            case .utc: utc
            case .event: told.eventName
            case .validation: told.validation?.verdict.name
            case .login: told.validation?.verdict.portal?.loginURL
            default: field.value(in: told.change)
            }
        }
        line.append(text: text)
        line.append(UInt8(ascii: "\n"))
    }

    /// Writes it, with one call where the descriptor takes it whole.
    package func write(to output: LineOutput) throws(OutputFailure) {
        try line.withBytes { (bytes) throws(OutputFailure) in try output.write(UnsafeRawBufferPointer(bytes)) }
    }
}
