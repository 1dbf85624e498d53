import CommandLineSupport
import NetworkClient

/// Reads a method, as `--request` takes it.
enum MethodArgument {
    /// Reads a method; upper and lower case are different methods (RFC 9110, 9.1).
    ///
    /// - Throws: ``ArgumentError`` that says what was wrong and how to write it.
    static func parse(_ text: String) throws(ArgumentError) -> HTTPRequest.Method {
        guard let method = HTTPRequest.Method(rawValue: text) else {
            throw .init("it is no method; write a word such as GET, POST or PROPFIND")
        }
        guard method != .connect else { throw .init("CONNECT makes tunnels, not requests; write another method") }
        return method
    }
}
