public import NetworkClient
import ResourceLoaderCore

/// The options of a loader.
public struct ResourceLoaderOptions: Sendable {
    /// The order in which waiting loads of equal priority are started.
    public enum Order: Sendable, Hashable {
        /// The first one first.
        case firstInFirstOut
        /// The last one first, for lists that scroll.
        case lastInFirstOut

        var core: LoadQueue<ResourceKey>.Order {
            switch self {
            case .firstInFirstOut: .firstInFirstOut
            case .lastInFirstOut: .lastInFirstOut
            }
        }
    }

    /// The maximum number of loads that run at the same time; 4 by default.
    public var maximumActiveLoads: Int
    /// The order in which waiting loads of equal priority are started; first in, first out by default.
    public var order: Order
    /// The size of the values in memory, in bytes, above which some are removed; 100 MiB by default.
    public var memoryLimit: Int
    /// The size of the values in memory, in bytes, that remains then, and under memory pressure; 60 MiB by default.
    public var preferredMemorySize: Int
    /// Whether values are removed when the machine is short of memory (`/proc/pressure/memory`); true by default.
    ///
    /// This needs one thread for each loader, which sleeps. ``ResourceLoader/memoryPressureFailure`` says if the kernel does not
    /// support it.
    public var purgesUnderMemoryPressure: Bool
    /// The options of the requests.
    public var request: RequestOptions

    /// Creates options; the properties describe the parameters.
    public init(
        maximumActiveLoads: Int = 4,
        order: Order = .firstInFirstOut,
        memoryLimit: Int = 100 << 20,
        preferredMemorySize: Int = 60 << 20,
        purgesUnderMemoryPressure: Bool = true,
        request: RequestOptions = .init()
    ) {
        self.maximumActiveLoads = maximumActiveLoads
        self.order = order
        self.memoryLimit = memoryLimit
        self.preferredMemorySize = preferredMemorySize
        self.purgesUnderMemoryPressure = purgesUnderMemoryPressure
        self.request = request
    }
}
