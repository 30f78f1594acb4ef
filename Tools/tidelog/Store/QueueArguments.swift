internal import ArgumentParser
internal import Tidelog

/// The arguments that select the operations to send, and how: on commands that make or send plans.
struct QueueArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Send only what was made with this --category; may be repeated. What depends on others waits with them.",
            valueName: "name"))
    var category: [String] = []

    @Flag(
        help: """
            Put operations on one entity together where that comes to the same: several changes are one request, what \
            cancels itself out is none.
            """)
    var coalesce = false

    var upload: UploadOptions {
        var options = UploadOptions(coalesces: coalesce)
        if !category.isEmpty { options.categories = Set(category.map(UploadCategory.named)) }
        return options
    }
}
