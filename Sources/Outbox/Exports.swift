/// The names that the public interface mentions: those of the client, and single types of the decisions.
@_exported public import NetworkClient

@_exported public import struct OutboxCore.AllowedHours
@_exported public import enum OutboxCore.ItemEnd
@_exported public import enum OutboxCore.ItemState
@_exported public import enum OutboxCore.LaneClass
@_exported public import enum OutboxCore.LaneOrder
