/// The error that the linked sources throw, as far as they need it; the client's own needs SwiftNIO.
struct HTTPError: Error {
    enum Code { case invalidURL }
    enum Processing { case neverSent }

    let code: Code
    let processing: Processing
    let reason: String

    init(_ code: Code, processing: Processing, reason: String) {
        (self.code, self.processing, self.reason) = (code, processing, reason)
    }
}
