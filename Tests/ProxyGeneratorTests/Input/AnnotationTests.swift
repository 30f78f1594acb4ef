import ProxyGenerator
import Testing

/// Names that annotations specify.
@Suite struct AnnotationTests {
    private let metadata = SmallDocuments.v4(
        SmallDocuments.type(
            "Order", "<Property Name=\"Total\" Type=\"Edm.Decimal\"/><Property Name=\"Sum\" Type=\"Edm.Decimal\"/>")
            + SmallDocuments.type("Item")
            + "<EntityType Name=\"Gift\" BaseType=\"N.Item\"><Property Name=\"Weight\" Type=\"Edm.Int32\"/></EntityType>"
    )

    private func sources(
        _ annotations: String, metadata: String? = nil, options: ProxyOptions = ProxyOptions()
    ) throws(ProxyError) -> [GeneratedFile] {
        try ProxySources(
            MetadataSource(name: "m.xml", bytes: Array((metadata ?? self.metadata).utf8)),
            annotations: MetadataSource(name: "a.xml", bytes: Array(annotations.utf8)), options: options
        ).files
    }

    private func refusal(_ annotations: String, metadata: String? = nil) -> String? {
        do throws(ProxyError) {
            _ = try sources(annotations, metadata: metadata)
            return nil
        } catch {
            return error.description
        }
    }

    @Test func `a class name annotation sets the names of the class and its file`() throws {
        let files = try sources(SmallDocuments.annotations(("N.Order", "Proxy.ClassName", "Purchase")))
        #expect(
            files.map(\.name) == [
                "Container.swift", "ContainerMetadata.swift", "Purchase.swift", "Item.swift", "Gift.swift",
            ])
        #expect(files[2].text.contains("class Purchase: EntityValue"))
    }

    @Test func `a property name annotation sets the name of the member`() throws {
        let files = try sources(SmallDocuments.annotations(("N.Order/Total", "Proxy.PropertyName", "grandTotal")))
        #expect(files[2].text.contains("var grandTotal"))
        #expect(files[2].text.contains("ContainerMetadata.embedded.property(\"Total\", of: \"N.Order\")"))
    }

    @Test func `a class name annotation of the container sets the name of the service`() throws {
        let files = try sources(SmallDocuments.annotations(("N.Container", "Proxy.ClassName", "Shop")))
        #expect(files.map(\.name).prefix(2) == ["Shop.swift", "ShopMetadata.swift"])
    }

    @Test func `the option for the service's name takes precedence over the annotation`() throws {
        let files = try sources(
            SmallDocuments.annotations(("N.Container", "Proxy.ClassName", "Shop")),
            options: ProxyOptions(service: "Sales"))
        #expect(files[0].name == "Sales.swift")
    }

    @Test func `a name from an annotation gets no prefix`() throws {
        let files = try sources(
            SmallDocuments.annotations(("N.Order", "Proxy.ClassName", "Purchase")), options: ProxyOptions(prefix: "My"))
        #expect(files.map(\.name).suffix(3) == ["Purchase.swift", "MyItem.swift", "MyGift.swift"])
    }

    @Test func `an annotation within the metadata sets a name`() throws {
        let text = SmallDocuments.v4(
            SmallDocuments.type("Order", "<Annotation Term=\"Proxy.ClassName\" String=\"Purchase\"/>"),
            references: SmallDocuments.proxyReference)
        let files = try ProxySources(metadata: Array(text.utf8)).files
        #expect(files.map(\.name).contains("Purchase.swift"))
    }

    @Test func `the namespace may have any alias or none`() throws {
        let text = SmallDocuments.annotations(
            ("N.Order", "P.ClassName", "Purchase"), ("N.Item", "com.sap.cloud.client.odata.proxy.ClassName", "Line"))
        let files = try sources(text.replacing("Alias=\"Proxy\"", with: "Alias=\"P\""))
        #expect(files.map(\.name).suffix(3) == ["Purchase.swift", "Line.swift", "Gift.swift"])
    }

    @Test func `a namespace that is not included is an error`() {
        let text = SmallDocuments.annotations(("N.Order", "Proxy.ClassName", "Purchase"))
            .replacing(SmallDocuments.proxyReference, with: "")
        #expect(
            refusal(text)
                == "a.xml: line 3, column 31: The term 'Proxy.ClassName' requires a Reference with "
                + "<edmx:Include Namespace=\"com.sap.cloud.client.odata.proxy\" Alias=\"Proxy\"/>.")
    }

    @Test(arguments: [
        (
            "N.Ordre", "Proxy.ClassName", "X",
            "The target N.Ordre of a ClassName is not an entity, complex or enumeration type"
        ),
        ("N.Order/Totals", "Proxy.PropertyName", "x", "The target N.Order/Totals of a PropertyName is not a property"),
        ("N.Order", "Proxy.PropertyName", "x", "The target N.Order of a PropertyName is not a property"),
        (
            "N.Order/Total", "Proxy.ClassName", "X",
            "The target N.Order/Total of a ClassName is not an entity, complex or enumeration type"
        ),
        ("N.Gift/ID", "Proxy.PropertyName", "x", "The property ID is declared by N.Item"),
        ("N.Order", "Proxy.ClassNam", "X", "com.sap.cloud.client.odata.proxy has no term ClassNam"),
        ("N.Order", "Proxy.ClassName", "my order", "must be a Swift identifier, not 'my order'."),
        ("N.Order", "Proxy.ClassName", "class", "must be a Swift identifier, not 'class'."),
        ("N.Order", "Proxy.ClassName", "String", "The class name 'String' of N.Order is already used."),
        ("N.Order", "Proxy.ClassName", "state", "The class name 'state' of N.Order is already used."),
        ("N.Order", "Proxy.ClassName", "result", "The class name 'result' of N.Order is already used."),
        (
            "N.Order", "Proxy.ClassName", "ContainerMetadata",
            "The class name 'ContainerMetadata' of N.Order is already used"
        ),
        ("N.Order", "Proxy.ClassName", "any", "The class name 'any' of N.Order is already used."),
        ("N.Order", "Proxy.ClassName", "sending", "The class name 'sending' of N.Order is already used."),
        ("N.Order", "Proxy.ClassName", "await", "must be a Swift identifier, not 'await'."),
        ("N.Order", "Proxy.ClassName", "item", "The class name 'item' of N.Order is also the name of N.Item"),
        ("N.Order", "Proxy.ClassName", "Container", "The class name 'Container' of N.Order is already used."),
        (
            "N.Container", "Proxy.ClassName", "DataService",
            "The class name 'DataService' of N.Container is already used."
        ),
        (
            "N.Order/Total", "Proxy.PropertyName", "sum",
            "The name 'sum' of N.Order/Total is also the name of N.Order/Sum"
        ),
        (
            "N.Container", "Proxy.ClassName", "Order",
            "The class name 'Order' of N.Container is also the name of N.Order, which has no annotation."
        ),
        (
            "N.Item/ID", "Proxy.PropertyName", "weight",
            "The name 'weight' of N.Item/ID is also the name of N.Gift/Weight, which has no annotation."
        ),
        ("N.Order/Total", "Proxy.PropertyName", "copy", "The name 'copy' of N.Order/Total is already used."),
        ("N.Order/Total", "Proxy.PropertyName", "String", "The name 'String' of N.Order/Total is already used."),
        ("N.Order/Total", "Proxy.PropertyName", "StructuralProperty", "The name 'StructuralProperty' of N.Order/Total"),
        ("N.Order/Total", "Proxy.PropertyName", "ContainerMetadata", "The name 'ContainerMetadata' of N.Order/Total"),
        ("N.Order/Total", "Proxy.PropertyName", "id", "The name 'id' of N.Order/Total is"),
    ])
    func `an annotation that cannot be applied is refused with its line`(
        target: String, term: String, value: String, words: String
    ) {
        let refusal = refusal(SmallDocuments.annotations((target, term, value)))
        #expect(refusal?.hasPrefix("a.xml: line 3, column ") == true)
        #expect(refusal?.contains(words) == true, "\(refusal ?? "no error")")
    }

    @Test func `a second annotation of the same element is refused with the location of the first`() {
        let text = SmallDocuments.annotations(
            ("N.Order", "Proxy.ClassName", "Purchase"), ("N.Order", "Proxy.ClassName", "Buy"))
        let refusal = refusal(text)
        #expect(refusal?.hasPrefix("a.xml: line 4, ") == true)
        #expect(refusal?.contains("N.Order already has a ClassName, in a.xml: line 3, ") == true)
    }

    @Test func `two annotations with the same name are refused`() {
        let text = SmallDocuments.annotations(
            ("N.Order", "Proxy.ClassName", "Line"), ("N.Item", "Proxy.ClassName", "Line"))
        #expect(refusal(text)?.contains("line 4") == true)
    }

    @Test func `two annotations can exchange names`() throws {
        let text = SmallDocuments.annotations(
            ("N.Order", "Proxy.ClassName", "Item"), ("N.Item", "Proxy.ClassName", "Order"))
        #expect(try sources(text).map(\.name).suffix(3) == ["Item.swift", "Order.swift", "Gift.swift"])
    }

    @Test func `an annotation without a string is refused`() {
        let text = SmallDocuments.annotations(("N.Order", "Proxy.ClassName", "X")).replacing(" String=\"X\"", with: "")
        #expect(refusal(text)?.contains("has no String") == true)
    }

    @Test func `a file without name annotations is refused`() {
        #expect(refusal(SmallDocuments.annotations())?.contains("has no annotation") == true)
    }

    @Test func `a file that is not XML is refused with its name`() {
        #expect(refusal("names")?.hasPrefix("a.xml: line 1, column 1: ") == true)
    }
}
