// An interpreter of Python as far as the recorder looks for one: of a version that nobody knows.
const unsigned long Py_Version = 0x03630000;  // 3.99
char PyCode_Type, PyUnicode_Type, PyBytes_Type;

int Py_IsInitialized(void) {
  return 1;
}
void* PyGILState_GetThisThreadState(void) {
  return 0;
}
