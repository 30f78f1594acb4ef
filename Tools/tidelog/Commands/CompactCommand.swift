internal import ArgumentParser
internal import ODataWire
internal import Tidelog

struct CompactCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compact", abstract: "Write the state as a snapshot, and remove history that need not be kept.",
        discussion: """
            The state stays as it is, and so does everything that is pending: only how it came about is forgotten. Before \
            anything is removed, the history is folded once more and has to lead to the same state; its digest is printed. \
            Whole segments of the log go, so a little more than what is asked for may stay.
            """)

    @Option(
        help: ArgumentHelp(
            "What of the history to keep: 'everything', what was recorded in so many days as in '30d', or the newest so many bytes as in '100mb' (b, kb, mb, gb).",
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
            throw ValidationError("'\(text)' is none of 'everything', days as in '30d', and bytes as in '100mb'.")
        }
    }

    private static let bytes: [String: UInt64] = ["b": 1, "kb": 1_000, "mb": 1_000_000, "gb": 1_000_000_000]
}
