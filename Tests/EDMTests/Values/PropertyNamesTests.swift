import EDM
import Testing

/// Lists of names, and the values of rows that have different lists.
struct PropertyNamesTests {
    private func packed(_ values: PropertyValues, _ table: NameTable = NameTable()) throws -> PropertyValues {
        PropertyValues(try #require(values.packed(with: table)))
    }

    // MARK: Encodings

    @Test func `an encoding is the same only with the same names and notations`() throws {
        func isSame(_ a: PropertyValues, _ b: PropertyValues) throws -> Bool {
            try packed(a).hasSameEncoding(as: packed(b))
        }
        func isSame(_ a: Value, _ b: Value) throws -> Bool { try isSame(["a": a], ["a": b]) }
        let (short, long) = (try #require(DecimalValue("1.5")), try #require(DecimalValue("1.50")))
        #expect(try isSame(.decimal(short), .decimal(short)))
        #expect(try !isSame(.decimal(short), .decimal(long)))
        #expect(try !isSame(.double(0.0), .double(-0.0)))
        #expect(try isSame(.double(.nan), .double(.nan)))
        #expect(try isSame(.collection([.single(.nan)]), .collection([.single(.nan)])))
        #expect(try !isSame(["\u{E9}": .integer(1)], ["e\u{301}": .integer(1)]))
        #expect(try !isSame(["a": .integer(1), "b": .integer(1)], ["b": .integer(1), "a": .integer(1)]))
        #expect(try isSame([:], [:]))
    }

    @Test func `equal lists of names need not be one instance`() throws {
        let values: PropertyValues = ["ID": .integer(1), "Name": .string("a")]
        let (a, b) = (try packed(values), try packed(values))
        #expect(a.packed?.names !== b.packed?.names)
        #expect(a.hasSameEncoding(as: b))
        #expect(!a.hasSameEncoding(as: values) && !values.hasSameEncoding(as: a) && !values.hasSameEncoding(as: values))
    }

    // MARK: Places

    @Test(arguments: [1, 16, 17, 40])
    func `a name is found in short and long lists, and so is a canonically equivalent one`(count: Int) throws {
        let names = (1..<count).map { "Name\($0)" } + ["Caf\u{E9}"]
        let list = try #require(PropertyNames(names))
        for (place, name) in names.enumerated() { #expect(list.place(of: name) == place, "\(name)") }
        #expect(list.place(of: "Cafe\u{301}") == count - 1)
        #expect(list.place(of: "Cafe") == nil && list.place(of: "") == nil)
        #expect(PropertyNames(names + ["Cafe\u{301}"]) == nil)
    }

    // MARK: Rows with different names

    @Test func `a selection and a look-up return the values of rows that alternate between lists of names`() throws {
        let table = NameTable()
        let subset = PropertySubset { $0 != "Note" }
        let lookup = PropertyLookup("Name")
        for number in 0..<12 as Range<Int64> {
            let values: PropertyValues =
                switch number % 3 {
                case 0: ["ID": .integer(number), "Note": .null, "Name": .string("a\(number)")]
                case 1: ["Name": .string("b\(number)"), "ID": .integer(number)]
                default: ["Note": .string("c"), "ID": .integer(number)]
                }
            let row = try packed(values, table)
            let chosen = PropertyValues(values.filter { $0.name != "Note" }.map { ($0.name, $0.value) })
            let found = try #require(subset(row))
            #expect(found == chosen && found.names == chosen.names, "\(number)")
            #expect(lookup(row) == values["Name"], "\(number)")
            #expect(lookup(values) == values["Name"] && subset(values) == nil, "\(number)")
        }
    }
}
