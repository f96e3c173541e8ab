// Defines the wrappers of packing, local reductions and file I/O, generated from the table.
#include "interpose/progress/gathering.hpp"
#include "interpose/staging/staged_calls_files.hpp"
#include "interpose/staging/staged_calls_packing.hpp"
#include "interpose/staging/staged_calls_split_files.hpp"

namespace penstock::interpose {

PENSTOCK_DESCRIBE(Pack, pack)
PENSTOCK_DESCRIBE(Pack_external, pack_external)
PENSTOCK_DESCRIBE(Unpack, unpack)
PENSTOCK_DESCRIBE(Unpack_external, unpack_external)
PENSTOCK_DESCRIBE(Reduce_local, reduce_local)

/// Exports a call that reads from a file and the one that writes to it.
#define PENSTOCK_DESCRIBE_FILE(Read, Write, read, write) \
  PENSTOCK_DESCRIBE(Read, read) PENSTOCK_DESCRIBE(Write, write)

PENSTOCK_DESCRIBE_FILE(File_read, File_write, file_read, file_write)
PENSTOCK_DESCRIBE_FILE(File_read_all, File_write_all, file_read, file_write)
PENSTOCK_DESCRIBE_FILE(File_read_ordered, File_write_ordered, file_read, file_write)
PENSTOCK_DESCRIBE_FILE(File_read_shared, File_write_shared, file_read, file_write)
PENSTOCK_DESCRIBE_FILE(File_read_at, File_write_at, file_read_at, file_write_at)
PENSTOCK_DESCRIBE_FILE(File_read_at_all, File_write_at_all, file_read_at, file_write_at)
PENSTOCK_DESCRIBE_FILE(File_iread, File_iwrite, file_read, file_write)
PENSTOCK_DESCRIBE_FILE(File_iread_all, File_iwrite_all, file_read, file_write)
PENSTOCK_DESCRIBE_FILE(File_iread_shared, File_iwrite_shared, file_read, file_write)
PENSTOCK_DESCRIBE_FILE(File_iread_at, File_iwrite_at, file_read_at, file_write_at)
PENSTOCK_DESCRIBE_FILE(File_iread_at_all, File_iwrite_at_all, file_read_at, file_write_at)

PENSTOCK_DESCRIBE_FILE(File_read_all_begin, File_write_all_begin, file_read_begin, file_write_begin)
PENSTOCK_DESCRIBE_FILE(File_read_ordered_begin, File_write_ordered_begin, file_read_begin, file_write_begin)
PENSTOCK_DESCRIBE_FILE(File_read_at_all_begin, File_write_at_all_begin, file_read_at_begin,
                       file_write_at_begin)
PENSTOCK_DESCRIBE_ONE(File_read_all_end, file_end)
PENSTOCK_DESCRIBE_ONE(File_read_ordered_end, file_end)
PENSTOCK_DESCRIBE_ONE(File_read_at_all_end, file_end)
PENSTOCK_DESCRIBE_ONE(File_write_all_end, file_end)
PENSTOCK_DESCRIBE_ONE(File_write_ordered_end, file_end)
PENSTOCK_DESCRIBE_ONE(File_write_at_all_end, file_end)
PENSTOCK_DESCRIBE_ONE(File_close, file_close)

namespace {

template <Function function, typename Call, typename... Arguments>
int carry_out(const Call& call, Arguments... arguments) {
  return among_others<function>([&] { return description<function>(call, arguments...); }, arguments...);
}

}  // namespace
}  // namespace penstock::interpose

#define PENSTOCK_EXPAND_staged_calls(name, result, parameters, arguments) \
  PENSTOCK_EXPORT_CALL(LibraryCall, carry_out<Function::name>, name, parameters, arguments)
#include "interpose/binding/rows_of_owners.def"
