import RegexBuilder
import Testing

/// Holds the tables of public types: what a program sees that imports a product.
@Suite("Public names")
struct PublicNamesTests {
    /// The public types of each module that NetworkClient exports whole or in part, in the order of the alphabet.
    ///
    /// A new public type takes its place here, or it is `package`. Each is a promise to all users.
    private static let table: [String: String] = [
        "NetworkClient": """
        AuthenticationHandler AuthenticationPolicy AuthenticationQuestion AuthenticationReply BearerTokens
        BearerTokens.Refresh BodyOutput CachePolicy ChallengeHandler ClientIdentity ConnectMetrics Connectivity
        ConnectivityGate ConnectivityWatch CookieAcceptPolicy CookiePolicy CookieStore DataRequest DataResponse DownloadOptions DownloadRequest
        DownloadResponse DownloadedFile EventMonitor ExchangeMetrics ExistingFile FailedAttempt GatePass HTTP2Policy HTTPCache HTTPConfiguration
        HTTPError HTTPError.Code HTTPSession HTTPSession.Invalidation IdempotencyKey LocalBinding
        NetrcSource NetworkServiceType PathValidation Pin
        ProposedRedirect ProxyConfiguration ProxyServer ProxyServer.Scheme Redirect RedirectChoice
        RedirectDecision RedirectPolicy RequestAttempt RequestBatch RequestBody RequestEvent RequestHandle RequestHandle.Kind
        RequestHandle.State RequestInterceptor RequestMetrics RequestOptions RequestProgress ResponseBody ResponseBody.AsyncIterator
        ResponseBody.Element ResponseBody.Failure ResponseSerializerSettings ResponseSource SecurityPolicy SecurityPolicy.Mode
        ServerChallenge ServerChallenge.Verdict ServerSentEvents ServerSentEvents.AsyncIterator
        ServerSentEvents.Element ServerSentEvents.Failure SpaceCredential StaleReason StreamRequest StreamedResponse TLSOptions
        TLSOptions.Version Throttle Transport TransportRequest TransportResponse TrustRoots WebSocket WebSocket.Messages
        WebSocketOptions WillCache
        """,
        "HTTPSerialization": """
        BytesResponseSerializer CompoundResponseSerializer CompoundResponseSerializer.Output
        DecodableResponseSerializer DecodableResponseSerializer.DecoderFactory EmptyResponse FormSerializer
        FormSerializer.Encoding JSONNumber JSONResponseSerializer JSONSerializer JSONValue JSONValue.ParsingError MappedResponseSerializer
        MultipartBody MultipartContent MultipartForm MultipartPart MultipartStream MultipartStream.Pieces ParameterOptions
        ParameterOptions.ArrayEncoding ParameterOptions.BoolEncoding ParameterOptions.DateEncoding ParameterPlacement
        Parameters PropertyListResponseSerializer PropertyListSerializer RequestSerializationError RequestSerializer
        ResponseExpectation ResponseSerializationError ResponseSerializationError.Code ResponseSerializer
        SerializedRequest StringResponseSerializer
        """,
        "NetworkClientCore": """
        AuthenticationChallenge AuthenticationChallenge.Parameter Cookie Cookie.SameSite Credential Processing ProxyExceptions ServerSentEvent
        Timeouts Timeouts.Stage WebSocketCloseCode WebSocketClosure WebSocketCompression WebSocketMessage
        """,
        "NetworkClientNegotiate": """
        GSSAPIError NegotiatePolicy
        """,
        "NetworkClientTesting": """
        ScriptedMonitor ScriptedResponse ScriptedSignal ScriptedTransport ScriptedTransport.Mismatch
        """,
        "NetworkClientObservability": """
        RequestLogger RequestMeter RequestTracer
        """,
        "EventService": """
        NetwatchEvent NetwatchEvent.Gap NetwatchEvent.ID NetwatchEvent.Validation NetwatchEvents NetwatchEvents.AsyncIterator
        NetwatchEvents.Element NetwatchEvents.Failure
        """,
        "NetworkClientEventService": """
        PathNotKnown
        """,
        "NetworkClientServiceLifecycle": """
        HTTPSessionService
        """,
        "Outbox": """
        ItemOptions LaneOptions Outbox Outbox.Configuration Outbox.CredentialSource OutboxBatch OutboxBody
        OutboxBody.FileHandling OutboxCredential OutboxError OutboxError.Code OutboxItem OutboxItem.ID OutboxKey
        OutboxLane OutboxOutcome OutboxOutcome.Response OutboxOutcomes OutboxOutcomes.AsyncIterator
        OutboxOutcomes.Element OutboxOutcomes.Failure OutboxStatistics ResponseConfirmation
        """,
        "OutboxCore": """
        AllowedHours ItemEnd ItemState LaneClass LaneOrder
        """,
        "ResourceLoader": """
        ActivityIndicator ActivityIndicator.State LoadReceipt ResourceLoader ResourceLoader.Decode ResourceLoader.Size
        ResourceLoaderOptions ResourceLoaderOptions.Order
        """,
        "RequestGate": """
        CircuitBreakerPolicy GatePolicy GiveUpReason PathLossPolicy PathValidationStatus RequestPriority RetryDecision RetryPolicy
        RetryReason ValidationRequirement
        """,
        "Validation": """
        PathValidator ValidationChange
        """,
        "ValidationCore": """
        CaptivePortal EndpointFinding NAT64Discovery NAT64Discovery.Source NoInternetReason PortalSession ProbeFailure
        ProbeMeaning ProofStrength
        ValidationConfiguration ValidationEndpoint ValidationEndpoint.DNSExpectation ValidationEndpoint.HTTPExpectation
        ValidationEndpoint.Probe ValidationEvidence ValidationInstant ValidationPath ValidationReport ValidationTrigger
        ValidationVerdict
        """,
    ]

    @Test("The public types of a module are those of the table", arguments: table.keys.sorted())
    func types(module: String) throws {
        let expected = try #require(Self.table[module]).split { $0.isWhitespace }.map(String.init)
        let found = try Repository.swiftFiles(under: "Sources/\(module)")
            .flatMap { Self.publicTypes(in: try Repository.read($0)) }
        #expect(found.sorted() == expected)
    }

    @Test("NetworkClient exports each public type of the modules that only implement it, and no module whole")
    func exports() throws {
        let lines = try Repository.read("Sources/NetworkClient/Session/Exports.swift").split(separator: "\n")
            .filter { $0.hasPrefix("@_exported ") }
        let names = lines.compactMap { $0.split(separator: " ").last }
        for module in ["NetworkClientCore", "RequestGate"] {
            let types = try #require(Self.table[module]).split { $0.isWhitespace }.filter { !$0.contains(".") }
            #expect(names.filter { $0.hasPrefix("\(module).") } == types.map { "\(module).\($0)" })
        }
        #expect(names.filter { !$0.contains(".") } == ["HTTPSerialization", "HTTPTypes"])
    }

    @Test("Nested types are seen with the type that they are in, and only public ones")
    func nested() {
        let text = """
            public struct A<B>: C {
                public enum D { case e }
                struct F {}
            }
            package enum G { public typealias H = Int }
            extension A.D { public indirect enum I {} }
            extension A {
                @frozen public final class J {}
                // public struct K {}
            }
            public class L {}
            """
        #expect(Self.publicTypes(in: text) == ["A", "A.D", "A.J", "L"])
    }

    /// The names of the public types that a file declares at its top level, or on a line of its own in a type or an
    /// extension there.
    private static func publicTypes(in text: String) -> [String] {
        var names: [String] = []
        var outer = ""
        let kinds = /struct|class|enum|protocol|actor|typealias|extension/
        let scope = Regex {
            /(?:@?[a-z]+ )*?/
            kinds
            " "
            Capture(/[\w.]+/)
        }
        let type = Regex {
            Capture(/(?: {4})?/)
            /(?:@\w+ )*public (?:final |indirect )*/
            kinds
            " "
            Capture(/\w+/)
        }
        for line in text.split(separator: "\n") {
            if let found = line.prefixMatch(of: scope) { outer = String(found.1) }
            guard let found = line.prefixMatch(of: type) else { continue }
            names.append(found.1.isEmpty ? String(found.2) : "\(outer).\(found.2)")
        }
        return names
    }
}
