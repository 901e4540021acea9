// From bytes to a plan; `stages` has the order.
#include <cameo/op/function_bodies.hpp>
#include <cameo/partition/lower.hpp>

#include "context/workspace.hpp"
#include "graph/messages.hpp"
#include "plan/guarded.hpp"
#include "session/session_impl.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <istream>

namespace cameo::inline CAMEO_ABI {

status session::impl::check() {
  find_kinds();
  for (const provider& p : providers) {
    ops.more.push_back(p.row->kernels().ops);
    ops.more.push_back(p.row->own_ops);
  }
  return check_model(*net, ops);
}

/// The standard body of an operator that no provider has a kernel for, as the file's format reads it; read once.
result<const function*> session::impl::body_of(model& m, const graph_node& node) {
  if (!node.op || !node.version) return static_cast<const function*>(nullptr);
  const function_body_row* const best = find_function_body(node.op->id, node.version->since, node.opset);
  if (!best) return static_cast<const function*>(nullptr);
  for (const auto& [row, known] : known_bodies)
    if (row == best) return known;
  result<function> body = format->read_function(m, std::as_bytes(std::span{best->function_proto}));
  if (!body) return std::move(body).error().in(node.op_type);
  bodies.push_back(std::move(*body));
  known_bodies.emplace_back(best, &bodies.back());
  return &bodies.back();
}

namespace {

/// A node that landed on a fallback, or null.
const graph_node* on_fallback(const graph& g, std::span<const provider> providers) {
  for (node_id n : g.order()) {
    const graph_node& node = g[n];
    if (is_known(g, node)) continue;  // never run
    if (node.provider == foreign_provider) continue;
    if (node.provider >= 0 && providers[std::size_t(node.provider)].row->is_fallback) return &node;
    if (node.fused >= 0) continue;
    for (const class graph* sub : node.subgraphs)
      if (const graph_node* inner = on_fallback(*sub, providers)) return inner;
  }
  return nullptr;
}

}  // namespace

/// Kinds of the devices that were chosen for each provider, or else of those that it has.
void session::impl::find_kinds() {
  if (rules.rules.empty()) return;
  for (const provider& p : providers) {
    device_kinds has;
    const auto add = [&](const ep_device& d) { has.add(d.kind()); };
    std::vector<ep_device> mine = devices;
    std::erase_if(mine, [&](const ep_device& d) { return d.ep != p.row->long_name; });
    if (mine.empty()) mine = devices_of({&p, 1});
    std::for_each(mine.begin(), mine.end(), add);
    kinds.push_back(has);
  }
}

namespace {

claim_row claimer(const provider& p, device_kinds kinds) {
  return {p.row->name,    p.row->long_name,        p.self.get(), p.row->layout, p.row->groups,
          p.row->why_not, p.row->contexts.sources, kinds};
}

}  // namespace

std::vector<claim_row> session::impl::claimers() const {
  std::vector<claim_row> rows;
  for (const provider& p : providers)
    rows.push_back(claimer(p, rows.size() < kinds.size() ? kinds[rows.size()] : device_kinds{}));
  return rows;
}

/// The model's own functions that no provider takes as they are.
status session::impl::inline_ahead() {
  if (net->functions.empty()) return {};
  const std::vector<claim_row> rows = claimers();
  const auto body = [](model&, const graph_node& node) -> result<const function*> { return node.callee; };
  const auto canceled = [this] { return options.stop.stop_requested(); };
  partition_options how{body, canceled};
  how.rules = used_rules();
  return guarded<status>([&] { return inline_functions(*net, rows, ops, how); });
}

status session::impl::place() {
  const std::vector<claim_row> rows = claimers();
  const auto body = [this](model& m, const graph_node& node) { return body_of(m, node); };
  const auto canceled = [this] { return options.stop.stop_requested(); };
  partition_options how{body, canceled, !config.is_on("session.disable_model_compile")};
  how.keep_foreign_contexts = compile_only != nullptr;
  how.rules = used_rules();
  std::vector<claim_row> others;
  for (const provider& p : all)
    if (std::none_of(providers.begin(), providers.end(), [&](const provider& used) { return used.row == p.row; }))
      others.push_back(claimer(p, {}));
  how.others = others;
  if (config.is_on("session.record_ep_graph_assignment_info")) how.assignments = &assignments;
  if (to_write) how.fused_name_prefix = config["ep.context_node_name_prefix"];
  if (to_write && to_write->contexts.shared) how.group_numbers = &workspace->inside().groups;
  result<std::deque<fused_node>> made =
      guarded<result<std::deque<fused_node>>>([&] { return partition(*net, rows, ops, how); });
  if (!made) return std::move(made).error();
  fused = std::move(*made);
  if (config.is_on("session.disable_cpu_ep_fallback"))
    if (const graph_node* node = on_fallback(net->main(), providers))
      return {status_code::fail,
              fmt::format("session.disable_cpu_ep_fallback is set, and {} is only taken by the fallback '{}'",
                          name_of(net->main(), *node), providers[std::size_t(node->provider)].row->name)};
  return {};
}

/// Aligns a constant that is passed on without the planner.
status session::impl::align(const value*& constant) {
  if (!constant || is_aligned(*constant)) return {};
  value moved = *constant;
  moved.data = net->memory.allocate(moved.bytes(), 64);
  if (!moved.data) return status_code::out_of_memory;
  std::memcpy(moved.data, constant->data, moved.bytes());
  constant = net->memory.keep(moved);
  return constant ? status{} : status{status_code::out_of_memory};
}

/// All groups of a provider in one call; exactly one program for each. No second try with another provider.
status session::impl::compile_groups(std::size_t p) {
  std::vector<fused_view> views;
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < fused.size(); ++i)
    if (fused[i].provider == p && fused[i].body)
      views.push_back({fused[i].name, graph_view{*fused[i].body}}), numbers.push_back(i);
  if (views.empty()) return {};
  const provider_row& row = *providers[p].row;
  result<std::vector<compiled_node>> made =
      guarded<result<std::vector<compiled_node>>>([&] { return row.compile(providers[p].self.get(), views); });
  if (!made) return std::move(made).error().in(row.long_name);
  if (made->size() != views.size())
    return {status_code::fail, fmt::format("{}: compiled {} programs for {} groups; one for each is needed",
                                           row.long_name, made->size(), views.size())};
  for (std::size_t i = 0; i < numbers.size(); ++i) programs[numbers[i]] = std::move((*made)[i]);
  return {};
}

status session::impl::compile() {
  programs.resize(fused.size());
  if (status s = require_storing(); !s) return s;
  for (const fused_node& f : fused) {
    std::string names;
    for (std::size_t i = 0; f.body && i < f.body->value_count(); ++i)
      if (status s = align((*const_cast<class graph*>(f.body))[value_id(i)].constant); !s) return s;
    if (f.body)
      for (node_view node : graph_view{*f.body}.nodes())
        names += fmt::format("{}{}", names.empty() ? "" : ", ", node.op_type());
    fused_ops.push_back(std::move(names));
  }
  for (std::size_t p = 0; p < providers.size(); ++p) {
    if (status s = restore(p); !s) return s;
    if (status s = compile_groups(p); !s) return s;
    tell_part(double(p + 1) / double(providers.size()));
  }
  return {};
}

status session::impl::make_the_plan() {
  const memory_source heap = heap_memory();
  memories.push_back(options.memory.allocate ? options.memory : heap);
  for (const provider& p : providers) {
    memory_source source = p.row->memory(p.self.get());
    if (source.allocate == heap.allocate) source = memories[0];  // host memory, as the user supplies it
    std::size_t kind = 0;
    while (kind < memories.size() &&
           !(memories[kind].self == source.self && memories[kind].allocate == source.allocate))
      ++kind;
    if (kind == memories.size()) memories.push_back(source);
    binders.push_back({p.row->name, p.self.get(), p.row->bind, std::uint8_t(kind)});
  }
  std::vector<bound_kernel> compiled;
  for (const compiled_node& program : programs) compiled.push_back({program.state.get(), program.run});
  heap_arena drafts{1 << 16}, scratch{1 << 16};
  result<draft*> net_draft = lower(net->main(), compiled, net->ir_version >= 4, drafts);
  if (!net_draft) return std::move(net_draft).error();
  plan_options how;
  how.binders = binders, how.memories = memories, how.scratch = &scratch;
  how.prepack = !config.is_on("session.disable_prepacking");
  how.by_level = options.execution == execution_mode::parallel;
  how.memory_limit = memory_limit;
  how.watcher.self = this;
  // Pages go as soon as there is a copy: no more of a large file is in memory than what is being copied.
  how.watcher.copied = [](const void* self, const value& v) {
    for (const auto& file : static_cast<const impl*>(self)->net->files) file->forget_pages(v.data, v.bytes());
  };
  how.watcher.bound = [](const void* self, std::size_t done, std::size_t total) {
    static_cast<const impl*>(self)->tell_part(double(done) / double(total));
  };
  result<const plan_view*> made = make_plan(**net_draft, how, plan_memory);
  if (!made) return std::move(made).error();
  plan = *made;
  for (const auto& file : net->files) file->forget_pages();  // weights have been packed
  return {};
}

namespace {

io_info info_of(const model& net, value_id v) {
  const graph_value& value = net.main()[v];
  io_info made{std::string{value.name}, value.type ? *value.type : value_type{}, value.constant != nullptr, {}};
  made.type_text = made.type.to_string(&net.symbols);
  return made;
}

/// Initializers are no inputs, in models from before they could be left out of the list.
bool is_given(const model& net, value_id input) { return !net.main()[input].constant || net.ir_version >= 4; }

}  // namespace

std::vector<io_info> inputs_of(const model& net) {
  std::vector<io_info> made;
  for (value_id v : net.main().inputs())
    if (is_given(net, v)) made.push_back(info_of(net, v));
  return made;
}

std::vector<io_info> outputs_of(const model& net) {
  std::vector<io_info> made;
  for (value_id v : net.main().outputs()) made.push_back(info_of(net, v));
  return made;
}

status session::impl::describe_io() {
  inputs = inputs_of(*net), outputs = outputs_of(*net);
  other_shape_told.resize(outputs.size());
  for (value_id v : net->main().inputs()) {
    if (!is_given(*net, v)) continue;
    defaults.push_back(net->main()[v].constant);
    if (status s = align(defaults.back()); !s) return s;
  }
  for (std::uint32_t i = 0; i < inputs.size(); ++i) {
    const value_type& io = inputs[i].type;
    const value_type& type = io.kind == type_kind::optional && io.of ? *io.of : io;
    if (!type.is_tensor() || !type.shape) continue;
    for (std::uint32_t axis = 0; axis < type.shape->size(); ++axis)
      if (const dim& d = (*type.shape)[axis]; !d.known() && d.symbol) symbols.push_back({d.symbol, i, axis});
  }
  std::ranges::stable_sort(symbols, {}, &symbol_use::symbol);
  return {};
}

status session::impl::start_threads() {
  if (options.use_pool) {
    pool = options.pool;
    return {};
  }
  const std::size_t threads = options.threads ? options.threads : available_threads();
  if (threads <= 1) return {};
  result<std::unique_ptr<thread_pool>> made =
      thread_pool::make(threads, config.is_on("session.intra_op.allow_spinning"));
  if (!made) return std::move(made).error();
  own_pool = std::move(*made);
  pool = task_pool_ref{*own_pool};
  return {};
}

namespace {

std::size_t machine_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? std::size_t(pages) * std::size_t(size) : std::size_t{1} << 34;
}

}  // namespace

status session::impl::load(std::span<const stage> stages, function_ref<status()> read) {
  memory_limit = options.memory_limit ? options.memory_limit : machine_memory();
  for (const stage& each : stages) {
    if (options.stop.stop_requested()) return {status_code::model_load_canceled, "loading was asked to stop"};
    at_stage = &each;
    tell_part(0);
    if (status s = each.run ? (this->*each.run)() : read(); !s) return s;
    tell_warnings();
    if (each.log) (this->*each.log)();
    percent_before += each.percent;
  }
  if (options.progress) options.progress({"done", 1});
  return {};
}

namespace {

/// Prefixes the model's name unless the words start with it already.
status at(status failed, std::string_view name) {
  if (name.empty() || failed.words().substr(0, name.size()) == name) return failed;
  return std::move(failed).in(name);
}

/// Reads a stream to its end, piece by piece, as its length is not known.
result<std::vector<std::byte>> read_all(std::istream& stream, std::size_t most) {
  std::vector<std::byte> bytes;
  std::size_t room = std::size_t{1} << 16;
  while (stream) {
    const std::size_t had = bytes.size();
    bytes.resize(had + room);
    stream.read(reinterpret_cast<char*>(bytes.data() + had), std::streamsize(room));
    bytes.resize(had + std::size_t(stream.gcount()));
    if (bytes.size() > most)
      return status{status_code::invalid_argument,
                    fmt::format("the stream has more than {} bytes (load_limits::model_bytes)", most)};
    room = std::max(room, bytes.size());
  }
  if (!stream.eof() || stream.bad()) return status{status_code::fail, "the stream can't be read"};
  return bytes;
}

}  // namespace

/// What comes before the first stage.
status session::impl::start(const session_parts& parts, const session_options& wanted) {
  options = wanted;
  result<session_config> checked = session_config::make(options);
  if (!checked) return std::move(checked).error();
  config = std::move(*checked);
  if (status s = require_known_keys(parts.providers); !s) return s;
  if (status s = config.apply_to(options); !s) return s;
  log_config();
  result<placement_rules> placing = placement_rules_of(config);
  if (!placing) return std::move(placing).error();
  rules = std::move(*placing);
  transforms = parts.transforms;
  formats = parts.formats;
  workspace = options.workspace ? options.workspace : parts.workspace;
  return choose_providers(parts);
}

/// `read` sets the implementation's format and returns the model.
template <class Read>
result<session> session::impl::make(const session_parts& parts, const session_options& options, std::string_view name,
                                    Read&& read) {
  static constexpr stage stages[] = {
      {"read", 10},
      {"read", 0, &impl::choose_by_devices},
      {"read", 0, &impl::fix_free_dims},
      {"check", 5, &impl::check, &impl::log_model},
      {"check", 0, &impl::choose_output},
      {"optimize", 20, &impl::optimize_before},
      {"place", 5, &impl::place},
      {"compile", 9, &impl::compile},
      {"compile", 0, &impl::write_compiled},
      {"optimize", 20, &impl::optimize_after, &impl::log_placements},
      {"optimize", 1, &impl::save_optimized},
      {"plan", 29, &impl::make_the_plan},
      {"plan", 1, &impl::describe_io},
      {"plan", 0, &impl::start_threads, &impl::log_plan},
  };
  auto self = std::make_unique<impl>();
  const auto all = [&]() -> status {
    if (status s = self->start(parts, options); !s) return s;
    if (status s = self->check_groups(); !s) return s;
    const auto read_model = [&]() -> status {
      result<std::unique_ptr<model>> net = read(*self, self->how_to_read());
      if (!net) return std::move(net).error();
      self->net = std::move(*net);
      return {};
    };
    return self->load(stages, function_ref<status()>{read_model});
  };
  if (status done = guarded<status>(all); !done) return at(std::move(done), name);
  return session{std::move(self)};
}

read_options session::impl::how_to_read() const {
  read_options how{options.limits, options.external_data_folder};
  if (how.external_data_folder.empty()) how.external_data_folder = config[weights_folder_key];
  how.file = places.model;
  how.folder = places.weights ? places.weights : how.external_data_folder.empty() ? places.beside : nullptr;
  return how;
}

/// What reads the model. session.load_model_format names it as ONNX Runtime does: "ORT", and everything else is the
/// last of the list, ONNX; unset, it is told by the path of a file, or the bytes of what has none.
status session::impl::choose_format(std::span<const std::byte> bytes, std::string_view path) {
  const std::string_view wanted = config["session.load_model_format"];
  const result<const format_row*> row =
      wanted.empty() ? result<const format_row*>{format_of(bytes, path)} : format_named(wanted);
  if (!row) return status{row.error()}.in("session.load_model_format");
  format = *row;
  return {};
}

const format_row* session::impl::format_of(std::span<const std::byte> bytes, std::string_view path) const {
  for (const format_row& f : formats)
    if (f.recognises(bytes, path)) return &f;
  return &formats.back();
}

/// Names in keys are upper case, and compared exactly.
result<const format_row*> session::impl::format_named(std::string_view key) const {
  const auto is = [&](std::string_view name) {
    return std::equal(name.begin(), name.end(), key.begin(), key.end(),
                      [](char a, char b) { return (a >= 'a' && a <= 'z' ? char(a - 32) : a) == b; });
  };
  for (const format_row& f : formats)
    if (is(f.name)) return &f;
  if (key != "ORT") return &formats.back();
  return status{status_code::invalid_argument, "'ORT' is not among the formats that this runtime was given"};
}

result<std::unique_ptr<model>> session::impl::read_path(impl& it, const std::string& path, const read_options& how) {
  if (std::error_code error; !how.file && std::filesystem::is_directory(path, error))
    return status{status_code::invalid_argument,
                  "a folder, and no model; if it is a model package, open it with cameo::package::open and select a "
                  "component of it (runtime::select)"};
  const auto file = how.file                ? result<std::shared_ptr<const file_bytes>>{how.file}
                    : it.formats.size() > 1 ? file_bytes::map(path)
                                            : status{status_code::no_suchfile};
  if (status s = it.choose_format(file ? (*file)->bytes() : std::span<const std::byte>{}, path); !s) return s;
  return it.format->read_file(path, how);
}

result<std::unique_ptr<model>> session::impl::read_span(impl& it, std::span<const std::byte> bytes,
                                                        std::string_view name, const read_options& how) {
  if (status s = it.choose_format(bytes, {}); !s) return s;
  return it.format->read_bytes(bytes, name, how);
}

result<session> session::load(const session_parts& parts, const std::string& path, const session_options& options) {
  return impl::make(parts, options, path,
                    [&](impl& it, const read_options& how) { return impl::read_path(it, path, how); });
}

/// The model's file is open already, and so are the folders of what it refers to.
result<session> session::impl::make_of_file(const session_parts& parts, const session_options& options,
                                            opened_places places) {
  const std::string path = places.model->path();
  return impl::make(parts, options, path, [&](impl& it, const read_options&) {
    it.places = std::move(places);
    return impl::read_path(it, path, it.how_to_read());
  });
}

result<session> session::load(const session_parts& parts, std::span<const std::byte> bytes, std::string_view name,
                              const session_options& options) {
  return impl::make(parts, options, name,
                    [&](impl& it, const read_options& how) { return impl::read_span(it, bytes, name, how); });
}

result<session> session::load(const session_parts& parts, std::vector<std::byte>&& bytes, std::string_view name,
                              const session_options& options) {
  return impl::make(parts, options, name, [&](impl& it, const read_options& how) {
    it.own_bytes = std::move(bytes);
    return impl::read_span(it, it.own_bytes, name, how);
  });
}

result<session> session::load(const session_parts& parts, std::istream& stream, std::string_view name,
                              const session_options& options) {
  return impl::make(parts, options, name, [&](impl& it, const read_options& how) -> result<std::unique_ptr<model>> {
    result<std::vector<std::byte>> bytes = read_all(stream, options.limits.model_bytes);
    if (!bytes) return std::move(bytes).error();
    it.own_bytes = std::move(*bytes);
    return impl::read_span(it, it.own_bytes, name, how);
  });
}

namespace {

/// Keys that say elsewhere where the compiled model goes, or that would write another.
session_options for_compiling(const compile_options& wanted) {
  session_options options = wanted.session;
  options.optimize = wanted.optimize;
  options.config.emplace_back("session.disable_model_compile", "0");
  options.config.emplace_back("session.optimized_model_filepath", "");
  return options;
}

}  // namespace

result<compile_report> session::compile(const session_parts& parts, compile_options wanted) {
  static constexpr impl::stage stages[] = {
      {"read", 10},
      {"read", 0, &impl::choose_by_devices},
      {"read", 0, &impl::fix_free_dims},
      {"check", 5, &impl::check, &impl::log_model},
      {"check", 0, &impl::choose_output},
      {"optimize", 15, &impl::optimize_before},
      {"place", 5, &impl::place},
      {"compile", 50, &impl::compile, &impl::log_placements},
      {"optimize", 5, &impl::optimize_after},
      {"write", 10, &impl::write_compiled},
  };
  impl self;
  std::string name = "model";
  const auto all = [&]() -> status {
    if (!is_level(wanted.optimize))
      return {status_code::invalid_argument,
              fmt::format("compile_options::optimize is {}; levels are 0 to 3, and 99", int(wanted.optimize))};
    if (status s = self.start(parts, for_compiling(wanted)); !s) return s;
    self.compile_only = &wanted;
    const auto read_model = [&]() -> status {
      result<std::unique_ptr<model>> net = status{status_code::invalid_argument, "nothing to compile was given"};
      const read_options how = self.how_to_read();
      if (auto* const path = std::get_if<std::string>(&wanted.input); path && !path->empty())
        net = impl::read_path(self, name = *path, how);
      if (auto* const bytes = std::get_if<std::span<const std::byte>>(&wanted.input); bytes && !bytes->empty())
        net = impl::read_span(self, *bytes, name, how);
      if (auto* const graph = std::get_if<std::unique_ptr<model>>(&wanted.input); graph && *graph)
        self.format = &parts.formats.back(), name = (*graph)->path, net = std::move(*graph);
      if (!net && net.error().code() == status_code::no_suchfile)  // as ONNX Runtime's compile API
        return {status_code::invalid_argument, std::string{net.error().words()}};
      if (!net) return std::move(net).error();
      self.net = std::move(*net);
      return {};
    };
    return self.load(stages, function_ref<status()>{read_model});
  };
  if (status done = guarded<status>(all); !done) return at(std::move(done), name);
  return compile_report{self.to_write->compiled_nodes, self.to_write->path};
}

result<session> session::load(const session_parts& parts, std::unique_ptr<model> net, const session_options& options) {
  const std::string name = net->path;
  return impl::make(parts, options, name, [&](impl& it, const read_options&) {
    it.format = &parts.formats.back();
    return result<std::unique_ptr<model>>{std::move(net)};
  });
}

}  // namespace cameo::inline CAMEO_ABI
