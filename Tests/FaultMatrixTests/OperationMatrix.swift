import TestSupport
import Testing
import Tidelog

/// Operations of one kind that an app makes and uploads, with the expected final state of the service and the store.
protocol OperationTrial {
    /// The defining queries of the store.
    static var queries: [String] { get }

    /// Changes the parameters of the store.
    static func adjust(_ parameters: inout OfflineODataParameters)

    /// Returns the requests of the upload in their order, without those of the neighbor.
    static func requests(_ service: MatrixService) -> [SentRequest]

    /// Makes the changes, identified by a mark.
    init(_ mark: String, _ device: AppDevice, _ service: MatrixService) async throws

    /// Makes the changes of the user that follow the first upload.
    func changeAfterUpload(_ device: AppDevice) async throws

    /// Checks the service and the store.
    func check(_ result: TrialResult, _ device: AppDevice) async throws
}

extension OperationTrial {
    static func adjust(_ parameters: inout OfflineODataParameters) {}

    func changeAfterUpload(_ device: AppDevice) async throws {}
}

/// The end of a trial.
struct TrialResult {
    let fault: FaultCase
    let service: MatrixService
    /// The operations that have not ended.
    let open: [OperationStatus]
    let errors: [TidelogError]

    /// Returns the open operations on entities of a set, or with links from or to them.
    func open(_ set: String) -> [OperationStatus] {
        open.filter { $0.entityLink.hasPrefix(set) || $0.relatedLink?.hasPrefix(set) == true }
    }

    func explained(_ text: String) -> Comment {
        let left = open.map { "\($0.action) \($0.entityLink) \($0.state): \($0.reason ?? "")" }
        return "\(service.testDescription), \(fault.script): \(text); open \(left), errors \(errors)"
    }
}

/// A matrix of faults: each fault during one upload of the same kind of operations.
struct OperationMatrix<Trial: OperationTrial> {
    let service: MatrixService

    /// The faults, with those of a create with a key assigned by the client, which follows the operations.
    private var cases: [FaultCase] {
        let requests = Trial.requests(service) + [SentRequest("POST", "Visits")]
        var cases = FaultCase.all(service.version, parts: requests.count)
        // The other client changes a single property.
        if !service.supportsPatch { cases.removeAll(where: \.isConflict) }
        return service.hasBatches ? cases : cases.map { $0.single(requests) }
    }

    /// Runs all trials. A device with operations that have not ended is not used again, nor is its service.
    func run(_ name: String) async throws {
        let start = ContinuousClock.now
        var device: AppDevice?
        var (left, leftLater) = (OpenOperations(), OpenOperations())
        for (number, fault) in cases.enumerated() {
            let present = if let device { device } else { try await newDevice() }
            let open = try await hold(fault, number, present)
            left.add(open)
            if !open.isEmpty { leftLater.add(try await present.openAfterDownload()) }
            device = open.isEmpty && !fault.isConflict ? present : nil
        }
        let time = Int((ContinuousClock.now - start) / .milliseconds(1))
        let open = "left open: \(left), after a download: \(leftLater)"
        print("faults of \(name): \(service.testDescription), \(cases.count) in \(time) ms, \(open)")
    }

    private func newDevice() async throws -> AppDevice {
        try await AppDevice(
            try SandboxServer(service.arguments), service, Trial.queries + ["Visits"], adjusting: Trial.adjust)
    }

    /// Returns the operations that remain.
    private func hold(_ fault: FaultCase, _ number: Int, _ device: AppDevice) async throws -> [OperationStatus] {
        let mark = "mark \(number)"
        let trial = try await Trial(mark, device, service)
        let neighbor = Value.guid(GuidValue(high: 9, low: UInt64(number)))
        try await device.create("Visits", ["VisitID": neighbor, "Subject": .string("neighbor of \(mark)")])
        try device.server.script(fault.script)
        let error = await device.upload()
        try await trial.changeAfterUpload(device)
        let errors = [error].compactMap(\.self) + (try await device.drain(uploads: 5))
        let left = try device.server.pendingFaults()
        try device.server.script("[]")
        let result = TrialResult(fault: fault, service: service, open: try await device.open(), errors: errors)
        #expect(left == "[]" || fault.mayRemain, result.explained("did not hit"))
        // One operation never blocks a different one.
        let neighbors = try await device.count("Visits", "Subject", "neighbor of \(mark)")
        #expect(neighbors == 1, result.explained("neighbor"))
        #expect(result.open.allSatisfy { $0.reason != nil }, result.explained("without a reason"))
        try await trial.check(result, device)
        return result.open
    }
}

/// The number of operations that have not ended, by action and state.
private struct OpenOperations: CustomStringConvertible {
    private var counts: [String: Int] = [:]

    mutating func add(_ operations: [OperationStatus]) {
        for operation in operations { counts["\(operation.action) \(operation.state)", default: 0] += 1 }
    }

    var description: String {
        counts.isEmpty
            ? "none" : counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    }
}
