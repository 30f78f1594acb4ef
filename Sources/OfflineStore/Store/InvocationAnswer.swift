package import EDM

/// The result of a function or action as values.
package enum InvocationAnswer: Sendable {
    case nothing
    case value(Value)
    /// The returned entities; at most one if the operation returns a single entity.
    case entities([EntitySnapshot])
}
