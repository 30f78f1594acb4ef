import EDM
import Testing

@Suite struct `Conformance of values to types` {
    let model = EntityDataModel(
        version: .v4, schemas: [],
        structuredTypes: [
            StructuredType(
                kind: .complex, name: "S.Address",
                properties: [
                    Property(
                        name: "Street", type: TypeReference(.primitive(.string)), facets: Facets(maxLength: 3),
                        declaringType: "S.Address"),
                    Property(
                        name: "Number", type: TypeReference(.primitive(.byte)), isNullable: false,
                        declaringType: "S.Address"),
                ]),
            StructuredType(kind: .complex, name: "S.Open", isOpen: true, properties: []),
        ],
        enumerationTypes: [
            EnumerationType(
                name: "S.Color", underlyingType: .int32, isFlags: false,
                members: [.init(name: "Red", value: 0), .init(name: "Blue", value: 1)])
        ], entitySets: [], singletons: [])

    func reason(
        _ value: Value, _ kind: TypeReference.ReferencedType, collection: Bool = false, facets: Facets = Facets()
    ) -> String? {
        value.mismatch(with: TypeReference(kind, isCollection: collection), facets: facets, in: model)
    }

    @Test func `a value of the type has no mismatch`() {
        #expect(reason(.integer(255), .primitive(.byte)) == nil)
        #expect(reason(.null, .primitive(.byte)) == nil)
        #expect(reason(.enumeration("Red"), .enumeration(name: "S.Color")) == nil)
        #expect(
            reason(.complex(ComplexValue(properties: ["Street": .string("abc")])), .complex(name: "S.Address")) == nil)
        #expect(reason(.complex(ComplexValue(properties: ["Any": .boolean(true)])), .complex(name: "S.Open")) == nil)
        #expect(reason(.collection([.string("a")]), .primitive(.string), collection: true) == nil)
    }

    @Test(arguments: [
        (Value.integer(256), PrimitiveType.byte, "is 256, outside the range of Edm.Byte"),
        (.string("1"), .int32, "is a string, not Edm.Int32"),
        (.integer(1), .decimal, "is an integer, not Edm.Decimal"),
        (.collection([]), .string, "is a collection, not Edm.String"),
    ])
    func `the mismatch for a value of a different type names the expected type`(
        value: Value, type: PrimitiveType, text: String
    ) {
        #expect(reason(value, .primitive(type)) == text)
    }

    @Test func `the mismatch has the path of the invalid property`() {
        let address = Value.complex(ComplexValue(properties: ["Street": .string("abcd")]))
        #expect(
            reason(.collection([.null, address]), .complex(name: "S.Address"), collection: true)
                == "[1] /Street is longer than MaxLength 3")
        #expect(
            reason(.complex(ComplexValue(properties: ["Number": .null])), .complex(name: "S.Address"))
                == "/Number must not be null")
        #expect(
            reason(.complex(ComplexValue(properties: ["Town": .null])), .complex(name: "S.Address"))
                == "/Town is not a property of S.Address")
    }

    @Test func `a value of an enumeration without flags has one known member`() {
        #expect(
            reason(.enumeration("Green"), .enumeration(name: "S.Color"))
                == "is \"Green\", which is not a member of S.Color")
        #expect(reason(.enumeration("Red,Blue"), .enumeration(name: "S.Color")) != nil)
    }

    @Test func `spaces around a member do not count, and an empty member is none`() {
        #expect(reason(.enumeration(" Red "), .enumeration(name: "S.Color")) == nil)
        #expect(reason(.enumeration(""), .enumeration(name: "S.Color")) != nil)
    }

    @Test func `precision and scale limit decimals without trailing zeros`() throws {
        let facets = Facets(precision: 3, scale: .fixed(1))
        #expect(reason(.decimal(try #require(DecimalValue("12.30"))), .primitive(.decimal), facets: facets) == nil)
        #expect(reason(.decimal(try #require(DecimalValue("1.23"))), .primitive(.decimal), facets: facets) != nil)
        #expect(reason(.decimal(try #require(DecimalValue("1234"))), .primitive(.decimal), facets: facets) != nil)
    }

    @Test func `a deeply nested dynamic value is accepted, and a nested collection is refused`() {
        var value = Value.complex(ComplexValue(properties: [:]))
        for _ in 0..<100 { value = .complex(ComplexValue(type: "S.Open", properties: ["a": value])) }
        #expect(reason(value, .complex(name: "S.Open")) == nil)
        var list = Value.null
        for _ in 0..<100 { list = .collection([list]) }
        #expect(reason(list, .primitive(.string), collection: true) != nil)
    }
}

@Suite struct `The order of values` {
    @Test func `numbers of different types compare by value`() throws {
        let decimal = Value.decimal(try #require(DecimalValue("9007199254740993")))
        #expect(decimal.compared(to: .integer(9_007_199_254_740_993)) == .same)
        #expect(decimal.compared(to: .double(9_007_199_254_740_992)) == .descending)
        #expect(Value.single(0.5).compared(to: .double(0.5)) == .same)
    }

    @Test func `null and NaN are not comparable with any value`() {
        #expect(Value.null.compared(to: .null) == nil)
        #expect(Value.double(.nan).compared(to: .double(1)) == nil)
        #expect(Value.string("1").compared(to: .integer(1)) == nil)
    }

    @Test func `strings compare by their Unicode scalars`() {
        #expect(Value.string("Z").compared(to: .string("a")) == .ascending)
        #expect(Value.string("é").compared(to: .string("z")) == .descending)
    }

    @Test func `sorting puts null first and does not depend on the initial order`() {
        let values: [Value] = [
            .null, .boolean(false), .boolean(true), .integer(-1), .double(0.5), .integer(1), .double(.nan), .string(""),
            .string("a"), .binary([0]), .collection([]), .collection([.null]),
        ]
        let sorted = values.reversed().sorted { $0.sortOrder(to: $1) == .ascending }
        #expect(sorted.map { "\($0)" } == values.map { "\($0)" })
    }
}
