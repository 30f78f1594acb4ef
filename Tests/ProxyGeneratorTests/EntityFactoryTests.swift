import EDM
import Logging
import OfflineStore
import Testing

@testable import Tidelog

/// The choice of the class for a result.
@Suite struct EntityFactoryTests {
    private final class Person: EntityValue {}
    private final class Boss: EntityValue {}

    private func entity(_ type: String, classes: [String: EntityValue.Type]) throws -> EntityValue? {
        let model = try CSDLReader.read(
            Array(
                """
                <Schema Namespace="N" xmlns="http://docs.oasis-open.org/odata/ns/edm">
                <EntityType Name="Person"><Key><PropertyRef Name="ID"/></Key>
                <Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
                <EntityType Name="Employee" BaseType="N.Person"/><EntityType Name="Boss" BaseType="N.Employee"/>
                </Schema>
                """.utf8))
        let snapshot = EntitySnapshot(
            set: "People", type: type, values: ["ID": .integer(1)], readLink: "People(1)", editLink: "People(1)")
        let provider = OfflineODataProvider(parameters: OfflineODataParameters(storePath: "/nonexistent"))
        return EntityFactory(
            model: model, classes: classes, provider: provider, logger: Logger(label: "tests")
        ).entity(snapshot)
    }

    @Test func `an entity of a type with its own class is an instance of that class`() throws {
        #expect(try entity("N.Boss", classes: ["N.Person": Person.self, "N.Boss": Boss.self]) is Boss)
    }

    @Test func `an entity of a type without a class is an instance of the nearest base type's class`() throws {
        #expect(try entity("N.Boss", classes: ["N.Person": Person.self]) is Person)
    }

    @Test func `an entity of a type without any class is an EntityValue`() throws {
        let found = try #require(try entity("N.Boss", classes: [:]))
        #expect(type(of: found) == EntityValue.self)
    }

    @Test func `a type that is not in the model yields nil`() throws {
        #expect(try entity("N.Stranger", classes: [:]) == nil)
    }
}
