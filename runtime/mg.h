/* mg: opens a bundle on N devices, trains, evaluates and predicts. This header
 * is all that a program needs; `mgrun` uses nothing else.
 *
 * Errors: a function that can fail returns an mg_code; mg_last_error() then
 * gives one line: what, where, found and expected, what to do. Nothing here
 * ends the process, prints, or installs signal handlers by itself. Threads: a
 * session is used by one thread at a time, but for mg_request_stop. Different
 * sessions are independent. Strings are UTF-8 and end in 0. Sizes are bytes,
 * counts are elements or rows, times are seconds unless a name says so. Structs
 * begin with `size`: set them up with their _init function, which also fills in
 * the defaults; fields are only ever added at the end.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef MG_MG_H
#define MG_MG_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mg_code {
  MG_OK = 0,
  MG_INVALID_ARGUMENT, /* asked for something that does not exist or does not
                          fit */
  MG_BAD_INPUT,        /* a file or its contents are wrong */
  MG_UNSUPPORTED,      /* this build or machine cannot do it */
  MG_OUT_OF_MEMORY,
  MG_IO,          /* the operating system refused */
  MG_BAD_DATA,    /* a row of the data is wrong; state is as before the step */
  MG_INTERRUPTED, /* mg_request_stop ended it early */
  MG_INTERNAL     /* a fault of this library */
} mg_code;

/* The message of this thread's last failure, without a line end; valid until
 * its next call here. */
const char *mg_last_error(void);

/* "0.1.0, bundle format 3.0": this library's version and the bundles it
 * reads. */
const char *mg_version(void);

/* ---- Types and arrays ---- */

typedef enum mg_dtype {
  MG_F32,
  MG_F64,
  MG_F16,
  MG_BF16,
  MG_I8,
  MG_I16,
  MG_I32,
  MG_I64,
  MG_U8,
  MG_U16,
  MG_U32,
  MG_U64,
  MG_BOOL /* one byte, 0 or 1 */
} mg_dtype;

/* A row-major array of native byte order. `shape` has `rank` entries; rank 0 is
 * a scalar. */
typedef struct mg_array {
  mg_dtype dtype;
  int rank;
  const int64_t *shape;
  size_t bytes;
} mg_array;

/* The data for one input of the model: an IDX or .npy file (either may be
 * gzip'd; told by content), or an array in the caller's memory, which must stay
 * as it is during the call. shape[0] is the number of rows, shape[1…] must be
 * the input's row shape, and the dtype the input's: nothing is converted. */
typedef struct mg_data {
  const char *name; /* the input, e.g. "image" */
  const char *path; /* the file, or NULL: then the array */
  mg_array array;
  const void *data;
} mg_data;

/* ---- Printing ---- */

typedef enum mg_stream { MG_OUTPUT, MG_WARNING } mg_stream;

/* Gets text with its own line ends ("\r" too, with MG_PROGRESS_TERMINAL).
 * Warnings are whole lines. */
typedef void (*mg_print)(void *context, mg_stream stream, const char *text);

typedef enum mg_progress {
  MG_PROGRESS_NONE,    /* the test and devices lines only */
  MG_PROGRESS_LINE,    /* and two lines an epoch, as Keras' verbose=2 */
  MG_PROGRESS_TERMINAL /* and a line that is rewritten in place during an epoch
                        */
} mg_progress;

typedef struct mg_report {
  mg_print print; /* NULL: silent */
  void *context;
  mg_progress progress;
  const char *
      json; /* a file for JSON lines (keys: runtime/log/JsonLines.h), or NULL */
  int64_t json_step_interval; /* a "step" line every so many steps; 0: none */
  int cpu_asked_for;          /* 0: warn that the CPU is used */
} mg_report;

/* ---- Sessions ---- */

typedef struct mg_session mg_session;

typedef struct mg_open_options {
  size_t size;
  int devices; /* logical CPU devices 0 … devices-1; default 1 */
  const int
      *device_ids; /* or these, if not NULL; then `devices` is their count */
  int threads; /* workers over all devices; 0 (default): the cores this process
                  may use */
  int deterministic; /* 1: weights and losses have the same bits on any device
                        and thread count (one unit size, sums in one tree);
                        device counts that cannot are refused by mg_train.
                        Default 0 */
  int64_t unit_rows; /* use units of so many rows, one of the bundle's sizes; 0
                        (default): the smallest if deterministic, else what
                        needs the fewest passes */
} mg_open_options;
void mg_open_options_init(mg_open_options *options);

/* Reads and checks a bundle, allocates its memory on every device, and runs its
 * initializers with seed 0. `options` may be NULL. On failure *session is NULL.
 * Close it with mg_close, which takes NULL too. */
mg_code mg_open(const char *path, const mg_open_options *options,
                mg_session **session);
void mg_close(mg_session *session);

int mg_device_count(const mg_session *session);
int mg_thread_count(const mg_session *session);

/* Starts afresh: variables from their initializers with this seed, slots, step
 * 0, on every device. */
mg_code mg_init(mg_session *session, uint64_t seed);

/* Makes the running train, evaluate or predict end after the step it is in,
 * with MG_INTERRUPTED; one that begins later ends at once, until the request is
 * cleared. May be called from a signal handler and from any thread. */
void mg_request_stop(mg_session *session);
void mg_clear_stop(mg_session *session);

/* Removes the temporary files of outputs that are being written, in all
 * sessions: for a process that ends at once. May be called from a signal
 * handler and from any thread; the calls that write them then fail. */
void mg_remove_unfinished(void);

/* ---- State: variables ("hidden1.kernel"), optimizer slots
 * ("m/hidden1.kernel"; with the name of the train in front if there are
 * several), in the bundle's order ---- */

size_t mg_state_count(const mg_session *session);
/* NULL past the end. */
const char *mg_state_name(const mg_session *session, size_t index);
/* `array->shape` is valid until the session is closed. Errors:
 * MG_INVALID_ARGUMENT (no such name). */
mg_code mg_state_describe(const mg_session *session, const char *name,
                          mg_array *array);
/* Copies `bytes` = mg_array.bytes of one device's copy out; writes one device's
 * copy, or with device -1 all of them. Errors: MG_INVALID_ARGUMENT (name,
 * device, or size does not fit). */
mg_code mg_state_get(const mg_session *session, const char *name, int device,
                     void *data, size_t bytes);
mg_code mg_state_set(mg_session *session, const char *name, int device,
                     const void *data, size_t bytes);

/* Optimizer scalars such as "learning_rate". `objective` names the mg.train;
 * NULL: the only one, or every train that has such a scalar. Errors:
 * MG_INVALID_ARGUMENT (lists the scalars there are). */
mg_code mg_scalar_get(const mg_session *session, const char *objective,
                      const char *name, double *value);
mg_code mg_scalar_set(mg_session *session, const char *objective,
                      const char *name, double value);

int64_t mg_step(const mg_session *session);
uint64_t mg_seed(const mg_session *session);
mg_code mg_set_seed(mg_session *session, uint64_t seed);

/* Saves variables, slots, step, seed and data position as safetensors; the file
 * appears whole or not at all. */
mg_code mg_save(mg_session *session, const char *path);
/* Loads into every device, whatever the number that saved it. `to_train` 0:
 * variables only. 1: slots, step, seed and data position too; if the file holds
 * no slot at all, they stay as they are and *has_slots (may be NULL) is 0. 2:
 * also optimizer scalars and the sums of the epoch so far, to go on with the
 * run that was saved (mg_train_options.resume). Nothing changes on failure.
 * Errors: MG_IO, MG_BAD_INPUT (names the variable, found and expected). */
mg_code mg_load(mg_session *session, const char *path, int to_train,
                int *has_slots);

/* ---- Running ---- */

typedef enum mg_shuffle {
  MG_SHUFFLE_FULL,
  MG_SHUFFLE_NONE,
  MG_SHUFFLE_WINDOW
} mg_shuffle;

/* Called after every training step, with the mean of each metric over that
 * step's rows, "loss" first. */
typedef void (*mg_on_step)(void *context, int64_t step, const double *metrics,
                           int metric_count);

typedef struct mg_train_options {
  size_t size;
  const char *objective; /* the mg.train; NULL: the only one */
  const mg_data *train;
  size_t train_count;
  const mg_data *validation; /* measured after every epoch; or a part of the
                                training rows: */
  size_t validation_count;
  int64_t
      validation_rows; /* the last so many rows, taken before shuffling; or */
  double validation_fraction; /* the last fraction, 0 < f < 1: n - floor(n * (1
                                 - f)) rows, as Keras */
  const mg_data *test;        /* measured once, at the end */
  size_t test_count;
  int64_t epochs; /* default 5, counted from where the loaded state stands; 0:
                     as many as `steps` takes */
  int64_t
      steps; /* stop after so many steps of this call; 0 (default): no limit */
  int64_t global_batch; /* rows a step over all devices; 0 (default): devices x
                           the bundle's largest unit */
  mg_shuffle shuffle;
  int64_t shuffle_window; /* rows, for MG_SHUFFLE_WINDOW */
  int64_t check_replicas; /* compare the devices' state bitwise every so many
                             steps; 0 (default): never */
  const char *save;   /* where to save at the end or when stopped, or NULL */
  mg_on_step on_step; /* or NULL */
  void *on_step_context;
  mg_report report;
  int resume; /* 1: go on with the run whose state was loaded (mg_load, to_train
                 2): `epochs` counts from its beginning, and the epoch that it
                 was in goes on; default 0 */
} mg_train_options;
void mg_train_options_init(mg_train_options *options);

/* Trains. Afterwards mg_metric gives the last epoch's figures. Errors:
 * MG_BAD_INPUT (data), MG_BAD_DATA (names file, row, value and valid range),
 * MG_INTERRUPTED (the step was finished and `save` written), MG_INTERNAL
 * (replicas differ). */
mg_code mg_train(mg_session *session, const mg_train_options *options);

typedef struct mg_evaluate_options {
  size_t size;
  const char *objective; /* the mg.train; NULL: the only one */
  const mg_data *data;
  size_t data_count;
  mg_report report;
} mg_evaluate_options;
void mg_evaluate_options_init(mg_evaluate_options *options);

/* Measures loss and metrics; every row counts exactly once. Errors as mg_train.
 */
mg_code mg_evaluate(mg_session *session, const mg_evaluate_options *options);

/* The mean of a metric over rows as last measured: "loss", "accuracy" …,
 * "val_loss" …, "test_loss" … (mg_evaluate gives test_ names). Errors:
 * MG_INVALID_ARGUMENT (lists those there are). */
mg_code mg_metric(const mg_session *session, const char *name, double *value);

/* One output of predict: `name` may be NULL if the function has one output. */
typedef struct mg_output {
  const char *name;
  const char
      *path; /* a .npy file: one row for each row of data, in their order */
} mg_output;

typedef struct mg_predict_options {
  size_t size;
  const char *function; /* the mg.predict; NULL: the only one */
  const mg_data *data;
  size_t data_count;
  const mg_output *outputs;
  size_t output_count;
  mg_report report;
} mg_predict_options;
void mg_predict_options_init(mg_predict_options *options);

mg_code mg_predict(mg_session *session, const mg_predict_options *options);

typedef struct mg_bench_options {
  size_t size;
  const char *objective;
  int64_t steps;         /* default 200 */
  int64_t warmup;        /* steps before those; default 10 */
  int64_t global_batch;  /* as in mg_train_options */
  int64_t start_time_ns; /* CLOCK_MONOTONIC when the program began; 0: when
                            mg_bench was called */
} mg_bench_options;
void mg_bench_options_init(mg_bench_options *options);

/* Trains on made-up data of the right shapes and gives one line of JSON:
 * step_us_median, step_us_min, devices, threads, start_to_first_step_ms,
 * peak_rss_mb, arena_bytes, bundle_bytes. Free *json with mg_free. */
mg_code mg_bench(mg_session *session, const mg_bench_options *options,
                 char **json);

/* What is in a bundle, without running it: text for people, or one JSON object.
 * Free *text with mg_free. */
mg_code mg_info(const char *path, int as_json, char **text);
void mg_free(char *text);

#ifdef __cplusplus
}
#endif

#endif /* MG_MG_H */
