import EDM
import ODataWire
import Testing

/// Features: SV-13.
struct ServiceOptionsTests {
    @Test func `every option can be set by its name to each of its listed values`() throws {
        for (name, values) in ServiceOptions.choices {
            for value in values {
                var options = ServiceOptions()
                try options.set(name, to: value)
                #expect(options.named.first { $0.name == name }?.value == value)
                let others = zip(options.named, ServiceOptions().named).filter { $0.0.name != name }
                #expect(others.allSatisfy { $0.0.value == $0.1.value })
            }
        }
    }

    @Test(arguments: [("supportsbatch", "true"), ("supportsBatch", "no"), ("deepInsertToMany", "")])
    func `an unknown option or value is rejected`(_ name: String, _ value: String) {
        var options = ServiceOptions()
        #expect(throws: ServiceOptions.InvalidOption.self) { try options.set(name, to: value) }
        #expect(options == ServiceOptions())
    }

    @Test func `annotations of the entity container set the service capabilities`() throws {
        #expect(ServiceOptions(declaredBy: try Self.model("")) == ServiceOptions())
        let tagged = try Self.model(#"<Annotation Term="Org.OData.Capabilities.V1.BatchSupported" Bool="false"/>"#)
        #expect(ServiceOptions(declaredBy: tagged) == ServiceOptions(supportsBatch: false))
        let record = try Self.model(
            """
            <Annotation Term="Org.OData.Capabilities.V1.BatchSupport"><Record>
            <PropertyValue Property="Supported" Bool="true"/>
            <PropertyValue Property="ReferencesInRequestBodiesSupported" Bool="false"/>
            </Record></Annotation>
            """)
        #expect(ServiceOptions(declaredBy: record) == ServiceOptions(contentIDReferences: .urlsOnly))
    }

    private static func model(_ annotations: String) throws -> EntityDataModel {
        try CSDLReader.read(
            Array(
                """
                <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
                <Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">
                <EntityContainer Name="C">\(annotations)</EntityContainer>
                </Schema></edmx:DataServices></edmx:Edmx>
                """.utf8))
    }

    @Test func `headers of the connection are not written into a part of a batch`() throws {
        var request = WireRequest(method: "DELETE", url: "A(1)", headers: ["If-Match": "*", "X-Own": "1"])
        for name in ["authorization", "Expect", "From", "Max-Forwards", "Range", "TE"] { request.headers[name] = "x" }
        #expect(request.asBatchPart.headers == ["If-Match": "*", "X-Own": "1"])
    }

    @Test(arguments: ["", "é"])
    func `a colon in the first segment of a part's URL is encoded`(_ more: String) throws {
        let request = WireRequest(method: "DELETE", url: "Days(2024-01-01T10:00:00Z)/A:B\(more)")
        let bytes = try MultipartBatchWriter().write(
            BatchRequest(parts: [.changeSet([.init(contentID: "1", request: request)])]), boundary: "b"
        ) { "c\($0)" }
        #expect(
            String(decoding: bytes, as: UTF8.self).contains("DELETE Days(2024-01-01T10%3A00%3A00Z)/A:B\(more) HTTP"))
    }

    @Test func `a Content-ID is written at the location that the option selects`() throws {
        let member = BatchPart.Member(contentID: "7", request: WireRequest(method: "DELETE", url: "A(1)"))
        let places: [(ServiceOptions.ContentIDLocation, String)] = [
            (.part, "binary\r\nContent-ID: 7\r\n\r\nDELETE A(1) HTTP/1.1\r\n\r\n"),
            (.request, "binary\r\n\r\nDELETE A(1) HTTP/1.1\r\nContent-ID: 7\r\n\r\n"),
            (.both, "binary\r\nContent-ID: 7\r\n\r\nDELETE A(1) HTTP/1.1\r\nContent-ID: 7\r\n\r\n"),
        ]
        for (location, text) in places {
            let bytes = try MultipartBatchWriter(contentIDLocation: location).write(
                BatchRequest(parts: [.changeSet([member])]), boundary: "b"
            ) { "c\($0)" }
            #expect(String(decoding: bytes, as: UTF8.self).contains(text))
            let read = try MultipartBatchReader().readRequest(bytes, contentType: "multipart/mixed; boundary=b")
            guard case .changeSet(let members) = read.parts[0] else {
                Issue.record("no change set")
                return
            }
            #expect(members.map(\.contentID) == ["7"])
        }
    }
}
