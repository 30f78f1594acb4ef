import EDM
import Testing

/// Whether a model may have mandatory ends, without which no change needs a check of cardinality.
struct MandatoryEndTests {
    /// Returns a V2 model with one association between `A` and `B`, and the given navigation properties of `A`.
    private func legacy(
        _ first: String, _ second: String, navigations: String = "", derived: String = ""
    ) throws -> EntityDataModel {
        try .v2(
            CSDLSource.entityType("A", navigations) + CSDLSource.entityType("B") + derived
                + #"<Association Name="AB"><End Role="A" Type="S.A" Multiplicity="\#(first)"/>"#
                + #"<End Role="B" Type="S.B" Multiplicity="\#(second)"/></Association>"#
                + #"<EntityContainer Name="E"><EntitySet Name="As" EntityType="S.A"/>"#
                + #"<EntitySet Name="Bs" EntityType="S.B"/><AssociationSet Name="ABs" Association="S.AB">"#
                + #"<End Role="A" EntitySet="As"/><End Role="B" EntitySet="Bs"/></AssociationSet></EntityContainer>"#)
    }

    private static let toB = #"<NavigationProperty Name="B" Relationship="S.AB" FromRole="A" ToRole="B"/>"#

    @Test func `a mandatory target counts`() throws {
        let model = try legacy("*", "1", navigations: Self.toB)
        #expect(model.findEntityType("S.A")?.findProperty("B")?.navigation?.multiplicity == .one)
        #expect(model.hasMandatoryEnds)
    }

    @Test func `a mandatory source counts, although the association is navigable from one end only`() throws {
        let model = try legacy("1", "*", navigations: Self.toB)
        let navigation = try #require(model.findEntityType("S.A")?.findProperty("B")?.navigation)
        #expect(navigation.sourceMultiplicity == .one && navigation.multiplicity == .many)
        #expect(model.hasMandatoryEnds)
    }

    @Test func `a mandatory end of a derived type counts`() throws {
        let model = try EntityDataModel.v4(
            CSDLSource.entityType("A") + CSDLSource.entityType("B")
                + #"<EntityType Name="D" BaseType="S.A"><NavigationProperty Name="B" Type="S.B" Nullable="false"/>"#
                + #"</EntityType><EntityContainer Name="E"><EntitySet Name="As" EntityType="S.A"/>"#
                + #"<EntitySet Name="Bs" EntityType="S.B"/></EntityContainer>"#)
        let own = try #require(model.findEntityType("S.A"))
        #expect(own.navigationProperties.isEmpty)
        #expect(model.hasMandatoryEnds)
    }

    @Test func `containment counts, because a contained entity has a container`() throws {
        let model = try EntityDataModel.v4(
            CSDLSource.entityType("A", #"<NavigationProperty Name="Bs" Type="Collection(S.B)" ContainsTarget="true"/>"#)
                + CSDLSource.entityType("B")
                + #"<EntityContainer Name="E"><EntitySet Name="As" EntityType="S.A"/></EntityContainer>"#)
        #expect(model.hasMandatoryEnds)
    }

    @Test func `a mandatory end of a set's type counts, although the model does not have the type`() {
        let navigation = Navigation(
            targetType: "S.B", multiplicity: .one, sourceMultiplicity: .many, partner: nil,
            relationship: Relationship(name: "S.A/B", isForward: true))
        let property = Property(
            name: "B", type: TypeReference(.entity(name: "S.B")), isNullable: false, navigation: navigation,
            declaringType: "S.A")
        let type = EntityType(kind: .entity, name: "S.A", properties: [], navigationProperties: [property])
        func model(_ sets: [EntitySet], _ singletons: [EntitySet]) -> EntityDataModel {
            EntityDataModel(
                version: .v4, schemas: [], structuredTypes: [], enumerationTypes: [], entitySets: sets,
                singletons: singletons)
        }
        #expect(model([EntitySet(name: "As", entityType: type)], []).hasMandatoryEnds)
        #expect(model([], [EntitySet(name: "One", entityType: type, isSingleton: true)]).hasMandatoryEnds)
        #expect(!model([], []).hasMandatoryEnds)
    }

    @Test(arguments: [("*", "0..1"), ("0..1", "*"), ("*", "*"), ("0..1", "0..1")])
    func `a model without mandatory ends has none`(first: String, second: String) throws {
        #expect(try !legacy(first, second, navigations: Self.toB).hasMandatoryEnds)
        #expect(try !legacy(first, second).hasMandatoryEnds)
    }

    @Test func `a V4 model without mandatory ends has none`() throws {
        let model = try EntityDataModel.v4(
            CSDLSource.entityType("A", #"<NavigationProperty Name="Bs" Type="Collection(S.B)" Partner="A"/>"#)
                + CSDLSource.entityType("B", #"<NavigationProperty Name="A" Type="S.A" Partner="Bs"/>"#)
                + #"<EntityContainer Name="E"><EntitySet Name="As" EntityType="S.A"/>"#
                + #"<EntitySet Name="Bs" EntityType="S.B"/></EntityContainer>"#)
        #expect(!model.hasMandatoryEnds)
    }
}
