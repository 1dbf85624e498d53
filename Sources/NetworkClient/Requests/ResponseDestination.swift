/// Where the body of an answer goes.
enum ResponseDestination: Sendable {
    /// To memory, within ``HTTPConfiguration/maximumBodySize``.
    case memory
    /// To whoever reads it, as fast as they do.
    case stream
    /// To a file or a descriptor.
    case output(BodyOutput)
    /// To what a receiver makes of it.
    case receiver(@Sendable (RequestHandle) throws(HTTPError) -> any BodyReceiver)
}
