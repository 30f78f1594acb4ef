/// A handwritten extension of a class that is generated during the build.
extension Reader {
    /// A Boolean value that indicates whether the reader may borrow books.
    public var hasCard: Bool { cardNumber != nil }
}
