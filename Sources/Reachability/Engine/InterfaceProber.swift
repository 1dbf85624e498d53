import ReachabilityCore

/// Finds out what device is behind an interface that the kernel's messages do not say enough about.
///
/// The one place where something else than rtnetlink is asked: what is found has the form of a uevent, so that a
/// recording holds it.
protocol InterfaceProber: Sendable {
    /// Looks at one interface; nil if there is nothing to say, or if it is not the interface of that number any more.
    ///
    /// Called on the event thread, which it must not keep for long.
    func probe(_ index: InterfaceIndex, name: String) -> UeventMessage?
}

/// Asks nothing: for namespaces of which this process has no sysfs.
struct NoProber: InterfaceProber {
    func probe(_ index: InterfaceIndex, name: String) -> UeventMessage? { nil }
}
