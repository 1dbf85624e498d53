/// The names that the public interface mentions: those of HTTP, of the serializers, and single types of other modules.
@_exported public import HTTPSerialization
@_exported public import HTTPTypes

@_exported public import struct NetworkClientCore.AuthenticationChallenge
@_exported public import struct NetworkClientCore.Cookie
@_exported public import struct NetworkClientCore.Credential
@_exported public import enum NetworkClientCore.Processing
@_exported public import struct NetworkClientCore.ProxyExceptions
@_exported public import struct NetworkClientCore.ServerSentEvent
@_exported public import struct NetworkClientCore.Timeouts
@_exported public import struct NetworkClientCore.WebSocketCloseCode
@_exported public import struct NetworkClientCore.WebSocketClosure
@_exported public import struct NetworkClientCore.WebSocketCompression
@_exported public import enum NetworkClientCore.WebSocketMessage
@_exported public import struct Reachability.DestinationPath
@_exported public import class Reachability.ReachabilityMonitor
@_exported public import struct ReachabilityCore.IPAddress
@_exported public import enum ReachabilityCore.PathRequirement
@_exported public import struct RequestGate.CircuitBreakerPolicy
@_exported public import enum RequestGate.GatePolicy
@_exported public import enum RequestGate.GiveUpReason
@_exported public import enum RequestGate.PathLossPolicy
@_exported public import enum RequestGate.PathValidationStatus
@_exported public import enum RequestGate.RequestPriority
@_exported public import enum RequestGate.RetryDecision
@_exported public import struct RequestGate.RetryPolicy
@_exported public import enum RequestGate.RetryReason
@_exported public import enum RequestGate.ValidationRequirement
