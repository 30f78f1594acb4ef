import CLibFuzzer
import FuzzTargets

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The program `tidelog-fuzz TARGET [libFuzzer options]`, or `tidelog-fuzz TARGET --write-seeds FOLDER`. `Tools/fuzz`
/// builds and starts it.
@main struct Program {
    /// The target, a global variable because the callback of libFuzzer receives only the bytes. Set once, before the
    /// first call.
    nonisolated(unsafe) static var target = FuzzTarget.blocks

    private static let variable = "TIDELOG_FUZZ_TARGET"

    static func main() {
        var arguments = CommandLine.arguments
        var count = CommandLine.argc
        var pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
        if arguments.count > 1, FuzzTarget(rawValue: arguments[1]) != nil {
            // The name of the target is removed from the arguments of libFuzzer, which may start this program again,
            // and passed in the environment.
            setenv(variable, arguments.remove(at: 1), 1)
            pointers = CommandLine.unsafeArgv + 1
            pointers?[0] = CommandLine.unsafeArgv[0]
            count -= 1
        }
        guard let target = getenv(variable).flatMap({ FuzzTarget(rawValue: String(cString: $0)) }) else {
            print("usage: tidelog-fuzz TARGET [OPTION…]; targets: \(FuzzTarget.allCases.map(\.rawValue))")
            exit(64)
        }
        if arguments.count == 3, arguments[1] == "--write-seeds" { return writeSeeds(of: target, to: arguments[2]) }
        Program.target = target
        let status = LLVMFuzzerRunDriver(&count, &pointers) { bytes, count in
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
