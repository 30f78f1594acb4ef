import Transport

/// An error that indicates whether the request may have reached the service.
protocol UncertainDelivery: Error {
    var mayHaveBeenSent: Bool { get }
}

extension TransportError: UncertainDelivery {}

/// An error for a response that ended with the trailer `OData-Error`. Whatever its status, the response is invalid as a
/// whole, and the outcome of the request is unknown.
struct ErrorTrailer: UncertainDelivery {
    let error: TransportError

    var mayHaveBeenSent: Bool { error.mayHaveBeenSent }
}
