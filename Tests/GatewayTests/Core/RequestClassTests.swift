import GatewayCore
import ODataWire
import Testing

struct RequestClassTests {
    @Test(
        arguments: [
            ("GET", "$metadata", RequestClass.Kind.metadata), ("HEAD", "$metadata", .read), ("GET", "Orders", .read),
            ("POST", "$batch", .multipartBatch), ("POST", "Orders/$query", .read), ("POST", "Orders", .modification),
        ])
    func `a request is classified by its method and path`(_ method: String, _ path: String, _ kind: RequestClass.Kind)
        throws
    {
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
        let found = try RequestClass(
            method: method, target: "/odata/shop/" + path, headers: .empty, configuration: configuration)
        #expect(found.kind == kind)
    }
}
