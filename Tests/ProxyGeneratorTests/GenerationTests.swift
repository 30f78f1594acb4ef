import ProxyGenerator
import Testing

@Suite struct GenerationTests {
    private func document(_ types: String, sets: String = "", namespace: String = "N") -> [UInt8] {
        Array(
            """
            <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
            <Schema Namespace="\(namespace)" xmlns="http://docs.oasis-open.org/odata/ns/edm">\(types)
            <EntityContainer Name="Container">\(sets)</EntityContainer></Schema>
            </edmx:DataServices></edmx:Edmx>
            """.utf8)
    }

    private func type(_ name: String, _ properties: String = "", attributes: String = "") -> String {
        """
        <EntityType Name="\(name)" \(attributes)><Key><PropertyRef Name="ID"/></Key>\
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/>\(properties)</EntityType>
        """
    }

    private func text(_ name: String, in files: [GeneratedFile]) throws -> String {
        try #require(files.first { $0.name == "\(name).swift" }, "\(files.map(\.name))").text
    }

    // MARK: Types

    @Test(arguments: [
        ("Edm.String", "String"), ("Edm.Int64", "Int"), ("Edm.Byte", "Int"), ("Edm.Boolean", "Bool"),
        ("Edm.Single", "Float"), ("Edm.Double", "Double"), ("Edm.Decimal", "DecimalValue"), ("Edm.Guid", "GuidValue"),
        ("Edm.Binary", "[UInt8]"), ("Edm.Date", "LocalDate"), ("Edm.TimeOfDay", "LocalTime"),
        ("Edm.Duration", "DayTimeDuration"), ("Edm.DateTimeOffset", "GlobalDateTime"), ("N.Size", "Size"),
        ("N.Address", "Address"), ("N.Money", "Money"), ("Collection(Edm.String)", "[String]"),
        ("Collection(N.Address)", "[Address]"), ("Collection(N.Size)", "[Size]"),
        ("Collection(Edm.Binary)", "[[UInt8]]"),
        ("Collection(Edm.Byte)", "[Int]"), ("Edm.ComplexType", "ComplexValue"), ("N.Blob", "Blob"),
        ("Edm.GeographyPoint", "GeoShape"), ("Edm.Geometry", "GeoShape"), ("Elsewhere.Thing", "Value"),
    ])
    func `a property has the Swift type that corresponds to its Edm type`(edm: String, swift: String) throws {
        let others = """
            <EnumType Name="Size"><Member Name="S"/></EnumType><ComplexType Name="Address"/>\
            <TypeDefinition Name="Money" UnderlyingType="Edm.Decimal"/><TypeDefinition Name="Blob" UnderlyingType="Edm.Binary"/>
            """
        let sources = try ProxySources(
            metadata: document(others + type("Thing", "<Property Name=\"P\" Type=\"\(edm)\"/>")))
        #expect(try text("Thing", in: sources.files).contains("open var p: \(swift)? {"))
    }

    @Test func `a stream is declared as a property without a value`() throws {
        let sources = try ProxySources(
            metadata: document(type("Thing", "<Property Name=\"Photo\" Type=\"Edm.Stream\"/>")))
        let text = try text("Thing", in: sources.files)
        #expect(text.contains("static let photo"))
        #expect(!text.contains("var photo"))
    }

    @Test func `a derived type's class derives from the base type's and declares its own properties only`() throws {
        let derived = """
            <EntityType Name="Employee" BaseType="N.Person"><Property Name="Salary" Type="Edm.Decimal"/></EntityType>
            """
        let sources = try ProxySources(metadata: document(derived + type("Person")))
        let text = try text("Employee", in: sources.files)
        #expect(text.contains("class Employee: Person {"))
        #expect(text.contains("static let salary"))
        #expect(!text.contains("static let id"))
    }

    @Test func `a base type without its namespace is resolved`() throws {
        let sources = try ProxySources(
            metadata: document("<EntityType Name=\"Big\" BaseType=\"Order\"/>" + type("Order")))
        #expect(try text("Big", in: sources.files).contains("class Big: Order {"))
    }

    @Test func `a type with an undeclared base type is omitted, and a note contains the line`() throws {
        let sources = try ProxySources(
            metadata: document("<EntityType Name=\"Big\" BaseType=\"Order\"/>" + type("Other")))
        #expect(!sources.files.contains { $0.name == "Big.swift" })
        #expect(sources.files.contains { $0.name == "Other.swift" })
        #expect(sources.notes.contains { $0.hasPrefix("line 2") && $0.contains("\"Order\"") })
    }

    @Test func `a derived type's property does not hide one of the base type`() throws {
        let derived = """
            <EntityType Name="Employee" BaseType="N.Person"><Property Name="id" Type="Edm.String"/></EntityType>
            """
        let sources = try ProxySources(
            metadata: document(derived + type("Person")), options: ProxyOptions(allowsCaseConflicts: true))
        #expect(try text("Employee", in: sources.files).contains("open var id_2: String? {"))
    }

    @Test func `a class without public declarations of Tidelog types does not import Tidelog publicly`() throws {
        let derived = "<EntityType Name=\"Employee\" BaseType=\"N.Person\"/>"
        let sources = try ProxySources(metadata: document(derived + type("Person")))
        #expect(try text("Employee", in: sources.files).contains("\nimport Tidelog\n"))
        #expect(try text("Person", in: sources.files).contains("\npublic import Tidelog\n"))
    }

    @Test func `the class of an abstract type has no convenience initializer`() throws {
        let sources = try ProxySources(metadata: document(type("Thing", attributes: "Abstract=\"true\"")))
        #expect(!(try text("Thing", in: sources.files).contains("convenience init")))
    }

    // MARK: Names

    @Test func `types that differ in case only get different file names`() throws {
        let sources = try ProxySources(
            metadata: document(type("Order") + type("ORDER") + type("order")),
            options: ProxyOptions(allowsCaseConflicts: true))
        #expect(sources.files.map(\.name).suffix(3) == ["Order.swift", "ORDER_2.swift", "Order_3.swift"])
    }

    @Test func `a type with the name of a type of Tidelog or Swift gets an underscore`() throws {
        let sources = try ProxySources(metadata: document(type("Property") + type("String")))
        #expect(sources.files.map(\.name).suffix(2) == ["Property_.swift", "String_.swift"])
    }

    @Test func `a type named like its set keeps the name if the singular is another type's name`() throws {
        let sources = try ProxySources(
            metadata: document(
                type("Orders") + type("Order"),
                sets:
                    "<EntitySet Name=\"Orders\" EntityType=\"N.Orders\"/><EntitySet Name=\"All\" EntityType=\"N.Order\"/>"
            ))
        #expect(try text("Orders", in: sources.files).contains("\"N.Orders\""))
        #expect(try text("Order", in: sources.files).contains("\"N.Order\""))
    }

    @Test func `two sets of one type have separate functions`() throws {
        let sets = """
            <EntitySet Name="Orders" EntityType="N.Order"/><EntitySet Name="OldOrders" EntityType="N.Order"/>
            """
        let sources = try ProxySources(metadata: document(type("Order"), sets: sets))
        let text = try text("Container", in: sources.files)
        for name in ["orders", "fetchOrders", "fetchOrder", "oldOrders", "fetchOldOrders", "fetchOldOrder"] {
            #expect(text.contains("func \(name)("), "\(name)")
        }
    }

    @Test func `a set without a singular name has a function that fetches the first entity`() throws {
        let sources = try ProxySources(
            metadata: document(type("Staff"), sets: "<EntitySet Name=\"Staff\" EntityType=\"N.Staff\"/>"))
        #expect(try text("Container", in: sources.files).contains("func fetchFirstStaff("))
    }

    #if os(macOS) || os(Linux)
        @Test(.enabled(if: Compiler.path != nil, "skipped: there is no swiftc on the search path"))
        func `sources with Swift keywords as names parse`() throws {
            let words = [
                "class", "func", "init", "self", "Self", "Type", "Protocol", "default", "is", "as", "in", "Any",
                "actor",
                "await", "async", "get", "set", "some", "any", "each", "repeat", "operator", "throws", "_", "nil",
                "let",
                "willSet", "lazy", "weak", "open", "package", "nonisolated", "borrowing", "consuming", "sending",
                "macro",
            ]
            let properties = words.map { "<Property Name=\"\($0)\" Type=\"Edm.String\"/>" }.joined()
            let types = words.map { type($0) }.joined() + type("Words", properties)
            let sets = words.map { "<EntitySet Name=\"\($0)\" EntityType=\"N.\($0)\"/>" }.joined()
            let sources = try ProxySources(
                metadata: document(types, sets: sets), options: ProxyOptions(allowsCaseConflicts: true))
            #expect(try Compiler.complaints(sources.files) == "")
        }
    #endif

    // MARK: Options

    @Test func `a prefix is part of every class name`() throws {
        let sources = try ProxySources(metadata: document(type("Order")), options: ProxyOptions(prefix: "Shop"))
        #expect(
            sources.files.map(\.name) == ["ShopContainer.swift", "ShopContainerMetadata.swift", "ShopOrder.swift"])
    }

    @Test func `a service name in the options gets no prefix`() throws {
        let sources = try ProxySources(
            metadata: document(type("Order")), options: ProxyOptions(service: "Sales", prefix: "Shop"))
        #expect(sources.files.map(\.name) == ["Sales.swift", "SalesMetadata.swift", "ShopOrder.swift"])
    }

    @Test func `internal sources contain no public declarations`() throws {
        let sources = try ProxySources(
            metadata: Array(CustomersAndOrders.v2.utf8), options: ProxyOptions(isInternal: true))
        for file in sources.files {
            let text = file.text
            #expect(!text.contains("public ") && !text.contains("open "), "\(file.name)")
        }
    }

    @Test(arguments: ["class", "my service", "", "1st", "DataService", "$0"])
    func `a service name that is invalid or reserved is refused`(name: String) {
        #expect(throws: ProxyError.invalidName(option: "--service", name: name)) {
            try ProxySources(metadata: document(type("Order")), options: ProxyOptions(service: name))
        }
    }

    // MARK: Documents

    @Test func `a document without entity types is refused`() {
        #expect(throws: ProxyError.noEntityTypes(document: nil)) { try ProxySources(metadata: document("")) }
    }

    @Test func `bytes that are not UTF-8 are refused`() {
        #expect(throws: ProxyError.notUTF8(document: nil)) { try ProxySources(metadata: [0x3C, 0xFF]) }
    }

    @Test func `UTF-16 without a byte order mark is refused even if its bytes are valid UTF-8`() {
        let metadata = SmallDocuments.v4(SmallDocuments.type("Order"))
        let bytes = metadata.utf16.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }
        #expect(throws: ProxyError.notUTF8(document: nil)) { try ProxySources(metadata: bytes) }
    }

    @Test func `an invalid document is refused with the line of the error`() {
        #expect {
            try ProxySources(metadata: document("\n<EntityType/>"))
        } throws: {
            guard case .metadata(let place, _)? = $0 as? ProxyError else { return false }
            return place.line == 3
        }
    }

    @Test func `line endings and a byte order mark do not change the generated sources`() throws {
        let lines = String(decoding: document(type("Order")), as: UTF8.self)
        let other = "\u{FEFF}" + lines.replacing("\n", with: "\r\n")
        #expect(try ProxySources(metadata: Array(other.utf8)) == ProxySources(metadata: Array(lines.utf8)))
    }

    @Test func `text that looks like the end of a literal is embedded completely`() throws {
        let trap = "<Annotation Term=\"N.T\" String='\"\"\"## \\##(x) '/>"
        let sources = try ProxySources(metadata: document(type("Order", "", attributes: "") + "<!-- \(trap) -->"))
        #expect(try text("ContainerMetadata", in: sources.files).contains("\n        ###\"\"\"\n"))
    }
}
