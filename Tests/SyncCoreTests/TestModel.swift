import EDM
import Operations
import SyncCore

/// A small V4 model with the six combinations of multiplicities.
enum TestModel {
    static let metadata = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="Shop" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        \(type("Customer", "CustomerID", "<Property Name=\"Name\" Type=\"Edm.String\"/>" + many("Orders", "Order", "Customer")))
        \(type("Order", "OrderID", "<Property Name=\"CustomerID\" Type=\"Edm.Int32\"/><Property Name=\"Note\" Type=\"Edm.String\"/>" + one("Customer", "Customer", "Orders", nullable: true, key: "CustomerID")))
        \(type("Owner", "OwnerID", one("Car", "Car", "Owner", nullable: false)))
        \(type("Car", "CarID", "<Property Name=\"OwnerID\" Type=\"Edm.Int32\"/>" + one("Owner", "Owner", "Car", nullable: false, key: "OwnerID")))
        \(type("City", "CityID", one("Mayor", "Mayor", "City", nullable: true)))
        \(type("Mayor", "MayorID", "<Property Name=\"CityID\" Type=\"Edm.Int32\"/>" + one("City", "City", "Mayor", nullable: false, key: "CityID")))
        \(type("Father", "FatherID", many("Children", "Child", "Father")))
        \(type("Child", "ChildID", "<Property Name=\"FatherID\" Type=\"Edm.Int32\"/>" + one("Father", "Father", "Children", nullable: false, key: "FatherID")))
        \(type("Person", "PersonID", one("IDCard", "IDCard", "Person", nullable: true)))
        \(type("IDCard", "IDCardID", "<Property Name=\"PersonID\" Type=\"Edm.Int32\"/>" + one("Person", "Person", "IDCard", nullable: true, key: "PersonID")))
        \(type("Supplier", "SupplierID", many("Products", "Product", "Suppliers")))
        \(type("Product", "ProductID", many("Suppliers", "Supplier", "Products")))
        <EntityContainer Name="Container">
        \(set("Customers", "Customer", ["Orders": "Orders"])) \(set("Orders", "Order", ["Customer": "Customers"]))
        \(set("Owners", "Owner", ["Car": "Cars"])) \(set("Cars", "Car", ["Owner": "Owners"]))
        \(set("Cities", "City", ["Mayor": "Mayors"])) \(set("Mayors", "Mayor", ["City": "Cities"]))
        \(set("Fathers", "Father", ["Children": "Children"])) \(set("Children", "Child", ["Father": "Fathers"]))
        \(set("Persons", "Person", ["IDCard": "IDCards"])) \(set("IDCards", "IDCard", ["Person": "Persons"]))
        \(set("Suppliers", "Supplier", ["Products": "Products"])) \(set("Products", "Product", ["Suppliers": "Suppliers"]))
        </EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
        """

    static let service = ServiceDescription(root: "http://127.0.0.1/v4/", metadata: Array(metadata.utf8))

    /// Customers with orders, in V2.
    static let legacyMetadata = """
        <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx">
        <edmx:DataServices m:DataServiceVersion="2.0" \
        xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
        <Schema Namespace="Shop" xmlns="http://schemas.microsoft.com/ado/2008/09/edm">
        \(type("Customer", "CustomerID", "<Property Name=\"Name\" Type=\"Edm.String\"/>"
            + legacy("Orders", from: "Customer", to: "Order")))
        \(type("Order", "OrderID", "<Property Name=\"CustomerID\" Type=\"Edm.Int32\"/>"
            + legacy("Customer", from: "Order", to: "Customer")))
        <Association Name="Customer_Order">
        <End Role="Customer" Type="Shop.Customer" Multiplicity="0..1"/>
        <End Role="Order" Type="Shop.Order" Multiplicity="*"/>
        <ReferentialConstraint><Principal Role="Customer"><PropertyRef Name="CustomerID"/></Principal>
        <Dependent Role="Order"><PropertyRef Name="CustomerID"/></Dependent></ReferentialConstraint>
        </Association>
        <EntityContainer Name="Container" m:IsDefaultEntityContainer="true">
        <EntitySet Name="Customers" EntityType="Shop.Customer"/><EntitySet Name="Orders" EntityType="Shop.Order"/>
        <AssociationSet Name="Customer_Order" Association="Shop.Customer_Order">
        <End Role="Customer" EntitySet="Customers"/><End Role="Order" EntitySet="Orders"/>
        </AssociationSet>
        </EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
        """

    static let legacyService = ServiceDescription(
        root: "http://127.0.0.1/v2/", metadata: Array(legacyMetadata.utf8))

    private static func legacy(_ name: String, from: String, to: String) -> String {
        "<NavigationProperty Name=\"\(name)\" Relationship=\"Shop.Customer_Order\" FromRole=\"\(from)\" ToRole=\"\(to)\"/>"
    }

    private static func type(_ name: String, _ key: String, _ content: String) -> String {
        "<EntityType Name=\"\(name)\"><Key><PropertyRef Name=\"\(key)\"/></Key><Property Name=\"\(key)\" Type=\"Edm.Int32\" Nullable=\"false\"/>\(content)</EntityType>"
    }

    private static func many(_ name: String, _ target: String, _ partner: String) -> String {
        "<NavigationProperty Name=\"\(name)\" Type=\"Collection(Shop.\(target))\" Partner=\"\(partner)\"/>"
    }

    private static func one(
        _ name: String, _ target: String, _ partner: String, nullable: Bool, key: String? = nil
    ) -> String {
        let constraint =
            key.map { "<ReferentialConstraint Property=\"\($0)\" ReferencedProperty=\"\($0)\"/>" } ?? ""
        return
            "<NavigationProperty Name=\"\(name)\" Type=\"Shop.\(target)\" Nullable=\"\(nullable)\" Partner=\"\(partner)\">\(constraint)</NavigationProperty>"
    }

    private static func set(_ name: String, _ type: String, _ bindings: [String: String]) -> String {
        let lines = bindings.sorted { $0.key < $1.key }.map {
            "<NavigationPropertyBinding Path=\"\($0.key)\" Target=\"\($0.value)\"/>"
        }
        return "<EntitySet Name=\"\(name)\" EntityType=\"Shop.\(type)\">\(lines.joined())</EntitySet>"
    }
}
