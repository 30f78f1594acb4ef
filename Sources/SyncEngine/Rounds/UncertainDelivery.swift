import Transport

/// An error that indicates whether the request may have reached the service.
protocol UncertainDelivery: Error {
    var mayHaveBeenSent: Bool { get }
}

extension TransportError: UncertainDelivery {}

/// An error for a response that ended with the trailer `OData-Error`. The response is invalid as a whole,
/// regardless of its status, and the outcome of the request is unknown.
struct ErrorTrailer: UncertainDelivery {
    let error: TransportError

    var mayHaveBeenSent: Bool { error.mayHaveBeenSent }
}
