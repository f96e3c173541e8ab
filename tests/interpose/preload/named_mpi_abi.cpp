// A library with the name that MPI-5 gives to those with the standard ABI, where no MPI has one. It has the
// first function only.
#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT int PMPI_Init(int* /*argc*/, char*** /*argv*/) {
  return 0;
}

EXPORT int MPI_Init(int* argc, char*** argv) {
  return PMPI_Init(argc, argv);
}
