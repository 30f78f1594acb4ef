internal import ArgumentParser

/// The process: parses arguments, runs the command, and converts an error to a sentence and an exit code.
@main
enum Program {
    static func main() async {
        // A closed pipe, as in `tidelog log | head -1`, is reported as EPIPE and not as a signal: an upload must not
        // end early because its report is not read.
        Console.ignoreBrokenPipes()
        do {
            var command = try RootCommand.parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            try Console.flush()
        } catch {
            ErrorReport(error).exit()
        }
    }
}

struct RootCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tidelog",
        abstract: "Work offline with the data of an OData service.",
        discussion: """
            A store contains a part of a service. All commands except init, pull and push work without a network; \
            changes are logged and sent by the next push.

            Exit codes: 0 success, 1 failure, 2 damage, 64 usage, 75 the service is busy, retry later.

            tidelog --generate-completion-script bash|zsh|fish prints a script with which the shell completes commands and options.
            """,
        version: "0.1.0",
        groupedSubcommands: [
            CommandGroup(
                name: "Store and service",
                subcommands: [
                    InitCommand.self, PullCommand.self, PushCommand.self, ServiceCommand.self, QueriesCommand.self,
                    RefreshMetadataCommand.self, CompactCommand.self, ClearCommand.self,
                ]),
            CommandGroup(name: "Reading", subcommands: [QueryCommand.self, ExplainCommand.self, KeysCommand.self]),
            CommandGroup(
                name: "Changing",
                subcommands: [
                    CreateCommand.self, UpdateCommand.self, DeleteCommand.self, LinkCommand.self, RelinkCommand.self,
                    UnlinkCommand.self, ActionCommand.self, ApplyCommand.self, SettleCommand.self,
                    IdentifyCommand.self, UndoCommand.self, RedoCommand.self, ConflictsCommand.self,
                    ResolveCommand.self,
                    ReleaseCommand.self,
                ]),
            CommandGroup(name: "Media", subcommands: [MediaCommand.self]),
            CommandGroup(
                name: "Errors",
                subcommands: [ErrorsCommand.self, RetryCommand.self, AmendCommand.self, DiscardCommand.self]),
            CommandGroup(
                name: "Inspection",
                subcommands: [
                    StatusCommand.self, QuarantineCommand.self, PlanCommand.self, LogCommand.self, ShowCommand.self,
                    HistoryCommand.self, BlameCommand.self, WhyCommand.self, MetadataCommand.self, StatsCommand.self,
                    SegmentsCommand.self,
                ]),
            CommandGroup(name: "Time travel and replay", subcommands: [AtCommand.self, ReplayCommand.self]),
            CommandGroup(
                name: "Finding faults",
                subcommands: [
                    DiffCommand.self, BisectCommand.self, WatchCommand.self, WhatIfCommand.self,
                    MinimiseCommand.self, GenerateTestCommand.self,
                ]),
            CommandGroup(
                name: "Sharing",
                subcommands: [ExportCommand.self, ImportCommand.self, RedactCommand.self, ReportCommand.self]),
            CommandGroup(name: "Damage", subcommands: [VerifyCommand.self, RepairCommand.self]),
        ])
}
