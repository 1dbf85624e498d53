import CommandLineSupport
import NetwatchCore

/// Reads a template, as `--format` takes it.
enum TemplateArgument {
    /// Reads a template.
    ///
    /// - Throws: ``ArgumentError`` that says what was wrong, and where.
    static func parse(_ text: String) throws(ArgumentError) -> LineTemplate {
        do throws(TemplateError) { return try LineTemplate(text) } catch { throw .init(error.description) }
    }
}
