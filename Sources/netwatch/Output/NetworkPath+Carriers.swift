import ReachabilityCore

extension NetworkPath {
    /// Whether the path's interface is its only carrier; within one path a number stands for one interface.
    var isCarriedByItself: Bool {
        carriers.count == 1 && carriers[0].index == interface?.index
    }
}
