extension StringProtocol {
    /// The text as one word of a shell's command line: what the shell would read otherwise stands behind a backslash.
    ///
    /// The kernel lets an interface be called `a;reboot`, and a cure is there to be copied.
    public var shellWord: String {
        var word = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9", "_", "-", ".", ":", "@", "%", "+", "=", ",", "/": break
            default: if scalar.isASCII, !scalar.isControl { word += "\\" }
            }
            word.unicodeScalars.append(scalar)
        }
        return word
    }
}
