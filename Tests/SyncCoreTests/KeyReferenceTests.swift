import EDM
import ODataWire
import Operations
import SyncCore
import Testing

/// RC-24: a create whose key contains the key of a related entity includes that entity (OData 4.01 Part 1, 11.4.2).
@Suite struct KeyReferenceTests {
    private func store(computed: Bool = false) throws -> TestStore { try TestStore(Self.service(computed: computed)) }

    @Test func `a create includes the related entity whose key is part of its own`() throws {
        let store = try store()
        try store.download("Invoices", ["ID": .integer(7)])
        try store.create("Lines", ["InvoiceID": .integer(7), "Number": .integer(1)])
        #expect(
            store.requests(try store.plan()) == [
                #"POST Lines {"InvoiceID":7,"Number":1,"Invoice@odata.bind":"http://s/Invoices(7)"}"#
            ])
    }

    @Test func `the related entity is included if the store does not have it`() throws {
        let store = try store()
        try store.create("Lines", ["InvoiceID": .integer(8), "Number": .integer(1)])
        #expect(store.requests(try store.plan())[0].contains(#""Invoice@odata.bind":"http://s/Invoices(8)""#))
    }

    @Test func `a related entity of the same change set is referenced by its Content-ID`() throws {
        let store = try store()
        let invoice = try store.newID()
        let line = EntityID(rawValue: invoice.rawValue + 1)
        try store.perform(
            [
                .create(store.creation(invoice, "Invoices", ["ID": .integer(9)]), parent: nil),
                .create(store.creation(line, "Lines", ["InvoiceID": .integer(9), "Number": .integer(1)]), parent: nil),
            ], changeSet: true)
        #expect(
            store.requests(try store.plan()) == [
                #"POST Invoices {"ID":9}"#,
                #"POST Lines {"InvoiceID":9,"Number":1,"Invoice@odata.bind":"$1"}"#,
            ])
    }

    @Test func `without references in bodies, the entity is created in the collection of the related one`() throws {
        let store = try store()
        store.service = ServiceOptions(contentIDReferences: .urlsOnly)
        let invoice = try store.newID()
        let line = EntityID(rawValue: invoice.rawValue + 1)
        try store.perform(
            [
                .create(store.creation(invoice, "Invoices", ["ID": .integer(9)]), parent: nil),
                .create(store.creation(line, "Lines", ["InvoiceID": .integer(9), "Number": .integer(1)]), parent: nil),
            ], changeSet: true)
        #expect(store.requests(try store.plan()).last == #"POST $1/Lines {"InvoiceID":9,"Number":1}"#)
    }

    @Test func `a create in the collection of the related entity, or inside of it, needs no reference`() throws {
        let store = try store()
        let invoice = try store.download("Invoices", ["ID": .integer(7)])
        let values: PropertyValues = ["InvoiceID": .integer(7), "Number": .integer(1)]
        try store.create("Lines", values, parent: Parent(entity: invoice, navigation: "Lines"))
        #expect(
            store.requests(try store.plan()) == [#"POST Invoices(7)/Lines {"InvoiceID":7,"Number":1}"#])

        let other = try self.store()
        other.service = ServiceOptions(deepInsertToMany: .inOrder)
        let id = try other.newID()
        let line = other.creation(
            EntityID(rawValue: id.rawValue + 1), "Lines", ["InvoiceID": .integer(9), "Number": .integer(1)])
        let inline = Creation.Inline(navigation: "Lines", entities: [line])
        try other.perform([
            .create(other.creation(id, "Invoices", ["ID": .integer(9)], inline: [inline]), parent: nil)
        ])
        #expect(
            other.requests(try other.plan()) == [
                #"POST Invoices {"ID":9,"Lines":[{"InvoiceID":9,"Number":1}]}"#
            ])
    }

    @Test func `a binding of the app is sent with the values of the key`() throws {
        let store = try store()
        let invoice = try store.download("Invoices", ["ID": .integer(7)])
        try store.create(
            "Lines", ["InvoiceID": .integer(7), "Number": .integer(1)],
            bindings: [Binding(navigation: "Invoice", targets: [invoice])])
        #expect(
            store.requests(try store.plan()) == [
                #"POST Lines {"InvoiceID":7,"Number":1,"Invoice@odata.bind":"http://s/Invoices(7)"}"#
            ])
    }

    @Test func `a provisional key that the service computes is not sent along with the binding`() throws {
        let store = try store(computed: true)
        let invoice = try store.newID()
        let line = EntityID(rawValue: invoice.rawValue + 1)
        try store.perform(
            [
                .create(store.creation(invoice, "Invoices", ["ID": .integer(-1)]), parent: nil),
                .create(
                    store.creation(
                        line, "Lines", ["InvoiceID": .integer(-1), "Number": .integer(1)],
                        bindings: [Binding(navigation: "Invoice", targets: [invoice])]), parent: nil),
            ], changeSet: true)
        #expect(
            store.requests(try store.plan()).last == #"POST Lines {"Number":1,"Invoice@odata.bind":"$1"}"#)
    }

    @Test func `a key of an existing entity is sent with the binding, also if the service computed it`() throws {
        let store = try store(computed: true)
        let invoice = try store.download("Invoices", ["ID": .integer(7)])
        try store.create(
            "Lines", ["InvoiceID": .integer(7), "Number": .integer(1)],
            bindings: [Binding(navigation: "Invoice", targets: [invoice])])
        #expect(
            store.requests(try store.plan()) == [
                #"POST Lines {"InvoiceID":7,"Number":1,"Invoice@odata.bind":"http://s/Invoices(7)"}"#
            ])
    }

    @Test func `without support of bindings the create is sent with the values of the key`() throws {
        let store = try store()
        store.service = ServiceOptions(supportsBind: false)
        try store.create("Lines", ["InvoiceID": .integer(7), "Number": .integer(1)])
        #expect(store.requests(try store.plan()) == [#"POST Lines {"InvoiceID":7,"Number":1}"#])
    }

    private static func service(computed: Bool) -> ServiceDescription {
        let metadata = """
            <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
            <Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">
            <EntityType Name="Invoice"><Key><PropertyRef Name="ID"/></Key>
              <Property Name="ID" Type="Edm.Int32" Nullable="false">
              <Annotation Term="Org.OData.Core.V1.Computed" Bool="\(computed)"/></Property>
              <NavigationProperty Name="Lines" Type="Collection(S.Line)" Partner="Invoice"/>
            </EntityType>
            <EntityType Name="Line"><Key><PropertyRef Name="InvoiceID"/><PropertyRef Name="Number"/></Key>
              <Property Name="InvoiceID" Type="Edm.Int32" Nullable="false"/>
              <Property Name="Number" Type="Edm.Int32" Nullable="false"/>
              <NavigationProperty Name="Invoice" Type="S.Invoice" Nullable="false" Partner="Lines">
                <ReferentialConstraint Property="InvoiceID" ReferencedProperty="ID"/>
              </NavigationProperty>
            </EntityType>
            <EntityContainer Name="C">
              <EntitySet Name="Invoices" EntityType="S.Invoice">
                <NavigationPropertyBinding Path="Lines" Target="Lines"/></EntitySet>
              <EntitySet Name="Lines" EntityType="S.Line">
                <NavigationPropertyBinding Path="Invoice" Target="Invoices"/></EntitySet>
            </EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
            """
        return ServiceDescription(root: "http://127.0.0.1/v4/", metadata: Array(metadata.utf8))
    }
}
