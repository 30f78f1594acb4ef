import HTTPTypes
import ODataWire

extension WireResponse {
    /// Creates the response of the wire from one of the transport.
    init(_ response: HTTPResponse, _ body: [UInt8]) {
        var headers = HTTPHeaders()
        for field in response.headerFields { headers.add(name: field.name.rawName, value: field.value) }
        self.init(status: response.status.code, headers: headers, body: body)
    }
}
