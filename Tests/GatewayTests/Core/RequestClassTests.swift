import GatewayCore
import ODataWire
import Testing

struct RequestClassTests {
    @Test(
        arguments: [
            ("GET", "$metadata", RequestClass.RequestKind.metadata), ("HEAD", "$metadata", .read),
            ("GET", "Orders", .read),
            ("POST", "$batch", .multipartBatch), ("POST", "Orders/$query", .read), ("POST", "Orders", .modification),
            ("GET", "%24metadata?sap-language=DE", .metadata), ("GET", "Orders/$metadata", .read),
            ("POST", "%24batch", .multipartBatch), ("POST", "$batch/", .multipartBatch),
            ("POST", "%2524batch", .multipartBatch), ("POST", "$%62atch?x=1", .multipartBatch),
            ("POST", "$batch;v=1", .multipartBatch), ("POST", "/$Batch", .multipartBatch),
            ("POST", "Orders/%24query", .read), ("POST", "Orders/%2524query", .modification),
            ("POST", "$query", .modification),
            ("POST", "Files('$batch')", .modification), ("PUT", "Orders", .modification),
        ])
    func `a request is classified by its method and path`(
        _ method: String, _ path: String, _ kind: RequestClass.RequestKind
    )
        throws
    {
        let found = try classified(method, path)
        #expect(found.kind == kind)
        #expect(found.rest == path)
    }

    @Test(arguments: ["PUT", "PATCH", "DELETE", "MERGE"])
    func `a batch with another method than POST is refused`(_ method: String) {
        let refusal = #expect(throws: RequestRefusal.self) { try classified(method, "%24batch") }
        #expect(refusal?.status == 405)
    }

    private func classified(_ method: String, _ path: String) throws -> RequestClass {
        let text = """
            [gateway]
            listen = 127.0.0.1:8443
            public_root = https://gw.example/odata/
            storage = sqlite:/gateway.db
            [endpoint]
            name = shop
            root = https://backend.example/sap/SHOP/
            """
        let (configuration, _) = try ConfigurationReader.read(text, file: "gateway.ini")
        return try RequestClass(
            method: method, target: "/odata/shop/" + path, headers: .empty, configuration: configuration)
    }
}
