#include "analysis/recording/symbol_names.hpp"

#include <gtest/gtest.h>

namespace penstock::analysis {
namespace {

TEST(SymbolNames, are_read_without_return_type_and_parameters) {
  EXPECT_EQ(readable_symbol("_Z8exchangeIdEvi"), "exchange<double>");
  EXPECT_EQ(readable_symbol("_ZN12_GLOBAL__N_16updateEPfi"), "(anonymous namespace)::update");
  EXPECT_EQ(readable_symbol("_ZNK4SlabclEi"), "Slab::operator()");
  EXPECT_EQ(readable_symbol("_Z3mapIPKfET_S2_"), "map<float const*>");
}

TEST(SymbolNames, that_are_not_mangled_stay_as_they_are) {
  EXPECT_EQ(readable_symbol("main"), "main");
  EXPECT_EQ(readable_symbol("stencil (inner)"), "stencil (inner)");
  EXPECT_EQ(readable_symbol(""), "");
  EXPECT_EQ(readable_symbol("f"), "f");  // no type
  EXPECT_EQ(readable_symbol("_Zbroken"), "_Zbroken");
}

}  // namespace
}  // namespace penstock::analysis
