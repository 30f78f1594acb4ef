internal import ArgumentParser
internal import Tidelog

struct CompactCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compact", abstract: "Write a snapshot of the state, and remove old history.",
        discussion: """
            The state and the pending operations do not change; only their history is removed. Before that, the \
            command folds the history again, verifies that it results in the same state, and prints the digest. It \
            removes whole segments, so slightly more history than requested may remain.
            """)

    @Option(
        help: ArgumentHelp(
            "The history to keep: 'everything', a number of days such as '30d', or a size such as '100mb' (b, kb, mb, gb).",
            valueName: "everything|DAYSd|BYTES"),
        transform: WindowArgument.init)
    var keep: WindowArgument

    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func run() async throws {
        try await options.withStore { provider in
            let text = CompactionText(try await provider.compact(keeping: keep.window))
            for line in format.json ? [text.json] : text.lines { try Console.print(line) }
        }
    }
}

/// An argument `everything`, `30d` or `100mb`.
struct WindowArgument: Hashable {
    let window: AuditWindow

    init(_ text: String) throws {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let unit = text.dropFirst(digits.count).lowercased()
        if digits.isEmpty, unit == "everything" {
            window = .everything
        } else if unit == "d", let days = Int(digits) {
            window = .days(days)
        } else if let factor = Self.bytes[unit], let count = UInt64(digits),
            case (let bytes, false) = count.multipliedReportingOverflow(by: factor)
        {
            window = .bytes(bytes)
        } else {
            throw ValidationError(
                "'\(text)' is not 'everything', a number of days such as '30d' or a size such as '100mb'.")
        }
    }

    private static let bytes: [String: UInt64] = ["b": 1, "kb": 1_000, "mb": 1_000_000, "gb": 1_000_000_000]
}
