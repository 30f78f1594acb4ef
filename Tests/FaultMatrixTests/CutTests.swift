import Foundation
import ODataWire
import SyncEngine
import Testing

/// One batch after the other, each of whose connections breaks one byte later than the one before: whatever the client has
/// seen of the answer, each change takes effect once.
///
/// `TIDELOG_MATRIX=full` goes byte by byte through what is walked in steps otherwise.
@Suite(.serialized, .timeLimit(.minutes(10))) struct CutTests {
    static let isFull = ProcessInfo.processInfo.environment["TIDELOG_MATRIX"] == "full"

    /// How far the next cut is from the last one. No divisor of what repeats in an answer.
    static func step(_ short: Int) -> Int { isFull ? 1 : short }

    @Test func `an answer in parts is cut at every byte`() async throws {
        let trial = try await CutTrial("v4")
        try await trial.cutAnswers(step: 1)
    }

    @Test(arguments: [("v2", ServiceOptions.BatchFormat.multipart), ("v4", .json)])
    func `an answer in another form is cut`(_ version: String, _ format: ServiceOptions.BatchFormat) async throws {
        let trial = try await CutTrial(version, ServiceOptions(batchFormat: format))
        try await trial.cutAnswers(step: Self.step(7))
    }

    @Test(arguments: [("v4", "oasis"), ("v2", "sap")])
    func `an answer is cut that tells the keys of creations which can be repeated`(
        _ version: String, _ dialect: String
    ) async throws {
        // The service's metadata tell of the first one.
        let options = dialect == "sap" ? ServiceOptions(repeatability: .sap) : nil
        let trial = try await CutTrial(version, options, sandbox: ["--repeatable", dialect])
        try await trial.cutAnswers(step: Self.step(7))
        try await trial.cutRequests(step: Self.step(61))
    }

    @Test(arguments: ["v2", "v4"])
    func `a request is cut`(_ version: String) async throws {
        let trial = try await CutTrial(version)
        try await trial.cutRequests(step: Self.step(29))
    }

    /// The service gives the keys of suppliers and knows no repetitions, and each supplier has a name of its own.
    @Test(arguments: ["v2", "v4"])
    func `cut creates with unique content leave nothing to a person`(_ version: String) async throws {
        let trial = try await CutTrial(version, createsSuppliers: true)
        try await trial.cutAnswers(step: Self.step(97))
        try await trial.cutRequests(step: Self.step(61))
    }
}

/// A device whose connections break, and what must be true of it and of its service in the end.
final class CutTrial {
    let server: FaultServer
    let device: Device
    /// Whether suppliers are created as well, whose keys the service gives.
    let createsSuppliers: Bool
    /// How many changes of each kind were made.
    private var marks = 0

    init(
        _ version: String, _ service: ServiceOptions? = nil, sandbox arguments: [String] = [],
        createsSuppliers: Bool = false
    ) async throws {
        server = try FaultServer(arguments)
        device = try await Device(server, version, service)
        self.createsSuppliers = createsSuppliers || arguments.contains("--repeatable")
    }

    /// Until an answer comes whole.
    func cutAnswers(step: Int) async throws {
        let (before, first) = (try await orderVersion(), marks)
        for bytes in stride(from: 0, to: 100_000, by: step) {
            let wasWhole = try await attempt(marks, #"{"effect":"cutAnswer","after":\#(bytes),"url":"$batch"}"#)
            marks += 1
            if wasWhole { break }
            try #require(bytes < 99_000, "No answer is as long as this.")
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

    /// - Returns: whether the first upload ended well in spite of the fault.
    private func attempt(_ mark: Int, _ fault: String) async throws -> Bool {
        try await device.change(mark, createsSupplier: createsSuppliers)
        try await server.script(fault)
        let errors = try await device.drain()
        let open = try await device.open()
        try #require(open == [], "\(fault): \(errors)")
        #expect(try await server.pendingFaults() == "[]")
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
        // Each update took effect once, the last one last.
        #expect(try await orderVersion() - before == marks - first)
        #expect(try await device.service("Orders", "Note").contains("mark \(marks - 1)"))
        #expect(try await device.local("Orders", "Note") == device.service("Orders", "Note"))
    }

    /// How often the order was changed: the sandbox counts in its ETags.
    private func orderVersion() async throws -> Int {
        let order = try JSONValue.parse(Array(try await server.get("/v4/Orders(1)").utf8))
        let digits = (order["@odata.etag"]?.string ?? "").filter(\.isNumber)
        return try #require(Int(digits))
    }
}
