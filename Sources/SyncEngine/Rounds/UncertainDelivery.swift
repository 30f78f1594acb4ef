import Transport

/// An error that knows whether the request may have arrived.
protocol UncertainDelivery: Error {
    var mayHaveBeenSent: Bool { get }
}

extension TransportError: UncertainDelivery {}
