# Shell functions that the scripts in Tools share. Sourced, not run.
#
# Each function prints its action as `==> …`, does nothing if nothing is missing, and exits with one sentence and status
# 1 if it fails.

say() { printf '==> %s\n' "$*"; }

fail() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

# quietly LOG COMMAND…: runs the command with its output in a file; on failure prints the last lines and returns the
# status.
quietly() {
    local log=$1 status=0
    shift
    mkdir -p "$(dirname "$log")"
    "$@" >"$log" 2>&1 || status=$?
    if [ "$status" -ne 0 ]; then
        printf 'error: `%s` failed with status %s. The end of %s:\n' "$*" "$status" "$log" >&2
        tail -n 40 "$log" >&2
    fi
    return "$status"
}

elapsed() { printf '%d min %02d s' $((SECONDS / 60)) $((SECONDS % 60)); }

# --- Swift

require_swift() {
    command -v swift >/dev/null 2>&1 ||
        fail "No Swift toolchain was found. Install Swift 6.2 or later from https://www.swift.org/install and run this again."
    local version
    version=$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9][0-9]*\)\.\([0-9][0-9]*\).*/\1 \2/p' | head -n 1)
    [ -n "$version" ] || fail "\`swift --version\` does not work; repair the Swift toolchain and run this again."
    local major=${version% *} minor=${version#* }
    if [ "$major" -lt 6 ] || { [ "$major" -eq 6 ] && [ "$minor" -lt 2 ]; }; then
        fail "Swift $major.$minor is too old: install Swift 6.2 or later from https://www.swift.org/install and run this again."
    fi
    say "Swift $major.$minor"
}

# --- System libraries

# The libraries that the build links, by their pkg-config names.
system_libraries() { printf '%s\n' libzstd sqlite3 libxml-2.0 zlib; }

missing_libraries() {
    local name
    for name in $(system_libraries); do
        pkg-config --exists "$name" 2>/dev/null || printf '%s\n' "$name"
    done
}

# libcurl is loaded at the first request; nothing links it.
has_libcurl() {
    local place
    for place in /usr/lib/*/libcurl.so.4 /usr/lib64/libcurl.so.4 /usr/lib/libcurl.so.4 /usr/local/lib/libcurl.so.4 \
        /lib/*/libcurl.so.4; do
        [ -e "$place" ] && return 0
    done
    case "$(ldconfig -p 2>/dev/null)" in *libcurl.so.4*) return 0 ;; *) return 1 ;; esac
}

# The required Debian packages that are missing.
missing_debian_packages() {
    command -v pkg-config >/dev/null 2>&1 || printf 'pkg-config\n'
    local name
    for name in $(missing_libraries); do
        case $name in
        libzstd) printf 'libzstd-dev\n' ;;
        sqlite3) printf 'libsqlite3-dev\n' ;;
        libxml-2.0) printf 'libxml2-dev\n' ;;
        zlib) printf 'zlib1g-dev\n' ;;
        esac
    done
    # In newer releases the name of the package has a suffix; apt resolves the alternative.
    has_libcurl || printf 'libcurl4\n'
}

# apt_install PACKAGE…: installs as root, with sudo if necessary, or fails with a sentence that lists the packages.
apt_install() {
    local as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null 2>&1 ||
            fail "Please install these packages as root and run this again: apt-get install $*"
        as_root=(sudo)
    fi
    say "Installing $* with apt-get"
    quietly "$BUILD_LOGS/apt-update.log" ${as_root[@]+"${as_root[@]}"} apt-get update ||
        fail "apt-get update failed; install these packages and run this again: $*"
    quietly "$BUILD_LOGS/apt-install.log" ${as_root[@]+"${as_root[@]}"} env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y --no-install-recommends "$@" ||
        fail "apt-get could not install $*; install them and run this again."
}

require_system_libraries() {
    case $(uname -s) in
    Darwin) require_brew_libraries ;;
    *)
        local packages=()
        while IFS= read -r line; do packages+=("$line"); done < <(missing_debian_packages)
        if [ "${#packages[@]}" -gt 0 ]; then
            command -v apt-get >/dev/null 2>&1 ||
                fail "Please install the equivalents of these Debian packages and run this again: ${packages[*]}"
            apt_install "${packages[@]}"
        fi
        ;;
    esac
    say "System libraries: zstd, SQLite, libxml2, zlib, libcurl"
}

require_brew_libraries() {
    local formula missing=()
    command -v brew >/dev/null 2>&1 ||
        fail "Please install Homebrew (https://brew.sh), then: brew install pkgconf zstd sqlite libxml2"
    for formula in pkgconf zstd sqlite libxml2; do
        brew list --versions "$formula" >/dev/null 2>&1 || missing+=("$formula")
    done
    if [ "${#missing[@]}" -gt 0 ]; then
        say "Installing ${missing[*]} with brew"
        quietly "$BUILD_LOGS/brew.log" brew install "${missing[@]}" ||
            fail "brew could not install ${missing[*]}; install them and run this again."
    fi
    # brew does not link these two into its common folders, because macOS contains them.
    local keg
    for keg in sqlite libxml2; do
        PKG_CONFIG_PATH="$(brew --prefix "$keg")/lib/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"
    done
    export PKG_CONFIG_PATH
}

# --- Building

# build LOG ARGUMENTS…: swift build; its output is written to a file, and its errors are printed if it fails.
build() {
    local log=$1 status=0
    shift
    mkdir -p "$(dirname "$log")"
    swift build "$@" >"$log" 2>&1 || status=$?
    if [ "$status" -ne 0 ]; then
        grep -E '^[^ |].*(error|warning): ' "$log" | sort -u | head -n 40 >&2 || tail -n 40 "$log" >&2
        fail "swift build failed; all of its output is in $log."
    fi
}

# --- PostgreSQL, for the tests of the gateway

# The tests look for the programs in these places. The package does not put them into PATH.
has_postgres() {
    local program
    for program in "${TIDELOG_POSTGRES:-/nonexistent}/initdb" /usr/lib/postgresql/1[5-9]/bin/initdb; do
        [ -x "$program" ] && return 0
    done
    command -v initdb >/dev/null 2>&1
}

# Installs PostgreSQL if it is missing. If it cannot be installed, the tests that need it are skipped with a note.
prepare_postgres() {
    mkdir -p "$BUILD_LOGS"
    if ! has_postgres && command -v apt-get >/dev/null 2>&1; then
        # In a subshell, because a failure must not end the script.
        (apt_install postgresql libpq5) || true
    fi
    if has_postgres; then
        say "PostgreSQL is installed; a server of its own is started for this run"
    else
        say "Tests of the gateway with PostgreSQL will be skipped: it could not be installed"
    fi
}

# --- A browser, for the tests of reports

find_browser() {
    local name
    for name in "${TIDELOG_BROWSER:-}" chromium chromium-browser google-chrome google-chrome-stable; do
        [ -n "$name" ] && command -v "$name" 2>/dev/null && return 0
    done
    return 1
}

# Sets TIDELOG_BROWSER if a browser exists or can be installed. Otherwise the tests that need it are skipped with a
# note.
prepare_browser() {
    mkdir -p "$BUILD_LOGS"
    if ! find_browser >/dev/null && command -v apt-get >/dev/null 2>&1; then
        # In a subshell, because a failure must not end the script.
        (apt_install chromium) || true
    fi
    if TIDELOG_BROWSER=$(find_browser); then
        export TIDELOG_BROWSER
        say "Browser: $TIDELOG_BROWSER"
    else
        unset TIDELOG_BROWSER
        say "Tests of reports in a browser will be skipped: there is no Chromium, and it could not be installed"
    fi
}
