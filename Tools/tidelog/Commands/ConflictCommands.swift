internal import ArgumentParser
internal import EDM
internal import Tidelog

struct ConflictsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "conflicts",
        abstract: "List entities that another client changed while changes to them are pending.",
        discussion: """
            For each property and link: the merge base, mine and theirs. An asterisk marks those that both sides \
            changed. push resolves conflicts by its policy, resolve the remaining ones.
            """)

    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func run() async throws {
        try await options.withStore { provider in
            let conflicts = try await provider.conflicts()
            let model = try await provider.model()
            for conflict in conflicts {
                let text = ConflictText(conflict, model)
                try Console.print(format.json ? text.json : text.lines.joined(separator: "\n"))
            }
            if conflicts.isEmpty, !format.json { try Console.print("No conflicts.") }
        }
    }
}

struct ResolveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resolve", abstract: "Resolve a conflict; the next push sends the result.",
        discussion: """
            --theirs undoes the pending operations on the entity (redo restores them); --mine sends them over the \
            changes of other clients. --property and --link choose a side for single properties and links, for example \
            'tidelog resolve Customers(1) --mine --property Name=theirs'.
            """)

    @Argument(help: ArgumentHelp("A readLink or editLink.", valueName: "entity")) var entity: String
    @Flag(help: "Keep the pending changes.") var mine = false
    @Flag(help: "Keep the changes of the service.") var theirs = false
    @Option(
        help: ArgumentHelp("The side for one property, 'mine' or 'theirs'; may be repeated.", valueName: "NAME=SIDE"),
        transform: SideArgument.init)
    var property: [SideArgument] = []
    @Option(
        help: ArgumentHelp("The side for one link, 'mine' or 'theirs'; may be repeated.", valueName: "NAME=SIDE"),
        transform: SideArgument.init)
    var link: [SideArgument] = []
    @OptionGroup var options: StoreOptions

    func validate() throws {
        guard mine != theirs else {
            throw ValidationError("Use --mine or --theirs, for the properties and links without a side of their own.")
        }
    }

    func run() async throws {
        try await options.withStore { provider in
            guard let conflict = try await provider.conflict(at: entity) else {
                throw TidelogError(.notFound, "There is no conflict on \(entity).")
            }
            var resolution = ConflictResolution(mine ? .mine : .theirs)
            for argument in property {
                guard conflict.properties.contains(where: { $0.name == argument.name && $0.isMine }) else {
                    throw TidelogError(.invalidRequest, "No pending operation on \(entity) sets \(argument.name).")
                }
                resolution.properties[argument.name] = argument.side == .mine ? .mine : .theirs
            }
            for argument in link {
                guard conflict.links.contains(where: { $0.navigation == argument.name && $0.isMine }) else {
                    throw TidelogError(
                        .invalidRequest, "No pending operation on \(entity) sets the link \(argument.name).")
                }
                resolution.links[argument.name] = argument.side
            }
            let undone = try await provider.resolve(conflict, with: resolution)
            let send = try await provider.hasPendingUpload ? " Run 'tidelog push' to send the pending operations." : ""
            try Console.print("The conflict on \(oneLine(conflict.name)) is resolved.\(send)")
            guard !undone.isEmpty else { return }
            let numbers = undone.map(String.init)
            try Console.print(
                "\(counted(undone.count, "operation", "operations")) undone: \(numbers.joined(separator: ", ")). "
                    + "'tidelog redo \(numbers.joined(separator: " "))' restores them.")
        }
    }
}

/// An argument `NAME=mine` or `NAME=theirs`.
struct SideArgument: Hashable {
    let name: String
    let side: ConflictResolution.Side

    init(_ text: String) throws {
        guard let equals = text.lastIndex(of: "="), equals != text.startIndex else {
            throw ValidationError("'\(text)' does not have the form NAME=mine or NAME=theirs.")
        }
        name = String(text[..<equals])
        switch text[text.index(after: equals)...] {
        case "mine": side = .mine
        case "theirs": side = .theirs
        default: throw ValidationError("'\(text)' does not have the form NAME=mine or NAME=theirs.")
        }
    }
}

enum ConflictPolicyArgument: String, CaseIterable, ExpressibleByArgument {
    case merge
    case mergeMine = "merge-mine"
    case mergeTheirs = "merge-theirs"
    case mine
    case theirs
    case ask

    var policy: ConflictPolicy {
        switch self {
        case .merge: .merge(overlapping: .ask)
        case .mergeMine: .merge(overlapping: .clientWins)
        case .mergeTheirs: .merge(overlapping: .serverWins)
        case .mine: .clientWins
        case .theirs: .serverWins
        case .ask: .ask
        }
    }
}
