import EDM
import LogInspection
import OfflineStore
import OperationLog
import Operations
import SyncCore
import TestSupport
import Testing

@Suite struct RedactionTests {
    private func redacted(_ log: SampleLog, keeping kept: Set<String> = []) throws -> InspectedStore {
        let directory = log.directory.path + "/redacted"
        _ = try StoreRedaction(InspectedStore(directory: log.directory.path), keeping: kept).write(to: directory)
        return InspectedStore(directory: directory)
    }

    /// Returns the complete content of a store's log: payloads, snapshots, and the same as text.
    private func content(_ store: InspectedStore) throws -> [UInt8] {
        var bytes: [UInt8] = []
        let reader = try LogReader(directory: store.files.log)
        try reader.forEach { record in
            bytes += record.payload + [0]
            // The JSON does not contain the values of a page.
            if case .downloadPage(let page)? = try? RecordCodec.decode(kind: record.kind, payload: record.payload).body
            {
                for image in page.entities { for value in image.values.values { bytes += Array("\(value);".utf8) } }
            }
        }
        for snapshot in try reader.snapshots() {
            let items = try reader.snapshot(snapshot)
            while let item = try items.next() { bytes += item.bytes + [0] }
        }
        let items = store.history.items()
        while let item = try items.next() { bytes += Array(item.json().utf8) }
        return bytes + (TemporaryDirectory.read(store.files.description) ?? [])
    }

    @Test func `SE-08: a copy for support is encrypted with its own key`() throws {
        let log = try SampleLog()
        var planting = SecretRecords(seed: 1)
        try log.append(planting.service())
        try StoreDescription(serviceRoot: planting.root).write(InspectedStore(directory: log.directory.path).files)
        let directory = log.directory.path + "/for-support"
        let key = try #require(LogKey((0..<32).map { UInt8($0) }))
        let summary = try StoreRedaction(InspectedStore(directory: log.directory.path)).write(to: directory, key: key)
        #expect(summary.records > 0)
        let copy = InspectedStore(directory: directory, keys: [key])
        #expect(
            try copy.sequence(at: .sequence(.max))
                == InspectedStore(directory: log.directory.path).sequence(at: .sequence(.max)))
        let closed = InspectedStore(directory: directory)
        #expect(throws: (any Error).self) { try closed.sequence(at: .sequence(.max)) }
        for file in TemporaryDirectory.files(directory + "/log") {
            let bytes = TemporaryDirectory.read(file) ?? TemporaryDirectory.read(directory + "/log/" + file) ?? []
            #expect(!String(decoding: bytes, as: UTF8.self).contains("EntityType"), "\(file)")
        }
    }

    private func records(_ store: InspectedStore) throws -> [Record] {
        var records: [Record] = []
        try LogReader(directory: store.files.log).forEach {
            records.append(try RecordCodec.decode(kind: $0.kind, payload: $0.payload))
        }
        return records
    }

    // MARK: Secrets

    @Test func `none of 10,000 secrets in all parts of a log is found after the redaction`() throws {
        let seed: UInt64 = 0x5EC4E7
        print("Secrets of seed \(seed)")
        var planting = SecretRecords(seed: seed)
        let log = try SampleLog()
        try log.append(planting.service())
        while planting.secrets.count < 10_000 { for body in planting.bodies() { try log.append(body) } }
        let store = InspectedStore(directory: log.directory.path)
        try StoreDescription(serviceRoot: planting.root).write(store.files)
        let redacted = try redacted(log)
        let before = SecretSearch(try content(store))
        let after = SecretSearch(try content(redacted))
        var missing: [String] = []
        var found: [String] = []
        for secret in planting.secrets {
            // The secret must occur in the original; otherwise its absence would prove nothing.
            if !before.holdAny(of: secret) { missing.append(secret) }
            if after.holdAny(of: secret) { found.append(secret) }
        }
        #expect(missing.isEmpty, "\(missing.count): \(missing.prefix(5))")
        #expect(found.isEmpty, "\(found.count): \(found.prefix(20))")
        #expect(planting.secrets.count >= 10_000)
        #expect(try redacted.history.verify().isSound)
    }

    @Test func `a snapshot is redacted as well`() throws {
        let log = try SampleLog()
        var planting = SecretRecords(seed: 7)
        let state = WorkingSet()
        guard case .serviceInstalled(let service) = planting.service() else { return }
        try state.setHeader(StateHeader(applied: 1, service: service))
        try state.install(CSDLReader.read(service.metadata))
        let (name, key) = (planting.text(), planting.number())
        try state.register(id(1), set: "Things")
        try state.putRow(
            EntityRow(
                id: id(1), set: "Things", type: "Shop.Thing", values: ["ID": .integer(key), "Name": .string(name)],
                etag: planting.text(), editLink: "Things(\(key))", origin: .service))
        try state.assignKey(set: "Things", key: "ID=\(key)", to: id(1))
        let former = planting.number()
        try state.assignKey(set: "Things", key: "ID=\(former)", to: id(1))
        try state.putPending(
            PendingOperation(
                sequence: 1, time: 1,
                operation: Operation(.update(id(1), changes: ["Name": .string(planting.text())], bindings: [])),
                status: .inDoubt(4, reason: planting.text())))
        try log.append(create(1, "Things"))
        _ = try log.log.writeSnapshot { writer in
            try Fold(storage: state).writeSnapshot { try writer.add(kind: $0, payload: $1) }
        }
        try log.log.compact(keepingFrom: .max)
        let redacted = try redacted(log)
        let (before, after) = (
            SecretSearch(try content(InspectedStore(directory: log.directory.path))),
            SecretSearch(try content(redacted))
        )
        for secret in planting.secrets {
            #expect(before.holdAny(of: secret), "\(secret)")
            #expect(!after.holdAny(of: secret), "\(secret)")
        }
        let items = try redacted.history.outcomes()
        #expect(items[1]?.name == "inDoubt")
    }

    // MARK: Metadata

    /// Returns the redacted form of the metadata.
    private func scrubbed(_ metadata: String) throws -> String {
        let log = try SampleLog()
        try log.append(.serviceInstalled(ServiceDescription(root: "http://shop/", metadata: Array(metadata.utf8))))
        guard case .serviceInstalled(let service)? = try records(redacted(log)).first?.body else { return "" }
        return String(decoding: service.metadata, as: UTF8.self)
    }

    private static let namespace = "http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"

    private static func photos(_ declaration: String, _ attribute: String) -> String {
        """
        <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx"><edmx:DataServices>\
        <Schema Namespace="S" xmlns="http://schemas.microsoft.com/ado/2008/09/edm"><EntityType Name="Photo" \
        \(declaration) \(attribute)><Key><PropertyRef Name="ID"/></Key>\
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType><EntityContainer Name="C">\
        <EntitySet Name="Photos" EntityType="S.Photo"/></EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
        """
    }

    @Test(arguments: ["m", "meta", "p1"])
    func `attributes of the protocol are kept in metadata under any prefix`(prefix: String) throws {
        let metadata = Self.photos("xmlns:\(prefix)=\"\(Self.namespace)\"", "\(prefix):HasStream=\"true\"")
        let model = try CSDLReader.read(Array(try scrubbed(metadata).utf8))
        #expect(model.findEntityType("S.Photo")?.hasStream == true)
    }

    @Test func `attributes of other namespaces are removed under the protocol's usual prefix`() throws {
        let text = try scrubbed(Self.photos("xmlns:m=\"urn:corp\"", "m:Name=\"hidden\""))
        #expect(!text.contains("hidden") && !text.contains("corp"))
        #expect(try CSDLReader.read(Array(text.utf8)).findEntityType("S.Photo") != nil)
    }

    @Test func `an element of an unknown namespace is removed with its content`() throws {
        let metadata = Self.photos("", "").replacing(
            "<EntityContainer",
            with: "<x:Hidden xmlns:x=\"urn:http://www.w3.org/corp\"><Inner/></x:Hidden><EntityContainer")
        let text = try scrubbed(metadata)
        #expect(!text.contains("Hidden") && !text.contains("corp") && !text.contains("Inner"))
        #expect(try CSDLReader.read(Array(text.utf8)).findEntityType("S.Photo") != nil)
    }

    // MARK: Preserved properties

    private func values(_ records: [Record], _ property: String) -> [Value] {
        records.compactMap { record in
            guard case .operation(let operation) = record.body, case .create(let creation, _) = operation.action else {
                return nil
            }
            return creation.values[property]
        }
    }

    @Test(arguments: [
        "ID", "Name", "Code", "Small", "Price", "Ratio", "Token", "Born", "At", "Since", "Length", "Bytes",
    ])
    func `equality and order of values are preserved, and constraints of the model still hold`(property: String) throws
    {
        let seed: UInt64 = 41
        print("Values of seed \(seed)")
        var planting = SecretRecords(seed: seed)
        let log = try SampleLog()
        try log.append(planting.service())
        for number in 1...300 { try log.append(create(UInt64(number), "Things", planting.fewValues())) }
        let before = values(try records(InspectedStore(directory: log.directory.path)), property)
        let redacted = try redacted(log)
        let after = values(try records(redacted), property)
        #expect(before.count == 300 && after.count == 300)
        for first in 0..<300 {
            for second in stride(from: first, to: 300, by: 7) {
                #expect(
                    before[first].sortOrder(to: before[second]) == after[first].sortOrder(to: after[second]),
                    "\(before[first]) and \(before[second]) became \(after[first]) and \(after[second])")
            }
        }
        let model = try CSDLReader.read(SecretRecords.metadata)
        let declared = try #require(model.findEntityType("Shop.Thing")?.findProperty(property))
        for value in after { #expect(value.mismatch(with: declared.type, facets: declared.facets, in: model) == nil) }
        if property != "Small", property != "Code" { #expect(before != after) }
    }

    @Test func `the values of a kept property are preserved, and an invalid path is refused`() throws {
        var planting = SecretRecords(seed: 3)
        let log = try SampleLog()
        try log.append(planting.service(), create(1, "Things", ["Name": .string("open"), "Code": .string("AB")]))
        let kept = try redacted(log, keeping: ["Things/Name"])
        #expect(values(try records(kept), "Name") == [.string("open")])
        #expect(values(try records(kept), "Code") != [.string("AB")])
        let error = #expect(throws: TidelogError.self) {
            try StoreRedaction(InspectedStore(directory: log.directory.path), keeping: ["Things/None"])
                .write(to: log.directory.path + "/other")
        }
        #expect(error?.message == "Things/None is not a property of an entity set.")
        #expect(TemporaryDirectory.files(log.directory.path).allSatisfy { !$0.contains("/other") })
    }

    @Test(arguments: ["Orders/CustomerID", "Customers/ID"])
    func `values that a referential constraint equates with a kept property are preserved`(path: String) throws {
        let shop = try ShopLog()
        try shop.append(
            create(3, "Customers", ["ID": .integer(70), "Name": .string("Eve")]),
            create(4, "Orders", ["ID": .integer(900), "CustomerID": .integer(70)]))
        let records = try records(redacted(shop.log, keeping: [path]))
        #expect(values(records, "CustomerID") == [.integer(70)])
        #expect(values(records, "ID").first == .integer(70) && values(records, "ID").last != .integer(900))
        #expect(values(records, "Name") != [.string("Eve")])
    }

    @Test(arguments: ["Name/Things", "Things/Things", "Shop/Name", "Things", "Things/Name/Street", "Things/Place/Name"])
    func `a path of names that leads to no property is refused`(path: String) throws {
        var planting = SecretRecords(seed: 3)
        let log = try SampleLog()
        try log.append(planting.service(), create(1, "Things", ["Name": .string("open")]))
        let error = #expect(throws: TidelogError.self) {
            try StoreRedaction(InspectedStore(directory: log.directory.path), keeping: [path, "Things/Place/Street"])
                .write(to: log.directory.path + "/other")
        }
        #expect(error?.message == "\(path) is not a property of an entity set.")
    }

    @Test(arguments: [
        ("Things?$filter=Name eq 'O''Neil' and ID gt 17", "Things?$filter=Name%20eq%20'2'%20and%20ID%20gt%202"),
        ("Things(17)/Name", "Things(2)/Name"), ("Things('O%27%27Neil')", "Things('2')"),
        ("Things?$skiptoken=secret", "Things?$skiptoken=token-1"), ("Things(~3)/Name", "Things(~3)/Name"),
        ("$1/Things", "$1/Things"), ("$1234567/Things", "$3/Things"), ("Things?x=$41&y=@42", "Things?x1=$3&x2=@4"),
        ("Things(~41)", "Things(3)"), ("Things(ID=~3)", "Things(ID=1)"), ("~3", "1"),
        ("Hidden(17)", "x1(2)"),
        ("Things(guid'00000000-0000-0000-0000-00000000abcd')", "Things(guid'00000000-0000-0000-0000-000000000001')"),
        (
            "Things?$filter=Name ne 'http://a.com/x' and ID gt 17",
            "Things?$filter=Name%20ne%20'3'%20and%20ID%20gt%202"
        ),
        ("https://elsewhere.example/a/Things(17)?x=9", "https://redacted.example/x1/Things(3)?x2=2"),
    ])
    func `the names of the model are preserved in URLs`(address: String, redactedAddress: String) throws {
        var planting = SecretRecords(seed: 3)
        let log = try SampleLog()
        try log.append(
            planting.service(), create(1, "Things", ["Name": .string("O'Neil"), "ID": .integer(17)]),
            create(2, "Things", ["Name": .string("Ada"), "ID": .integer(5)]),
            create(3, "Things", ["Name": .string("A")]),
            .definingQueryAdded(DefiningQuery(name: "q", query: address)))
        guard case .definingQueryAdded(let query) = try records(redacted(log)).last?.body else {
            Issue.record("no query")
            return
        }
        #expect(query.query == redactedAddress)
        #expect(query.name == "query-1")
    }
}
