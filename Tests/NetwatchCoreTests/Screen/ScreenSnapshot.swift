import FoundationEssentials
import NetwatchCore
import Testing

/// Compares a screen with a file in Snapshots/; a new file is written if `NETWATCH_UPDATE_SNAPSHOTS` is set.
func expectScreen(
    _ view: LiveView,
    _ size: ScreenSize,
    _ name: String,
    sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let text = screenText(view.frame(size), size)
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let file = folder.appending(path: "Snapshots/\(name)-\(size.columns)x\(size.rows).txt")
    if ProcessInfo.processInfo.environment["NETWATCH_UPDATE_SNAPSHOTS"] != nil {
        try text.write(to: file, atomically: true, encoding: .utf8)
    }
    let kept = try String(contentsOf: file, encoding: .utf8)
    let comment = Comment(rawValue: "\(file.lastPathComponent) says:\n\(kept)\nThe screen shows:\n\(text)")
    #expect(text == kept, comment, sourceLocation: sourceLocation)
}

extension LiveView {
    /// The contents of a screen of a size; the layout is computed for it.
    func frame(_ size: ScreenSize) -> Frame {
        var resized = self
        _ = resized.apply(.resize(size))
        return resized.frame()
    }
}

/// The sizes at which screens are kept.
let keptSizes = [(40, 12), (80, 24), (120, 40), (200, 60)].map { ScreenSize(columns: $0.0, rows: $0.1) }

/// A frame as text, each line between bars, so that its width is visible; the selected one ends with `<`.
func screenText(_ frame: Frame, _ size: ScreenSize) -> String {
    let lines = frame.lines.map { line in
        let text = line.text
        let end = line.runs.contains(where: \.style.isReversed) ? "<" : "|"
        return "|" + text + String(repeating: " ", count: max(size.columns - TextWidth.columns(text), 0)) + end
    }
    return lines.joined(separator: "\n") + "\n"
}
