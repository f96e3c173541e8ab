// A library that is loaded for its build alone.
extern "C" int penstock_built_module() {
  return 1;
}
