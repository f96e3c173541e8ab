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

TEST(SymbolNames, are_matched_with_namespaces_and_template_arguments_or_without) {
  const char* const hop = "dslash::kernels::hop<dslash::Half, (dslash::Side)1>";
  for (const char* pattern :
       {hop, "hop", "hop*", "h?p", "hop<*", "dslash::*", "dslash::kernels::hop", "*Half*"}) {
    EXPECT_TRUE(matches_name(pattern, hop)) << pattern;
  }
  for (const char* pattern : {"op", "ho", "kernels", "Half", "Side*", "dslash"}) {
    EXPECT_FALSE(matches_name(pattern, hop)) << pattern;
  }
  EXPECT_TRUE(matches_name("update", "(anonymous namespace)::update"));
  EXPECT_TRUE(matches_name("operator()", "Slab<int>::operator()"));
  EXPECT_TRUE(matches_name("operator<", "Slab::operator<"));
  EXPECT_TRUE(matches_name("operator->*", "Slab<3>::operator->"));
  EXPECT_TRUE(matches_name("of", "std::vector<A<int>::B>::of<C::D>"));
  EXPECT_FALSE(matches_name("B", "std::vector<A<int>::B>::of"));
}

TEST(SymbolNames, are_short_in_sentences_where_they_are_long) {
  EXPECT_EQ(short_symbol("halo::Exchange<double, 3>::start"), "halo::Exchange<double, 3>::start");
  EXPECT_EQ(short_symbol(
                "slowest_s<dslash::(anonymous namespace)::BiCgStab<dslash::Single, dslash::Single>::timed()::"
                "<lambda()> >"),
            "slowest_s<…>");
  EXPECT_EQ(short_symbol(
                "dslash::(anonymous namespace)::BiCgStab<dslash::Single, dslash::Half>::timed()::<lambda()>"),
            "dslash::BiCgStab<…>::timed()::<lambda()>");
  EXPECT_EQ(short_symbol("Kokkos::Impl::ParallelFor<Pack<Kokkos::View<double*> >, Policy>::operator()"),
            "Kokkos::Impl::ParallelFor<…>::operator()");
  EXPECT_EQ(short_symbol("a_function_of_c_whose_name_is_longer_than_most"),
            "a_function_of_c_whose_name_is_longer_than_most");
}

}  // namespace
}  // namespace penstock::analysis
