import EDM
import OperationLog
import Operations
import TestSupport
import Testing

@testable import LogInspection

/// Searches in columns return the same records as searches in rows.
struct SearchTests {
    private struct Numbers: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ (state >> 29)
        }
    }

    private static let entities: UInt64 = 400
    private static let layout = RecordLayout { kind, payload, fields in
        for field in RecordFields.of(kind: kind, payload: payload) {
            switch field.form {
            case .number: fields.append(RecordField(.number, field.range))
            case .text: fields.append(RecordField(.text, field.range))
            case .fixed: fields.append(RecordField(.fixed, field.range))
            }
        }
    }

    @Test(arguments: [UInt64(1), 2, 3])
    func `a search in columns finds the same records as a search in rows`(seed: UInt64) throws {
        var random = Numbers(state: seed)
        let directory = TemporaryDirectory()
        var options = OperationLog.Options(
            durability: .none, compression: .stored, sealing: .asWritten, layout: Self.layout, segmentSize: 280_000)
        let log = try OperationLog.open(directory: directory.path + "/log", options: options).log
        while log.nextSequence < 16_000 {
            var commit = Commit()
            for _ in 0..<50 {
                let (kind, payload) = RecordCodec.encode(
                    Record(time: SampleLog.time, body: Self.body(log.nextSequence, &random)))
                try commit.add(kind: kind, payload: payload)
            }
            try log.append(commit)
        }
        let selections = (0..<25).map { _ in Self.selection(log.nextSequence, &random) }
        let reader = try LogReader(directory: directory.path + "/log")
        let inRecords = try LogBlocks(reader)
        #expect(try inRecords.columnar() == 0)
        let expected = try selections.map { try $0.records(of: inRecords) }
        #expect(expected.contains { !$0.isEmpty })
        log.close()
        options.sealing = .repacked(level: 1)
        try OperationLog.open(directory: directory.path + "/log", options: options).log.recompressSealedSegments()
        let inColumns = try LogBlocks(reader)
        #expect(try inColumns.columnar() >= 1)
        for (selection, expected) in zip(selections, expected) {
            #expect(try selection.records(of: inColumns) == expected, "seed \(seed), \(selection)")
        }
    }

    /// An assumption of the search: each mentioned number is a separate field. Compared pages are an exception,
    /// because they contain runs of entities.
    @Test(arguments: [UInt64(4), 5])
    func `each mention in a described record is a separate field`(seed: UInt64) {
        var random = Numbers(state: seed)
        for _ in 0..<2_000 {
            let body = Self.body(UInt64.random(in: 1...100_000, using: &random), &random)
            let (kind, payload) = RecordCodec.encode(Record(time: SampleLog.time, body: body))
            payload.withUnsafeBytes { bytes in
                let fields = RecordFields.of(kind: kind, payload: bytes)
                guard !fields.isEmpty, kind != RecordCodec.RecordKind.comparedPage.rawValue else { return }
                var named: Set<[UInt8]> = []
                func name(_ number: UInt64) {
                    var writer = ByteWriter()
                    writer.unsigned(number)
                    named.insert(writer.bytes)
                }
                #expect(RecordMentions.visit(kind: kind, payload: bytes, entity: name, operation: name))
                let numbers = fields.filter { $0.form == .number }.map { Array(bytes[$0.range]) }
                #expect(named.isSubset(of: numbers), "seed \(seed), \(body)")
                #expect(fields[0].form == .number && fields[0].range.lowerBound == 0)
            }
        }
    }

    // MARK: Random

    private static func entity(_ random: inout Numbers) -> EntityID { id(.random(in: 1...entities, using: &random)) }

    private static func sequence(_ next: SequenceNumber, _ random: inout Numbers) -> SequenceNumber {
        .random(in: 1...max(1, next - 1), using: &random)
    }

    private static func values(_ random: inout Numbers) -> PropertyValues {
        var values: PropertyValues = [:]
        if Bool.random(using: &random) { values["ID"] = .integer(.random(in: -5...300, using: &random)) }
        if Bool.random(using: &random) {
            values["Name"] = .string(["Ada", "Eve", "Å", ""].randomElement(using: &random)!)
        }
        if Bool.random(using: &random) { values["Flag"] = .boolean(.random(using: &random)) }
        if Bool.random(using: &random) { values["Sum"] = .double(.random(in: 0...9, using: &random).rounded()) }
        if Int.random(in: 0...9, using: &random) == 0 {
            values["Tags"] = .collection([.integer(.random(in: 0...300, using: &random)), .string("Ada"), .null])
        }
        return values
    }

    private static func image(_ random: inout Numbers) -> EntityImage {
        EntityImage(
            entity: entity(&random), set: "Customers", type: "Shop.Customers", values: values(&random),
            etag: Bool.random(using: &random) ? "e" : nil,
            links: Bool.random(using: &random)
                ? [.init(navigation: "Orders", targets: [entity(&random), entity(&random)], isComplete: true)] : [])
    }

    private static func operation(_ next: SequenceNumber, _ random: inout Numbers) -> Operation {
        let action: Operation.Action
        switch Int.random(in: 0...9, using: &random) {
        case 0:
            action = .create(
                Creation(entity: entity(&random), set: "Orders", type: "Shop.Orders", values: values(&random)),
                parent: nil)
        case 1: action = .delete(entity(&random))
        case 2: action = .createLink(Link(from: entity(&random), navigation: "Orders", to: entity(&random)))
        case 3:
            action = .update(
                entity(&random), changes: [:], bindings: [Binding(navigation: "Orders", targets: [entity(&random)])])
        default: action = .update(entity(&random), changes: values(&random), bindings: [])
        }
        return Operation(
            action, baseETag: Bool.random(using: &random) ? "W/1" : nil,
            delivery: Int.random(in: 0...9, using: &random) == 0 ? .draft : .queued)
    }

    private static func body(_ next: SequenceNumber, _ random: inout Numbers) -> Record.Body {
        switch Int.random(in: 0...29, using: &random) {
        case 0: return .downloadPage(DownloadPage(query: "Q", entities: (0..<8).map { _ in image(&random) }))
        case 1:
            let first = UInt64.random(in: 1...entities, using: &random)
            return .downloadPage(
                DownloadPage(
                    query: "Q", entities: [image(&random)], unchanged: (first..<first + 9).map(id),
                    removed: [entity(&random)], left: [entity(&random)],
                    links: [.init(source: entity(&random), navigation: "N", target: entity(&random), isAdded: true)]))
        case 2: return .entitiesRead([image(&random)])
        case 3: return .entitiesMissing([entity(&random), entity(&random)])
        case 4: return prepared(3, sequence(next, &random), sequence(next, &random))
        case 5:
            return answered(
                3, (sequence(next, &random), .confirmed(images: [image(&random)])),
                (sequence(next, &random), .confirmed(images: [])), (sequence(next, &random), .rejected(refusal("no"))),
                (sequence(next, &random), .inDoubt("why")))
        case 6: return .operationsUndone([sequence(next, &random)])
        case 7: return .definingQueryAdded(DefiningQuery(name: "Q", query: "Customers"))
        case 8:
            return .operationsAmended([
                AmendedOperation(operation: sequence(next, &random), content: operation(next, &random))
            ])
        default: return .operation(operation(next, &random))
        }
    }

    private static func selection(_ next: SequenceNumber, _ random: inout Numbers) -> RecordSelection {
        var selection = RecordSelection()
        let count = [1, 1, 2, 20].randomElement(using: &random)!
        switch Int.random(in: 0...3, using: &random) {
        case 0: selection.operations = SearchedIdentifiers((0..<count).map { _ in sequence(next, &random) })
        case 1:
            selection.patterns = [
                BytePattern(property: "ID", value: .integer(.random(in: -5...300, using: &random))),
                BytePattern(property: "Flag", value: .boolean(true)), BytePattern(property: "Sum", value: .double(4)),
                BytePattern(property: "Name", value: .string("Eve")), BytePattern(property: "Name", value: .string("")),
            ].shuffled(using: &random).prefix(count).map(\.self)
        default: selection.entities = SearchedIdentifiers((0..<count).map { _ in entity(&random).rawValue })
        }
        if Int.random(in: 0...3, using: &random) == 0 {
            selection.kinds = RecordKinds([.definingQueryAdded, .queueChanged])
        }
        return selection
    }
}

extension LogBlocks {
    /// Returns the number of blocks in columns.
    fileprivate func columnar() throws -> Int {
        try map(0) { count, block in if case .columns = block { count += 1 } }.reduce(0, +)
    }
}
