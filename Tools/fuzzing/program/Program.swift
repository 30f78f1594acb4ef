import CLibFuzzer
import FuzzTargets

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// `tidelog-fuzz TARGET [what libFuzzer takes]`, or `tidelog-fuzz TARGET --write-seeds FOLDER`; built and started by
/// `Tools/fuzz`.
@main struct Program {
    /// libFuzzer's call carries nothing but the bytes. Set once, before the first call.
    nonisolated(unsafe) static var target = FuzzTarget.blocks

    static func main() {
        guard CommandLine.argc > 1, let target = FuzzTarget(rawValue: CommandLine.arguments[1]) else {
            print("usage: tidelog-fuzz TARGET [OPTION…]; targets: \(FuzzTarget.allCases.map(\.rawValue))")
            exit(64)
        }
        if CommandLine.argc == 4, CommandLine.arguments[2] == "--write-seeds" {
            return writeSeeds(of: target, to: CommandLine.arguments[3])
        }
        Program.target = target
        // The target's name is not for libFuzzer.
        var count = CommandLine.argc - 1
        var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv + 1
        arguments?[0] = CommandLine.unsafeArgv[0]
        let status = LLVMFuzzerRunDriver(&count, &arguments) { bytes, count in
            do throws(Finding) {
                try Program.target.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
            } catch {
                fatalError("\(error)")
            }
            return 0
        }
        exit(status)
    }

    private static func writeSeeds(of target: FuzzTarget, to folder: String) {
        for (number, seed) in target.seeds.enumerated() {
            guard let file = fopen("\(folder)/seed-\(number)", "w") else { fatalError("\(folder): errno \(errno)") }
            fwrite(seed, 1, seed.count, file)
            fclose(file)
        }
    }
}
