# shellcheck shell=bash
# Functions of the demonstrations of Tools/quickstart. Sourced after setup.bash; $PROGRAMS is the folder of the programs.

DEMONSTRATION=$(mktemp -d "${TMPDIR:-/tmp}/tidelog-quickstart.XXXXXX")
SANDBOX=
GATEWAY=
PROOFS=0

# The sandbox may be stopped, and has to be continued before it can end.
stop_sandbox() {
    if [ -n "$SANDBOX" ]; then
        kill -CONT "$SANDBOX" 2>/dev/null || true
        kill -TERM "$SANDBOX" 2>/dev/null || true
        wait "$SANDBOX" 2>/dev/null || true
        SANDBOX=
    fi
}

stop_gateway() {
    if [ -n "$GATEWAY" ]; then
        kill -TERM "$GATEWAY" 2>/dev/null || true
        wait "$GATEWAY" 2>/dev/null || true
        GATEWAY=
    fi
}

clean_up() {
    stop_sandbox
    stop_gateway
    rm -rf "$DEMONSTRATION"
}
trap clean_up EXIT
trap 'exit 1' HUP INT TERM

headline() { printf '\n=== %s\n' "$*"; }

# Prints the command as a user would type it.
show() {
    local argument shown='$ tidelog'
    for argument in "$@"; do
        case $argument in
        *[!A-Za-z0-9_./:~=-]*) shown="$shown '$argument'" ;;
        *) shown="$shown $argument" ;;
        esac
    done
    printf '\n%s\n' "$shown"
}

# tidelog ARGUMENTS…: prints the command and runs it; $answer contains its output.
tidelog() {
    show "$@"
    answer=$("$PROGRAMS/tidelog" "$@" 2>&1) || fail "'tidelog $1' failed: $answer"
    if [ -n "$answer" ]; then printf '%s\n' "$answer"; fi
}

# Prints the readLink in the answer to a change.
link() { printf '%s' "${answer##* }"; }

# refused WORDS ARGUMENTS…: runs a command that has to fail with an error that contains these words.
refused() {
    local words=$1
    shift
    show "$@"
    if answer=$("$PROGRAMS/tidelog" "$@" 2>&1); then fail "'tidelog $*' should have been refused."; fi
    printf '%s\n' "$answer"
    case $answer in *"$words"*) ;; *) fail "the error does not contain: $words" ;; esac
}

# same SENTENCE EXPECTED FOUND: checks that two texts are equal and not empty.
same() {
    if [ -z "$2" ] || [ "$2" != "$3" ]; then
        printf 'expected:\n%s\nfound:\n%s\n' "$2" "$3" >&2
        fail "this check failed: $1"
    fi
    PROOFS=$((PROOFS + 1))
    printf 'verified: %s\n' "$1"
}

# start_sandbox OPTIONS…: starts the service; $DEMONSTRATION/sandbox contains its roots.
start_sandbox() {
    : >"$DEMONSTRATION/sandbox"
    "$PROGRAMS/odata-sandbox" --quiet "$@" >>"$DEMONSTRATION/sandbox" &
    SANDBOX=$!
    local tries=0
    while [ "$(wc -l <"$DEMONSTRATION/sandbox")" -lt 2 ]; do
        kill -0 "$SANDBOX" 2>/dev/null || fail "odata-sandbox does not start."
        tries=$((tries + 1))
        [ "$tries" -lt 200 ] || fail "odata-sandbox does not print its address."
        sleep 0.05
    done
}
