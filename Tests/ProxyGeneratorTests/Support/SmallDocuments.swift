/// Metadata documents of a few lines. The body begins in line 3.
enum SmallDocuments {
    static func v4(
        _ body: String, namespace: String = "N", references: String = "", sets: String = "", container: Bool = true
    ) -> String {
        """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx">\(references)<edmx:DataServices>
        <Schema Namespace="\(namespace)" Alias="Self" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        \(body)
        \(container ? "<EntityContainer Name=\"Container\">\(sets)</EntityContainer>" : "")
        </Schema></edmx:DataServices></edmx:Edmx>
        """
    }

    static func type(_ name: String, _ properties: String = "") -> String {
        """
        <EntityType Name="\(name)"><Key><PropertyRef Name="ID"/></Key>\
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/>\(properties)</EntityType>
        """
    }

    static func reference(_ uri: String, _ namespace: String, alias: String = "Other") -> String {
        "<edmx:Reference Uri=\"\(uri)\"><edmx:Include Namespace=\"\(namespace)\" Alias=\"\(alias)\"/></edmx:Reference>"
    }

    /// A reference to the vocabulary with the terms that specify names.
    static let proxyReference = reference("proxy.xml", "com.sap.cloud.client.odata.proxy", alias: "Proxy")

    /// Returns a document of annotations, each on a separate line from line 3 on.
    static func annotations(_ list: (target: String, term: String, value: String)...) -> String {
        v4(
            list.map {
                "<Annotations Target=\"\($0.target)\"><Annotation Term=\"\($0.term)\" String=\"\($0.value)\"/></Annotations>"
            }.joined(separator: "\n"), namespace: "Names", references: proxyReference, container: false)
    }
}
