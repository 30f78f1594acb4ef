"""The parts of the product that mutants are planted in, and the tests that run for them."""

# For each part: the paths of its sources (folders end with a slash), those that are left out, and the number of mutants.
PARTS = {
    "log": (["Sources/OperationLog/"], ["Sources/OperationLog/Errors/"], 160),
    "fold": (["Sources/SyncCore/Fold/", "Sources/SyncCore/State/", "Sources/SyncCore/Undo/"], [], 130),
    "planner": (["Sources/SyncCore/Upload/"],
                ["Sources/SyncCore/Upload/Reconciler", "Sources/SyncCore/Upload/Sent/",
                 "Sources/SyncCore/Upload/ChildMatching", "Sources/SyncCore/Upload/FailingRequestMatcher",
                 "Sources/SyncCore/Upload/ReferenceRefusal", "Sources/SyncCore/Upload/Session/BatchResponseKind",
                 "Sources/SyncCore/Upload/Session/ResendOutcomes"], 110),
    "reconciler": (["Sources/SyncCore/Upload/Reconciler", "Sources/SyncCore/Upload/Sent/",
                    "Sources/SyncCore/Upload/ChildMatching", "Sources/SyncCore/Upload/FailingRequestMatcher",
                    "Sources/SyncCore/Upload/ReferenceRefusal", "Sources/SyncCore/Upload/Session/BatchResponseKind",
                    "Sources/SyncCore/Upload/Session/ResendOutcomes"], [], 50),
    "ledger": (["Sources/GatewayCore/Ledger/", "Sources/GatewayCore/Batch/", "Sources/GatewayCore/Requests/",
                "Sources/Gateway/Storage/SQLiteLedgerStorage", "Sources/Gateway/Storage/MemoryLedgerStorage"], [], 50),
}

# The test targets or suites that should notice the mutants of a part, and the targets of all parts.
CORE = ["SyncCoreTests", "SequenceTests", "ViewsTests", "RelationshipTests", "SyncEngineTests", "SimulationTests"]
PART_TESTS = {"known": ["OperationLogTests.PosixTests", "ViewsTests", "TransportTests.CurlConcurrencyTests",
                        "CommandLineTests.SystemCallTests", "CommandLineTests.StoredViewsTests",
                        "CommandLineTests.DamagedStoreTests", "SyncEngineTests"],
              "log": ["OperationLogTests"], "fold": CORE, "planner": CORE, "reconciler": CORE, "ledger": ["GatewayTests"]}
TESTS = ["OperationLogTests", "GatewayTests", "SyncCoreTests", "SequenceTests", "ViewsTests", "RelationshipTests",
         "SimulationTests", "SyncEngineTests", "TransportTests", "CommandLineTests"]

# Suites with random histories, which notice most faults of the core.
HISTORIES = {"SequenceTests.SequenceTests", "ViewsTests.PartialReplayTests", "ViewsTests.FlushIntervalTests",
             "ViewsTests.SameStateTests", "ViewsTests.WrittenStateTests", "SyncCoreTests.UndoPropertyTests",
             "SyncCoreTests.PlannerPropertyTests", "SyncEngineTests.RandomSessionTests"}

# The extent of random tests in a run for one mutant; see Docs/Verification.md. They are deterministic if their seeds are.
EXTENT = {"TIDELOG_CRASHES": "20", "TIDELOG_KILLS": "60", "TIDELOG_FLIPS": "100", "TIDELOG_SEQUENCES": "200",
          "TIDELOG_SIMULATIONS": "60"}
