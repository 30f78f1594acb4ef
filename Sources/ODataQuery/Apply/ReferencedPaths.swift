/// The properties that occur in transformations and must be read of each entity to evaluate them.
package struct ReferencedPaths {
    /// The paths as property names, unique and in the order of their first occurrence. Includes names that a
    /// transformation introduces.
    package private(set) var paths: [[String]] = []
    /// Whether anything other than properties is required: collection-valued links, types, the state of an entity.
    package private(set) var isIncomplete = false

    package init(_ sequence: [Transformation], _ options: QueryOptions) {
        add(sequence)
        for item in options.compute { add(item.expression) }
        if let filter = options.filter { add(filter) }
        for item in options.orderBy { add(item.expression) }
        if options.search != nil { isIncomplete = true }
    }

    private mutating func add(_ sequence: [Transformation]) {
        for transformation in sequence { add(transformation) }
    }

    private mutating func add(_ transformation: Transformation) {
        switch transformation {
        case .identity, .top, .skip: break
        case .filter(let condition): add(condition)
        case .compute(let items): for item in items { add(item.expression) }
        case .orderBy(let items): for item in items { add(item.expression) }
        case .ranked(_, let amount, let key):
            add(amount)
            add(key)
        case .aggregate(let items): for item in items { add(item) }
        case .groupBy(let items, let inner):
            for item in items {
                switch item {
                case .property(let path): add(path)
                case .rollup(let levels): for level in levels { add(level) }
                case .recursiveRollup: isIncomplete = true
                }
            }
            add(inner)
        case .concat(let sequences): for sequence in sequences { add(sequence) }
        case .search, .nest, .addNested, .join, .relatives, .traverse, .function: isIncomplete = true
        }
    }

    private mutating func add(_ item: AggregateItem) {
        switch item.subject {
        case .values(let expression, _): add(expression)
        case .count(let path): if path.segments.count > 1 || path.root != .implicit { isIncomplete = true }
        case .custom: isIncomplete = true
        }
        for step in item.steps { for path in step.properties { add(path) } }
    }

    private mutating func add(_ path: ExpressionPath) {
        guard let names = path.propertyNames, !names.isEmpty else {
            isIncomplete = true
            return
        }
        if !paths.contains(names) { paths.append(names) }
    }

    private mutating func add(_ expression: Expression) {
        switch expression {
        case .literal, .enumeration: break
        case .path(let path): add(path)
        case .comparison(_, let left, let right), .arithmetic(_, let left, let right):
            add(left)
            add(right)
        case .and(let operands), .or(let operands), .list(let operands): for operand in operands { add(operand) }
        case .not(let operand), .negation(let operand), .cast(let operand?, _), .isof(let operand?, _): add(operand)
        case .call(let function, let arguments):
            switch function {
            case .isLocal, .hasPendingChanges, .isInErrorState, .upsertedLastDownload, .entityExists, .isdefined,
                .hasLocalRelatives, .hasRelativesWithPendingChanges:
                isIncomplete = true
            default: for argument in arguments { add(argument) }
            }
        case .cast(nil, _), .isof(nil, _): isIncomplete = true
        case .object(let members): for member in members { add(member.value) }
        case .choice(let choices):
            for choice in choices {
                add(choice.condition)
                add(choice.value)
            }
        }
    }
}

extension Transformation {
    /// Returns whether no entity passes the sequence unchanged.
    package static func makesRows(_ sequence: [Transformation]) -> Bool {
        sequence.contains { transformation in
            switch transformation {
            case .aggregate: true
            case .groupBy(_, let inner): inner.isEmpty || makesRows(inner)
            case .concat(let sequences): sequences.allSatisfy(makesRows)
            default: false
            }
        }
    }
}
