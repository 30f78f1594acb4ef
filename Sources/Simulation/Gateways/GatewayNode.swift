import Gateway
import GatewayCore
import HTTPTypes
import ODataWire
import Synchronization
import Transport

/// A process of the gateway. It can end at any call of its storage or its service. Nothing that it does afterwards has
/// an effect.
final class GatewayNode: Sendable {
    private struct NodeState {
        /// The number of calls until the process ends; nil if it does not.
        var callsLeft: Int?
        var hasEnded = false
        var verdicts: [AppFeature: Int] = [:]
    }

    private let state = Mutex(NodeState())

    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Lets the process end at a later call.
    func end(afterCalls count: Int) { state.withLock { $0.callsLeft = $0.callsLeft ?? count } }

    /// Lets the process run on.
    func calm() { state.withLock { $0.callsLeft = nil } }

    /// Counts a call.
    ///
    /// - Returns: Whether the process makes it.
    func makesCall() -> Bool {
        state.withLock { state in
            if let left = state.callsLeft {
                state.callsLeft = left - 1
                if left <= 0 { state.hasEnded = true }
            }
            return !state.hasEnded
        }
    }

    func count(_ verdicts: [LedgerVerdict]) {
        state.withLock { state in
            for verdict in verdicts {
                switch verdict {
                case .send: break
                case .replay: state.verdicts[.ledgerReplays, default: 0] += 1
                case .wait: state.verdicts[.ledgerWaits, default: 0] += 1
                case .refuse: state.verdicts[.ledgerRefusals, default: 0] += 1
                }
            }
        }
    }

    /// Returns the numbers of verdicts since the last call.
    func takeCounts() -> [AppFeature: Int] {
        state.withLock { state in
            defer { state.verdicts = [:] }
            return state.verdicts
        }
    }
}

/// The device whose request the current task carries through a gateway.
enum CurrentDevice {
    @TaskLocal static var number: Int?
}

/// A node's connection to the service.
struct NodeOrigin: OriginTransport {
    let simulation: Simulation
    let node: GatewayNode

    func send(
        _ request: HTTPRequest, body: [UInt8]
    ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8]) {
        guard node.makesCall() else { throw Self.broken(mayHaveBeenSent: false) }
        let answer = try await simulation.forward(WireRequest(request, body), from: CurrentDevice.number).get()
        guard node.makesCall() else { throw Self.broken(mayHaveBeenSent: true) }
        return (HTTPResponse(answer), answer.body)
    }

    func stream(
        _ request: HTTPRequest, content: any RequestContent
    ) async throws(TransportError) -> (response: HTTPResponse, body: ResponseBody) {
        throw TransportError(.invalidRequest, "No streams are simulated.", mayHaveBeenSent: false)
    }

    private static func broken(mayHaveBeenSent: Bool) -> TransportError {
        TransportError(.disconnected, "The process of the gateway has ended.", mayHaveBeenSent: mayHaveBeenSent)
    }
}
