#!/usr/bin/env bash
# rustc.sh RUSTC ARGUMENT...: compiles and lints a crate of the workspace, and checks the comments of a library or program.
#
# tests/run.py sets RUSTC_WORKSPACE_WRAPPER to this script, so that one build does all three. CLIPPY_DRIVER is the path of clippy's
# compiler. rustdoc checks the comments without writing pages. The option `--check` is unstable, so the call sets RUSTC_BOOTSTRAP. Warnings
# do not end the build; the stage `lint` fails on them. The script needs bash, because other shells drop variables with `-` in their names,
# such as the paths of programs.
#
# With VKL_QUICK=1, the script checks no comments. It also does not lint the library of a package whose tests are compiled too, because the
# same code is linted with the tests. Cargo sets CARGO_PRIMARY_PACKAGE for the packages that the call of cargo names, which includes their tests.
if [ -n "${VKL_QUICK:-}" ]; then
    [[ -n "${CARGO_PRIMARY_PACKAGE:-}" && " $* " != *" --test "* ]] || exec "$CLIPPY_DRIVER" "$@"
    exec "$@"
fi
"$CLIPPY_DRIVER" "$@" || exit
RUSTC=$1
shift
# Skips tests, build scripts, and questions about the compiler, which have no documentation.
case " $* " in
*" --test "* | *" --crate-name build_script_"* | *" --print"*) exit 0 ;;
*" --emit="*) ;;
*) exit 0 ;;
esac
arguments=()
for word; do
    # rustdoc does not have the option for the kinds of output.
    [[ $word = --emit=* ]] || arguments+=("$word")
done
RUSTC_BOOTSTRAP=1 exec "${RUSTC%rustc}rustdoc" -Zunstable-options --check --document-private-items "${arguments[@]}"
