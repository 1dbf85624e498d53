/// The names that the public interface mentions: those of the client, and those of the decisions.
@_exported public import NetworkClient
@_exported public import ValidationCore
