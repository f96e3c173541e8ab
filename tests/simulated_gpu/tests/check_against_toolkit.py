#!/usr/bin/env python3
"""Compares the simulated GPU's headers with NVIDIA's: symbols and signatures of functions, values of enumerators and
macros, sizes of structures and where their members lie. A program that prints these facts, of everything that our
headers declare, is compiled with either; the two outputs must be the same.

usage: check_against_toolkit.py <compiler> <folder of our headers> <folder of NVIDIA's headers> <work folder>
"""
import pathlib
import re
import subprocess
import sys

HEADERS = ["cuda.h", "cuda_runtime_api.h", "cupti.h"]
# Macros that say something about one header only, and members that stand for what ours leaves out
OURS_ALONE = re.compile(r"SIMULATED_GPU|PACKED_ALIGNMENT|^CUDAAPI|^CUDA_CB|^CUDARTAPI|^CUPTIAPI|_HAS_BEEN_DEFINED|simulatedGpuUnused")


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)


def structures(text):
    """Names of structures, each with its members' names."""
    for match in re.finditer(r"(typedef\s+)?(struct|union)\s+(?:PACKED_ALIGNMENT\s+)?(\w*)\s*\{", text):
        depth, end = 1, match.end()
        while depth > 0:
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        inside_another = text[: match.start()].count("{") - text[: match.start()].count("}") > 1  # 1: extern "C"
        if inside_another:
            continue
        body = re.sub(r"\{[^{}]*\}", "", text[match.end() : end - 1])
        members = re.findall(r"(\w+)\s*(?:\[[^\]]*\])?\s*;", body)
        name = re.match(r"\s*(\w+)", text[end:]).group(1) if match.group(1) else match.group(3)
        yield name, [member for member in members if not OURS_ALONE.search(member)]


def facts_program(folder):
    lines = [f"#include <{header}>" for header in HEADERS]
    lines += ["#include <cstddef>", "#include <cstdio>",
              "template <typename T> const char* type() { return __PRETTY_FUNCTION__; }",
              "#define TEXT2(x) #x", "#define TEXT(x) TEXT2(x)", "int main() {"]
    for header in HEADERS:
        text = without_comments((folder / header).read_text())
        for body in re.findall(r"\benum\b[^;{]*\{([^}]*)\}", text):
            for name in re.findall(r"(\w+)\s*=", body):
                lines.append(f'std::printf("{name} = %lld\\n", (long long){name});')
        for name, value in re.findall(r"^#define (\w+) +(.+)$", text, flags=re.M):
            if OURS_ALONE.search(name):
                continue
            if re.match(r"cu[A-Z]\w+$", value.strip()):
                lines.append(f'std::printf("{name} is %s\\n", TEXT({name}));')
            else:
                lines.append(f'std::printf("{name} = %lld\\n", (long long){name});')
        for name in re.findall(r"^(?:CUresult|cudaError_t|CUptiResult|const char\*) (\w+)\(", text, flags=re.M):
            lines.append(f'std::printf("{name} is %s: %s\\n", TEXT({name}), type<decltype(&{name})>());')
        for name, members in structures(text):
            lines.append(f'std::printf("{name}: %zu bytes, aligned to %zu\\n", sizeof({name}), alignof({name}));')
            for member in members:
                lines.append(f'std::printf("{name}::{member} at %zu\\n", offsetof({name}, {member}));')
    return "\n".join(lines + ["}"]) + "\n"


def facts(compiler, program, headers, executable):
    subprocess.run([compiler, "-x", "c++", "-std=c++20", "-w", "-isystem", headers, program, "-o", executable], check=True)
    return subprocess.run([executable], check=True, capture_output=True, text=True).stdout.splitlines()


def main():
    compiler, ours, theirs, work = sys.argv[1], *map(pathlib.Path, sys.argv[2:5])
    work.mkdir(parents=True, exist_ok=True)
    program = work / "facts.cpp"
    program.write_text(facts_program(ours))
    our_facts = facts(compiler, program, ours, work / "our_facts")
    their_facts = facts(compiler, program, theirs, work / "their_facts")
    differences = [(a, b) for a, b in zip(our_facts, their_facts) if a != b]
    for a, b in differences:
        print(f"simulated: {a}\nNVIDIA's:  {b}\n")
    print(f"{len(our_facts)} facts, {len(differences)} differ")
    return 1 if differences or len(our_facts) < 500 else 0


if __name__ == "__main__":
    sys.exit(main())
