import EDM
import ODataSandbox
import ODataWire
import SeededRandom
import TestSupport
import Testing
import Tidelog

/// Random sequences of calls, modifications, faults and changes by another client. The service records each execution
/// of an action, so that the oracle counts them.
@Suite struct RandomActionTests {
    @Test(arguments: 1...12)
    func `UQ-25 each call of a random sequence has one effect, or the service has rejected it`(
        _ seed: UInt64
    ) async throws {
        var session = try await Session(seed, isRepeatable: seed.isMultiple(of: 3))
        for _ in 0..<40 { try await session.step() }
        try await session.drain()
        let state = session
        let context: Comment = "seed \(seed): \(state.trace.joined(separator: "; "))"
        let counts = Dictionary(grouping: state.trip.transport.sandbox.marks, by: { $0 }).mapValues(\.count)
        for (text, end) in state.ends.sorted(by: { $0.key < $1.key }) {
            switch end {
            case .confirmed: #expect(counts[text] == 1, "\(text) \(context)")
            case .rejected, .undone: #expect(counts[text] == nil, "\(text) \(context)")
            case .open: Issue.record("\(text) has not ended. \(context)")
            }
        }
        #expect(counts.keys.allSatisfy { state.ends[$0] == .confirmed }, context)
        #expect(try await state.trip.provider.operationStatus().isEmpty, context)
        #expect(try await state.trip.local() == state.trip.remote, context)
    }
}

/// A device with random calls, and the expected ends of its calls.
private struct Session {
    enum End { case open, confirmed, rejected, undone }

    let trip: Travels
    private var random: SeededRandom
    private var operations: [SequenceNumber: String] = [:]
    private(set) var ends: [String: End] = [:]
    private(set) var trace: [String] = []
    private var count: Int64 = 0

    init(_ seed: UInt64, isRepeatable: Bool) async throws {
        trip = try await Travels(isRepeatable ? ServiceOptions(repeatability: .oasis) : ServiceOptions())
        if isRepeatable { trip.transport.change { $0.options.repeatability = Repeatability(.oasis) } }
        random = SeededRandom(seed: seed)
    }

    mutating func step() async throws {
        count += 1
        switch random.below(12) {
        case 0...1: try await call(import: true)
        case 2...4: try await call(import: false)
        case 5: try await update()
        case 6: try await createAndCall()
        case 7: try await undo()
        case 8:
            trace.append("other client")
            let number = random.below(3) + 1
            trip.transport.direct(
                "PATCH", "/v4/Travels(TravelID=\(number),IsActiveEntity=\(number != 3))",
                #"{"Description":"other \#(count)"}"#, headers: ["If-Match": "*"])
        case 9: try await upload(with: [nil, .dropAnswer, .dropRequest][random.below(3)])
        case 10: try await upload(with: nil)
        default:
            trace.append("download")
            try await trip.provider.download()
        }
    }

    /// Uploads until nothing is left; the user decides doubts by the records of the service, and discards the operations that the
    /// service rejects.
    mutating func drain() async throws {
        for _ in 0..<12 {
            try await upload(with: nil)
            try await trip.provider.download()
            for conflict in try await trip.provider.conflicts() {
                trace.append("mine")
                try await trip.provider.resolve(conflict, with: .mine)
            }
            for status in try await trip.provider.operationStatus() where status.state == .inDoubt {
                let text = operations[status.sequence]
                let isThere = text.map { trip.transport.sandbox.marks.contains($0) } ?? false
                trace.append("settle \(status.sequence) \(isThere)")
                try await trip.provider.settle(
                    operation: status.sequence, as: isThere ? .tookEffect : .resend)
                if isThere, let text { ends[text] = .confirmed }
            }
            let rejected = try await trip.provider.operationStatus().filter { $0.state == .rejected }.map(\.sequence)
            if !rejected.isEmpty {
                trace.append("discard \(rejected)")
                note(try await trip.provider.undo(.operations(rejected)).undone, .undone)
            }
        }
    }

    private mutating func travel() async throws -> EntityValue? {
        let all = try await trip.service.executeQuery(DataQuery().withURL("Travels")).entityList()
        return all.isEmpty ? nil : all[random.below(all.count)]
    }

    private mutating func call(import isImport: Bool) async throws {
        let text = "m\(count)"
        let bound = isImport ? nil : try await travel()
        if let bound, random.below(2) == 0 { bound["Status"] = .string("\(random.below(9))") }
        let call = try await trip.service.queueAction(
            bound == nil ? "Mark" : "note", on: bound.map { .entity($0) }, ["text": .value(text)],
            effect: bound.map { .update($0) } ?? .none)
        trace.append("\(bound == nil ? "Mark" : "note") \(text)")
        if let operation = call.operation { operations[operation] = text }
        ends[text] = .open
    }

    private mutating func update() async throws {
        guard let travel = try await travel() else { return }
        trace.append("update")
        travel["Description"] = .string("d\(count)")
        try await trip.service.updateEntity(travel)
    }

    private mutating func createAndCall() async throws {
        let travel = try trip.newTravel(100 + count, "new \(count)")
        let text = "m\(count)"
        let changes = ChangeSet()
        changes.createEntity(travel)
        let call = changes.invoke("note", on: .entity(travel), ["text": .value(text)])
        try await trip.service.applyChanges(changes)
        trace.append("create and note \(text)")
        if let operation = call.operation { operations[operation] = text }
        ends[text] = .open
    }

    private mutating func undo() async throws {
        let pending = try await trip.provider.operationStatus().filter { $0.state == .pending }
        guard !pending.isEmpty else { return }
        let chosen = pending[random.below(pending.count)].sequence
        trace.append("undo \(chosen)")
        do throws(TidelogError) {
            note(try await trip.provider.undo(.operations([chosen])).undone, .undone)
        } catch {
            // An operation that depends on it is in doubt.
            guard case .refused = error.code else { throw error }
        }
    }

    private mutating func upload(with effect: Fault.Effect?) async throws {
        trace.append("upload \(effect.map { "\($0)" } ?? "")")
        if let effect { trip.transport.add(Fault(effect, urlPart: "$batch")) }
        let before = Set(try await trip.provider.operationStatus().map(\.sequence))
        _ = try? await trip.provider.upload()
        trip.transport.change { $0.faults = [] }
        let left = Set(try await trip.provider.operationStatus().map(\.sequence))
        note(Array(before.subtracting(left)), .confirmed)
    }

    private mutating func note(_ operations: [SequenceNumber], _ end: End) {
        for operation in operations { if let text = self.operations[operation] { ends[text] = end } }
    }
}

extension SeededRandom {
    fileprivate mutating func below(_ limit: Int) -> Int { number(0...limit - 1) }
}
