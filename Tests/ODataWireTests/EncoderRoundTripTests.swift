import EDM
import ODataQuery
import ODataWire
import SeededRandom
import Testing

@Suite struct `Round trips of values` {
    let seed = UInt64.testSeed()

    @Test(arguments: ODataVersion.allCases)
    func `the values of a request body are equal after writing and reading`(version: ODataVersion) throws {
        var random = RandomValues(seed: seed)
        let model = PayloadShop.model(version)
        let encoder = RequestEncoder(version: version, model: model, serviceRoot: "http://h/s/")
        let reader = RequestBodyReader(version: version, model: model)
        for round in 0..<300 {
            let values = random.properties(version)
            let body = EntityBody(
                type: PayloadShop.customer, values: values,
                bindings: [.init(navigation: PayloadShop.ordersOfCustomer, targets: [.contentID("7")])],
                inline: [
                    .init(
                        navigation: PayloadShop.ordersOfCustomer,
                        entities: [EntityBody(type: PayloadShop.order, values: ["OrderID": .integer(1)])])
                ])
            let request = encoder.encode(DataModification(.create(in: PayloadShop.customers, body)))
            let read = try reader.entity(request.body, type: PayloadShop.customer)
            #expect(read.values == values, "seed \(seed), round \(round)")
            #expect(read.bindings.map(\.urls) == [["$7"]])
            #expect(read.inline.first?.entities.first?.values == ["OrderID": .integer(1)])
        }
    }

    @Test(arguments: ODataVersion.allCases)
    func `the entities of a response are equal after writing and reading`(version: ODataVersion) throws {
        var random = RandomValues(seed: seed)
        let model = PayloadShop.model(version)
        let writer = PayloadWriter(
            version: version, model: model, serviceRoot: "http://h/s", isIEEE754Compatible: random.flip())
        let reader = PayloadReader(version: version, model: model)
        for round in 0..<100 {
            let entities = (0..<3).map { index in
                var entity = EntityPayload(
                    id: "http://h/s/Customers(\(index))", editLink: "http://h/s/Customers(\(index))", etag: "W/\"1\"",
                    values: random.properties(version))
                entity.type = version.isLegacy ? "Shop.Customer" : nil
                let order = EntityPayload(
                    type: version.isLegacy ? "Shop.Order" : nil, id: "o", editLink: "o",
                    values: ["OrderID": .integer(1)])
                entity.expanded = [.init(navigation: "Orders", entities: [order], nextLink: "more")]
                return entity
            }
            let feed = FeedPayload(entities: entities, count: 12, nextLink: "next")
            let bytes = writer.feed(feed, type: PayloadShop.customer, set: "Customers")
            #expect(try reader.feed(bytes, type: PayloadShop.customer) == feed, "seed \(seed), round \(round)")
            let one = writer.entity(entities[0], type: PayloadShop.customer, set: "Customers")
            #expect(try reader.entity(one, type: PayloadShop.customer) == entities[0], "seed \(seed), round \(round)")
        }
    }

    @Test(arguments: ODataVersion.allCases)
    func `literals are equal after writing and reading as URL, JSON string and text`(version: ODataVersion) throws {
        var random = RandomValues(seed: seed)
        for _ in 0..<300 {
            for (_, type) in PayloadShop.values {
                guard let primitive = type.primitive, !type.isCollection, primitive != .stream, !primitive.isGeo,
                    let value = random.primitive(primitive, version)
                else { continue }
                for form in [PrimitiveLiteral.LiteralContext.url, .json, .text] {
                    let text = PrimitiveLiteral.format(value, as: primitive, version: version, form: form)
                    let read = try PrimitiveLiteral.parse(text, as: primitive, version: version, form: form)
                    #expect(read == value, "seed \(seed): \(text)")
                }
                // In an expression, the scanner must find the end of the literal and return a value that compares as
                // equal.
                let literal = Array(PrimitiveLiteral.format(value, as: primitive, version: version, form: .url).utf8)
                let scanned = try #require(
                    PrimitiveLiteral.scan((literal + [0x29])[...], version: version), "seed \(seed)")
                #expect(scanned.length == literal.count, "seed \(seed): \(String(decoding: literal, as: UTF8.self))")
                let same =
                    scanned.value == value || scanned.value.compared(to: value) == .same
                    || primitive == .single || primitive == .double
                #expect(same, "seed \(seed): \(String(decoding: literal, as: UTF8.self))")
            }
        }
    }

    @Test func `links, errors and service documents are equal after writing and reading`() throws {
        for version in ODataVersion.allCases {
            let model = PayloadShop.model(version)
            let writer = PayloadWriter(version: version, model: model, serviceRoot: "http://h/s")
            let reader = PayloadReader(version: version, model: model)
            let references = ReferencesPayload(urls: ["Orders(1)", "Orders(2)"], count: 5, nextLink: "n")
            #expect(try reader.entityReferences(writer.references(references)) == references)
            #expect(try reader.entityReferences(writer.reference("Orders(1)")).urls == ["Orders(1)"])
            let document = ServiceDocument(entries: [.init(name: "Customers", url: "Customers")])
            #expect(try reader.serviceDocument(writer.serviceDocument(document)) == document)
            let error = ServiceError(code: "1", message: "m \"q\"", innerError: #"{"a":1}"#)
            #expect(ServiceErrorReader.read(writer.error(error)) == error)
            let tags = try #require(PayloadShop.customer.findProperty("Tags"))
            let value = Value.collection([.string("a"), .string("b")])
            #expect(try reader.value(writer.value(value, of: tags, context: "Customers(1)/Tags"), of: tags) == value)
        }
    }

    @Test(arguments: ODataVersion.allCases)
    func `an invalid request body is rejected with the path of the error`(version: ODataVersion) throws {
        let reader = RequestBodyReader(version: version, model: PayloadShop.model(version))
        for (json, code, path) in [
            (#"{"Nope":1}"#, PayloadError.Code.unknownProperty, "/Nope"),
            (#"{"Number":"x"}"#, .typeMismatch, "/Number"), (#"{"Orders":[1]}"#, .typeMismatch, "/Orders/0"),
            (#"{"Orders":[{"Nope":1}]}"#, .unknownProperty, "/Orders/0/Nope"), ("[]", .unexpectedShape, ""),
        ] {
            let error = try #require(throws: PayloadError.self, "\(json)") {
                try reader.entity(Array(json.utf8), type: PayloadShop.customer)
            }
            #expect(error.code == code, "\(json)")
            #expect(error.path == path, "\(json)")
        }
    }
}

/// A generator of random values of every type, biased towards edge cases.
struct RandomValues {
    private var random: SeededRandom

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    mutating func flip() -> Bool { Bool.random(using: &random) }

    private mutating func number(_ range: ClosedRange<Int64>) -> Int64 {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: range.lowerBound
        case 1: range.upperBound
        case 2: max(range.lowerBound, min(range.upperBound, 0))
        default: Int64.random(in: range, using: &random)
        }
    }

    private mutating func text() -> String {
        let alphabet: [Unicode.Scalar] = [
            "a", "Z", "0", "'", "\"", "\\", "/", "\n", "\u{0}", "é", "€", "😀", " ", "%", "&", "+", "\u{2028}",
        ]
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0...8, using: &random) {
            if let scalar = alphabet.randomElement(using: &random) { text.append(scalar) }
        }
        return String(text)
    }

    private mutating func time(digits: Int) -> LocalTime? {
        let unit = (0..<12 - digits).reduce(Int64(1)) { value, _ in value * 10 }
        return LocalTime(
            picoseconds: number(0...LocalTime.picosecondsPerDay / unit - 1) * unit,
            fractionDigits: UInt8(Int.random(in: 0...digits, using: &random)))
    }

    private mutating func dateTime(_ version: ODataVersion) -> LocalDateTime? {
        guard let date = LocalDate(daysSince1970: number(-800_000...3_000_000)),
            let time = time(digits: version.isLegacy ? [0, 3, 7].randomElement(using: &random) ?? 0 : 12)
        else { return nil }
        return LocalDateTime(date: date, time: time)
    }

    private mutating func decimal() -> DecimalValue? {
        var text = flip() ? "-" : ""
        text += String(number(0...9))
        for _ in 0..<Int.random(in: 0...30, using: &random) { text += String(Int.random(in: 0...9, using: &random)) }
        if flip() {
            text += "."
            for _ in 0...Int.random(in: 0...12, using: &random) {
                text += String(Int.random(in: 0...9, using: &random))
            }
        }
        return DecimalValue(text)
    }

    /// Returns a random value that `version` can represent, or nil if `version` does not have the type.
    mutating func primitive(_ type: PrimitiveType, _ version: ODataVersion) -> Value? {
        switch type {
        case .boolean: return .boolean(flip())
        case _ where type.isInteger: return type.integerRange.map { .integer(number($0)) }
        case .decimal: return decimal().map { .decimal($0) }
        case .double:
            let value = Double(bitPattern: UInt64(bitPattern: number(Int64.min...Int64.max)))
            return .double(value.isNaN ? 0.1 : value)
        case .single:
            let value = Float(bitPattern: UInt32(truncatingIfNeeded: number(0...0xFFFF_FFFF)))
            return .single(value.isNaN ? .infinity : value)
        case .string: return .string(text())
        case .guid:
            return .guid(
                GuidValue(
                    high: UInt64.random(in: 0...UInt64.max, using: &random),
                    low: UInt64.random(in: 0...UInt64.max, using: &random)))
        case .binary:
            return .binary(
                (0..<Int.random(in: 0...6, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) })
        case .date:
            return version.isLegacy ? nil : LocalDate(daysSince1970: number(-800_000...3_000_000)).map { .date($0) }
        case .timeOfDay: return version.isLegacy ? nil : time(digits: 12).map { .timeOfDay($0) }
        case .dateTime: return version.isLegacy ? dateTime(version).map { .dateTime($0) } : nil
        case .dateTimeOffset:
            guard let local = dateTime(version) else { return nil }
            return GlobalDateTime(local: local, offsetMinutes: Int(number(-840...840))).map { .dateTimeOffset($0) }
        case .duration, .time:
            guard (type == .time) == version.isLegacy else { return nil }
            let picoseconds = (time(digits: version.isLegacy ? 7 : 12)?.picosecond) ?? 0
            return DayTimeDuration(
                isNegative: !version.isLegacy && flip(), seconds: number(0...10_000_000), picoseconds: picoseconds
            ).map { .duration($0) }
        default: return nil
        }
    }

    /// Returns random values for a random subset of the customer's properties.
    mutating func properties(_ version: ODataVersion) -> PropertyValues {
        var values = PropertyValues()
        for (name, type) in PayloadShop.values where flip() {
            if Int.random(in: 0..<8, using: &random) == 0, type.primitive != .stream {
                values[name] = .null
            } else if type.isCollection, version != .v2 {
                values[name] = .collection(
                    type.primitive != nil ? [.string(text()), .string(text())] : [address(), address()])
            } else if let primitive = type.primitive, !type.isCollection {
                values[name] = self.primitive(primitive, version)
            } else if case .complex = type.kind, !type.isCollection {
                values[name] = address()
            } else if case .enumeration = type.kind, !version.isLegacy {
                values[name] = .enumeration("Calm,Loud")
            }
        }
        return values
    }

    private mutating func address() -> Value {
        .complex(ComplexValue(properties: ["Street": .string(text()), "Zip": .integer(number(-5...5))]))
    }
}
