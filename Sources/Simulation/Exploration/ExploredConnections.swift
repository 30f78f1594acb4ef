import Gateway
import GatewayCore
import HTTPTypes
import ODataWire
import Transport

/// The exchange that the current task carries through the gateway.
enum CurrentExchange {
    @TaskLocal static var id: Int?
}

/// A device's connection to the gateway, or to the service if there is none.
struct DeviceConnection: HTTPTransport {
    let system: ExploredSystem
    let device: Int
    /// The number of the process that holds the connection.
    let process: Int

    func send(
        _ request: HTTPRequest, body: [UInt8]
    ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8]) {
        let answer = try await system.send(WireRequest(request, body), from: device, process: process).get()
        return (HTTPResponse(answer), answer.body)
    }
}

/// The gateway's connection to the service. Modifications wait for the explorer before and after their execution.
struct OriginConnection: OriginTransport {
    let system: ExploredSystem

    func send(
        _ request: HTTPRequest, body: [UInt8]
    ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8]) {
        let answer = try await system.forward(WireRequest(request, body), of: CurrentExchange.id).get()
        return (HTTPResponse(answer), answer.body)
    }

    func stream(
        _ request: HTTPRequest, content: any RequestContent
    ) async throws(TransportError) -> (response: HTTPResponse, body: ResponseBody) {
        throw TransportError(.invalidRequest, "No streams are explored.", mayHaveBeenSent: false)
    }
}

/// A ledger that outlives the gateway's process. Each change waits for the explorer before it becomes durable.
struct ExploredLedger: LedgerStorage {
    let system: ExploredSystem
    let durable: MemoryLedgerStorage
    /// Whether a client displaces the outcomes of others.
    let isCrowded: Bool

    /// Deletes all rows if their requests have ended and one of them is another client's.
    private func forgetOthers(_ claims: [LedgerClaim]) async throws(LedgerStorageError) {
        let rows = try await durable.rows(in: nil, limit: .max)
        let clients = Set(claims.flatMap(\.keys).map(\.client))
        guard rows.allSatisfy({ $0.state == .done }), rows.contains(where: { !clients.contains($0.key.client) }) else {
            return
        }
        // The days that are kept begin after today.
        _ = try await durable.forget(LedgerRules(days: -2, leaseMilliseconds: 0), limit: .max)
    }

    private static let dead = LedgerStorageError("The process has ended.")

    func claim(_ claims: [LedgerClaim], _ rules: LedgerRules) async throws(LedgerStorageError) -> [LedgerVerdict] {
        guard await system.wait(at: .claiming, CurrentExchange.id) == .proceed else { throw Self.dead }
        if isCrowded { try await forgetOthers(claims) }
        return try await durable.claim(claims, rules)
    }

    func complete(
        _ completions: [LedgerCompletion], _ rules: LedgerRules
    ) async throws(LedgerStorageError) -> [Bool] {
        guard await system.wait(at: .recording, CurrentExchange.id) == .proceed else { throw Self.dead }
        return try await durable.complete(completions, rules)
    }

    func forget(_ rules: LedgerRules, limit: Int) async throws(LedgerStorageError) -> Int { 0 }

    func rows(in state: LedgerRow.UnitState?, limit: Int) async throws(LedgerStorageError) -> [LedgerRow] {
        try await durable.rows(in: state, limit: limit)
    }

    func openRows() async throws(LedgerStorageError) -> [LedgerRow.UnitState: Int] { try await durable.openRows() }

    func secret() async throws(LedgerStorageError) -> [UInt8] { [1, 2, 3] }
}
