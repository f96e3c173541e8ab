#!/usr/bin/env python3
"""Writes mpi_functions.def and open_mpi_objects.def beside itself, from the MPI headers of both
families.

Run it by hand when an MPI version is added, and commit the files. It needs mpicxx.mpich and mpicxx.openmpi. It decides
only which source file owns a function (OWNERS) and which functions may wait for other ranks (WAITS); the headers decide
the rest.
"""
import pathlib
import re
import subprocess

LARGE_COUNT = r"(_c)?"
COLLECTIVE = (r"(Bcast|Reduce|Allreduce|Gatherv?|Scatterv?|Allgatherv?|Alltoall[vw]?|Reduce_scatter(_block)?|Scan"
              r"|Exscan|Barrier)")
NEIGHBOUR = r"Neighbor_(allgatherv?|alltoall[vw]?)"

# The first row whose pattern matches the whole name (without MPI_) wins. An owner is a source file of
# wrappers/, staging/, partitioned/, windows/ or collectives/ (`communicators` is communicator_calls.cpp). `pass` is the generic
# expansion; `left_out` is known and not wrapped.
OWNERS = [
    # conversions between C and Fortran handles and statuses: they neither communicate nor cost time
    ("left_out", r".*_(c2f|f2c)"),
    ("lifecycle", r"Init|Init_thread|Query_thread|Finalize|Abort"),
    ("point_to_point", r"I?[bsr]?send" + LARGE_COUNT + r"|I?recv" + LARGE_COUNT
     + r"|sendrecv(_replace)?" + LARGE_COUNT),
    ("probing", r"I?m?probe|I?mrecv" + LARGE_COUNT),
    ("persistent", r"([bsr]?send|recv)_init" + LARGE_COUNT + r"|Start|Startall"),
    ("completion", r"(Wait|Test)(all|any|some)?|Request_free|Cancel"),
    ("communicators", r"Comm_(dup|dup_with_info|idup|idup_with_info|create|create_group|create_from_group|split"
                      r"|split_type|spawn|spawn_multiple|accept|connect|join|get_parent|set_name|set_info|get_info|free|disconnect)"
                      r"|Cart_create|Cart_sub|Graph_create|Dist_graph_create(_adjacent)?"
                      r"|Intercomm_(create|create_from_groups|merge)"),
    ("collectives", r"I?(" + COLLECTIVE + "|" + NEIGHBOUR + ")" + LARGE_COUNT),
    ("persistent_collectives", r"(" + COLLECTIVE + "|" + NEIGHBOUR + r")_init" + LARGE_COUNT),
    ("nonblocking_exchange", r"Isendrecv(_replace)?" + LARGE_COUNT),
    ("request_status", r"Request_get_status(_(all|any|some))?"),
    ("window_calls", r"R?(put|get|accumulate|get_accumulate)" + LARGE_COUNT + r"|Fetch_and_op|Compare_and_swap"
                     + r"|Win_(create|allocate|allocate_shared|shared_query)" + LARGE_COUNT + r"|Win_(create_dynamic|attach|detach|free|fence|start|complete|post|wait|test|sync|get_attr"
                     + r"|(un)?lock(_all)?|flush(_local)?(_all)?)"),
    ("partitioned_calls", r"P(send|recv)_init|Pready(_range|_list)?|Parrived"),
    ("buffered_sends", r"Buffer_(at|de)tach" + LARGE_COUNT),
    ("staged_calls", r"(Un)?pack(_external)?" + LARGE_COUNT + r"|Reduce_local" + LARGE_COUNT
                     + r"|File_i?(read|write)(_at)?(_all|_shared|_ordered)?" + LARGE_COUNT
                     + r"|File_(read|write)(_at)?(_all|_ordered)(_begin|_end)" + LARGE_COUNT + r"|File_close"),
    ("freed_handles", r"(Type|Op)_free"),
    ("error_handlers", r"Comm_([sg]et|create)_errhandler|Errhandler_([sg]et|create)"),
    ("pcontrol", r"Pcontrol"),
    ("pass", r".*"),
]

# Calls that may last until another rank does something. All others are local.
WAITS = (r"[sr]?send|recv|(sendrecv|mrecv)(_replace)?|m?probe|Wait(all|any|some)?|Init|Init_thread|Finalize|"
         + r"(" + COLLECTIVE + r"|" + NEIGHBOUR + r")(_init)?|Sendrecv(_replace)?"
         r"|Comm_(dup|dup_with_info|create|create_group|create_from_group|split|split_type|spawn|spawn_multiple"
         r"|accept|connect|join|free|disconnect)|Cart_create|Cart_sub|Graph_create|Dist_graph_create(_adjacent)?"
         r"|Intercomm_(create|create_from_groups|merge)|Session_finalize|Buffer_detach"
         r"|Win_(create|create_dynamic|allocate|allocate_shared|free|fence|start|complete|wait|lock|lock_all|unlock"
         r"|unlock_all|flush|flush_all|flush_local|flush_local_all)"
         r"|File_(open|close|sync|set_size|set_view|preallocate|seek_shared|set_atomicity)"
         r"|File_(read|write)(_at_all|_all|_ordered)(_begin|_end)?")

# Receiving functions of newer libraries of a family than the headers at hand. They must be wrapped; otherwise
# they would receive Penstock's messages.
EXCHANGE = ("int", [("const void*", "sendbuf", ""), ("int", "sendcount", ""), ("MPI_Datatype", "sendtype", ""),
                    ("int", "dest", ""), ("int", "sendtag", ""), ("void*", "recvbuf", ""), ("int", "recvcount", ""),
                    ("MPI_Datatype", "recvtype", ""), ("int", "source", ""), ("int", "recvtag", ""),
                    ("MPI_Comm", "comm", ""), ("MPI_Request*", "request", "")])
EXCHANGE_IN_PLACE = ("int", [("void*", "buf", ""), ("int", "count", ""), ("MPI_Datatype", "datatype", ""),
                             ("int", "dest", ""), ("int", "sendtag", ""), ("int", "source", ""),
                             ("int", "recvtag", ""), ("MPI_Comm", "comm", ""), ("MPI_Request*", "request", "")])
REQUESTS = ("const MPI_Request", "requests", "[]")
NEWER = {
    "Isendrecv": {"openmpi": EXCHANGE},  # Open MPI 5
    "Isendrecv_replace": {"openmpi": EXCHANGE_IN_PLACE},
    # MPI-4.1
    "Request_get_status_all": dict.fromkeys(["mpich", "openmpi"], ("int", [
        ("int", "count", ""), REQUESTS, ("int*", "flag", ""), ("MPI_Status", "statuses", "[]")])),
    "Request_get_status_any": dict.fromkeys(["mpich", "openmpi"], ("int", [
        ("int", "count", ""), REQUESTS, ("int*", "index", ""), ("int*", "flag", ""), ("MPI_Status*", "status", "")])),
    "Request_get_status_some": dict.fromkeys(["mpich", "openmpi"], ("int", [
        ("int", "incount", ""), REQUESTS, ("int*", "outcount", ""), ("int", "indices", "[]"),
        ("MPI_Status", "statuses", "[]")])),
}

# Removed by MPI-3, and so missing where libraries share the standard ABI.
REMOVED = {"Address", "Errhandler_create", "Errhandler_get", "Errhandler_set", "Type_extent", "Type_hindexed", "Type_hvector",
           "Type_lb", "Type_struct", "Type_ub"}

# Deprecated since MPI-2: of the libraries with the standard ABI, MPICH declares them and Open MPI lacks them.
DEPRECATED = {"Attr_delete", "Attr_get", "Attr_put", "Keyval_create", "Keyval_free"}

# Macros in Open MPI's header, though functions of its library. All else that only MPICH's has is MPI-4's.
OTHERWISE_IN_OPENMPI = {"Aint_add", "Aint_diff"}

FAMILIES = {"mpich": [], "openmpi": ["-DOMPI_SKIP_MPICXX", "-DOMPI_OMIT_MPI1_COMPAT_DECLS=0"]}

# Exported by the libraries, but no functions to wrap: MPI_T is the interface of tools, the *_FN are
# predefined callbacks that are compared by address, *_F90 and Status_*f08* are parts of the Fortran binding.
NO_ROW = re.compile(r"T_.*|.*_FN|CONVERSION_FN_NULL.*|.*_F90|Status_.*f08.*")


def matches(pattern, name):
    # patterns are written in small letters after a prefix such as I? or R?; MPI names are not
    return re.fullmatch(pattern, name, re.IGNORECASE) is not None


def owner_of(name):
    return next(owner for owner, pattern in OWNERS if matches(pattern, name))


def waits(name):
    return matches(r"(" + WAITS + r")(_c)?", name)


def preprocessed(family, *options):
    flags = [word for word in subprocess.check_output([f"mpicxx.{family}", "-show"], text=True).split()
             if word.startswith("-I")]
    command = ["g++", "-E", *options, "-x", "c++", "-", "-DMPICH_SKIP_MPICXX", *FAMILIES[family], *flags]
    return subprocess.run(command, input="#include <mpi.h>\n", capture_output=True, text=True, check=True).stdout


def prototypes(family):
    """Returns {name: (result, [(type, name, array suffix)] or None for varargs)}."""
    text = preprocessed(family, "-P")
    text = re.sub(r"__attribute__\s*\(\((?:[^()\"]|\"[^\"]*\"|\((?:[^()\"]|\"[^\"]*\")*\))*\)\)", " ", text)
    found = {}
    for match in re.finditer(r"(?<![\w(*])(\w[\w ]*?[ *]+)MPI_(\w+)\s*\(([^;{}]*)\)\s*;", text):
        result, name, inside = match.group(1).strip(), match.group(2), " ".join(match.group(3).split())
        if result.startswith("typedef") or result.startswith("return") or NO_ROW.fullmatch(name):
            continue
        found[name] = (result, None if "..." in inside else parameters(inside))
    return found


def parameters(inside):
    if inside in ("", "void"):
        return []
    result = []
    for position, text in enumerate(inside.split(",")):
        text = text.strip()
        array = "".join(re.findall(r"\[[^\]]*\]", text))
        text = re.sub(r"\[[^\]]*\]", "", text).strip()
        match = re.fullmatch(r"(.*[\s*])(\w+)", text)
        # some prototypes omit the names: "const char *"
        if match and match.group(1).strip() != "const":
            kind, name = match.group(1).strip(), match.group(2)
        else:
            kind, name = text, f"argument_{position}"
        result.append((re.sub(r"\s*\*", "*", kind), name, array))
    return result


def as_type(parameter):
    kind, _, array = parameter
    first_is_pointer = re.sub(r"^\[[^\]]*\]", "*", array)
    return kind + first_is_pointer


def same(one, other):
    return one[0] == other[0] and (one[1] is None) == (other[1] is None) and (
        one[1] is None or [as_type(p) for p in one[1]] == [as_type(p) for p in other[1]])


def declared_and_passed(given):
    return ("(" + ", ".join(f"{kind} {what}{array}" for kind, what, array in given) + ")",
            "(" + ", ".join(what for _, what, _ in given) + ")")


def row(macro, name, prototype):
    result, given = prototype
    declared, passed = ("(const int level, ...)", "(level)") if given is None else declared_and_passed(given)
    kind = "waits" if waits(name) else "local"
    line = f"{macro}({owner_of(name)}, {kind}, {name}, {result}, {declared}, {passed})"
    return f"#if PENSTOCK_HAS_REMOVED_FUNCTIONS\n{line}\n#endif" if name in REMOVED else line


def rows_of_mpi_4(macro):
    """Returns the lines that make `macro` of the rows of functions that the header has if it is new enough."""
    without = '#ifndef PENSTOCK_HAS_MPI_4\n#error "include mpi_level.hpp first: else the rows of MPI-4 would be missing"\n#endif\n'
    return without + "\n".join(f"#if PENSTOCK_HAS_{level}\n#define PENSTOCK_{level} {macro}\n#else\n#define PENSTOCK_{level}(...)\n#endif"
                     for level in ("MPI_4", "LARGE_COUNTS")) + "\n"


HEADER = """\
// Generated by generate_function_table.py from the headers of both MPI families. Do not edit.
// clang-format off
//
// One row a function. Before including this, include "interpose/binding/mpi_level.hpp" and define
//   PENSTOCK_ROW(owner, waits, name, result, parameters, arguments)
//     owner       the source file that defines the wrapper; `pass`: pass_through.cpp, generically;
//                 `pcontrol`: pass_through.cpp, by hand (varargs); `left_out`: not wrapped
//     waits       `waits` if the call may last until another rank does something, else `local`
//     name        without MPI_
// Rows of functions that the other family has are skipped, and those that the header is too old or too new for (mpi_level.hpp); a name
// stands twice where the prototypes differ. The prototypes of the standard ABI are MPICH's.
// Define PENSTOCK_NEWER_ROW, too, to tell functions apart that newer libraries of the family have and the headers lacked.

#ifndef PENSTOCK_NEWER_ROW
#define PENSTOCK_NEWER_ROW PENSTOCK_ROW
#endif
#define PENSTOCK_BOTH PENSTOCK_ROW
#if PENSTOCK_HAS_REMOVED_FUNCTIONS
#define PENSTOCK_DEPRECATED PENSTOCK_ROW
#else
#define PENSTOCK_DEPRECATED PENSTOCK_NEWER_ROW
#endif
#ifdef OPEN_MPI
#define PENSTOCK_OPENMPI PENSTOCK_ROW
#define PENSTOCK_NEWER_OPENMPI PENSTOCK_NEWER_ROW
#define PENSTOCK_MPICH(...)
#define PENSTOCK_NEWER_MPICH(...)
#else
#define PENSTOCK_OPENMPI(...)
#define PENSTOCK_NEWER_OPENMPI(...)
#define PENSTOCK_MPICH PENSTOCK_ROW
#define PENSTOCK_NEWER_MPICH PENSTOCK_NEWER_ROW
#endif
"""

FOOTER = """
#undef PENSTOCK_BOTH
#undef PENSTOCK_DEPRECATED
#undef PENSTOCK_OPENMPI
#undef PENSTOCK_MPICH
#undef PENSTOCK_NEWER_OPENMPI
#undef PENSTOCK_NEWER_MPICH
#undef PENSTOCK_MPI_4
#undef PENSTOCK_LARGE_COUNTS
#undef PENSTOCK_NEWER_ROW
#undef PENSTOCK_ROW
"""


OBJECTS_HEADER = """\
// Generated by generate_function_table.py from Open MPI's mpi.h. Do not edit.
//
// The objects whose addresses are Open MPI's predefined handles. Before including this, define
// PENSTOCK_OBJECT(object).

"""


def functions():
    """Yields (macro of the families that have it, name, prototype) for each function."""
    mpich, openmpi = prototypes("mpich"), prototypes("openmpi")
    for name in sorted(mpich.keys() | openmpi.keys() | NEWER.keys(), key=str.lower):
        if name in mpich and name in openmpi and same(mpich[name], openmpi[name]):
            yield "PENSTOCK_DEPRECATED" if name in DEPRECATED else "PENSTOCK_BOTH", name, mpich[name]
            continue
        if name in mpich:
            is_of_mpi_4 = name not in openmpi and name not in NEWER and name not in OTHERWISE_IN_OPENMPI
            macro = "PENSTOCK_MPICH" if not is_of_mpi_4 else "PENSTOCK_LARGE_COUNTS" if name.endswith("_c") else "PENSTOCK_MPI_4"
            yield macro, name, mpich[name]
        if name in openmpi:
            yield "PENSTOCK_OPENMPI", name, openmpi[name]
        for family, prototype in NEWER.get(name, {}).items():
            if name not in {"mpich": mpich, "openmpi": openmpi}[family]:
                yield "PENSTOCK_NEWER_" + family.upper(), name, prototype


def function_table():
    return "\n".join([HEADER + rows_of_mpi_4("PENSTOCK_ROW")] + [row(*function) for function in functions()]) + "\n" + FOOTER


def object_table():
    objects = re.findall(r"OMPI_PREDEFINED_GLOBAL\(\s*\w+\s*,\s*(ompi_\w+)\s*\)", preprocessed("openmpi", "-dD"))
    rows = [f"PENSTOCK_OBJECT({name})" for name in sorted(set(objects))]
    return OBJECTS_HEADER + "\n".join(rows) + "\n\n#undef PENSTOCK_OBJECT\n"


def main():
    folder = pathlib.Path(__file__).resolve().parent
    (folder / "mpi_functions.def").write_text(function_table())
    (folder / "open_mpi_objects.def").write_text(object_table())


if __name__ == "__main__":
    main()
