import ODataSandbox
import ODataWire
import Transport

/// The delivery of requests of the gateway to the service.
extension RequestDelivery {
    private static let faults: [FaultKind] = [
        .originUnreachable, .originRequestLost, .originAnswerLost, .originAnswerLost, .originBusy, .originRedirect,
        .otherDeviceInFlight,
    ]

    /// Delivers a request of the gateway, possibly with faults.
    func forward(in run: isolated Simulation) async -> Result<WireResponse, TransportError> {
        guard let gateway = run.gateway else {
            return .failure(failure(.unreachable, mayHaveBeenSent: false, in: run))
        }
        run.addTrace("gateway \(request.method) \(request.url) \(request.body.count)")
        let isOfFeed = request.headers["Authorization"] == SimulatedGateway.credentials
        var fault: Fault?
        if !isOfFeed { swap(&fault, &gateway.fault) }
        guard run.isStormy, gateway.chance(run.severity / 2) else { return .success(serve(request, fault, in: run)) }
        let kind = Self.faults[gateway.below(Self.faults.count)]
        // Another device may need the result of the reading that is in progress.
        if kind == .otherDeviceInFlight, isOfFeed || request.method == "GET" {
            return .success(serve(request, fault, in: run))
        }
        guard run.happens(kind) else { return .success(serve(request, fault, in: run)) }
        run.addTrace("the gateway meets \(kind)")
        switch kind {
        case .originUnreachable: return .failure(failure(.unreachable, mayHaveBeenSent: false, in: run))
        case .originRequestLost: return .failure(failure(.disconnected, mayHaveBeenSent: true, in: run))
        case .originAnswerLost:
            _ = serve(request, fault, in: run)
            return .failure(failure(.disconnected, mayHaveBeenSent: true, in: run))
        case .originBusy:
            return .success(
                refusal([429, 503][gateway.below(2)], ["Retry-After": "\(1 + gateway.below(120))"], in: run))
        case .originRedirect:
            let status = Self.redirects[gateway.below(Self.redirects.count)]
            // Only a 303 may follow the execution.
            if status == 303, request.method != "GET", gateway.chance(50) { _ = serve(request, fault, in: run) }
            return .success(refusal(status, ["Location": FieldService.origin + request.url], in: run))
        default:
            let isBefore = gateway.chance(50)
            let device = run.devices.first { $0.number == number }
            if isBefore, let device { await meanwhile(kind, device, in: run) }
            let response = serve(request, fault, in: run)
            if !isBefore, let device { await meanwhile(kind, device, in: run) }
            return .success(response)
        }
    }
}
