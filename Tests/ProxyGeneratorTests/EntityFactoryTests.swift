import EDM
import Logging
import OfflineStore
import Testing

@testable import Tidelog

/// The choice of the class for a result.
@Suite struct EntityFactoryTests {
    private final class Person: EntityValue {}
    private final class Boss: EntityValue {}

    /// A class whose objects have an entity set of their own from the beginning.
    private final class Placed: EntityValue {
        required init(_ entityType: EntityType, withDefaults: Bool = false) {
            super.init(entityType, withDefaults: withDefaults)
            entitySet = (try? EntityFactoryTests.model())?.findEntitySet("Places")
        }
    }

    private static func model() throws -> EntityDataModel {
        try CSDLReader.read(
            Array(
                """
                <Schema Namespace="N" xmlns="http://docs.oasis-open.org/odata/ns/edm">
                <EntityType Name="Person"><Key><PropertyRef Name="ID"/></Key>
                <Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
                <EntityType Name="Employee" BaseType="N.Person"/><EntityType Name="Boss" BaseType="N.Employee"/>
                <EntityContainer Name="C"><EntitySet Name="People" EntityType="N.Person"/>
                <EntitySet Name="Places" EntityType="N.Person"/></EntityContainer>
                </Schema>
                """.utf8))
    }

    private func factory(_ classes: [String: EntityValue.Type]) throws -> EntityFactory {
        let provider = OfflineODataProvider(parameters: OfflineODataParameters(storePath: "/nonexistent"))
        return EntityFactory(
            model: try Self.model(), classes: classes, provider: provider, logger: Logger(label: "tests"))
    }

    private func snapshot(_ type: String, set: String = "People") -> EntitySnapshot {
        EntitySnapshot(
            set: set, type: type, values: ["ID": .integer(1)], readLink: "People(1)", editLink: "People(1)")
    }

    private func entity(_ type: String, classes: [String: EntityValue.Type]) throws -> EntityValue? {
        try factory(classes).entity(snapshot(type))
    }

    @Test func `the set of the model precedes the own set of an object, which precedes a set of the queue`() throws {
        for (set, own, plain) in [
            ("People", "People", "People"), ("RequestQueue", "Places", "RequestQueue"), ("Unknown", "Places", nil),
        ] {
            for (classes, expected) in [(["N.Person": Placed.self], own), ([:], plain)]
                as [([String: EntityValue.Type], String?)]
            {
                let factory = try factory(classes)
                let entity = try #require(factory.entity(snapshot("N.Person", set: set)))
                #expect(entity.entitySet?.name == expected, "\(set)")
                entity.apply(snapshot("N.Person", set: set), factory)
                #expect(entity.entitySet?.name == expected, "\(set), applied")
            }
        }
    }

    @Test func `values are found after a change and after a further read`() throws {
        func packed(_ values: PropertyValues) throws -> PropertyValues {
            PropertyValues(try #require(values.packed(with: NameTable())))
        }
        let factory = try factory([:])
        var read = snapshot("N.Person")
        read.values = try packed(["A": .string("long"), "B": .integer(2), "C": .integer(3)])
        let entity = try #require(factory.entity(read))
        #expect(entity["B"] == .integer(2))
        read.values = try packed(["B": .string("other"), "C": .integer(4)])
        entity.apply(read, factory)
        #expect(entity["C"] == .integer(4))
        entity["B"] = nil
        #expect(entity["C"] == .integer(4) && entity["B"] == nil)
        #expect(entity.savedValues == read.values && entity.changedValues.isEmpty)
        entity["C"] = .integer(5)
        #expect(entity.changedValues == ["C": .integer(5)])
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
