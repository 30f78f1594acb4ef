import EDM
import ODataQuery
import ODataWire
import Operations
import SyncCore
import Testing

/// The property of the update that compares the ETag of an entity before its deletion.
struct ETagCheckTests {
    /// Returns the first request of a change set that unlinks and deletes a customer with these properties.
    private func check(
        _ properties: String, _ values: PropertyValues, set annotations: String = "", types: String = ""
    ) throws -> String? {
        var text = TestModel.metadata
        text = text.replacing(
            #"<Property Name="Name" Type="Edm.String"/>"#,
            with: properties + #"<Property Name="Name" Type="Edm.String"/>"#)
        text = text.replacing(
            #"<EntitySet Name="Customers" EntityType="Shop.Customer">"#,
            with: #"<EntitySet Name="Customers" EntityType="Shop.Customer">"# + annotations)
        text = text.replacing(#"<EntityType Name="Customer">"#, with: types + #"<EntityType Name="Customer">"#)
        let store = try TestStore(ServiceDescription(root: TestModel.service.root, metadata: Array(text.utf8)))
        var all: PropertyValues = ["CustomerID": .integer(1), "Name": .string("n")]
        all.merge(values)
        let customer = try store.download("Customers", all, etag: "\"1\"")
        let order = try store.download("Orders", ["OrderID": .integer(1), "CustomerID": .integer(1)])
        try store.perform([.deleteLink(link(order, "Customer", customer)), .delete(customer)], changeSet: true)
        return store.requests(try store.plan()).first
    }

    private static let byName = #"PATCH Customers(1) {"Name":"n"}"#

    @Test(arguments: ["Computed", "Immutable"])
    func `a computed or immutable property is not chosen`(_ term: String) throws {
        let property =
            #"<Property Name="A" Type="Edm.Int32"><Annotation Term="Org.OData.Core.V1.\#(term)"/></Property>"#
        #expect(try check(property, ["A": .integer(1)]) == Self.byName)
    }

    @Test(arguments: ["Org.OData.Core.V1.Permission/Read", "Org.OData.Core.V1.Permission/Write", "Read", "None"])
    func `a property that is not both readable and writable is not chosen`(_ permission: String) throws {
        let annotation = #"<Annotation Term="Org.OData.Core.V1.Permissions" EnumMember="\#(permission)"/>"#
        let property = #"<Property Name="A" Type="Edm.Int32">\#(annotation)</Property>"#
        #expect(try check(property, ["A": .null]) == Self.byName)
    }

    @Test(arguments: [
        "Org.OData.Core.V1.Permission/ReadWrite",
        "Org.OData.Core.V1.Permission/Read Org.OData.Core.V1.Permission/Write",
    ])
    func `a property that is readable and writable is chosen`(_ permission: String) throws {
        let annotation = #"<Annotation Term="Org.OData.Core.V1.Permissions" EnumMember="\#(permission)"/>"#
        let property = #"<Property Name="A" Type="Edm.Int32">\#(annotation)</Property>"#
        #expect(try check(property, ["A": .integer(1)]) == #"PATCH Customers(1) {"A":1}"#)
    }

    @Test func `a property that the set does not update is not chosen`() throws {
        let restriction =
            #"<Annotation Term="Org.OData.Capabilities.V1.UpdateRestrictions"><Record><PropertyValue Property="NonUpdatableProperties"><Collection><PropertyPath>A</PropertyPath></Collection></PropertyValue></Record></Annotation>"#
        #expect(
            try check(#"<Property Name="A" Type="Edm.Int32"/>"#, ["A": .integer(1)], set: restriction) == Self.byName)
    }

    @Test func `a stream and a property that was never read are not chosen`() throws {
        let properties = #"<Property Name="A" Type="Edm.Stream"/><Property Name="B" Type="Edm.Int32"/>"#
        #expect(try check(properties, [:]) == Self.byName)
    }

    @Test func `a plain value precedes a complex value, whose members may be computed`() throws {
        let type = #"<ComplexType Name="Place"><Property Name="X" Type="Edm.Int32"/></ComplexType>"#
        let place = Value.complex(ComplexValue(properties: ["X": .integer(1)]))
        #expect(try check(#"<Property Name="A" Type="Shop.Place"/>"#, ["A": place], types: type) == Self.byName)
    }
}
