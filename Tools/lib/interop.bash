# Shell functions that prepare the interop tests. Sourced by Tools/test.

# Sets TIDELOG_INTEROP_UNAVAILABLE to the reason, with which the interop tests are skipped, and prints it.
interop_unavailable() {
    TIDELOG_INTEROP_UNAVAILABLE=$1
    export TIDELOG_INTEROP_UNAVAILABLE
    say "Interop tests will be skipped: $1"
}

# virtual_environment NAME: creates .venv-NAME with the packages of Tools/interop/requirements-NAME.txt, unless it
# contains them already. Returns 1 on failure.
virtual_environment() {
    local folder=.venv-$1 requirements=Tools/interop/requirements-$1.txt
    if [ -x "$folder/bin/python" ] && cmp -s "$requirements" "$folder/installed.txt"; then return 0; fi
    say "Creating $folder from $requirements"
    rm -rf "$folder"
    python3 -m venv "$folder" >"$BUILD_LOGS/venv-$1.log" 2>&1 || return 1
    "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --retries 1 --timeout 20 \
        -r "$requirements" >>"$BUILD_LOGS/venv-$1.log" 2>&1 || return 1
    cp "$requirements" "$folder/installed.txt"
}

has_venv() { command -v python3 >/dev/null 2>&1 && python3 -c 'import ensurepip, venv' >/dev/null 2>&1; }

prepare_interop() {
    local scripts=${TIDELOG_INTEROP:-../shared/interop}
    mkdir -p "$BUILD_LOGS"
    if [ -n "${TIDELOG_INTEROP_UNAVAILABLE:-}" ]; then
        say "Interop tests will be skipped: $TIDELOG_INTEROP_UNAVAILABLE"
        return
    fi
    if [ ! -e "$scripts/odatapy_service.py" ]; then
        interop_unavailable "the scripts that start the servers are not in $scripts (TIDELOG_INTEROP selects another folder)"
        return
    fi
    if ! has_venv; then
        if command -v apt-get >/dev/null 2>&1; then
            # In a subshell, because a failure must not end the script.
            (apt_install python3-venv) || true
        fi
        if ! has_venv; then
            interop_unavailable "python3 with its venv module is missing (Debian: apt-get install python3-venv)"
            return
        fi
    fi
    local name
    for name in odatapy mock-sap; do
        if ! virtual_environment "$name"; then
            rm -rf ".venv-$name"
            interop_unavailable "the packages of Tools/interop/requirements-$name.txt could not be installed from PyPI: $(
                tail -n 1 "$BUILD_LOGS/venv-$name.log"
            )"
            return
        fi
    done
    say "Interop: servers in .venv-odatapy and .venv-mock-sap"
}
