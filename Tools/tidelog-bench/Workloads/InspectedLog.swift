internal import EDM
internal import OperationLog
internal import Operations
internal import SeededRandom
internal import SyncCore

/// The log of a store that was used for a long time: downloads, then operations that are sent in batches of 100 and
/// answered, the same in each run.
///
/// Of 100 operations, 96 are updates, 2 create an order, one links an order to another customer, and one is undone by
/// the app. Of 50 batches, one has an operation that the service rejects and the app undoes.
struct InspectedLog {
    static let customers = 5_000
    /// The number of downloaded orders; created ones are additional.
    static let orders = 15_000
    static let batchSize = 100

    let operations: Int

    /// A downloaded order with an average number of changes.
    static let someOrder = EntityID(rawValue: 7_777)
    static let service = ServiceDescription(
        root: "http://127.0.0.1/", metadata: OrderModel.metadata(more: #"<Property Name="Tag" Type="Edm.String"/>"#))

    /// Writes the log to `log` in the directory, recompressed like that of an idle store, with the snapshots that a
    /// store would have kept. Returns the number of records.
    @discardableResult
    func write(store: String) throws -> UInt64 {
        let log = try BenchLog.open(
            store + "/log", OperationLog.Options(durability: .none, layout: BenchLog.layout, segmentSize: 4_194_304))
        var writer = try Writer(log: log)
        try writer.begin()
        var left = operations
        while left > 0 {
            try writer.round(min(left, Self.batchSize))
            left -= min(left, Self.batchSize)
            try writer.writeSnapshotIfDue(store + "/log")
        }
        let next = log.nextSequence
        try log.sync()
        try log.recompressSealedSegments()
        log.close()
        return next - 1
    }

    private struct Writer {
        let log: OperationLog
        var commit = Commit()
        var sequence: SequenceNumber = 0
        var time: Timestamp = 1_770_000_000_000
        var random = SeededRandom(seed: 7)
        var batch: BatchID = 0
        var nextEntity = UInt64(InspectedLog.customers + InspectedLog.orders)

        private var fold: Fold
        private var rounds = 0

        init(log: OperationLog) throws {
            self.log = log
            fold = try Fold(storage: WorkingSet())
        }

        /// Writes a snapshot under the condition of a store after an upload: the log has grown by 4 MiB since the last
        /// snapshot, and by more than the size of that snapshot.
        mutating func writeSnapshotIfDue(_ path: String) throws {
            rounds += 1
            guard rounds % 100 == 0 else { return }
            let reader = try LogReader(directory: path)
            let snapshots = try reader.snapshots()
            let begin = snapshots.last?.sequence ?? 1
            let grown = try reader.segmentList().filter { $0.firstSequence >= begin }.reduce(0) { $0 + $1.bytes }
            guard grown >= max(4_194_304, snapshots.last?.bytes ?? 0) else { return }
            try fold.finishRebase()
            _ = try log.writeSnapshot { writer in
                try fold.writeSnapshot { try writer.add(kind: $0, payload: $1) }
            }
            let superfluous = SnapshotRetention.superfluous(try reader.snapshots().map(\.sequence), first: 1)
            for snapshot in try reader.snapshots() where superfluous.contains(snapshot.sequence) {
                try PosixFileSystem().remove(snapshot.path)
            }
        }

        @discardableResult
        mutating func add(_ body: Record.Body) throws -> SequenceNumber {
            time += Timestamp(random.below(2_000))
            let record = Record(time: time, body: body)
            let (kind, payload) = RecordCodec.encode(record)
            try commit.add(kind: kind, payload: payload)
            sequence += 1
            try fold.apply(record, sequence: sequence)
            return sequence
        }

        mutating func flush() throws {
            try log.append(commit)
            commit.removeAll()
        }

        // MARK: Downloads

        mutating func begin() throws {
            try add(.serviceInstalled(InspectedLog.service))
            for query in ["Customers", "Orders"] {
                try add(.definingQueryAdded(DefiningQuery(name: query, query: query)))
            }
            try add(.downloadStarted(queries: ["Customers", "Orders"]))
            try pages(of: "Customers", 1...InspectedLog.customers) { number, _ in
                ["CustomerID": .integer(Int64(number)), "Name": .string("Customer number \(number)")]
            }
            try pages(of: "Orders", InspectedLog.customers + 1...InspectedLog.customers + InspectedLog.orders) {
                number, random in
                [
                    "OrderID": .integer(Int64(number)),
                    "CustomerID": .integer(Int64(1 + random.below(InspectedLog.customers))),
                    "Status": .string(Order.statuses[random.below(4)]), "Note": .string(""),
                    "Quantity": .integer(Int64(1 + random.below(20))), "IsPriority": .boolean(false),
                ]
            }
            try flush()
        }

        private mutating func pages(
            of set: String, _ ids: ClosedRange<Int>, _ values: (Int, inout SeededRandom) -> PropertyValues
        ) throws {
            for start in stride(from: ids.lowerBound, through: ids.upperBound, by: 500) {
                let images = (start...min(start + 499, ids.upperBound)).map { number in
                    EntityImage(
                        entity: EntityID(rawValue: UInt64(number)), set: set, type: "Shop.\(set.dropLast())",
                        values: values(number, &random), etag: "W/\"1\"")
                }
                try add(.downloadPage(DownloadPage(query: set, entities: images)))
            }
            try add(.downloadFinished(query: set))
        }

        // MARK: Operations

        private mutating func order() -> EntityID {
            EntityID(rawValue: UInt64(InspectedLog.customers + 1 + random.below(InspectedLog.orders)))
        }

        private mutating func update(_ place: Int) -> Operation.Action {
            if place == 95 {
                let customer = EntityID(rawValue: UInt64(1 + random.below(InspectedLog.customers)))
                return .update(order(), changes: [:], bindings: [Binding(navigation: "Customer", targets: [customer])])
            }
            var changes: [(String, Value)]
            switch random.below(4) {
            case 0: changes = [("Status", .string(Order.statuses[random.below(4)]))]
            case 1: changes = [("Quantity", .integer(Int64(random.below(100))))]
            case 2:
                changes = [("Status", .string("packed")), ("IsPriority", .boolean(random.below(2) == 0))]
            default: changes = [("Note", .string("call number \(random.below(100_000))"))]
            }
            return .update(order(), changes: PropertyValues(changes), bindings: [])
        }

        private mutating func create() -> Operation.Action {
            nextEntity += 1
            let creation = Creation(
                entity: EntityID(rawValue: nextEntity), set: "Orders", type: "Shop.Order",
                values: [
                    "CustomerID": .integer(Int64(1 + random.below(InspectedLog.customers))), "Status": .string("open"),
                    "Note": .string("new"),
                ])
            return .create(creation, parent: nil)
        }

        /// Adds the operations, an undo, and a batch with its response.
        mutating func round(_ count: Int) throws {
            var made: [(sequence: SequenceNumber, action: Operation.Action)] = []
            for place in 0..<count {
                let action = place % 50 == 49 ? create() : update(place)
                made.append((try add(.operation(Operation(action))), action))
            }
            if made.count > 2 { try add(.operationsUndone([made.remove(at: 1).sequence])) }
            batch += 1
            let prepared = BatchPrepared(
                batch: batch,
                changeSets: made.enumerated().map { place, operation in
                    [BatchPrepared.Request(contentID: "\(place + 1)", operation: operation.sequence)]
                })
            try add(.batchPrepared(prepared))
            try flush()
            let refused = batch % 50 == 0 ? made.first?.sequence : nil
            try add(.batchAnswered(BatchAnswered(batch: batch, outcomes: made.map { outcome($0, refused) })))
            if let refused { try add(.operationsUndone([refused])) }
            try flush()
        }

        private func outcome(
            _ operation: (sequence: SequenceNumber, action: Operation.Action), _ refused: SequenceNumber?
        ) -> BatchAnswered.Outcome {
            if operation.sequence == refused {
                let refusal = Refusal(
                    status: 409, code: "Conflict", message: "The order is closed.", method: "PATCH", url: "Orders(1)")
                return BatchAnswered.Outcome(operation: operation.sequence, result: .rejected(refusal))
            }
            var images: [EntityImage] = []
            if case .create(let creation, _) = operation.action {
                var values = creation.values
                values["OrderID"] = .integer(Int64(creation.entity.rawValue))
                images = [
                    EntityImage(
                        entity: creation.entity, set: creation.set, type: creation.type, values: values, etag: "W/\"1\""
                    )
                ]
            }
            return BatchAnswered.Outcome(operation: operation.sequence, result: .confirmed(images: images))
        }
    }
}
