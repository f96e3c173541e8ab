// Needs MPI only through a library of its own, as many applications do.
int initialise_through_library(int* argc, char*** argv);

int main(int argc, char** argv) {
  return initialise_through_library(&argc, &argv);
}
