import CommandLineSupport
import NetworkClient

/// What a server's chain has to have, as `--pin` names it.
enum PinSource: Hashable {
    /// The hash of a key.
    case pin(Pin)
    /// A file of certificates or public keys.
    case file(String)
}

/// Reads `sha256//BASE64|FILE`, as `--pin` takes it.
enum PinArgument {
    /// Reads a pin; what does not begin as one is a file's name.
    ///
    /// - Throws: ``ArgumentError`` that says what was wrong and how to write it.
    static func parse(_ text: String) throws(ArgumentError) -> PinSource {
        guard !text.isEmpty else { throw .init("it is empty; write sha256//BASE64, or a certificate's file") }
        guard text.hasPrefix("sha256/") else { return .file(text) }
        do throws(HTTPError) {
            return .pin(try Pin(text))
        } catch {
            throw .init("\(error.reason); an error of a pin that does not match lists the chain's")
        }
    }
}

extension PinSource {
    /// The pins.
    ///
    /// - Throws: What to tell the user.
    func pins() throws(ToolError) -> [Pin] {
        switch self {
        case .pin(let pin): return [pin]
        case .file(let path):
            do throws(HTTPError) {
                return try Pin.pins(inFile: path)
            } catch {
                throw .init("no pin: \(error.reason)", curl: .pinnedKeyMismatch)
            }
        }
    }
}
