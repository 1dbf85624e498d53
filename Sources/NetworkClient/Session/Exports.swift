/// Anyone who uses the session uses the names of its requests, answers and stages.
@_exported public import HTTPSerialization
@_exported public import HTTPTypes
@_exported public import NetworkClientCore
@_exported public import ReachabilityCore
@_exported public import RequestGate
