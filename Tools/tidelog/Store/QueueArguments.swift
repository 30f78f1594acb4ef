internal import ArgumentParser
internal import Tidelog

/// The arguments that select the operations to send, and how: on commands that make or send plans.
struct QueueArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Send only operations of this category; may be repeated. Operations that depend on others wait with them.",
            valueName: "name"))
    var category: [String] = []

    @Flag(
        help: """
            Coalesce operations on one entity if the result is the same: several changes become one request, \
            operations that cancel each other out become none.
            """)
    var coalesce = false

    var upload: UploadOptions {
        var options = UploadOptions(coalesces: coalesce)
        if !category.isEmpty { options.categories = Set(category.map(UploadCategory.named)) }
        return options
    }
}
