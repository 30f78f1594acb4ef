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
        /// The number of calls of the storage until one fails, and how; nil if none does.
        var storageFailure: (callsLeft: Int, failure: StorageFailure)?
        var counts: [AppFeature: Int] = [:]
    }

    /// The failure of a call of the storage.
    ///
    /// As with a database, a call that succeeds is durable, and one that fails may have been committed: the connection
    /// can break before or after that.
    enum StorageFailure {
        /// The call has no effect.
        case refused
        /// The call is committed.
        case answerLost
    }

    private let state = Mutex(NodeState())

    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Lets the process end at a later call.
    func end(afterCalls count: Int) { state.withLock { $0.callsLeft = $0.callsLeft ?? count } }

    /// Lets a later call of the storage fail, while the process runs on.
    func failStorage(_ failure: StorageFailure, afterCalls count: Int) {
        state.withLock { $0.storageFailure = $0.storageFailure ?? (count, failure) }
    }

    /// Lets the process and its storage run on.
    func calm() { state.withLock { ($0.callsLeft, $0.storageFailure) = (nil, nil) } }

    /// Counts a call of the storage, and returns how it fails; nil if it succeeds.
    func takeStorageFailure() -> StorageFailure? {
        state.withLock { state in
            guard let (left, failure) = state.storageFailure else { return nil }
            state.storageFailure = left > 0 ? (left - 1, failure) : nil
            guard left == 0 else { return nil }
            let feature: AppFeature = failure == .refused ? .storageRefusals : .storageDoubts
            state.counts[feature, default: 0] += 1
            return failure
        }
    }

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
                case .replay: state.counts[.ledgerReplays, default: 0] += 1
                case .wait: state.counts[.ledgerWaits, default: 0] += 1
                case .refuse: state.counts[.ledgerRefusals, default: 0] += 1
                }
            }
        }
    }

    /// Returns the numbers of verdicts and of failures of the storage since the last call.
    func takeCounts() -> [AppFeature: Int] {
        state.withLock { state in
            defer { state.counts = [:] }
            return state.counts
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
