import EDM
import Operations
import Testing

@testable import SyncCore

/// The comparison of received values with stored ones, encoded and decoded.
struct LocalComparisonTests {
    let store: TestStore

    init() throws { store = try TestStore() }

    /// Compares an image that has the first value with a row that has the second one.
    private func result(_ sent: Value, _ known: Value, packs: Bool) throws -> LocalComparisonResult {
        let names = NameTable()
        func values(_ value: Value) throws -> PropertyValues {
            let values: PropertyValues = ["CustomerID": .integer(1), "Name": value]
            return packs ? PropertyValues(try #require(values.packed(with: names))) : values
        }
        let id = try store.download("Customers", ["CustomerID": .integer(1)])
        let comparison = LocalComparison(
            storage: store.state, model: store.model, index: RelationshipIndex(store.model))
        let image = EntityImage(
            entity: id, set: "Customers", type: "Shop.Customer", values: try values(sent), etag: nil)
        let row = EntityRow(
            id: id, set: "Customers", type: "Shop.Customer", values: try values(known), origin: .service)
        return try comparison.finding(image, isNaming: false, row)
    }

    @Test(arguments: [
        Value.null, .integer(1), .string("a"), .decimal(1.5), .double(1.5), .single(1.5), .double(.nan),
        .collection([.double(1)]), .single(.nan), .collection([.double(.nan)]),
        .complex(ComplexValue(properties: ["A": .single(.nan)])),
    ])
    func `the same value is unchanged, also NaN`(value: Value) throws {
        #expect(try result(value, value, packs: false) == .unchanged)
        #expect(try result(value, value, packs: true) == .unchanged)
    }

    @Test(arguments: [
        (Value.decimal(DecimalValue("1.5")!), Value.decimal(DecimalValue("1.50")!)), (.double(0), .double(-0.0)),
        (.single(.nan), .single(1)), (.collection([.double(0)]), .collection([.double(-0.0)])),
        (.string("\u{E9}"), .string("e\u{301}")), (.integer(1), .integer(2)), (.null, .integer(0)),
    ])
    func `another value is a change, and so is another notation`(sent: Value, known: Value) throws {
        #expect(try result(sent, known, packs: false) == .changed)
        #expect(try result(sent, known, packs: true) == .changed)
    }
}
