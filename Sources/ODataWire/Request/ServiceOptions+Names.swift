/// Access to the options by name, for files and command lines: `supportsBatch=false`.
extension ServiceOptions {
    /// The reason why a text is not a valid option.
    public struct InvalidOption: Error, Hashable, CustomStringConvertible {
        /// The reason as a sentence.
        public let description: String
    }

    private enum Field {
        case flag(WritableKeyPath<ServiceOptions, Bool>)
        /// A comma-separated list of `Set/Property`.
        case properties(WritableKeyPath<ServiceOptions, [String: String]>)
        /// A comma-separated list of `Set/policy`.
        case policies(WritableKeyPath<ServiceOptions, [String: DoubtPolicy]>)
        /// An integer number of seconds, up to a day.
        case seconds(WritableKeyPath<ServiceOptions, Int>)
        case choice([String], get: (ServiceOptions) -> String, set: (inout ServiceOptions, String) -> Void)

        static func choice<Choice: RawRepresentable & CaseIterable>(
            _ path: WritableKeyPath<ServiceOptions, Choice>
        ) -> Field where Choice.RawValue == String {
            .choice(
                Choice.allCases.map(\.rawValue), get: { $0[keyPath: path].rawValue },
                set: { options, text in if let value = Choice(rawValue: text) { options[keyPath: path] = value } })
        }

        var values: [String] {
            switch self {
            case .flag: ["true", "false"]
            case .properties: ["", "Set/Property"]
            case .policies: [""] + DoubtPolicy.allCases.map { "Set/\($0.rawValue)" }
            case .seconds: ["0", "86400"]
            case .choice(let values, _, _): values
            }
        }
    }

    private static var fields: [(name: String, field: Field)] {
        [
            ("supportsBatch", .flag(\.supportsBatch)), ("supportsBind", .flag(\.supportsBind)),
            ("supportsPatch", .flag(\.supportsPatch)), ("batchFormat", .choice(\.batchFormat)),
            ("contentIDReferences", .choice(\.contentIDReferences)),
            ("contentIDLocation", .choice(\.contentIDLocation)), ("deepInsertToMany", .choice(\.deepInsertToMany)),
            ("tunnelsMethods", .flag(\.tunnelsMethods)), ("wrapsInlineCollections", .flag(\.wrapsInlineCollections)),
            ("isIEEE754Compatible", .flag(\.isIEEE754Compatible)),
            ("deletedOnServiceIsDone", .flag(\.deletedOnServiceIsDone)), ("repeatability", .choice(\.repeatability)),
            ("respondsAsync", .flag(\.respondsAsync)), ("correlationProperties", .properties(\.correlationProperties)),
            ("tellsDeletionsInV2", .flag(\.tellsDeletionsInV2)),
            ("changeSetRollback", .choice(\.changeSetRollback)), ("doubts", .choice(\.doubts)),
            ("doubtsBySet", .policies(\.doubtsBySet)), ("lostRequestSeconds", .seconds(\.lostRequestSeconds)),
            ("payloadFormat", .choice(\.payloadFormat)),
            ("supportsETagReferences", .flag(\.supportsETagReferences)),
            ("supportsRequestConditions", .flag(\.supportsRequestConditions)),
        ]
    }

    /// The name of each option with its possible values, beginning with the default.
    public static var choices: [(name: String, values: [String])] {
        zip(fields, ServiceOptions().named).map { field, standard in
            (field.name, [standard.value] + field.field.values.filter { $0 != standard.value })
        }
    }

    /// All options with their current values, in the order of ``choices``.
    public var named: [(name: String, value: String)] {
        Self.fields.map { name, field in
            switch field {
            case .flag(let path): (name, String(self[keyPath: path]))
            case .properties(let path):
                (name, self[keyPath: path].sorted { $0.key < $1.key }.map { "\($0)/\($1)" }.joined(separator: ","))
            case .policies(let path):
                (
                    name,
                    self[keyPath: path].sorted { $0.key < $1.key }.map { "\($0)/\($1.rawValue)" }
                        .joined(separator: ",")
                )
            case .seconds(let path): (name, String(self[keyPath: path]))
            case .choice(_, let get, _): (name, get(self))
            }
        }
    }

    /// Sets the option with the name.
    ///
    /// - Throws: An ``InvalidOption`` with the permitted names or values if there is no such option, or if it does not
    ///   have such a value.
    public mutating func set(_ name: String, to value: String) throws(InvalidOption) {
        guard let field = Self.fields.first(where: { $0.name == name })?.field else {
            let names = Self.fields.map(\.name).joined(separator: ", ")
            throw InvalidOption(description: "There is no option \(name). The options are \(names).")
        }
        switch field {
        case .properties(let path):
            self[keyPath: path] = try Self.pairs(value, name, "Set/Property")
            return
        case .policies(let path):
            self[keyPath: path] = try Self.policies(value, name)
            return
        case .seconds(let path):
            guard let seconds = Int(value), (0...86_400).contains(seconds) else {
                throw InvalidOption(
                    description: "\(name) must be a number of seconds from 0 to 86400, not \(value).")
            }
            self[keyPath: path] = seconds
            return
        case .flag, .choice: break
        }
        guard field.values.contains(value) else {
            throw InvalidOption(
                description: "\(name) must be one of \(field.values.joined(separator: ", ")), not \(value).")
        }
        switch field {
        case .flag(let path): self[keyPath: path] = value == "true"
        case .choice(_, _, let set): set(&self, value)
        case .properties, .policies, .seconds: break
        }
    }

    private static func policies(_ text: String, _ name: String) throws(InvalidOption) -> [String: DoubtPolicy] {
        let names = DoubtPolicy.allCases.map(\.rawValue).joined(separator: ", ")
        var found: [String: DoubtPolicy] = [:]
        for (set, policy) in try pairs(text, name, "Set/policy") {
            guard let policy = DoubtPolicy(rawValue: policy) else {
                throw InvalidOption(description: "\(name) must be one of \(names), not \(text).")
            }
            found[set] = policy
        }
        return found
    }

    private static func pairs(
        _ text: String, _ name: String, _ form: String
    ) throws(InvalidOption) -> [String: String] {
        var found: [String: String] = [:]
        for item in text.split(separator: ",") {
            // The name of a contained set contains slashes.
            guard let slash = item.lastIndex(of: "/"), slash != item.startIndex, item.last != "/" else {
                throw InvalidOption(
                    description: "\(name) must have the form \(form),\(form), not \(text).")
            }
            found[String(item[..<slash])] = String(item[item.index(after: slash)...])
        }
        return found
    }
}
