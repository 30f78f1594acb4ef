/// Written by hand, for a class that the build makes.
extension Reader {
    /// Whether the reader may borrow books.
    public var hasCard: Bool { cardNumber != nil }
}
