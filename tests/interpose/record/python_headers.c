// Where the structures of the CPython whose headers these are have what python_layout.hpp says. In C, as its
// own headers are.
#define Py_BUILD_CORE 1
#include <Python.h>
#if PY_VERSION_HEX >= 0x030B0000
#include "internal/pycore_frame.h"
typedef struct _PyInterpreterFrame Frame;
#else
#include <frameobject.h>
typedef PyFrameObject Frame;
#endif
#include <stddef.h>

#include "python_headers.h"

const unsigned python_of_headers = PY_MINOR_VERSION;

const struct PythonOffset python_offsets[] = {
    {"thread_id", offsetof(PyThreadState, thread_id)},
#if PY_VERSION_HEX >= 0x030D0000
    {"frame", offsetof(PyThreadState, current_frame)},
    {"code", offsetof(Frame, f_executable)},
    {"position", offsetof(Frame, instr_ptr)},
#elif PY_VERSION_HEX >= 0x030B0000
    {"frame", offsetof(PyThreadState, cframe)},
    {"frame_of_cframe", offsetof(_PyCFrame, current_frame)},
    {"code", offsetof(Frame, f_code)},
    {"position", offsetof(Frame, prev_instr)},
#else
    {"frame", offsetof(PyThreadState, frame)},
    {"code", offsetof(Frame, f_code)},
    {"position", offsetof(Frame, f_lasti)},
    {"previous", offsetof(Frame, f_back)},
    {"function", offsetof(PyCodeObject, co_name)},
#endif
#if PY_VERSION_HEX >= 0x030B0000
    {"previous", offsetof(Frame, previous)},
    {"owner", offsetof(Frame, owner)},
    {"function", offsetof(PyCodeObject, co_qualname)},
    {"instructions", offsetof(PyCodeObject, co_code_adaptive)},
#endif
#if PY_VERSION_HEX >= 0x030A0000
    {"lines", offsetof(PyCodeObject, co_linetable)},
#else
    {"lines", offsetof(PyCodeObject, co_lnotab)},
#endif
    {"first_line", offsetof(PyCodeObject, co_firstlineno)},
    {"file", offsetof(PyCodeObject, co_filename)},
    {"ascii", sizeof(PyASCIIObject)},
    {"compact", sizeof(PyCompactUnicodeObject)},
    {"type", offsetof(PyObject, ob_type)},
    {"size", offsetof(PyVarObject, ob_size)},
    {"size", offsetof(PyASCIIObject, length)},
    {"state", offsetof(PyASCIIObject, state)},
    {"content", offsetof(PyBytesObject, ob_sval)},
    {0, 0},
};
