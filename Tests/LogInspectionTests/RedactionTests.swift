import EDM
import LogInspection
import ODataWire
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
            while let item = try items.next() { bytes += item.payload + [0] }
        }
        let items = store.history.items()
        while let item = try items.next() { bytes += Array(item.json().utf8) }
        return bytes + (TemporaryDirectory.read(store.files.description) ?? [])
    }

    @Test func `SE-08: a copy for support is encrypted with its own key`() throws {
        let log = try SampleLog()
        var planting = Planting(seed: 1)
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
        var planting = Planting(seed: seed)
        let log = try SampleLog()
        try log.append(planting.service())
        while planting.secrets.count < 10_000 { for body in planting.bodies() { try log.append(body) } }
        let store = InspectedStore(directory: log.directory.path)
        try StoreDescription(serviceRoot: planting.root).write(store.files)
        let redacted = try redacted(log)
        let before = Needles(try content(store))
        let after = Needles(try content(redacted))
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
        var planting = Planting(seed: 7)
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
            Needles(try content(InspectedStore(directory: log.directory.path))), Needles(try content(redacted))
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
        var planting = Planting(seed: seed)
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
        let model = try CSDLReader.read(Planting.metadata)
        let declared = try #require(model.findEntityType("Shop.Thing")?.findProperty(property))
        for value in after { #expect(value.mismatch(with: declared.type, facets: declared.facets, in: model) == nil) }
        if property != "Small", property != "Code" { #expect(before != after) }
    }

    @Test func `the values of a kept property are preserved, and an invalid path is refused`() throws {
        var planting = Planting(seed: 3)
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
        var planting = Planting(seed: 3)
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
        var planting = Planting(seed: 3)
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

/// Fast search for many texts in bytes, ignoring case.
private struct Needles {
    private let bytes: [UInt8]
    private var places: [UInt64: [Int]] = [:]

    init(_ content: [UInt8]) {
        bytes = content.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        guard bytes.count > 6 else { return }
        var window: UInt64 = 0
        for (index, byte) in bytes.enumerated() {
            window = (window << 8 | UInt64(byte)) & 0xFFFF_FFFF_FFFF
            if index >= 5 { places[window, default: []].append(index - 5) }
        }
    }

    func hold(_ text: String) -> Bool {
        let needle = text.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        let key = needle.prefix(6).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return (places[key] ?? []).contains { bytes[$0...].starts(with: needle) }
    }

    /// Whether the bytes contain a secret in any form: unchanged, percent-encoded, in Base64 at each of three offsets,
    /// escaped as in JSON, or without hyphens.
    func holdAny(of secret: String) -> Bool {
        let bytes = Array(secret.utf8)
        let percent = bytes.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let escaped = secret.unicodeScalars.map { "\\u00" + String($0.value, radix: 16) }.joined()
        let coded = (0..<3).map { shift in
            let text = Base64.encode([UInt8](repeating: 0x41, count: shift) + bytes, .standard)
            // Omits the characters that depend on adjacent bytes.
            return String(
                text.dropFirst(shift == 0 ? 0 : 4).prefix(max(8, (bytes.count - 3) / 3 * 4)).filter { $0 != "=" })
        }
        return ([secret, percent, escaped, secret.filter { $0 != "-" }] + coded.filter { $0.utf8.count >= 8 }).contains(
            where: hold)
    }
}

/// Records that contain secret texts, numbers and dates.
private struct Planting {
    private var random: UInt64
    private(set) var secrets: [String] = []
    private var entity: UInt64 = 0
    private var batch: BatchID = 0
    private(set) var root = ""

    init(seed: UInt64) { random = seed }

    private mutating func draw(_ bound: UInt64) -> UInt64 {
        random &+= 0x9E37_79B9_7F4A_7C15
        var z = random
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return (z ^ (z >> 31)) % bound
    }

    mutating func text() -> String {
        let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789".utf8)
        let text = "s" + String(decoding: (0..<13).map { _ in letters[Int(draw(62))] }, as: UTF8.self)
        secrets.append(text)
        return text
    }

    mutating func number() -> Int64 {
        let number = Int64(draw(800_000_000_000_000)) + 100_000_000_000_000
        secrets.append(String(number))
        return number
    }

    mutating func guid() -> GuidValue {
        let guid = GuidValue(high: draw(.max), low: draw(.max))
        secrets.append(guid.description)
        return guid
    }

    /// Returns a date in the seventeenth century, in which no record was made.
    mutating func date() -> LocalDate {
        let date = LocalDate(daysSince1970: -130_000 + Int64(draw(30_000)))!
        secrets.append(date.description)
        return date
    }

    static let metadata = Array(
        """
        <?xml version="1.0"?><edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>\
        <Schema Namespace="Shop" xmlns="http://docs.oasis-open.org/odata/ns/edm">\
        <EntityType Name="Thing" HasStream="true"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int64" Nullable="false"/>\
        <Property Name="Name" Type="Edm.String"/><Property Name="Code" Type="Edm.String" MaxLength="2"/>\
        <Property Name="Small" Type="Edm.Byte"/><Property Name="Price" Type="Edm.Decimal" Precision="20" Scale="4"/>\
        <Property Name="Ratio" Type="Edm.Double"/><Property Name="Token" Type="Edm.Guid"/><Property Name="Born" Type="Edm.Date"/>\
        <Property Name="At" Type="Edm.DateTimeOffset"/><Property Name="Since" Type="Edm.TimeOfDay" Precision="3"/>\
        <Property Name="Length" Type="Edm.Duration"/><Property Name="Bytes" Type="Edm.Binary"/>\
        <Property Name="Place" Type="Shop.Place"/><Property Name="Tags" Type="Collection(Edm.String)"/>\
        <Property Name="Color" Type="Shop.Color"/></EntityType>\
        <ComplexType Name="Place"><Property Name="Street" Type="Edm.String"/></ComplexType>\
        <EnumType Name="Color"><Member Name="Red"/><Member Name="Blue"/></EnumType>\
        <EntityContainer Name="All"><EntitySet Name="Things" EntityType="Shop.Thing"/></EntityContainer></Schema>\
        </edmx:DataServices></edmx:Edmx>
        """.utf8)

    mutating func service() -> Record.Body {
        root = "https://\(text()).example/\(text())/"
        let annotated = String(decoding: Self.metadata, as: UTF8.self)
            .replacing(
                "<Property Name=\"Name\"",
                with: "<Property sap:label=\"\(text())\" DefaultValue=\"\(text())\" Name=\"Name\""
            )
            .replacing(
                "</Schema>",
                with: """
                    <Annotations Target="Shop.Thing"><Annotation Term="Core.Description" String="\(text())"><String>\(text())</String>\
                    </Annotation></Annotations><!-- \(text()) > --></Schema>
                    """
            )
            .replacing("xmlns:edmx=", with: "xmlns:sap=\"http://www.sap.com/Protocols/SAPData\" xmlns:edmx=")
        return .serviceInstalled(ServiceDescription(root: root, metadata: Array(annotated.utf8)))
    }

    mutating func secretValues() -> PropertyValues {
        let at = GlobalDateTime(
            local: LocalDateTime(date: date(), time: LocalTime(hour: 3, minute: 4, second: 5)!), offsetMinutes: 0)!
        return [
            "ID": .integer(number()), "Name": .string("Dear \(text()), meet \"\(text())\""), "Token": .guid(guid()),
            "Price": .decimal(DecimalValue("\(number()).25")!), "Born": .date(date()), "At": .dateTimeOffset(at),
            "Bytes": .binary(Array(text().utf8)),
            "Place": .complex(ComplexValue(properties: ["Street": .string(text())])),
            "Tags": .collection([.string(text()), .string(text())]), "Color": .enumeration("Red"),
            "\(text())": .string(text()),
        ]
    }

    /// Returns few different values of each property, so that many are equal.
    mutating func fewValues() -> PropertyValues {
        let n = draw(40)
        let time = LocalTime(picoseconds: Int64(draw(40)) * 1_001_000_000_000)!
        return [
            "ID": .integer(Int64(draw(60)) * 7_919 - 200_000),
            "Name": .string(n == 0 ? "" : "n\(draw(30))\(n % 3 == 0 ? "é" : "z")"),
            "Code": .string(String(UnicodeScalar(UInt8(65 + draw(26))))), "Small": .integer(Int64(draw(256))),
            "Price": .decimal(DecimalValue("\(Int64(draw(50)) - 25).\(draw(4))")!),
            "Ratio": .double(Double(draw(50)) / 7 - 3),
            "Token": .guid(GuidValue(high: draw(9), low: draw(9))),
            "Born": .date(LocalDate(daysSince1970: Int64(draw(90)) - 45)!),
            "At": .dateTimeOffset(
                GlobalDateTime(millisecondsSince1970: Int64(draw(99)) * 500, offsetMinutes: Int(draw(3)) * 60)!),
            "Since": .timeOfDay(time),
            "Length": .duration(DayTimeDuration(isNegative: draw(2) == 0, seconds: Int64(draw(50)))!),
            "Bytes": .binary((0..<draw(3)).map { _ in UInt8(draw(256)) }),
        ]
    }

    private func percent(_ text: String) -> String {
        text.utf8.map { "%" + String($0, radix: 16, uppercase: true) }.joined()
    }

    private mutating func image() -> EntityImage {
        entity += 1
        return EntityImage(
            entity: id(entity), set: "Things", type: "Shop.Thing", values: secretValues(), etag: "W/\"\(text())\"",
            editLink: "$\(number())/Things('\(percent(text()))')/~\(number())/\(text())")
    }

    private mutating func refusal() -> Refusal {
        Refusal(
            status: 409, code: text(), message: "The customer '\(text())' of \(number()) is unknown.",
            innerError: #"{"detail":"\#(text())","n":\#(number())}"#, method: "POST",
            url: "Things?$filter=Name eq '\(text())' or ID eq \(number())",
            requestBody:
                #"{"Name":"\#(text())","\#(text())":\#(number()),"Token":"\#(guid())","x@odata.bind":"Things(~\#(number()))","#
                + #""id":"~\#(number())","uri":"$\#(number())","type":"\#(number())","#
                + #""__metadata":{"uri":"$\#(number())","type":"\#(text())"}}"#
        )
    }

    /// Returns numbers after markers, at places of an entity ID, a Content-ID or an alias.
    private mutating func hidden() -> String {
        "sap-token=~\(number())&y=$\(number())&@\(number())=1&z=@\(number())&k=Things(~\(number()))"
    }

    private mutating func stream() -> StreamContent {
        StreamContent(
            digest: StreamDigest((0..<32).map { _ in UInt8(draw(256)) })!, byteCount: UInt64(number()),
            mediaType: "image/\(text())",
            name: text())
    }

    /// Returns one body of each kind.
    mutating func bodies() -> [Record.Body] {
        batch += 1
        let image = image()
        let query = text()
        let operation = Operation(
            .create(
                Creation(entity: id(entity + 1_000_000), set: "Things", type: "Shop.Thing", values: secretValues()),
                parent: nil),
            transactionID: text(), baseETag: text(), customTag: text(),
            headers: [.init(name: "X-\(text())", value: text()), .init(name: "If-Match", value: text())],
            headerTemplates: [
                HeaderTemplate(name: text(), parts: [.text(text()), .key(image.entity, property: "ID")])
            ],
            uploadCategory: .named(text()))
        let written = Operation(
            .update(image.entity, changes: [:], bindings: []), stream: StreamWrite(content: stream()))
        let called = Operation(
            .update(image.entity, changes: [text(): .string(text())], bindings: []),
            call: ActionCall(
                text(), on: .set(text(), type: text()),
                [
                    .init(text(), .value(.string(text()))), .init(text(), .value(.integer(number()))),
                    .init(
                        "other", .entities([.content(type: "Shop.Thing", secretValues()), .reference(image.entity)])),
                ]))
        let sent = BatchPrepared.SentRequest(
            contentID: "1", method: "POST", url: "\(root)Things('\(text())')?\(text())=\(number())&\(hidden())",
            headers: [
                .init(name: "Repeatability-Request-ID", value: guid().description),
                .init(name: "Content-Type", value: text()),
            ],
            body: Array(
                #"{"Name":"\#(text())","Born":"\#(date())","ID":"\#(number())","Bytes":"\#(Base64.encode(Array(text().utf8), .standard))"}"#
                    .utf8))
        return [
            .definingQueryAdded(
                DefiningQuery(
                    name: query, query: "Things?\(hidden())&$filter=Name eq '\(percent(text()))' and Token eq \(guid())"
                )),
            .downloadStarted(queries: [query]),
            .downloadPage(
                DownloadPage(query: query, entities: [image], next: "\(root)Things?$skiptoken=\(text())&\(hidden())")),
            .downloadFinished(
                DownloadFinished(
                    query: query, deltaLink: "https://\(text())/$\(number())?\(hidden())&$deltatoken='\(text())'")),
            .operation(operation), .operation(written), .operation(called),
            .batchPrepared(
                BatchPrepared(batch: batch, changeSets: [[.init(contentID: "1", operation: 6)]], sent: [[sent]])),
            .batchAccepted(BatchAccepted(batch: batch, monitor: "https://\(text())/\(text())")),
            .batchAnswered(
                BatchAnswered(
                    batch: batch,
                    outcomes: [
                        .init(operation: 6, result: .rejected(refusal())),
                        .init(operation: 7, result: .deferred(refusal(), attempts: 2)),
                        .init(operation: 8, result: .inDoubt("Nobody knows \(text()).")),
                    ])),
            .batchInterrupted(BatchInterrupted(batch: batch, reason: text())),
            .uploadPostponed(UploadPostponed(notBefore: 1, attempt: 1, reason: "wait for \(text())")),
            .linksLeftOpen([
                OpenLink(
                    query: query, set: "Things", source: "Things(\(number()))", navigation: "Name",
                    target: "Things('\(text())')")
            ]),
            .entitiesQuarantined([
                QuarantinedEntity(
                    query: query, set: "Things", name: "Things('\(text())')", reason: .unreadable, path: "/\(text())",
                    message: text(), text: text())
            ]),
            .operationsUnfit([UnfitOperation(operation: 6, refusal: refusal())]),
            .streamsStored([
                StreamImage(
                    entity: image.entity, content: stream(), etag: text(),
                    told: .init(readLink: "https://\(text())/\(text())", editLink: text(), etag: text()))
            ]),
            .operationsAmended([AmendedOperation(operation: 6, content: operation)]),
            .unknown(kind: 199, payload: Array(text().utf8)), .definingQueryRemoved(name: query),
        ]
    }
}
