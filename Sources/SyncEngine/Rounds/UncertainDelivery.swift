import Transport

/// An error that knows whether the request may have arrived.
protocol UncertainDelivery: Error {
    var mayHaveBeenSent: Bool { get }
}

extension TransportError: UncertainDelivery {}

/// The service ended its answer, whatever its status, with the trailer `OData-Error`: the answer is in error as a whole, and
/// what became of the request is not known.
struct ErrorTrailer: UncertainDelivery {
    let error: TransportError

    var mayHaveBeenSent: Bool { error.mayHaveBeenSent }
}
