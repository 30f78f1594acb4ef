import ODataWire
import OfflineStore
import TestSupport
import Testing

/// All faults of `odata-sandbox`, during a real upload.
@Suite(.timeLimit(.minutes(20))) struct FaultMatrixTests {
    @Test(arguments: ["v2", "v4"])
    func `after any single fault, each change has one effect or a visible reason`(_ version: String) async throws {
        try await run(FaultCase.all(version), version, nil)
    }

    @Test func `after any single fault in a JSON batch, each change has one effect or a visible reason`() async throws {
        try await run(FaultCase.all("v4"), "v4", ServiceOptions(batchFormat: .json))
    }

    @Test(arguments: ["v2", "v4"])
    func `after any single fault without batches, each change has one effect or a visible reason`(_ version: String)
        async throws
    {
        try await run(
            FaultCase.all(version).map { $0.single(version) }, version, ServiceOptions(supportsBatch: false))
    }

    /// The store is not configured for this service.
    @Test(arguments: ["v2", "v4"])
    func
        `after any single fault of a service without body references and rollback, each change has one effect or a reason`(
            _ version: String
        ) async throws
    {
        try await run(
            FaultCase.all(version) + FaultCase.refusedTogether, version, nil,
            server: ["--without", "references-in-bodies", "--without", "rollback"], tangled: true)
    }

    @Test(arguments: ["v2", "v4"])
    func `after any single fault in larger change sets, each change has one effect or a visible reason`(
        _ version: String
    ) async throws {
        try await run(FaultCase.all(version) + FaultCase.refusedTogether, version, nil, tangled: true)
    }

    /// Uses one device after the other: a device with operations in doubt is not used again.
    private func run(
        _ cases: [FaultCase], _ version: String, _ options: ServiceOptions?, server arguments: [String] = [],
        tangled: Bool = false
    ) async throws {
        let server = try SandboxServer(arguments)
        var device: Device?
        for (mark, fault) in cases.enumerated() {
            let present = if let device { device } else { try await Device(server, version, options) }
            let isClean = try await hold(fault, mark, present, tangled)
            device = isClean && !fault.isConflict ? present : nil
        }
        print("faults: \(version), \(cases.count)")
    }

    /// Makes the changes of a trial with a fault, and checks the result.
    ///
    ///  - Returns: Whether no operation remains.
    private func hold(
        _ fault: FaultCase, _ mark: Int, _ device: Device, _ tangled: Bool
    ) async throws -> Bool {
        if tangled {
            try await device.changeTogether(mark)
        } else {
            try await device.change(mark, createsSupplier: true)
        }
        try device.server.script(fault.script)
        let errors = try await device.drain()
        let left = try device.server.pendingFaults()
        try device.server.script("[]")
        let open = try await device.open()
        let name = "mark \(mark)"
        func explained(_ text: String) -> Comment { "\(fault.script): \(text); open \(open), errors \(errors)" }
        #expect(left == "[]" || fault.mayRemain, explained("did not hit"))
        // The app assigns the key of the visit, so reading always shows whether the visit exists.
        let visits = try await device.service("Visits", "Subject").count { $0 == name }
        // A visit in a change set with an operation in doubt waits for that operation.
        let isWaiting = tangled && visits == 0 && open.contains { $0.contains("Visits") && !$0.contains("inDoubt") }
        #expect(visits == 1 || isWaiting && open.contains { $0.contains("Suppliers inDoubt") }, explained("visits"))
        #expect(try await device.local("Visits", "Subject").count { $0 == name } == 1, explained("local visits"))
        // The service assigns the key of the supplier, so without a response its existence is unknown.
        let suppliers = try await device.service("Suppliers", "Name").count { $0 == name }
        #expect(suppliers == 1 || suppliers == 0 && open.contains { $0.contains("Suppliers") }, explained("suppliers"))
        #expect(try await device.local("Suppliers", "Name").count { $0 == name } == 1, explained("local suppliers"))
        if tangled {
            // A new person with a new card. The service assigns both keys.
            for set in ["Persons", "IDCards"] {
                let property = set == "Persons" ? "Name" : "Number"
                let there = try await device.service(set, property).count { $0 == name }
                #expect(there == 1 || there == 0 && !open.isEmpty, explained(set))
                #expect(try await device.local(set, property).count { $0 == name } == 1, explained("local \(set)"))
            }
            let linked = try device.server.get("/v4/Persons?$filter=Name%20eq%20'mark%20\(mark)'&$expand=IDCard")
            #expect(linked.contains(#""Number":"\#(name)""#) || !open.isEmpty, explained("link"))
        }
        let isUpdated = try await device.service("Orders", "Note").contains(name)
        let isExplained = fault.isConflict && open.contains { $0.contains("Orders") }
        #expect(isUpdated || isExplained, explained("order"))
        #expect(try await device.local("Orders", "Note").contains(name), explained("local order"))
        let unknown = ["Suppliers"] + (isWaiting ? ["Visits"] : []) + (tangled ? ["Persons", "IDCards", "link"] : [])
        #expect(
            open.allSatisfy { open in
                unknown.contains(where: open.contains) || isExplained && open.contains("Orders")
            }, explained("open"))
        return open.isEmpty
    }
}
