internal import EDM

/// The facts that the grammars of a query option share, in addition to the position in its text.
struct QueryParserState {
    let version: ODataVersion
    /// The recursion depth of the parsers.
    var nesting = 0
    /// The height of the expression that was parsed last.
    var height = 0
    /// The range variables of the enclosing lambdas.
    var variables: [String] = []
    /// The interpretation of times of day in the condition of an enclosing `case`.
    var colons = ColonAmbiguity()

    init(_ version: ODataVersion) { self.version = version }
}

/// The interpretation of a colon after digits.
///
/// `case(At eq 10:20,…)` may compare with the time 10:20, or with 10 and have the value 20. The rest of the text
/// resolves the ambiguity.
struct ColonAmbiguity {
    /// Whether a time of day ends before its last colon.
    var endsTimes = false
    /// Whether a time of day was parsed since the flag was cleared.
    var hasReadTime = false
    /// The number of conditions that may still be parsed a second time. Without a limit, nested ones would take
    /// exponential time.
    var attempts = 16
}
