import ArgumentParser
import NetwatchCore

/// How notices are printed.
struct FormatOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: .init(
            """
            Print lines of that form, such as '{time} {status} {interface}', with '-' for what there is not. The fields \
            are \(TemplateField.allCases.map(\.rawValue).joined(separator: ", ")).
            """,
            valueName: "template"
        ),
        transform: TemplateArgument.parse
    )
    var format: LineTemplate?

    /// The template's format, or another.
    func format(or other: ChangeFormat) -> ChangeFormat { format.map { .template($0) } ?? other }

    /// Says that both were given.
    func check(besideJSON json: Bool) throws {
        if json, format != nil { throw ValidationError("--json and --format are two ways to print; give one of them") }
    }
}
