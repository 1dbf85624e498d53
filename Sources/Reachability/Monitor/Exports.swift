// Programs that import Reachability name statuses, paths and reasons without a second import.
@_exported public import ReachabilityCore
