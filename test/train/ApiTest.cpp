// mg.h over the toy bundle: data in memory, state by name, scalars, replicas,
// errors.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/mg.h"
#include "test/runtime/ToyBundle.h"

#include <gtest/gtest.h>

namespace mg::test {
namespace {

/// The toy (units of 2 rows) on some devices; w starts at 0.
struct Toy {
  explicit Toy(int devices) : file(toyBundle({2}).file()) {
    mg_open_options options;
    mg_open_options_init(&options);
    options.devices = devices;
    EXPECT_EQ(mg_open(file.path().c_str(), &options, &session), MG_OK)
        << mg_last_error();
  }
  ~Toy() { mg_close(session); }

  double weight(int device = 0) const {
    double w = 0;
    EXPECT_EQ(mg_state_get(session, "w", device, &w, sizeof w), MG_OK);
    return w;
  }

  TemporaryFile file;
  mg_session *session = nullptr;
};

/// Rows of the toy model in memory.
struct Rows {
  Rows(std::vector<float> xs, std::vector<float> targets)
      : x(std::move(xs)), target(std::move(targets)) {
    shape = static_cast<int64_t>(x.size());
    data[0] = {"x", nullptr, {MG_F32, 1, &shape, 4 * x.size()}, x.data()};
    data[1] = {"target",
               nullptr,
               {MG_F32, 1, &shape, 4 * target.size()},
               target.data()};
  }
  std::vector<float> x, target;
  int64_t shape;
  mg_data data[2];
};

mg_train_options trainOptions(const Rows &rows) {
  mg_train_options options;
  mg_train_options_init(&options);
  options.train = rows.data;
  options.train_count = 2;
  options.epochs = 1;
  options.shuffle = MG_SHUFFLE_NONE;
  return options;
}

TEST(Api, R02_EmptyDevicesAndShortBatch) {
  for (int devices : {1, 2, 4}) {
    const Toy toy(devices);
    const Rows rows({1, 1, 1, 1, 1}, {1, 1, 1, 1, 4});
    mg_train_options options = trainOptions(rows);
    options.global_batch = 4;
    ASSERT_EQ(mg_train(toy.session, &options), MG_OK) << mg_last_error();
    EXPECT_NEAR(toy.weight(), 0.96, 1e-6);
    double loss = 0;
    ASSERT_EQ(mg_metric(toy.session, "loss", &loss), MG_OK);
    EXPECT_NEAR(loss, 3.688, 1e-6);
    EXPECT_EQ(mg_step(toy.session), 2);
  }
}

TEST(Api, ScalarsAreSetOnEveryDevice) {
  const Toy toy(2);
  double rate = 0;
  ASSERT_EQ(mg_scalar_set(toy.session, nullptr, "learning_rate", 0.5), MG_OK);
  ASSERT_EQ(mg_scalar_get(toy.session, "fit", "learning_rate", &rate), MG_OK);
  EXPECT_EQ(rate, 0.5);
  EXPECT_EQ(mg_scalar_set(toy.session, nullptr, "momentum", 1),
            MG_INVALID_ARGUMENT);
  EXPECT_STREQ(mg_last_error(),
               "the optimizer has no scalar 'momentum', it has learning_rate");
}

TEST(Api, CorruptReplicaIsFoundAndNamed) {
  const Toy toy(2);
  const double wrong = 7;
  ASSERT_EQ(mg_state_set(toy.session, "w", 1, &wrong, sizeof wrong), MG_OK);
  EXPECT_EQ(toy.weight(0), 0);
  EXPECT_EQ(toy.weight(1), 7);
  const Rows rows({1, 1, 1, 1}, {1, 1, 1, 1});
  mg_train_options options = trainOptions(rows);
  options.check_replicas = 1;
  EXPECT_EQ(mg_train(toy.session, &options), MG_INTERNAL);
  EXPECT_STREQ(mg_last_error(), "w differs between device 0 and device 1 after "
                                "step 1, first at element 0");
}

TEST(Api, BadRowLeavesStateUntouched) {
  const Toy toy(2);
  const Rows rows({1, 1, 1, 1}, {1, 1, 1, 400});
  const mg_train_options options = trainOptions(rows);
  EXPECT_EQ(mg_train(toy.session, &options), MG_BAD_DATA);
  EXPECT_EQ(
      std::string(mg_last_error()).find("array 'target' row 3: target is 400"),
      0u)
      << mg_last_error();
  EXPECT_EQ(toy.weight(), 0);
  EXPECT_EQ(mg_step(toy.session), 0);
}

TEST(Api, EveryStepIsSeen) {
  const Toy toy(1);
  const Rows rows({1, 1, 1, 1}, {1, 1, 1, 1});
  mg_train_options options = trainOptions(rows);
  std::vector<double> losses;
  options.on_step_context = &losses;
  options.on_step = [](void *context, int64_t, const double *metrics, int) {
    static_cast<std::vector<double> *>(context)->push_back(metrics[0]);
  };
  ASSERT_EQ(mg_train(toy.session, &options), MG_OK);
  ASSERT_EQ(losses.size(), 2u);
  EXPECT_NEAR(losses[0], 1, 1e-6);
  EXPECT_NEAR(losses[1], 0.64, 1e-6);
}

TEST(Api, StopRequestEndsARunUntilCleared) {
  const Toy toy(1);
  const Rows rows({1, 1}, {1, 1});
  const mg_train_options options = trainOptions(rows);
  mg_request_stop(toy.session);
  EXPECT_EQ(mg_train(toy.session, &options), MG_INTERRUPTED);
  mg_clear_stop(toy.session);
  EXPECT_EQ(mg_train(toy.session, &options), MG_OK);
}

TEST(Api, StateIsDescribedAndChecked) {
  const Toy toy(1);
  ASSERT_EQ(mg_state_count(toy.session), 1u);
  EXPECT_STREQ(mg_state_name(toy.session, 0), "w");
  EXPECT_EQ(mg_state_name(toy.session, 1), nullptr);
  mg_array array;
  ASSERT_EQ(mg_state_describe(toy.session, "w", &array), MG_OK);
  EXPECT_EQ(array.dtype, MG_F64);
  EXPECT_EQ(array.rank, 0);
  EXPECT_EQ(array.bytes, 8u);
  float narrow = 0;
  EXPECT_EQ(mg_state_get(toy.session, "w", 0, &narrow, sizeof narrow),
            MG_INVALID_ARGUMENT);
  EXPECT_STREQ(mg_last_error(), "'w' has 8 bytes (f64), found 4");
  EXPECT_EQ(mg_state_get(toy.session, "w", 1, &narrow, 8), MG_INVALID_ARGUMENT);
  EXPECT_EQ(mg_state_describe(toy.session, "v", &array), MG_INVALID_ARGUMENT);
}

TEST(Api, UnknownObjectiveListsThoseThereAre) {
  const Toy toy(1);
  const Rows rows({1, 1}, {1, 1});
  mg_train_options options = trainOptions(rows);
  options.objective = "train";
  EXPECT_EQ(mg_train(toy.session, &options), MG_INVALID_ARGUMENT);
  EXPECT_STREQ(mg_last_error(),
               "the model has no mg.train 'train', it has fit");
}

TEST(Api, OptionsOfAnOlderCallerKeepDefaults) {
  const Toy toy(1);
  const Rows rows({1, 1}, {1, 1});
  mg_train_options options = trainOptions(rows);
  options.size = offsetof(mg_train_options,
                          global_batch); // a caller that knows no further
  options.global_batch = -5;
  EXPECT_EQ(mg_train(toy.session, &options), MG_OK) << mg_last_error();
}

TEST(Api, OpenFailsWithOneLine) {
  mg_session *session = nullptr;
  EXPECT_NE(mg_open("no/such.mgb", nullptr, &session), MG_OK);
  EXPECT_EQ(session, nullptr);
  EXPECT_EQ(std::string(mg_last_error()).find('\n'), std::string::npos);
}

} // namespace
} // namespace mg::test
