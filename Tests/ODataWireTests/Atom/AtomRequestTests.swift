import EDM
import Foundation
import ODataWire
import SeededRandom
import Testing

/// DQ-34: requests in Atom.
@Suite struct `Atom requests` {
    let model = PayloadShop.model(.v2)

    private func encoder(_ version: ODataVersion = .v2) -> RequestEncoder {
        RequestEncoder(
            version: version, model: PayloadShop.model(version), serviceRoot: "http://h/s/",
            options: ServiceOptions(payloadFormat: .atom))
    }

    @Test func `a create is an entry with its properties, references and new entities`() throws {
        let body = EntityBody(
            type: PayloadShop.customer,
            values: ["CustomerID": .integer(1), "Name": .string("<a> & \"b\""), "Price": .null],
            bindings: [.init(navigation: PayloadShop.ordersOfCustomer, targets: [.contentID("7"), .url("Orders(1)")])],
            inline: [
                .init(
                    navigation: PayloadShop.ordersOfCustomer,
                    entities: [EntityBody(type: PayloadShop.order, values: ["OrderID": .integer(1)])])
            ])
        let request = encoder().encode(DataModification(.create(in: PayloadShop.customers, body)))
        #expect(request.headers["Content-Type"] == "application/atom+xml")
        #expect(request.headers["Accept"] == "application/atom+xml,application/xml")
        let related = AtomSamples.related
        #expect(
            String(decoding: request.body, as: UTF8.self) == """
                <?xml version="1.0" encoding="utf-8"?><entry xmlns="http://www.w3.org/2005/Atom" \
                xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices" \
                xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">\
                <category term="Shop.Customer" \(AtomSamples.category)/><id/><title/>\
                <updated>1970-01-01T00:00:00Z</updated><author><name/></author>\
                <link rel="\(related)Orders" type="application/atom+xml;type=feed" title="Orders" href="$7"/>\
                <link rel="\(related)Orders" type="application/atom+xml;type=feed" title="Orders" \
                href="http://h/s/Orders(1)"/>\
                <link rel="\(related)Orders" type="application/atom+xml;type=feed" title="Orders"><m:inline><feed>\
                <entry><category term="Shop.Order" \(AtomSamples.category)/><id/><title/>\
                <updated>1970-01-01T00:00:00Z</updated><author><name/></author>\
                <content type="application/xml"><m:properties>\
                <d:OrderID m:type="Edm.Int64">1</d:OrderID></m:properties></content></entry></feed></m:inline></link>\
                <content type="application/xml"><m:properties><d:CustomerID m:type="Edm.Int32">1</d:CustomerID>\
                <d:Name>&lt;a&gt; &amp; "b"</d:Name><d:Price m:type="Edm.Decimal" m:null="true"/></m:properties>\
                </content></entry>
                """)
        let read = try RequestBodyReader(version: .v2, model: model).entity(request.body, type: PayloadShop.customer)
        #expect(read.values == body.values)
        #expect(read.bindings.map(\.urls) == [["$7", "http://h/s/Orders(1)"]])
        #expect(read.inline.first?.entities.first?.values == ["OrderID": .integer(1)])
    }

    @Test func `an update may remove a link, and a link is a document with a URL`() throws {
        let body = EntityBody(
            type: PayloadShop.order, values: [:],
            bindings: [.init(navigation: PayloadShop.customerOfOrder, targets: [])])
        let update = encoder().encode(DataModification(.update(.url("Orders(1)"), body, replaces: false)))
        #expect(update.method == "MERGE")
        let reader = RequestBodyReader(version: .v2, model: model)
        #expect(try reader.entity(update.body, type: PayloadShop.order).bindings.map(\.urls) == [[]])
        let link = encoder().encode(
            DataModification(
                .link(from: .url("Orders(1)"), navigation: PayloadShop.customerOfOrder, to: .url("Customers(1)"))))
        #expect(link.headers["Content-Type"] == "application/xml")
        #expect(try reader.reference(link.body) == "http://h/s/Customers(1)")
    }

    @Test func `V4 has no Atom`() {
        let body = EntityBody(type: PayloadShop.order, values: [:])
        let request = encoder(.v4).encode(DataModification(.create(in: PayloadShop.orders, body)))
        #expect(request.headers["Content-Type"] == "application/json")
        #expect(request.body == Array("{}".utf8))
    }

    @Test func `a control character makes a document that no parser reads as a different text`() {
        let body = EntityBody(type: PayloadShop.customer, values: ["Name": .string("a\u{1}b")])
        let request = encoder().encode(DataModification(.create(in: PayloadShop.customers, body)))
        #expect(throws: PayloadError.self) {
            try RequestBodyReader(version: .v2, model: model).entity(request.body, type: PayloadShop.customer)
        }
    }

    @Test(arguments: [ODataVersion.v2, .v3])
    func `random entities are equal after writing and reading as Atom and as JSON`(version: ODataVersion) throws {
        let seed = UInt64.testSeed()
        var random = RandomValues(seed: seed)
        let model = PayloadShop.model(version)
        let json = RequestEncoder(version: version, model: model, serviceRoot: "http://h/s/")
        let reader = PayloadReader(version: version, model: model)
        for round in 0..<300 {
            let values = Self.writable(random.properties(version))
            let create = DataModification(
                .create(in: PayloadShop.customers, EntityBody(type: PayloadShop.customer, values: values)))
            let atom = try reader.entity(encoder(version).encode(create).body, type: PayloadShop.customer)
            let same = try reader.entity(json.encode(create).body, type: PayloadShop.customer)
            #expect(atom.values == values, "seed \(seed), round \(round)")
            #expect(atom.values == same.values, "seed \(seed), round \(round)")
        }
    }

    /// Returns the values without the characters that XML cannot represent.
    private static func writable(_ values: PropertyValues) -> PropertyValues {
        var result = PropertyValues()
        for (name, value) in values { result[name] = writable(value) }
        return result
    }

    private static func writable(_ value: Value) -> Value {
        switch value {
        case .string(let text): .string(text.replacing("\0", with: ""))
        case .collection(let items): .collection(items.map(writable))
        case .complex(let complex):
            .complex(ComplexValue(type: complex.type, properties: writable(complex.properties)))
        default: value
        }
    }

    @Test(.enabled(if: BatchCorpus.isPresent, "skipped: the conformance corpora are not next to the checkout"))
    func `the entries of a recorded batch of Olingo are read`() throws {
        let file = "batch/v2/olingo/fit-basicBatchWithContentIdReferencingFail.batch"
        let text = try String(decoding: Data(contentsOf: BatchCorpus.root.appending(path: file)), as: UTF8.self)
        let room = StructuredType(
            kind: .entity, name: "RefScenario.Room",
            properties: ["Id", "Name", "Seats", "Version"].map {
                Property(name: $0, type: TypeReference(.primitive(.string)), declaringType: "RefScenario.Room")
            })
        let reader = RequestBodyReader(version: .v2, model: model)
        let entries = text.matches(of: /(?s)<entry.*?<\/entry>/)
        #expect(entries.count >= 2)
        let names = try entries.map { try reader.entity(Array($0.output.utf8), type: room).values["Name"] }
        #expect(names.allSatisfy { $0 == .string("Room 1") })
    }
}
