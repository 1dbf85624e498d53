extension InterfacesPart {
    /// A column of the table of interfaces.
    enum Field: Sendable, Hashable {
        case name
        case kind
        case state
        case address
        case route
        case received
        case receivedGraph
        case sent
        case sentGraph
        case graph
        case wifi
        case admin
        case carrier
        case operational

        /// Where there is no room for a picture each of what comes and what goes.
        static let narrow: [Self] = [.name, .kind, .state, .address, .route, .received, .sent, .graph, .wifi]

        /// Where there is.
        static let wide: [Self] = [
            .name, .kind, .state, .address, .route, .received, .receivedGraph, .sent, .sentGraph, .wifi,
        ]

        /// Where all that makes up the state has room too.
        static let widest: [Self] = [
            .name, .kind, .state, .admin, .carrier, .operational, .address, .route, .received, .receivedGraph, .sent,
            .sentGraph, .wifi,
        ]

        /// As many columns as ``Traffic`` keeps bars.
        static let widestGraph = Traffic.mostBars

        /// What stands above it.
        var title: String {
            switch self {
            case .name: "LINKS"
            case .kind: "KIND"
            case .state: "STATE"
            case .address: "ADDRESS"
            case .route: "VIA (METRIC)"
            case .received: "IN/s"
            case .sent: "OUT/s"
            case .graph: ""
            case .receivedGraph, .sentGraph: ""
            case .wifi: "NETWORK"
            case .admin: "ADMIN"
            case .carrier: "CARRIER"
            case .operational: "OPER"
            }
        }

        /// Whether it stands at the right.
        var isNumber: Bool { self == .received || self == .sent }

        /// Whether it is a picture of any width.
        var isGraph: Bool { self == .graph || self == .receivedGraph || self == .sentGraph }

        /// The lower, the longer it stays where it is narrow.
        var rank: Int {
            switch self {
            case .name: 0
            case .state: 1
            case .address: 2
            case .received, .sent: 3
            case .route: 4
            case .graph, .receivedGraph, .sentGraph: 5
            case .kind: 6
            case .wifi: 7
            case .admin, .carrier, .operational: 8
            }
        }

        /// The least width that makes sense; what is narrower in fact needs no more than that.
        var least: Int {
            switch self {
            case .name: 10
            case .state: 12
            case .address: 15
            case .route: 16
            case .received, .sent, .graph: 5
            case .receivedGraph, .sentGraph: 8
            case .wifi: 16
            case .kind: 8
            case .admin, .carrier, .operational: 7
            }
        }

        /// No more, however long the contents are.
        var most: Int {
            switch self {
            case .name: 24
            case .address: 64
            case .route: 48
            case .wifi: 40
            case .graph, .receivedGraph, .sentGraph: Self.widestGraph
            default: 16
            }
        }
    }
}
