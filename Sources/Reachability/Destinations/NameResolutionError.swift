/// Why a host's name gave no address.
public struct NameResolutionError: Error, Sendable, Hashable {
    /// The name.
    public let host: String
    /// What is wrong.
    public let code: Code

    /// What can be wrong.
    public enum Code: Sendable, Hashable {
        /// It is no name: empty, or with a character that no name has.
        case invalidName
        /// There is no such name, or it has no address (`EAI_NONAME`, `EAI_NODATA`).
        case notFound
        /// No name server answers for now (`EAI_AGAIN`).
        case unavailable
        /// The time was up.
        case timedOut(after: Duration)
        /// Something else: the code of gai_strerror(3).
        case failed(Int32)
    }
}

extension NameResolutionError: CustomStringConvertible {
    /// What is wrong with which name, and what may help.
    public var description: String {
        switch code {
        case .invalidName: "'\(host)' is neither an address nor a host's name"
        case .notFound: "there is no address for '\(host)'; check the spelling"
        case .unavailable: "no name server answers for '\(host)'; use an address, or try again once one is reachable"
        case .timedOut(let time): "no answer for '\(host)' within \(time); use an address, or allow more time"
        case .failed(let code): "the look-up of '\(host)' failed with getaddrinfo(3)'s code \(code)"
        }
    }
}
