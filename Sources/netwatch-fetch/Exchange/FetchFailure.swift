import CommandLineSupport
import NetwatchCore
import NetworkClient

extension HTTPError {
    /// What to tell the user: which request failed, why, and which option helps.
    var fetchError: ToolError {
        let line = (request.map { "\($0): " } ?? "") + (ownWords ?? reason) + (advice.map { "; \($0)" } ?? "")
        return .init(line.escapedForTerminal, curl: CurlCode(self))
    }

    /// Words in place of those that speak of the library.
    private var ownWords: String? {
        switch code {
        case .bodyTooLarge: "the answer's body is larger than allowed"
        case .clientCertificateRefused: "the server does not accept the client certificate, or the lack of one"
        // Behind the colon stands which property of the session helps.
        default: reason.firstRange(of: ": see TLSOptions.").map { String(reason[..<$0.lowerBound]) }
        }
    }

    private var advice: String? {
        switch code {
        case .bodyTooLarge: "give a larger --max-size"
        case .clientCertificateRefused: "give another one with --cert"
        case .certificateUntrusted: "--cacert FILE trusts another root"
        case .requestTimedOut: "give a longer --max-time"
        case .connectivityTimedOut: "give a longer --wait"
        case .tooManyRedirects: "--max-redirs allows more"
        case .pathNotAllowed: "--wait DURATION waits for one"
        case .resolveTimedOut, .connectTimedOut, .tlsTimedOut: "--connect-timeout allows more"
        default: nil
        }
    }
}
