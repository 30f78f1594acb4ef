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
        let answer = try await simulation.deliver(WireRequest(request, body), from: device)
        return (HTTPResponse(answer), answer.body)
    }
}
