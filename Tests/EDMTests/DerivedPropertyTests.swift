import EDM
import Testing

/// Properties that only derived types of a set's declared type have.
struct DerivedPropertyTests {
    private static func type(_ name: String, _ base: String, _ properties: String = "") -> String {
        "<EntityType Name=\"\(name)\" BaseType=\"S.\(base)\">\(properties)</EntityType>"
    }

    private static func property(_ name: String) -> String { "<Property Name=\"\(name)\" Type=\"Edm.String\"/>" }

    @Test func `a property of derived types is found in each type that declares it`() throws {
        let model = try EntityDataModel.v4(
            CSDLSource.entityType("Item", Self.property("Name"))
                + Self.type("Train", "Item", Self.property("Line")) + Self.type("Local", "Train")
                + Self.type("Flight", "Item") + Self.type("Charter", "Flight", Self.property("Line"))
                + #"<EntityContainer Name="C"><EntitySet Name="Items" EntityType="S.Item"/></EntityContainer>"#)
        let set = try #require(model.findEntitySet("Items"))
        let found = model.declarations(of: "Line", in: set.entityType)
        #expect(found.map(\.declaringType) == ["S.Charter", "S.Train"])
        #expect(found.map { set.cast(for: $0) } == ["S.Charter", "S.Train"])
        let name = try #require(model.declarations(of: "Name", in: set.entityType).first)
        #expect(set.cast(for: name) == nil)
        #expect(model.declarations(of: "Missing", in: set.entityType).isEmpty)
    }
}
