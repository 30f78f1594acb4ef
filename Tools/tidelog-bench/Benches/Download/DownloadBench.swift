internal import CBench
internal import EDM
internal import Foundation
internal import ODataWire
internal import OfflineStore
internal import OperationLog
internal import Operations
internal import SyncCore
internal import SyncEngine
internal import Views

extension Bench {
    static let download = Bench(
        name: "download",
        summary: "500,000 orders from JSON pages into log and views, with the cost of each step; rebuild; memory."
    ) { surroundings in
        let rows = surroundings.operations ?? 500_000
        let workload = try DownloadWorkload(rows: rows, in: surroundings.directory)
        surroundings.say("download: recording the work of a store")
        try await workload.record(in: surroundings.directory)
        var report = Report()
        for round in 1...surroundings.rounds {
            surroundings.say("download: round \(round) of \(surroundings.rounds), \(rows) rows")
            try await workload.measure(in: surroundings.directory)
        }
        report.cases = workload.cases
        surroundings.say("download: over loopback, and by a delta link")
        report.cases += try await workload.loopback(in: surroundings.directory)
        report.cases += try await DeltaDownload.cases(rows: rows, in: surroundings.directory)
        surroundings.say("download: memory, \(2 * rows) rows")
        report.cases += try DownloadMemory.cases(rows: 2 * rows, in: surroundings.directory)
        report.notes.append(
            "\(rows) orders of \(OrderPages.columns) columns for \(OrderPages.customers) customers, "
                + "\(DownloadWorkload.perPage) a page, \(workload.bytes) bytes of JSON.")
        return report
    }
}

/// The pages, and the measurements so far.
final class DownloadWorkload {
    static let perPage = 5_000

    private let rows: Int
    private let folder: String
    private(set) var bytes = 0
    private var rates: [String: [Double]] = [:]
    private var recorded: RecordedDownload?

    init(rows: Int, in directory: Directory) throws {
        self.rows = rows
        folder = try directory.fresh("pages")
        try Self.write(rows: rows, perPage: Self.perPage, to: folder)
        for index in 0..<pageCount { bytes += try page(index).count }
    }

    private var pageCount: Int { (rows + Self.perPage - 1) / Self.perPage }

    /// Writes the pages as files, which are the responses to requests.
    ///
    /// - Parameter changes: The number of changed orders that the delta link of the last page returns; 0 for no
    ///   delta link.
    static func write(rows: Int, perPage: Int, to folder: String, changes: Int = 0) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        func store(_ name: String, _ bytes: [UInt8]) throws {
            try Data(bytes).write(to: URL(filePath: folder + "/" + name))
        }
        try store("$metadata", OrderPages.metadata)
        try store("Customers", OrderPages.customerPage())
        let name = { $0 == 0 ? "Orders" : "Orders-\($0)" }
        let link = changes > 0 ? "Delta" : nil
        try OrderPages.forEach(rows: rows, perPage: perPage, deltaLink: link, name: name) { try store(name($0), $2) }
        if let link {
            try OrderPages.forEach(
                rows: rows, perPage: rows, changed: max(1, rows / changes), deltaLink: link, isDelta: true,
                name: { _ in "" }
            ) { _, _, bytes in try store(link, bytes) }
        }
        // One in a hundred orders, changed.
        try OrderPages.forEach(rows: rows, perPage: rows, changed: 100, name: { _ in "" }) { _, _, bytes in
            try store("Changed", bytes)
        }
    }

    private func page(_ index: Int) throws -> [UInt8] {
        let name = index == 0 ? "Orders" : "Orders-\(index)"
        guard let bytes = FileManager.default.contents(atPath: folder + "/" + name) else {
            throw Failure("There is no page \(name).")
        }
        return Array(bytes)
    }

    private func time(_ name: String, units: Int, _ body: () async throws -> Void) async throws {
        let seconds = try await Stopwatch.seconds(body)
        rates[name, default: []].append(Double(units) / seconds)
    }

    /// Downloads the pages to a further store, to write its records and rows without the engine.
    func record(in directory: Directory) async throws {
        recorded = try await RecordedDownload(rows: rows, pages: folder, in: directory)
    }

    // MARK: One round

    func measure(in directory: Directory) async throws {
        try await measureBaselines(in: directory)
        try await measureParts(in: directory)
        try await measureEngine(in: directory)
        try recorded?.measure().forEach { rates[$0, default: []].append($1) }
    }

    private func measureBaselines(in directory: Directory) async throws {
        let pages = try (0..<pageCount).map(page)
        let alone = try SQLiteRows(path: try directory.fresh("alone.sqlite"))
        try await time("C parser", units: rows) { for page in pages { try alone.parse(page) } }
        var seconds = 0.0
        try OrderPages.forEach(rows: rows, perPage: Self.perPage, name: { _ in "" }) { _, rows, _ in
            let bound = rows.map(SQLiteRows.Bound.init)
            let start = ContinuousClock.now
            try alone.write(bound)
            seconds += Stopwatch.seconds(since: start)
        }
        rates["SQLite", default: []].append(Double(rows) / seconds)
        let decoded = try SQLiteRows(path: try directory.fresh("decoded.sqlite"))
        // It is slow, and its rate does not depend on the number of pages.
        let some = pages.prefix(max(1, pages.count / 10))
        try await time("Foundation", units: some.count * Self.perPage) {
            for page in some {
                try decoded.write(try FoundationRows.decode(page).value.map { SQLiteRows.Bound($0.order) })
            }
        }
    }

    private func measureParts(in directory: Directory) async throws {
        let pages = try (0..<pageCount).map(page)
        let model = try CSDLReader.read(OrderPages.metadata)
        guard let set = model.findEntitySet("Orders") else { throw Failure("The model has no entity set of orders.") }
        let reader = PayloadReader(version: model.version, model: model)
        try await time("parse", units: rows) {
            for page in pages { _ = try reader.feed(page, type: set.entityType) }
        }
        let state = WorkingSet(over: try SQLiteState(path: try directory.fresh("parts.sqlite"), store: "bench"))
        var fold = try Fold(storage: state)
        try state.transaction {
            try fold.apply(
                Record(
                    time: 0,
                    body: .serviceInstalled(ServiceDescription(root: OrderPages.root, metadata: OrderPages.metadata))),
                sequence: 1)
        }
        try await time("parse and encode", units: rows) {
            for page in pages {
                var builder = try ImageBuilder(storage: state, model: model)
                var images: [EntityImage] = []
                for entity in try reader.feed(page, type: set.entityType).entities {
                    images += try builder.images(of: entity, in: set) ?? []
                }
                let page = DownloadPage(query: "Orders", entities: images)
                _ = RecordCodec.encode(Record(time: 0, body: .downloadPage(page)))
            }
        }
    }

    private func measureEngine(in directory: Directory) async throws {
        let files = StoreFiles(directory: try directory.fresh("store"))
        var store = try await Self.store(files)
        var engine = Self.engine(store, pages: folder)
        try await Self.addQueries(engine)
        _ = try await engine.download(["Customers"])
        try await time("download", units: rows) {
            let report = try await engine.download(["Orders"])
            guard report.entities == rows else {
                throw Failure("The download returned \(report.entities) of \(rows) orders.")
            }
        }
        await store.close()
        // Before the log contains the orders a second time.
        for file in [files.views, files.views + "-wal", files.views + "-shm"] {
            try? FileManager.default.removeItem(atPath: file)
        }
        try await time("rebuild", units: rows) { store = try await Self.store(files) }
        guard store.opened.foldedRecords > pageCount else { throw Failure("The rebuild did not fold all records.") }
        engine = Self.engine(store, pages: folder)
        try await time("second download", units: rows) { _ = try await engine.download(["Orders"]) }
        try await time("changed", units: rows / 100) { _ = try await engine.download(["Changed"]) }
        await store.close()
        let opening = try await Stopwatch.seconds { store = try await Self.store(files) }
        rates["open", default: []].append(opening * 1e3)
        await store.close()
    }

    /// Measures the download with the real transport, from a server in a separate process.
    func loopback(in directory: Directory) async throws -> [Case] {
        let rate = try await PageServer.rate(rows: rows, pages: folder, in: directory)
        return [
            Case(
                "download over HTTP on loopback", rate, .rowsPerSecond,
                against: .init(name: "from files", value: median(rates["download"] ?? [])))
        ]
    }

    static func store(_ files: StoreFiles) async throws -> LocalStore {
        var options = LocalStoreOptions()
        options.snapshots = .manual
        return try await LocalStore(files, options: options)
    }

    static func engine(_ store: LocalStore, pages folder: String) -> SyncEngine {
        SyncEngine(
            store: store, session: ServiceSession(root: OrderPages.root, transport: PageTransport(directory: folder)))
    }

    static func addQueries(_ engine: SyncEngine) async throws {
        try await engine.prepare()
        for (name, query) in [
            ("Customers", "Customers"), ("Orders", "Orders"), ("Changed", "Orders?$filter=Status eq 'changed'"),
        ] { try await engine.store.definingQueries.add(DefiningQuery(name: name, query: query)) }
    }

    // MARK: Report

    var cases: [Case] {
        func rate(_ name: String) -> Double { median(rates[name] ?? []) }
        let sqlite = Case.Baseline(name: "SQLite alone", value: rate("SQLite"))
        let foundation = Case.Baseline(name: "JSONDecoder and SQLite", value: rate("Foundation"))
        func limit(_ name: String, _ title: String) -> [Case] {
            let limit = Case.Baseline(
                name: name == "second download" ? RecordedDownload.readingName : StoredWork.name,
                value: rate(name + " alone"))
            return [
                Case(title, rate(name), .rowsPerSecond, against: limit),
                .limit(of: title, limit, .rowsPerSecond, against: sqlite),
            ]
        }
        let megabytes = Double(bytes) / Double(rows) / 1e6
        return [
            Case(
                "parse", rate("parse") * megabytes, .megabytesPerSecond,
                against: .init(name: "SQLite's json_valid, in C", value: rate("C parser") * megabytes)),
            Case("parse, name and encode", rate("parse and encode"), .rowsPerSecond, against: sqlite),
            Case(
                "download: pages into log and views", rate("download"), .rowsPerSecond, against: sqlite,
                target: .ratioAtLeast(0.6)),
            Case(
                "download: pages into log and views", rate("download"), .rowsPerSecond, against: foundation,
                target: .ratioAtLeast(5)),
            Case("the same download again, unchanged", rate("second download"), .rowsPerSecond, against: sqlite),
            Case("one in a hundred, changed", rate("changed"), .rowsPerSecond, against: sqlite),
            Case(
                "rebuild of the views from the log", rate("rebuild"), .rowsPerSecond, against: sqlite,
                target: .ratioAtLeast(0.6)),
            Case("open", rate("open"), .milliseconds, target: .atMost(50)),
        ] + limit("download", "download: pages into log and views")
            + limit("second download", "the same download again, unchanged")
            + limit("changed", "one in a hundred, changed") + limit("rebuild", "rebuild of the views from the log")
    }
}
