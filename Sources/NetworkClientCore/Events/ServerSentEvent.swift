/// An event of a server's event stream.
public struct ServerSentEvent: Sendable, Hashable {
    /// The last ID that the server has set, with this event or an earlier one; empty if there is none.
    ///
    /// A reconnection sends it to the server, which continues after this event.
    public var id: String
    /// The name of the event's type; `message` if the server sets none.
    public var name: String
    /// The data; its lines are separated by line feeds.
    public var data: String

    /// Creates an event.
    public init(id: String = "", name: String = "message", data: String) {
        self.id = id
        self.name = name
        self.data = data
    }
}
