// The constructor and destructor of CommunicatorInfo, apart from the rest because they need the whole Stash.
#include "interpose/communicators.hpp"
#include "interpose/matching.hpp"

namespace penstock::interpose {

CommunicatorInfo::CommunicatorInfo() = default;
CommunicatorInfo::~CommunicatorInfo() = default;

}  // namespace penstock::interpose
