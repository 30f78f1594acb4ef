import HTTPTypes
import ODataWire
import Transport

/// A device's connection to the service. All requests pass through the simulation, which injects faults.
struct SimulatedNetwork: HTTPTransport {
    let simulation: Simulation
    let device: Int

    func send(
        _ request: HTTPRequest, body: [UInt8]
    ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8]) {
        var headers = HTTPHeaders()
        for field in request.headerFields { headers.add(name: field.name.rawName, value: field.value) }
        let answer = try await simulation.deliver(
            WireRequest(method: request.method.rawValue, url: request.path ?? "/", headers: headers, body: body),
            from: device)
        var response = HTTPResponse(status: .init(code: answer.status))
        for field in answer.headers.fields {
            guard let name = HTTPField.Name(field.name) else { continue }
            response.headerFields.append(HTTPField(name: name, value: field.value))
        }
        return (response, answer.body)
    }
}
