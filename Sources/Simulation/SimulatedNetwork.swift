import HTTPTypes
import ODataWire
import Transport

/// A device's connection to the service. All requests pass through the simulation, which injects faults.
///
/// It follows redirects as the transports do.
struct SimulatedNetwork: HTTPTransport {
    let simulation: Simulation
    let device: Int

    func send(
        _ request: HTTPRequest, body: [UInt8]
    ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8]) {
        var request = request
        for _ in 0...ResponseLimits().maximumRedirects {
            let answer = try await simulation.deliver(WireRequest(request, body), from: device)
            guard let target = try target(of: answer, to: request, body) else {
                return (HTTPResponse(answer), answer.body)
            }
            request = target
        }
        throw TransportError(.redirectRefused, "The service redirects too often.", mayHaveBeenSent: true)
    }

    /// Returns the request to which a response redirects, or nil if the response is returned to the engine.
    private func target(
        of answer: WireResponse, to request: HTTPRequest, _ body: [UInt8]
    ) throws(TransportError) -> HTTPRequest? {
        guard let location = answer.headers["Location"] else { return nil }
        switch try OutgoingRequest(request, body: body).decision(status: answer.status, location: location) {
        case .returnResponse: return nil
        case .follow: return HTTPRequest(method: request.method, url: location, headerFields: request.headerFields)
        case .refuse(let target):
            throw TransportError(
                .redirectRefused, "The service redirects to \(target).",
                mayHaveBeenSent: OutgoingRequest.mayHaveBeenDone(status: answer.status))
        }
    }
}
