/// A choice of the explorer: one step of one participant, or one fault.
package enum ExplorationStep: Sendable, Hashable, CustomStringConvertible {
    /// The app performs its next operation.
    case perform(device: Int)
    case upload(device: Int)
    /// The app starts again after a crash.
    case restart(device: Int)
    /// A request takes its next step on the way to the service or back.
    case proceed(exchange: Int)
    /// The connection of a device breaks: a request that has not arrived is lost.
    case cut(device: Int)
    /// The device gives up; its request continues.
    case abandon(device: Int)
    /// The connection between the gateway and the service breaks.
    case cutOrigin(exchange: Int)
    case crash(device: Int)
    /// The gateway's process ends and starts again.
    case crashNode

    package var isFault: Bool {
        switch self {
        case .perform, .upload, .restart, .proceed: false
        case .cut, .abandon, .cutOrigin, .crash, .crashNode: true
        }
    }

    package var description: String {
        switch self {
        case .perform(let device): "d\(device) performs an operation"
        case .upload(let device): "d\(device) uploads"
        case .restart(let device): "d\(device) restarts"
        case .proceed(let exchange): "request \(exchange) proceeds"
        case .cut(let device): "the connection of d\(device) is cut"
        case .abandon(let device): "d\(device) gives up"
        case .cutOrigin(let exchange): "the service's connection is cut in request \(exchange)"
        case .crash(let device): "d\(device) crashes"
        case .crashNode: "the gateway crashes"
        }
    }
}

/// The places at which a request waits for the explorer.
enum ExchangePoint: Hashable {
    /// On its way to the gateway, or without a gateway to the service.
    case sent
    /// Before its row in the ledger.
    case claiming
    /// After its row is durable, before the service receives it.
    case forwarding
    /// After the service has executed it, before the gateway has the response.
    case executed
    /// Before the outcome is in the ledger.
    case recording
    /// After the outcome is durable, before the device has the response.
    case responding
    /// Not waiting.
    case moving
}

/// What the explorer decides about a request that waits within the gateway.
enum ExchangeSignal {
    case proceed
    /// The connection to the service breaks.
    case lost
    /// The gateway's process ends.
    case dead
}
