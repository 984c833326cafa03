// A fuzz target without libFuzzer: its seeds, then mutants of them that are the
// same in every run. --write FOLDER writes the seeds for libFuzzer.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/fuzz/Fuzz.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>

using mg::test::Bytes;

static void writeSeeds(const std::filesystem::path &folder) {
  std::filesystem::create_directories(folder);
  int number = 0;
  for (const Bytes &seed : mg::test::fuzzSeeds())
    std::ofstream(folder / std::to_string(number++), std::ios::binary)
        .write(reinterpret_cast<const char *>(seed.data()),
               static_cast<std::streamsize>(seed.size()));
}

static void mutate(Bytes &input, std::mt19937 &random) {
  constexpr uint8_t interesting[] = {0, 1, 0x7f, 0x80, 0xff};
  const size_t at = random() % input.size();
  switch (random() % 4) {
  case 0:
    input[at] ^= std::byte(1u << random() % 8);
    break;
  case 1:
    input[at] = std::byte{interesting[random() % std::size(interesting)]};
    break;
  case 2: // eight bytes, as offsets and sizes are
    for (size_t i = at; i < std::min(at + 8, input.size()); ++i)
      input[i] = std::byte{interesting[random() % std::size(interesting)]};
    break;
  case 3:
    input.resize(at + 1);
    break;
  }
}

int main(int count, char **arguments) {
  if (count == 3 && std::string(arguments[1]) == "--write")
    return writeSeeds(arguments[2]), 0;
  const int mutants = count > 1 ? std::atoi(arguments[1]) : 1000;
  const std::vector<Bytes> seeds = mg::test::fuzzSeeds();
  for (size_t i = 0; i < seeds.size(); ++i)
    if (!mg::test::accepts(seeds[i]))
      return std::fprintf(stderr, "seed %zu is refused\n", i), 1;
  std::mt19937 random(1);
  int accepted = 0;
  for (int i = 0; i < mutants; ++i) {
    Bytes input = seeds[static_cast<size_t>(i) % seeds.size()];
    for (auto left = random() % 3 + 1; left > 0; --left)
      mutate(input, random);
    accepted += mg::test::accepts(input);
  }
  std::printf("%zu seeds; %d of %d mutants are good files\n", seeds.size(),
              accepted, mutants);
  return 0;
}
