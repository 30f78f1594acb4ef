import EDM
import Foundation
import ODataWire
import OfflineStore
import TestSupport
import Testing

/// Batches whose connections break one byte later each time. Each change takes effect exactly once, regardless of the
/// received part of the response.
///
/// `TIDELOG_MATRIX=full` cuts at every byte instead of in steps.
@Suite(.timeLimit(.minutes(30))) struct CutTests {
    static let isFull = ProcessInfo.processInfo.environment["TIDELOG_MATRIX"] == "full"

    /// Returns the distance of two cuts, which does not divide the length of repeated parts of a response.
    static func step(_ short: Int) -> Int { isFull ? 1 : short }

    @Test func `a response in multipart is cut at every byte, and each change takes effect once`() async throws {
        let trial = try await CutTrial("v4")
        try await trial.cutAnswers(step: 1)
    }

    @Test(arguments: [("v2", ServiceOptions.BatchFormat.multipart), ("v4", .json)])
    func `a response in another batch format is cut, and each change takes effect once`(
        _ version: String, _ format: ServiceOptions.BatchFormat
    ) async throws {
        let trial = try await CutTrial(version, ServiceOptions(batchFormat: format))
        try await trial.cutAnswers(step: Self.step(7))
    }

    @Test(arguments: [("v4", "oasis"), ("v2", "sap")])
    func `a response with the keys of repeatable creates is cut, and each change takes effect once`(
        _ version: String, _ dialect: String
    ) async throws {
        // The metadata of the service declare the OASIS variant; the SAP variant is configured.
        let options = dialect == "sap" ? ServiceOptions(repeatability: .sap) : nil
        let trial = try await CutTrial(version, options, sandbox: ["--repeatable", dialect])
        try await trial.cutAnswers(step: Self.step(7))
        try await trial.cutRequests(step: Self.step(61))
    }

    @Test(arguments: ["v2", "v4"])
    func `a request is cut, and each change takes effect once`(_ version: String) async throws {
        let trial = try await CutTrial(version)
        try await trial.cutRequests(step: Self.step(29))
    }

    /// The service assigns the keys of suppliers and does not support repeatable requests. Each supplier has a unique
    /// name.
    @Test(arguments: ["v2", "v4"])
    func `interrupted creates with unique content need no decision of the user`(_ version: String) async throws {
        let trial = try await CutTrial(version, createsSuppliers: true)
        try await trial.cutAnswers(step: Self.step(97))
        try await trial.cutRequests(step: Self.step(61))
    }
}

/// A device whose connections break, and the expected final state of the device and its service.
final class CutTrial {
    let server: SandboxServer
    let device: Device
    /// Whether to create suppliers as well, whose keys the service assigns.
    let createsSuppliers: Bool
    /// Number of changes of each kind.
    private var marks = 0

    init(
        _ version: String, _ service: ServiceOptions? = nil, sandbox arguments: [String] = [],
        createsSuppliers: Bool = false
    ) async throws {
        server = try SandboxServer(arguments)
        device = try await Device(server, version, service)
        self.createsSuppliers = createsSuppliers || arguments.contains("--repeatable")
    }

    /// Cuts responses at increasing lengths until a response arrives completely.
    func cutAnswers(step: Int) async throws {
        let (before, first) = (try await orderVersion(), marks)
        for bytes in stride(from: 0, to: 100_000, by: step) {
            let wasWhole = try await attempt(marks, #"{"effect":"cutAnswer","after":\#(bytes),"url":"$batch"}"#)
            marks += 1
            if wasWhole { break }
            try #require(bytes < 99_000, "No response is as long as this.")
        }
        try await check(before, first)
        print("cut answers: \(device.version), \(marks - first) places")
    }

    func cutRequests(step: Int) async throws {
        let (before, first) = (try await orderVersion(), marks)
        for bytes in stride(from: 0, to: 1200, by: step) {
            let wasWhole = try await attempt(marks, #"{"effect":"cutRequest","after":\#(bytes),"url":"$batch"}"#)
            #expect(!wasWhole)
            marks += 1
        }
        try await check(before, first)
        print("cut requests: \(device.version), \(marks - first) places")
    }

    /// Makes the changes of one trial and uploads them with the fault.
    ///
    ///  - Returns: Whether the first upload succeeded in spite of the fault.
    private func attempt(_ mark: Int, _ fault: String) async throws -> Bool {
        try await device.change(mark, createsSupplier: createsSuppliers)
        try server.script(fault)
        let errors = try await device.drain()
        let open = try await device.open()
        try #require(open == [], "\(fault): \(errors)")
        #expect(try server.pendingFaults() == "[]")
        return errors.isEmpty
    }

    private func check(_ before: Int, _ first: Int) async throws {
        let expected = (0..<marks).map { "mark \($0)" }.sorted()
        for (set, property) in [("Visits", "Subject")] + (createsSuppliers ? [("Suppliers", "Name")] : []) {
            let there = try await device.service(set, property).filter { $0.hasPrefix("mark") }
            #expect(there == expected)
            let here = try await device.local(set, property).filter { $0.hasPrefix("mark") }
            #expect(here == expected)
        }
        // Each update took effect once, and the last one was the last.
        #expect(try await orderVersion() - before == marks - first)
        #expect(try await device.service("Orders", "Note").contains("mark \(marks - 1)"))
        #expect(try await device.local("Orders", "Note") == device.service("Orders", "Note"))
    }

    /// Returns the number of changes of the order, which the sandbox counts in its ETags.
    private func orderVersion() async throws -> Int {
        let order = try JSONValue.parse(Array(try server.get("/v4/Orders(1)").utf8))
        let digits = (order["@odata.etag"]?.string ?? "").filter(\.isNumber)
        return try #require(Int(digits))
    }
}
