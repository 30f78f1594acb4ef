import ProxyGenerator
import Testing

/// The declarations generated for each element of the metadata.
@Suite struct DeclarationTests {
    private func files(
        _ schema: String, sets: String = "", _ options: ProxyOptions = ProxyOptions(allowsCaseConflicts: true)
    ) throws -> [GeneratedFile] {
        let document = """
            <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" \
            xmlns:sap="http://www.sap.com/Protocols/SAPData"><edmx:DataServices>
            <Schema Namespace="N" xmlns="http://docs.oasis-open.org/odata/ns/edm">\(schema)
            <EntityType Name="Thing"><Key><PropertyRef Name="ID"/></Key>\
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
            <EntityContainer Name="Container">\(sets)</EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
            """
        return try ProxySources(metadata: Array(document.utf8), options: options).files
    }

    private func text(_ name: String, in files: [GeneratedFile]) throws -> String {
        try #require(files.first { $0.name == "\(name).swift" }, "\(files.map(\.name))").text
    }

    private func type(_ body: String, attributes: String = "") -> String {
        """
        <EntityType Name="Order" \(attributes)><Key><PropertyRef Name="ID"/></Key>\
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/>\(body)</EntityType>
        """
    }

    private func order(_ body: String, attributes: String = "", _ options: ProxyOptions = ProxyOptions()) throws
        -> String
    {
        try text("Order", in: files(type(body, attributes: attributes), options))
    }

    // MARK: Properties

    @Test func `a structural property is declared with its owner and Swift type`() throws {
        let text = try order("<Property Name=\"Total\" Type=\"Edm.Decimal\"/>")
        #expect(text.contains("public static let total = StructuralProperty<Order, DecimalValue>("))
    }

    @Test func `a single-valued navigation property is declared as a to-one relation`() throws {
        let text = try order("<NavigationProperty Name=\"Thing\" Type=\"N.Thing\"/>")
        #expect(text.contains("static let thing = ToOneProperty<Order, Thing>("))
        #expect(text.contains("open var thing: ToOne<Thing> {"))
    }

    @Test func `a collection-valued navigation property is declared as a mutable to-many relation`() throws {
        let text = try order("<NavigationProperty Name=\"Things\" Type=\"Collection(N.Thing)\"/>")
        #expect(text.contains("static let things = ToManyProperty<Order, Thing>("))
        #expect(text.contains("open var things: ToMany<Thing> {"))
        #expect(text.contains("_modify { yield &self[Order.things] }"))
    }

    @Test func `a navigation property to a type of another document is a plain property`() throws {
        let text = try order("<NavigationProperty Name=\"Far\" Type=\"Elsewhere.Thing\"/>")
        #expect(text.contains("static let far = ContainerMetadata.embedded.property("))
        #expect(!text.contains("var far"))
    }

    @Test func `a navigation property to Edm.EntityType has the class EntityValue`() throws {
        let text = try order("<NavigationProperty Name=\"Any\" Type=\"Edm.EntityType\"/>")
        #expect(text.contains("static let any = ToOneProperty<Order, EntityValue>("))
    }

    @Test func `without optionals a nullable property is optional and any other property is not`() throws {
        let properties =
            "<Property Name=\"A\" Type=\"Edm.Int32\" Nullable=\"false\"/><Property Name=\"B\" Type=\"Edm.Int32\"/>"
        let text = try order(properties, ProxyOptions(disablesOptionals: true))
        #expect(text.contains("open var a: Int {") && text.contains("open var b: Int? {"))
    }

    // MARK: Keys

    @Test func `a key function has a typed parameter for each key property`() throws {
        let type = """
            <EntityType Name="Price"><Key><PropertyRef Name="Day"/><PropertyRef Name="Currency"/></Key>\
            <Property Name="Currency" Type="Edm.String" Nullable="false"/>\
            <Property Name="Day" Type="Edm.Date" Nullable="false"/></EntityType>
            """
        let files = try files(type, sets: "<EntitySet Name=\"Prices\" EntityType=\"N.Price\"/>")
        #expect(
            try text("Price", in: files).contains("static func key(day: LocalDate, currency: String) -> KeyPredicate {")
        )
        #expect(
            try text("Container", in: files).contains(
                "key: Price.key(day: day, currency: currency), query, headers: headers)"))
    }

    @Test func `a key with a path has no key function`() throws {
        let type = """
            <ComplexType Name="Name"><Property Name="Text" Type="Edm.String" Nullable="false"/></ComplexType>\
            <EntityType Name="Price"><Key><PropertyRef Name="Name/Text" Alias="Text"/></Key>\
            <Property Name="Name" Type="N.Name" Nullable="false"/></EntityType>
            """
        let files = try files(type, sets: "<EntitySet Name=\"Prices\" EntityType=\"N.Price\"/>")
        #expect(!(try text("Price", in: files).contains("func key(")))
        #expect(!(try text("Container", in: files).contains("key:")))
    }

    @Test func `a key property named query does not hide the parameter query`() throws {
        let type = """
            <EntityType Name="Price"><Key><PropertyRef Name="query"/></Key>\
            <Property Name="query" Type="Edm.String" Nullable="false"/></EntityType>
            """
        let text = try text(
            "Container", in: files(type, sets: "<EntitySet Name=\"Prices\" EntityType=\"N.Price\"/>"))
        #expect(text.contains("query: String, query_2: DataQuery = DataQuery()"))
    }

    // MARK: Complex types

    @Test func `the struct of a complex type declares the inherited properties`() throws {
        let types = """
            <ComplexType Name="A"><Property Name="X" Type="Edm.String"/></ComplexType>\
            <ComplexType Name="B" BaseType="N.A"><Property Name="Y" Type="Edm.String"/></ComplexType>
            """
        let text = try text("B", in: files(types))
        #expect(text.contains("public struct B: TypedComplexValue {"))
        #expect(
            text.contains("static let x = StructuralProperty<B, String>(") && text.contains("public var x: String?"))
    }

    @Test func `a complex type's navigation property is a plain property`() throws {
        let text = try text(
            "A", in: files("<ComplexType Name=\"A\"><NavigationProperty Name=\"X\" Type=\"N.Thing\"/></ComplexType>"))
        #expect(text.contains("static let x = ContainerMetadata.embedded.property("))
        #expect(!text.contains("var x"))
    }

    // MARK: Enumerations

    private let color =
        "<EnumType Name=\"Color\"><Member Name=\"Red\" Value=\"-3\"/><Member Name=\"Dark-Red\"/></EnumType>"

    @Test func `an enumeration declares its members as cases with their names as raw values`() throws {
        let text = try text("Color", in: files(color))
        #expect(text.contains("public enum Color: String, ClosedEnumeration {"))
        #expect(text.contains("case red = \"Red\"") && text.contains("case dark_Red = \"Dark-Red\""))
    }

    @Test func `an open enumeration is a struct with constants`() throws {
        let text = try text("Color", in: files(color, ProxyOptions(hasOpenEnumerations: true)))
        #expect(text.contains("public struct Color: OpenEnumeration {"))
        #expect(text.contains("public static let red = Self(rawValue: \"Red\")"))
    }

    @Test(arguments: [(false, "FlagsEnumeration"), (true, "OpenFlagsEnumeration")])
    func `a flags enumeration is an option set`(isOpen: Bool, base: String) throws {
        let flags = "<EnumType Name=\"Color\" IsFlags=\"true\"><Member Name=\"Red\" Value=\"1\"/></EnumType>"
        #expect(
            try text("Color", in: files(flags, ProxyOptions(hasOpenEnumerations: isOpen)))
                .contains("public struct Color: \(base) {"))
    }

    @Test func `an enumeration without members is declared as an open enumeration`() throws {
        #expect(try text("Color", in: files("<EnumType Name=\"Color\"/>")).contains("struct Color: OpenEnumeration {"))
    }

    @Test func `a member named None is renamed, so that it differs from Optional.none`() throws {
        let text = try text("Color", in: files("<EnumType Name=\"Color\"><Member Name=\"None\"/></EnumType>"))
        #expect(text.contains("case none_ = \"None\""))
    }

    @Test(arguments: [false, true])
    func `the service class declares whether its enumerations are open`(isOpen: Bool) throws {
        #expect(
            try text("Container", in: files(color, ProxyOptions(hasOpenEnumerations: isOpen)))
                .contains("override var hasOpenEnumerations: Bool? { \(isOpen) }"))
    }

    // MARK: Services

    @Test func `the service class has functions for each singleton`() throws {
        let text = try text("Container", in: files("", sets: "<Singleton Name=\"Me\" Type=\"N.Thing\"/>"))
        #expect(text.contains("func me("))
        #expect(text.contains("query: DataQuery = DataQuery(), headers: HTTPHeaders = .empty"))
        #expect(text.contains("func fetchMe("))
    }

    @Test func `overloads share one name, and get a number if their labels are equal`() throws {
        let functions = ["X", "Y"].map { name in
            """
            <EntityType Name="\(name)"/><Function Name="Count" IsBound="true">\
            <Parameter Name="all" Type="Collection(N.\(name))"/><ReturnType Type="Edm.Int32"/></Function>
            """
        }
        let more = """
            <Function Name="Count" IsBound="true"><Parameter Name="all" Type="Collection(N.X)"/>\
            <Parameter Name="most" Type="Edm.Int32"/><ReturnType Type="Edm.Int32"/></Function>
            """
        let text = try text("Container", in: files(functions.joined() + more))
        #expect(text.contains("func count(") && text.contains("func count_2("))
        #expect(!text.contains("func count_3("))
    }

    /// Returns the files for function imports of V2 and V3, in which the import contains the declaration.
    private func legacy(_ imports: String, containers: String = "") throws -> [GeneratedFile] {
        let document = """
            <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx" \
            xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">\
            <edmx:DataServices m:DataServiceVersion="3.0"><Schema Namespace="N" \
            xmlns="http://schemas.microsoft.com/ado/2009/11/edm"><EntityType Name="Thing"><Key><PropertyRef Name="ID"/></Key>\
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>\(containers)
            <EntityContainer Name="Container" m:IsDefaultEntityContainer="true">\
            <EntitySet Name="Things" EntityType="N.Thing"/>\(imports)</EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
            """
        return try ProxySources(metadata: Array(document.utf8)).files
    }

    @Test func `all overloads of a function import are declared`() throws {
        let parameters = ["<Parameter Name=\"a\" Type=\"Edm.Int32\"/>", "<Parameter Name=\"b\" Type=\"Edm.Int32\"/>"]
        let imports = [parameters[0], parameters.joined()].map {
            "<FunctionImport Name=\"Find\" ReturnType=\"Collection(N.Thing)\" EntitySet=\"Things\">\($0)</FunctionImport>"
        }
        let text = try text("Container", in: legacy(imports.joined()))
        #expect(text.split(separator: "func find(").count == 3)
        #expect(text.contains(" b: Int"))
        #expect(!text.contains("func find_2("))
    }

    @Test func `a bindable V2 function import gets no function without its entity`() throws {
        let function = """
            <FunctionImport Name="Act" IsBindable="true" IsSideEffecting="true"><Parameter Name="on" Type="N.Thing"/>\
            </FunctionImport>
            """
        #expect(try !text("Container", in: legacy(function)).contains("func act("))
    }

    @Test func `the service is named like the container that extends another container`() throws {
        let document = SmallDocuments.v4(
            SmallDocuments.type("Thing")
                + "<EntityContainer Name=\"Base\"/><EntityContainer Name=\"Own\" Extends=\"N.Base\"/>",
            container: false)
        #expect(try ProxySources(metadata: Array(document.utf8)).files[0].name == "Own.swift")
    }

    @Test func `the service is named like the default container`() throws {
        let other = "<EntityContainer Name=\"Other\" m:IsDefaultEntityContainer=\"false\"/>"
        #expect(try legacy("", containers: other)[0].name == "Container.swift")
    }

    @Test func `an optional parameter is omitted if it is nil`() throws {
        let function = """
            <Function Name="Count"><Parameter Name="most" Type="Edm.Int32" Nullable="false">\
            <Annotation Term="Org.OData.Core.V1.OptionalParameter"/></Parameter><ReturnType Type="Edm.Int32"/></Function>
            """
        let text = try text(
            "Container", in: files(function, sets: "<FunctionImport Name=\"Count\" Function=\"N.Count\"/>"))
        #expect(text.contains("func count(most: Int? = nil)"))
        #expect(text.contains("[\"most\": most == nil ? .omitted : .value(most)]"))
    }

    @Test func `a function with the name of a set's function gets a number`() throws {
        let function = "<Function Name=\"things\"><ReturnType Type=\"Edm.Int32\"/></Function>"
        let sets = """
            <EntitySet Name="Things" EntityType="N.Thing"/><FunctionImport Name="things" Function="N.things"/>
            """
        #expect(try text("Container", in: files(function, sets: sets)).contains("func things_2("))
    }

    @Test func `an operation without an import or a binding is omitted`() throws {
        let function = "<Function Name=\"Hidden\"><ReturnType Type=\"Edm.Int32\"/></Function>"
        #expect(!(try text("Container", in: files(function)).contains("func hidden")))
    }

    // MARK: Names

    @Test func `a type with the name of a type in another namespace gets its namespace as prefix`() throws {
        let document = """
            <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
            <Schema Namespace="My.Sales" xmlns="http://docs.oasis-open.org/odata/ns/edm">\(type(""))\
            <ComplexType Name="Address"/></Schema>
            <Schema Namespace="My.Stock" xmlns="http://docs.oasis-open.org/odata/ns/edm">\(type(""))\
            <ComplexType Name="address"/></Schema></edmx:DataServices></edmx:Edmx>
            """
        let names = try ProxySources(metadata: Array(document.utf8)).files.map(\.name)
        #expect(names.dropFirst(2) == ["Order.swift", "StockOrder.swift", "Address.swift", "StockAddress.swift"])
    }

    @Test func `a member never has the name of a type`() throws {
        let text = try text(
            "製品",
            in: files(
                """
                <EntityType Name="製品"><Key><PropertyRef Name="製品"/></Key>\
                <Property Name="製品" Type="Edm.Int32" Nullable="false"/></EntityType>
                """))
        #expect(text.contains("static let 製品_2 = "))
    }

    @Test(arguments: ["ToOne", "ToMany", "StructuralProperty", "ChangeSet", "Self", "Type", "Protocol", "Task"])
    func `a type with a name that apps need gets an underscore`(name: String) throws {
        #expect(try files("<ComplexType Name=\"\(name)\"/>").last?.name == "\(name)_.swift")
    }

    // MARK: Comments

    @Test(arguments: [
        "<Annotation Term=\"Org.OData.Core.V1.Description\" String=\"Said once.\"/>",
        "<Annotation Term=\"Org.OData.Core.V1.LongDescription\"><String>Said\n once.</String></Annotation>",
        "<Documentation><Summary>Said once.</Summary></Documentation>",
    ])
    func `the comment of a property contains its description in the metadata`(annotation: String) throws {
        let text = try order("<Property Name=\"P\" Type=\"Edm.String\">\(annotation)</Property>")
        #expect(text.contains("    /// `P`, `Edm.String`.\n    ///\n    /// Said once.\n    open var p: String? {"))
    }

    @Test func `the comment of a function contains the descriptions of its parameters`() throws {
        let function = """
            <Function Name="Far"><Parameter Name="Most" Type="Edm.Int32">\
            <Annotation Term="Org.OData.Core.V1.Description" String="At most."/></Parameter>\
            <Parameter Name="Least" Type="Edm.Int32"/><ReturnType Type="N.Thing"/></Function>
            """
        let text = try text(
            "Container", in: files(function, sets: "<FunctionImport Name=\"Far\" Function=\"N.Far\"/>"))
        #expect(
            text.contains(
                "    /// - Parameter most: At most.\n    ///\n    /// - Parameter query: The properties to select"))
        #expect(!text.contains("- Parameter least"))
    }

    @Test func `comments contain the labels of SAP, and equal texts only once`() throws {
        let attributes = "sap:label=\"Sold-to party\" sap:quickinfo=\"Who pays\""
        let text = try order(
            """
            <Property Name="P" Type="Edm.String" \(attributes)>\
            <Annotation Term="Org.OData.Core.V1.Description" String="Who pays"/></Property>
            """)
        #expect(text.contains("/// Who pays\n    ///\n    /// Sold-to party\n    open var p"))
    }

    @Test func `comments contain the constraints of a property`() throws {
        let text = try order(
            """
            <Property Name="P" Type="Edm.String" Nullable="false" MaxLength="9" DefaultValue="x">\
            <Annotation Term="Org.OData.Core.V1.Computed"/><Annotation Term="Org.OData.Core.V1.Immutable" Bool="true"/>\
            </Property>
            """)
        let rules =
            "not null, at most 9 characters, computed by the service, immutable after creation, default\n    /// `x`"
        #expect(text.contains("/// `P`, `Edm.String`, \(rules)."))
    }

    @Test func `text of the document cannot end the comment`() throws {
        let trap = "a&#10;let x = 1&#13;*/ b&#x2028;c&#x85;d"
        let text = try order(
            """
            <Property Name="P" Type="Edm.String" DefaultValue="\(trap)">\
            <Annotation Term="Org.OData.Core.V1.Description" String="\(trap)"/></Property>
            """)
        #expect(text.contains("/// a let x = 1 */ b c d\n"))
        #expect(!text.contains("\nlet x") && !text.contains("\u{2028}") && !text.contains("\u{85}"))
    }

    @Test(arguments: [
        ("&lt;doc:Nothing>", "\\<doc:Nothing>"), ("``Nothing``", "\\`\\`Nothing\\`\\`"), ("```", "\\`\\`\\`"),
        ("\\&lt;b>", "\\\\\\<b>"), ("[a](doc:b)", "[a] (doc:b)"),
    ])
    func `text of the document cannot form a link or code in the comment`(said: String, written: String) throws {
        let text = try order("<Annotation Term=\"Org.OData.Core.V1.Description\" String=\"\(said)\"/>")
        #expect(text.contains("/// \(written)\n"), "\(text)")
    }

    @Test func `the comment of an open type describes access to dynamic properties`() throws {
        #expect(
            try order("", attributes: "OpenType=\"true\"").contains(
                "/// Entities of this type may have additional properties"))
    }

    // MARK: Lines

    @Test func `breakable lines have at most 120 characters`() throws {
        let name = String(repeating: "Long", count: 12)
        let properties =
            "<Property Name=\"\(name)\" Type=\"Edm.String\"/><NavigationProperty Name=\"To\(name)\" Type=\"N.Thing\"/>"
        let files = try files(type(properties))
        for file in files where !file.name.hasSuffix("Metadata.swift") {
            for line in file.text.split(separator: "\n") { #expect(line.count <= 120, "\(line)") }
        }
    }
}
