import EDM
import Testing

/// The container whose sets are addressed without its name (MS-CSDL 2.1.17, MS-ODATA 2.2.3.1).
struct EntityContainerTests {
    private func model(_ containers: (name: String, isDefault: Bool?, sets: [String])...) throws -> EntityDataModel {
        let elements = containers.map { container in
            let mark = container.isDefault.map { #" m:IsDefaultEntityContainer="\#($0)""# } ?? ""
            let sets = container.sets.map { #"<EntitySet Name="\#($0)" EntityType="N.T"/>"# }.joined()
            return #"<EntityContainer Name="\#(container.name)"\#(mark)>\#(sets)</EntityContainer>"#
        }
        return try CSDLReader.read(
            Array(
                """
                <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx"
                    xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
                  <edmx:DataServices m:DataServiceVersion="2.0">
                    <Schema Namespace="N" xmlns="http://schemas.microsoft.com/ado/2008/09/edm">
                      <EntityType Name="T"><Key><PropertyRef Name="ID"/></Key>
                        <Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
                      \(elements.joined())
                    </Schema>
                  </edmx:DataServices>
                </edmx:Edmx>
                """.utf8))
    }

    @Test func `sets outside of the default container are addressed with the name of their container`() throws {
        let model = try model(("C1", true, ["A"]), ("C2", nil, ["B"]), ("C3", false, ["D"]))
        #expect(model.entitySets.map(\.name) == ["A", "B", "D"])
        #expect(model.entitySets.map(\.segment) == ["A", "C2.B", "C3.D"])
    }

    @Test func `without an explicit default, the default is the only container or the first unmarked one`() throws {
        #expect(try model(("C1", nil, ["A"])).entitySets.map(\.segment) == ["A"])
        #expect(try model(("C1", false, ["A"])).entitySets.map(\.segment) == ["A"])
        #expect(try model(("C1", nil, ["A"]), ("C2", nil, ["B"])).entitySets.map(\.segment) == ["A", "C2.B"])
        #expect(try model(("C1", false, ["A"]), ("C2", nil, ["B"])).entitySets.map(\.segment) == ["C1.A", "B"])
    }

    @Test func `sets with the same name in different containers are distinct`() throws {
        let model = try model(("C2", nil, ["A", "B"]), ("C1", true, ["A"]))
        #expect(model.entitySets.map(\.name) == ["C2.A", "B", "A"])
        #expect(model.findEntitySet("A")?.segment == "A")
        #expect(model.findEntitySet("C2.A")?.segment == "C2.A")
        #expect(model.findEntitySet("A") != model.findEntitySet("C2.A"))
    }
}
