import EDM
import ODataWire
import OfflineStore
import Operations
import SyncCore
import TestSupport
import Testing

/// All faults of `odata-sandbox`, during uploads with the call of an action. An action is not idempotent, so each
/// upload that repeats it is visible in the ETag of its entity.
@Suite(.timeLimit(.minutes(20))) struct CallFaultTests {
    @Test(arguments: [ServiceOptions.BatchFormat.multipart, .json])
    func `UQ-25 after any single fault, a call has one effect or waits for a decision`(
        _ format: ServiceOptions.BatchFormat
    ) async throws {
        try await run(FaultCase.all("v4"), ServiceOptions(batchFormat: format))
    }

    @Test func `UQ-25 after any single fault without batches, a call has one effect or waits for a decision`()
        async throws
    {
        let cases = FaultCase.all("v4").map { fault in
            var single = fault.single("v4")
            // The call is the first request, and the only POST to this URL.
            single.script.replace(#""method":"POST","url":"Visits""#, with: #""method":"POST","url":"Annotate""#)
            return single
        }
        try await run(cases, ServiceOptions(supportsBatch: false))
    }

    @Test func `UQ-25 after any single fault of a repeatable request, a call has one effect`() async throws {
        try await run(FaultCase.all("v4"), nil, server: ["--repeatable", "oasis"], isRepeatable: true)
    }

    /// Uses one device after the other: a device with operations that have not ended is not used again.
    private func run(
        _ cases: [FaultCase], _ options: ServiceOptions?, server arguments: [String] = [], isRepeatable: Bool = false
    ) async throws {
        let server = try SandboxServer(arguments)
        var device: Device?
        var decisions = 0
        for (mark, fault) in cases.enumerated() {
            let present = if let device { device } else { try await Device(server, "v4", options) }
            let isClean = try await hold(fault, mark, present, isRepeatable)
            if !isClean { decisions += 1 }
            device = isClean && !fault.isConflict ? present : nil
        }
        print("faults of calls: \(cases.count), left open \(decisions)")
    }

    /// Returns whether no operation remains.
    private func hold(
        _ fault: FaultCase, _ mark: Int, _ device: Device, _ isRepeatable: Bool
    ) async throws -> Bool {
        let name = "mark \(mark)"
        let before = try await version(device)
        try await device.annotate("Orders(2)", name)
        try await device.update("Orders(1)", ["Note": .string(name)])
        try await device.create(
            "Visits", ["VisitID": .guid(GuidValue(high: 8, low: UInt64(mark))), "Subject": .string(name)])
        try device.server.script(fault.script)
        let errors = try await device.drain()
        try device.server.script("[]")
        let effects = try await version(device) - before
        let call = try await device.store.queue.pendingOperations().first { $0.operation.call != nil }
        let open = try await device.open()
        func explained(_ text: String) -> Comment { "\(fault.script): \(text); open \(open), errors \(errors)" }
        switch call?.status {
        case nil: #expect(effects == 1, explained("confirmed"))
        case .rejected, .pending, .deferred: #expect(effects == 0, explained("not carried out"))
        case .inDoubt: #expect(effects <= 1 && !isRepeatable, explained("in doubt"))
        case .inFlight: Issue.record(explained("in flight"))
        }
        // The declared effect is visible whatever became of the call.
        let note = try await device.store.load(.link("Orders(2)")).values["Note"]
        #expect(note == .string(name), explained("declared effect"))
        // One operation never blocks a different one.
        #expect(try await device.service("Visits", "Subject").count { $0 == name } == 1, explained("visit"))
        let isConflict = fault.isConflict && open.contains { $0.contains("Orders") }
        #expect(try await device.service("Orders", "Note").contains(name) || isConflict, explained("order"))
        return open.isEmpty
    }

    /// Returns the number of changes of the order, which the sandbox counts in its ETags.
    private func version(_ device: Device) async throws -> Int {
        let order = try JSONValue.parse(Array(try device.server.get("/v4/Orders(2)").utf8))
        return try #require(Int((order["@odata.etag"]?.string ?? "").filter(\.isNumber)))
    }
}

extension Device {
    /// Queues a call that replaces the note of an order, and declares this effect.
    fileprivate func annotate(_ link: String, _ note: String) async throws {
        let model = try await store.model
        let operation = try model.invokedOperation(
            "Shop.Annotate", on: TypeReference(.entity(name: "Shop.Order")), parameters: ["note"])
        let draft = ActionDraft(
            operation, on: .init(.entity(.link(link)), set: model.findEntitySet("Orders")),
            [.init("note", .value(.string(note)))],
            effect: .update(.link(link), changes: ["Note": .string(note)], bindings: []))
        _ = try await store.perform([(.invoke(draft), IntentOptions())], asChangeSet: false)
    }
}
