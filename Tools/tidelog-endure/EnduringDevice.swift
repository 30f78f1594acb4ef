#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif
internal import Tidelog

/// An app that works on visits, customers and orders. Each entity has a unique name; the number of entities is bounded.
struct EnduringDevice {
    private let name: String
    private let store: String
    private let provider: OfflineODataProvider
    private let service: DataService
    /// Makes names unique across processes.
    private let start: Int64

    /// The number of own visits above which the oldest ones are deleted.
    private static let visits = 100
    private static let customers = 50
    /// The bytes of history that a compaction keeps.
    private static let history: UInt64 = 1 << 20

    init(root: String, store: String, name: String) async throws {
        self.name = name
        self.store = store
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        start = Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
        provider = OfflineODataProvider(serviceRoot: root, parameters: OfflineODataParameters(storePath: store))
        for set in ["Visits", "Customers", "Orders"] {
            try await provider.add(definingQuery: OfflineODataDefiningQuery(name: set, query: "/\(set)"))
        }
        try await provider.open()
        service = DataService(provider: provider)
    }

    private func say(_ line: String) {
        print(line)
        fflush(nil)
    }

    // MARK: Work

    func work() async throws {
        say("open")
        var count = 0
        while true {
            count += 1
            // With a fixed number of digits, so that the order of names is that of time.
            let tag = "\(name)-\(start)-\(1_000_000 + count)"
            switch Int.random(in: 0..<100) {
            case 0..<40: try await createVisit(tag)
            case 40..<60: try await updateVisit(count)
            case 60..<70: try await createOrder(tag)
            case 70..<75: try await deleteOldest()
            case 75..<90: await upload()
            case 90..<96: await download()
            case 96: try await provider.compact(keeping: .bytes(Self.history))
            default: printResources()
            }
            try? await Task.sleep(for: .milliseconds(Int.random(in: 0...20)))
        }
    }

    private func entity(_ set: String) throws -> EntityValue {
        let set = try service.entitySet(withName: set)
        let entity = EntityValue(set.entityType)
        entity.entitySet = set
        return entity
    }

    private func createVisit(_ tag: String) async throws {
        let visit = try entity("Visits")
        visit["VisitID"] = .guid(GuidValue(high: .random(in: 0 ... .max), low: .random(in: 0 ... .max)))
        visit["Subject"] = .string("\(tag)+0")
        try await service.createEntity(visit)
        say("created Visits \(tag)")
    }

    /// Counts up the number at the end of a visit's subject.
    private func updateVisit(_ number: Int) async throws {
        guard let visit = try await own("Visits", "Subject").randomElement(),
            let subject = visit["Subject"]?.stringValue
        else { return }
        let parts = subject.split(separator: "+")
        guard parts.count == 2, let version = Int(parts[1]) else { return }
        visit["Subject"] = .string("\(parts[0])+\(version + 1)")
        try await service.updateEntity(visit)
        say("updated \(parts[0]) \(version + 1)")
    }

    /// Creates a customer, whose key the service assigns, and an order of it in one change set.
    private func createOrder(_ tag: String) async throws {
        let customer = try entity("Customers")
        customer["Name"] = .string(tag)
        let order = try entity("Orders")
        order["Note"] = .string(tag)
        if let property = try service.entitySet(withName: "Orders").entityType.findProperty("Customer") {
            order.bindEntity(customer, to: property)
        }
        let changes = ChangeSet()
        changes.createEntity(customer)
        changes.createEntity(order)
        try await service.applyChanges(changes)
        say("created Customers \(tag)")
        say("created Orders \(tag)")
    }

    private func deleteOldest() async throws {
        try await delete("Visits", "Subject", beyond: Self.visits)
        try await delete("Orders", "Note", beyond: Self.customers)
        // After the orders of these customers.
        try await delete("Customers", "Name", beyond: Self.customers + 20)
    }

    private func delete(_ set: String, _ property: String, beyond count: Int) async throws {
        for entity in try await own(set, property).dropLast(count).prefix(10) {
            let tag = (entity[property]?.stringValue ?? "").prefix { $0 != "+" }
            say("deleting \(set) \(tag)")
            try await service.deleteEntity(entity)
            say("deleted \(set) \(tag)")
        }
    }

    /// Returns the entities of this device, the oldest first.
    private func own(_ set: String, _ property: String) async throws -> [EntityValue] {
        let query = DataQuery().withURL("\(set)?$filter=startswith(\(property),'\(name)-')&$orderby=\(property)")
        return try await service.executeQuery(query).entityList()
    }

    private func upload() async {
        do throws(TidelogError) {
            let report = try await provider.upload()
            say("uploaded \(report.confirmed.count)")
            for rejection in report.rejected { say("rejected \(rejection.operation): \(rejection.refusal)") }
        } catch {
            say("upload failed: \(error.code) \(error.message)")
        }
    }

    private func download() async {
        do throws(TidelogError) {
            try await provider.download()
            say("downloaded")
        } catch {
            say("download failed: \(error.code) \(error.message)")
        }
    }

    // MARK: Resources

    private func printResources() {
        say("resources \(Resources.residentKiB) \(Resources.descriptors) \(Resources.size(of: store))")
    }

    // MARK: The end

    /// Sends all operations, and prints the remaining ones and the content of the store.
    func drain() async throws {
        // A create whose request was lost is sent again when the service can no longer receive it.
        for _ in 0..<120 {
            await upload()
            await download()
            if try await doubts().isEmpty, try await !provider.hasPendingUpload { break }
            try await Task.sleep(for: .seconds(5))
        }
        for doubt in try await doubts() { say("doubt \(doubt.requestID) \(doubt.affectedEntity)") }
        for entry in try await provider.errorArchive() where entry.state == .rejected {
            say("refused \(entry.requestID) \(entry.affectedEntity) \(entry.message)")
        }
        say("pending \(try await provider.hasPendingUpload)")
        await download()
        for (set, property) in [("Visits", "Subject"), ("Customers", "Name"), ("Orders", "Note")] {
            for entity in try await own(set, property) { say("has \(set) \(entity[property]?.stringValue ?? "")") }
        }
        printResources()
        await provider.close()
    }

    private func doubts() async throws -> [ErrorArchiveEntry] {
        try await provider.errorArchive().filter { $0.state == .inDoubt }
    }
}
