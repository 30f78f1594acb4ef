import ProxyGenerator
import Testing

#if os(macOS) || os(Linux)
    /// The sources for valid but unusual metadata compile without warnings.
    @Suite(.enabled(if: Compiler.hasModules, "skipped: there is no swiftc, or no module to compile with"))
    struct CompilationTests {
        private func complaints(
            _ body: String, sets: String = "", _ options: ProxyOptions = ProxyOptions(allowsCaseConflicts: true)
        ) throws -> String {
            let document = SmallDocuments.v4(body, sets: sets)
            return try Compiler.typeComplaints(ProxySources(metadata: Array(document.utf8), options: options).files)
        }

        private func keyed(_ type: String, by key: String) -> String {
            """
            <EntityType Name="\(type)"><Key><PropertyRef Name="\(key)"/></Key>\
            <Property Name="\(key)" Type="Edm.Int32" Nullable="false"/></EntityType>
            """
        }

        private let words = """
            Any Self as async await break class default each func get import in init inout internal is lazy let nil of \
            open operator package print protocol query repeat result self set some static super throws true try var \
            where willSet _ binding error newValue
            """.split(separator: " ")

        @Test func `sources compile if keys, parameters and functions are named like Swift keywords`() throws {
            var (types, sets) = ("", "")
            for (index, word) in words.enumerated() {
                types += keyed("Type\(index)", by: "\(word)")
                types += """
                    <Function Name="\(word)"><Parameter Name="\(word)" Type="Edm.Int32" Nullable="false"/>\
                    <Parameter Name="more" Type="Edm.Int32"/><ReturnType Type="Edm.Int32"/></Function>
                    """
                sets += "<EntitySet Name=\"Set\(index)\" EntityType=\"N.Type\(index)\"/>"
                sets += "<FunctionImport Name=\"\(word)\" Function=\"N.\(word)\"/>"
            }
            #expect(try complaints(types, sets: sets) == "")
        }

        @Test(arguments: [
            ProxyOptions(allowsCaseConflicts: true),
            ProxyOptions(disablesOptionals: true, hasOpenEnumerations: true, allowsCaseConflicts: true),
        ])
        func `sources compile if types, properties and members are named like Swift keywords`(options: ProxyOptions)
            throws
        {
            let properties = words.map { "<Property Name=\"\($0)\" Type=\"Edm.String\" Nullable=\"false\"/>" }.joined()
            let members = words.enumerated().map { "<Member Name=\"\($1)\" Value=\"\($0)\"/>" }.joined()
            let types = """
                \(words.map { SmallDocuments.type("\($0)") }.joined())<ComplexType Name="Complex">\(properties)</ComplexType>\
                \(SmallDocuments.type("Entity", properties))<EnumType Name="Choice">\(members)</EnumType>\
                <EnumType Name="Flags" UnderlyingType="Edm.Int64" IsFlags="true">\(members)</EnumType>
                """
            #expect(try complaints(types, options) == "")
        }

        @Test func `sources with optional parameters of every form compile`() throws {
            let types = ["Edm.Int32", "Collection(Edm.Int32)", "N.Thing", "Collection(N.Thing)", "Edm.Binary"]
            let parameters = types.enumerated().map { index, type in
                """
                <Parameter Name="p\(index)" Type="\(type)" Nullable="false">\
                <Annotation Term="Org.OData.Core.V1.OptionalParameter"/></Parameter>
                """
            }.joined()
            let action = "<Action Name=\"Act\">\(parameters)</Action>"
            let sets = "<ActionImport Name=\"Act\" Action=\"N.Act\"/>"
            #expect(try complaints(SmallDocuments.type("Thing") + action, sets: sets) == "")
        }

        @Test func `sources compile if types, sets, keys, functions and the service share names without letter case`()
            throws
        {
            let body = """
                \(keyed("顧客", by: "顧客"))<ComplexType Name="客"/>\
                <Function Name="数"><Parameter Name="客" Type="N.客"/><ReturnType Type="N.顧客"/></Function>
                """
            let sets = """
                <EntitySet Name="顧客" EntityType="N.顧客"/><FunctionImport Name="客" Function="N.数"/>\
                <Singleton Name="店" Type="N.顧客"/><Singleton Name="店Metadata" Type="N.顧客"/>
                """
            #expect(try complaints(body, sets: sets, ProxyOptions(service: "店")) == "")
        }

        @Test(arguments: ["has", "new", "create", "raw", "to"])
        func `sources compile if a prefix turns type names into names of members and values`(prefix: String) throws {
            let names = ["Local", "DataValue", "Value", "Entity", "Link"]
            let types = names.map { name in
                SmallDocuments.type(
                    name, "<Property Name=\"\(prefix)\(name)\" Type=\"Edm.String\"/><Property Name=\"C\" Type=\"N.C\"/>"
                )
                    + "<EnumType Name=\"\(name)2\"><Member Name=\"A\"/></EnumType>"
            }
            let body = types.joined() + "<ComplexType Name=\"C\"><Property Name=\"X\" Type=\"N.C\"/></ComplexType>"
            let sets = names.map { "<EntitySet Name=\"\(prefix)\($0)\" EntityType=\"N.\($0)\"/>" }.joined()
            #expect(try complaints(body, sets: sets, ProxyOptions(prefix: prefix, allowsCaseConflicts: true)) == "")
        }

        @Test func `overloads that differ in a type definition only compile`() throws {
            let functions = ["N.Money", "Edm.Decimal"].map { type in
                "<Function Name=\"F\"><Parameter Name=\"x\" Type=\"\(type)\"/><ReturnType Type=\"Edm.String\"/></Function>"
            }
            let body = """
                \(SmallDocuments.type("Thing"))<TypeDefinition Name="Money" UnderlyingType="Edm.Decimal"/>\
                \(functions.joined())
                """
            #expect(try complaints(body, sets: "<FunctionImport Name=\"F\" Function=\"N.F\"/>") == "")
        }

        @Test func `sources compile if the document contains control and invisible characters`() throws {
            let text = "&#x7F;\u{7F}\u{85}\u{2028}\u{FEFF}\u{202E}\u{200B}"
            let note = "<Annotation Term=\"Org.OData.Core.V1.Description\" String=\"\(text)\"/>"
            #expect(
                try complaints(
                    "<!-- \(text) -->"
                        + SmallDocuments.type(
                            "T", "<Property Name=\"P\" Type=\"Edm.String\" DefaultValue=\"\(text)\">\(note)</Property>")
                ) == "")
        }

        @Test(arguments: [false, true])
        func `enumerations with the names of their associated types compile`(isOpen: Bool) throws {
            var types = SmallDocuments.type("Thing")
            for name in ["RawValue", "AllCases"] {
                types += "<EnumType Name=\"\(name)\"><Member Name=\"A\" Value=\"0\"/></EnumType>"
            }
            for name in ["Element", "ArrayLiteralElement"] {
                types += """
                    <EnumType Name="\(name)" IsFlags="true"><Member Name="A" Value="0"/><Member Name="B" Value="1"/></EnumType>
                    """
            }
            #expect(try complaints(types, ProxyOptions(hasOpenEnumerations: isOpen)) == "")
        }
    }
#endif
