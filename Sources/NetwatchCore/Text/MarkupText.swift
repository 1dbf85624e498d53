extension String {
    /// The text as character data or an attribute's value of HTML or XML (HTML Living Standard, 13.3; XML 1.0, 2.4).
    ///
    /// Control characters, most of which XML forbids, stay as they are.
    package var escapedForMarkup: String {
        var escaped = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
