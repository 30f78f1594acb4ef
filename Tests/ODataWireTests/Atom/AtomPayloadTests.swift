import EDM
import ODataWire
import SeededRandom
import Testing

/// DQ-34: Atom has the same content as JSON.
@Suite struct `Atom payloads` {
    let model = PayloadShop.model(.v2)
    var reader: PayloadReader { PayloadReader(version: .v2, model: model) }

    private func entity(_ xml: String) throws -> EntityPayload {
        try reader.entity(Array(xml.utf8), type: PayloadShop.customer)
    }

    @Test func `a page is read like the same page in JSON`() throws {
        let atom = try reader.feed(Array(AtomSamples.page.utf8), type: PayloadShop.customer)
        let json = try reader.feed(Array(AtomSamples.pageInJSON.utf8), type: PayloadShop.customer)
        #expect(atom == json)
        #expect(atom.entities.count == 2 && atom.removed.count == 1)
        #expect(atom.count == 12 && atom.deltaLink == "http://h/s/Customers?!deltatoken='7'")
    }

    @Test func `the items of a page do not depend on its division into chunks`() throws {
        let bytes = Array(AtomSamples.page.utf8)
        let whole = try reader.feed(bytes, type: PayloadShop.customer)
        for size in [1, 2, 3, 7, 64, 1_000] {
            var feed = reader.feedReader(type: PayloadShop.customer)
            var check = PageValidator(version: .v2)
            var entities: [EntityPayload] = []
            var removed: [RemovedEntity] = []
            func take(_ item: DeltaItem) {
                if case .entity(let entity) = item { entities.append(entity) }
                if case .removed(let entity) = item { removed.append(entity) }
            }
            for start in stride(from: 0, to: bytes.count, by: size) {
                let chunk = Array(bytes[start..<min(start + size, bytes.count)])
                feed.append(chunk)
                try check.append(chunk)
                while let item = try feed.next() { take(item) }
            }
            feed.finish()
            try check.finish()
            while let item = try feed.next() { take(item) }
            #expect(entities == whole.entities && removed == whole.removed, "\(size) bytes")
            #expect(feed.nextLink == whole.nextLink && feed.deltaLink == whole.deltaLink && feed.count == 12)
        }
    }

    @Test func `a truncated page is an error at every byte`() {
        let bytes = Array(AtomSamples.page.utf8)
        for count in stride(from: 1, to: bytes.count - 1, by: 17) {
            #expect(throws: PayloadError.self, "\(count) bytes") {
                var check = PageValidator(version: .v2)
                try check.append(Array(bytes[..<count]))
                try check.finish()
            }
        }
    }

    @Test func `values without a type have the declared type`() throws {
        let entity = try entity(
            AtomSamples.entry(
                """
                <d:CustomerID>7</d:CustomerID><d:Active>false</d:Active><d:Ratio>INF</d:Ratio><d:Name/>
                <d:Address/><d:Token>00000000-0000-0000-0000-00000000000A</d:Token>
                <d:Seen>2020-01-01T00:00:00.1234567+01:00</d:Seen>
                """))
        #expect(entity.values["CustomerID"] == .integer(7))
        #expect(entity.values["Active"] == .boolean(false))
        #expect(entity.values["Ratio"] == .double(.infinity))
        #expect(entity.values["Name"] == .string(""))
        #expect(entity.values["Address"] == .complex(ComplexValue(properties: [:])))
        #expect(entity.values["Seen"] == GlobalDateTime("2020-01-01T00:00:00.1234567+01:00").map(Value.dateTimeOffset))
    }

    @Test func `an invalid value is set aside like in JSON, and the rest of the page is used`() throws {
        var reader = reader
        reader.setsAside = true
        let page = """
            <feed \(AtomSamples.namespaces)>\(AtomSamples.entry("<d:CustomerID>1</d:CustomerID><d:Number>x</d:Number>"))\
            \(AtomSamples.entry("<d:CustomerID>2</d:CustomerID>"))</feed>
            """
        let feed = try reader.feed(Array(page.utf8), type: PayloadShop.customer)
        #expect(feed.entities.map { $0.values["CustomerID"] } == [.integer(2)])
        #expect(feed.unreadable.first?.entity.values["CustomerID"] == .integer(1))
        #expect(feed.unreadable.first?.error.path == "/Number")
    }

    @Test func `an entry that is too large is set aside`() throws {
        var limits = JSONScanner.Limits()
        limits.itemSize = 2_000
        var reader = PayloadReader(version: .v2, model: model, limits: limits)
        reader.setsAside = true
        let large = AtomSamples.entry("<d:Name>\(String(repeating: "x", count: 3_000))</d:Name>")
        let page = """
            <feed \(AtomSamples.namespaces)>\(large)\(AtomSamples.entry("<d:CustomerID>2</d:CustomerID>"))</feed>
            """
        let feed = try reader.feed(Array(page.utf8), type: PayloadShop.customer)
        #expect(feed.entities.count == 1)
        #expect(feed.unreadable.first?.error.code == .tooLarge)
    }

    @Test func `properties that the metadata map to elements of the entry are read`() throws {
        let title = Property(
            name: "Name", type: TypeReference(.primitive(.string)), declaringType: "Shop.Product",
            annotations: [
                Annotation(term: "m:FC_TargetPath", value: "SyndicationTitle"),
                Annotation(term: "m:FC_KeepInContent", value: "false"),
            ])
        let author = Property(
            name: "Maker", type: TypeReference(.primitive(.string)), declaringType: "Shop.Product",
            annotations: [Annotation(term: "m:FC_TargetPath", value: "SyndicationAuthorName")])
        let product = StructuredType(kind: .entity, name: "Shop.Product", properties: [title, author])
        let xml = """
            <entry \(AtomSamples.namespaces)><title>Bread</title><author><name>Ada</name></author>\
            <content type="application/xml"><m:properties/></content></entry>
            """
        let entity = try reader.entity(Array(xml.utf8), type: product)
        #expect(entity.values == ["Name": .string("Bread"), "Maker": .string("Ada")])

        var options = ServiceOptions()
        options.payloadFormat = .atom
        let encoder = RequestEncoder(version: .v2, model: model, serviceRoot: "http://h/s/", options: options)
        let set = EntitySet(name: "Products", entityType: product)
        let body = EntityBody(type: product, values: entity.values)
        let sent = String(decoding: encoder.encode(DataModification(.create(in: set, body))).body, as: UTF8.self)
        #expect(sent.contains("<title>Bread</title>") && !sent.contains("<d:Name"))
        #expect(try reader.entity(Array(sent.utf8), type: product).values == entity.values)
    }

    // MARK: Other documents

    private func document(_ root: String) -> [UInt8] {
        Array(
            root.replacing(
                "NS", with: AtomSamples.namespaces.replacing(#"xmlns="http://www.w3.org/2005/Atom" "#, with: "")
            ).utf8)
    }

    @Test func `property documents, links, service documents and results of functions are read`() throws {
        let name = try #require(PayloadShop.customer.findProperty("Name"))
        #expect(try reader.value(document("<d:Name NS>a b</d:Name>"), of: name) == .string("a b"))
        #expect(try reader.value(document(#"<d:Name NS m:null="true"/>"#), of: name) == .null)
        let address = try #require(PayloadShop.customer.findProperty("Address"))
        #expect(
            try reader.value(document("<d:Address NS><d:Zip>5</d:Zip></d:Address>"), of: address)
                == .complex(ComplexValue(properties: ["Zip": .integer(5)])))
        let links = document("<d:links NS><m:count>2</m:count><d:uri>a</d:uri><d:uri>b</d:uri></d:links>")
        #expect(try reader.entityReferences(links) == ReferencesPayload(urls: ["a", "b"], count: 2))
        #expect(try reader.entityReferences(document("<d:uri NS>a</d:uri>")).urls == ["a"])
        let service = """
            <service xmlns="http://www.w3.org/2007/app" xmlns:a="http://www.w3.org/2005/Atom"><workspace>\
            <a:title>Default</a:title><collection href="C"><a:title>Customers</a:title></collection></workspace></service>
            """
        #expect(
            try reader.serviceDocument(Array(service.utf8))
                == ServiceDocument(entries: [.init(name: "Customers", url: "C")]))
        let numbers = TypeReference(.primitive(.int32), isCollection: true)
        let list = document("<d:F NS><d:element>1</d:element><d:element>2</d:element></d:F>")
        #expect(
            try reader.result(list, type: numbers, name: "F") == .values([.integer(1), .integer(2)], nextLink: nil))
        let entity = TypeReference(.entity(name: "Shop.Customer"))
        guard
            case .entity(let found, _) = try reader.result(
                Array(AtomSamples.entry("<d:CustomerID>1</d:CustomerID>").utf8), type: entity, name: "F")
        else { return #expect(Bool(false), "no entity") }
        #expect(found.values == ["CustomerID": .integer(1)])
    }

    @Test func `an error document and an error inside of a page are errors of the service`() throws {
        let error = document("<m:error NS><m:code>C</m:code><m:message>broken</m:message></m:error>")
        #expect(ServiceErrorReader.read(error)?.message == "broken")
        let inside = "<feed \(AtomSamples.namespaces)>" + String(decoding: error, as: UTF8.self) + "</feed>"
        for bytes in [error, Array(inside.utf8)] {
            let thrown = try #require(throws: PayloadError.self) {
                try reader.feed(bytes, type: PayloadShop.customer)
            }
            #expect(thrown.code == .serviceError && thrown.message.contains("broken"))
        }
        #expect(reader.inStreamError(in: error, of: PayloadShop.customer)?.code == .serviceError)
        #expect(reader.inStreamError(in: Array(AtomSamples.entry("").utf8), of: PayloadShop.customer) == nil)
    }

    // MARK: Hostile input

    @Test(arguments: [
        #"<!DOCTYPE x [<!ENTITY a "b">]><feed xmlns="http://www.w3.org/2005/Atom"/>"#,
        "<html><body>Login</body></html>", "<feed/>",
        "<feed xmlns='http://www.w3.org/2005/Atom'><entry></feed></entry>",
        "<feed xmlns='http://www.w3.org/2005/Atom'><entry>&undefined;</entry></feed>",
        "<feed xmlns='http://www.w3.org/2005/Atom'></feed><feed xmlns='http://www.w3.org/2005/Atom'><entry/></feed>",
        "<feed xmlns='http://www.w3.org/2005/Atom'><link rel='next'/></feed>", "<", "</feed>", "<!", "<?", "<!-->",
    ])
    func `a document that is not a feed is an error`(xml: String) {
        #expect(throws: PayloadError.self) { try reader.feed(Array(xml.utf8), type: PayloadShop.customer) }
    }

    @Test func `nesting, attributes and the start tag of a feed are limited`() {
        let depth = String(repeating: "<a>", count: 300) + String(repeating: "</a>", count: 300)
        let attributes = (0..<2_000).map { " a\($0)=\"\"" }.joined()
        let head = String(repeating: " ", count: 10_000)
        for xml in [
            AtomSamples.entry("<d:Name>\(depth)</d:Name>"), AtomSamples.entry("<d:Name\(attributes)/>"),
            "<feed \(AtomSamples.namespaces)\(head)></feed>",
        ] {
            let page = xml.hasPrefix("<feed") ? xml : "<feed \(AtomSamples.namespaces)>\(xml)</feed>"
            #expect(throws: PayloadError.self) { try reader.feed(Array(page.utf8), type: PayloadShop.customer) }
        }
    }

    @Test func `XML is no payload of V4`() {
        let reader = PayloadReader(version: .v4, model: PayloadShop.model(.v4))
        #expect(throws: PayloadError.self) {
            try reader.entity(Array(AtomSamples.entry("").utf8), type: PayloadShop.customer)
        }
    }

    @Test func `a feed with damaged bytes is read or rejected`() {
        let seed = UInt64.testSeed()
        var random = SeededRandom(seed: seed)
        let marks = Array("<>/!-[]?&;\"'=: ".utf8)
        for _ in 0..<2_000 {
            var bytes = Array(AtomSamples.page.utf8)
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: place)
                case 2: bytes.insert(contentsOf: bytes[place..<min(place + 30, bytes.count)], at: place)
                default: bytes[place] = marks[Int.random(in: 0..<marks.count, using: &random)]
                }
            }
            let whole = try? reader.feed(bytes, type: PayloadShop.customer)
            _ = try? reader.entity(bytes, type: PayloadShop.customer)
            _ = try? reader.wholeEntity(bytes, type: PayloadShop.customer)
            _ = try? reader.entityReferences(bytes)
            _ = try? RequestBodyReader(version: .v2, model: model).entity(bytes, type: PayloadShop.customer)
            // The validation of a page and its reading agree.
            var check = PageValidator(version: .v2)
            let isValid = (try? check.append(bytes)) != nil && (try? check.finish()) != nil
            if whole != nil { #expect(isValid, "seed \(seed)") }
        }
    }
}
