/// A source of knowledge about the current path: whether it leads to the internet, or to a captive portal.
///
/// `PathValidator` of the library `Validation` conforms; `ScriptedMonitor` of `NetworkClientTesting` is one whose result a
/// test sets. ``HTTPConfiguration/validation`` gives it to a session.
public protocol PathValidation: Sendable {
    /// The result for the current path.
    ///
    /// It is read for each request with ``ValidationRequirement/validated`` and for each response over plain HTTP, so it must
    /// be cheap, such as a lock. Must not block.
    var validationStatus: PathValidationStatus { get }

    /// Checks the path now, and returns the result; the current one if there is no path.
    ///
    /// Called for a response that may not be the server's. It must end within a limited time.
    func revalidate() async -> PathValidationStatus

    /// Calls a closure after each change of ``validationStatus``, until the watch is cancelled.
    ///
    /// There is a watch only while requests wait for a path to be validated. Meanwhile a source should check the path even
    /// where it would not by itself, such as a metered one, and again after pauses.
    ///
    /// - Parameter body: Called on any thread, soon after the change; several changes may be coalesced into one call. Must
    ///   not block.
    /// - Returns: The watch.
    func watchValidation(_ body: @escaping @Sendable () -> Void) -> any ConnectivityWatch
}
