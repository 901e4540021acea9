// Folders of links, as tools make them that store each file once: the tests check where the weights of a model in one
// are found, and that a link which an attacker put there is refused.
#include <cameo/format/onnx.hpp>
#include <cameo/graph/model.hpp>

#include "onnx_messages.hpp"

#include <doctest/doctest.h>

using namespace cameo;
using namespace cameo::test;

namespace fs = std::filesystem;

namespace {

/// Files and links below a folder. Weights are 50 floats of one character.
struct link_tree {
  scratch_folder folder;

  const link_tree& model(const std::string& name, const std::string& location) const {
    onnx::ModelProto m = new_model();
    *m.mutable_graph()->add_initializer() = external_message("t", {50}, location);
    return file(name, m.SerializeAsString());
  }
  const link_tree& weights(const std::string& name, char c) const { return file(name, std::string(200, c)); }
  const link_tree& file(const std::string& name, const std::string& contents) const {
    fs::create_directories((folder.path / name).parent_path());
    folder.write(name, contents);
    return *this;
  }
  const link_tree& link(const std::string& name, const std::string& target) const {
    fs::create_directories((folder.path / name).parent_path());
    fs::create_symlink(target, folder / name);
    return *this;
  }
  std::string at(const std::string& name) const { return folder / name; }

  /// The first character of the weights, or the error message.
  std::string read(const std::string& name, const read_options& how = {}) const {
    const auto m = read_onnx(at(name), how);
    if (!m) {
      CHECK(m.error().code() == status_code::invalid_graph);
      return std::string{m.error().words()};
    }
    return std::string(1, *static_cast<const char*>((*m)->main()[(*m)->main().find("t")].constant->data));
  }
  bool refuses(const std::string& name, const read_options& how = {}) const {
    const std::string words = read(name, how);
    INFO(words);
    return words.find("leads out of the folder through a symbolic link") != words.npos;
  }
};

constexpr const char* objects = "repo/.git/annex/objects/";

}  // namespace

TEST_CASE("a model in Hugging Face's cache has its weights: both are links into blobs") {
  const link_tree t;
  const std::string cache = "hub/models--a--b/", snapshot = cache + "snapshots/5c1e/onnx/";
  t.model(cache + "blobs/0a1b", "model.onnx_data").weights(cache + "blobs/2c3d", 'w');
  t.link(snapshot + "model.onnx", "../../../blobs/0a1b").link(snapshot + "model.onnx_data", "../../../blobs/2c3d");
  CHECK(t.read(snapshot + "model.onnx") == "w");
  t.link("mine.onnx", snapshot + "model.onnx");  // a user's own link to the revision's
  CHECK(t.read("mine.onnx") == "w");
  t.link("hub_elsewhere", "hub");
  CHECK(t.read("hub_elsewhere/models--a--b/snapshots/5c1e/onnx/model.onnx") == "w");
  // The weights are in a folder below the model's folder.
  t.model(cache + "blobs/4e5f", "parts/w").link(snapshot + "parts/w", "../../../../blobs/2c3d");
  t.link(snapshot + "split.onnx", "../../../blobs/4e5f");
  CHECK(t.read(snapshot + "split.onnx") == "w");
}

TEST_CASE("a model in a folder of ModelScope's cache has its weights: the folder's name is a link") {
  const link_tree t;
  t.model("hub/Qwen/Qwen2___5/model.onnx", "model.onnx.data").weights("hub/Qwen/Qwen2___5/model.onnx.data", 'w');
  t.link("hub/Qwen/Qwen2.5", "Qwen2___5").link("mine.onnx", t.at("hub/Qwen/Qwen2.5/model.onnx"));
  CHECK(t.read("hub/Qwen/Qwen2.5/model.onnx") == "w");
  CHECK(t.read("mine.onnx") == "w");  // the weights lie beside the target of the link
  t.weights("model.onnx.data", 'b');
  CHECK(t.read("mine.onnx") == "b");  // a file beside the link comes first
}

TEST_CASE("a model that git-annex keeps has its weights: each file has its own folder") {
  const link_tree t;
  const std::string up = "../../.git/annex/objects/";
  t.model(objects + std::string{"4X/zQ/SHA256E-m.onnx/SHA256E-m.onnx"}, "net.onnx.data");
  t.weights(objects + std::string{"9p/0K/SHA256E-w.data/SHA256E-w.data"}, 'w');
  t.link("repo/models/net/net.onnx", up + "4X/zQ/SHA256E-m.onnx/SHA256E-m.onnx");
  t.link("repo/models/net/net.onnx.data", up + "9p/0K/SHA256E-w.data/SHA256E-w.data");
  CHECK(t.read("repo/models/net/net.onnx") == "w");
  t.link("mine.onnx", "repo/models/net/net.onnx");
  CHECK(t.read("mine.onnx") == "w");
}

TEST_CASE("a model in Nix's store has its weights: folders of links lead into packages of the store") {
  const link_tree t;
  const std::string store = "nix/store/";
  t.model(store + "aaa-net/share/net.onnx", "net.data").weights(store + "bbb-weights/share/net.data", 'w');
  t.link(store + "ccc-joined/net.onnx", t.at(store + "aaa-net/share/net.onnx"));
  t.link(store + "ccc-joined/net.data", t.at(store + "bbb-weights/share/net.data"));
  CHECK(t.read(store + "ccc-joined/net.onnx") == "w");
  t.link("home/models", t.at(store + "ccc-joined")).link("profile", "home/models");
  CHECK(t.read("profile/net.onnx") == "w");
  t.link("home/net.onnx", t.at(store + "ccc-joined/net.onnx"));
  CHECK(t.read("home/net.onnx") == "w");
  // A whole folder of weights is a link, and links of the store are relative.
  t.model(store + "ddd-net/deep/net.onnx", "weights/net.data");
  t.link(store + "ddd-net/deep/weights", "../../bbb-weights/share");
  CHECK(t.read(store + "ddd-net/deep/net.onnx") == "w");
  t.model(store + "eee-net/deep/net.onnx", "w")
      .weights(store + "eee-net/w", 'e')
      .link(store + "eee-net/deep/w", "../w");
  CHECK(t.read(store + "eee-net/deep/net.onnx") == "e");
}

TEST_CASE("models that Guix and DVC keep have their weights") {
  for (const std::string store : {"gnu/store/", "data/files/md5/", "data/.dvc/cache/"}) {
    const link_tree t;
    t.model(store + "0a/model", "w").weights(store + "1b/weights", 'w');
    t.link("work/m.onnx", t.at(store + "0a/model")).link("work/w", "../" + store + "1b/weights");
    CHECK(t.read("work/m.onnx") == "w");
  }
}

TEST_CASE("a link beside an unpacked model does not reach files elsewhere on the machine") {
  const link_tree t;
  t.weights("secret", 's').weights("private/key", 's');
  t.model("unpacked/m.onnx", "w").link("unpacked/w", "../secret");
  CHECK(t.refuses("unpacked/m.onnx"));
  fs::remove(t.at("unpacked/w"));
  t.link("unpacked/w", t.at("secret"));
  CHECK(t.refuses("unpacked/m.onnx"));
  fs::remove(t.at("unpacked/w"));
  t.link("unpacked/step", "../private").link("unpacked/w", "step/key");
  CHECK(t.refuses("unpacked/m.onnx"));
  // The path of the model may be a link in the archive, too.
  t.model("unpacked/blobs/m", "w").link("unpacked/rev/m.onnx", "../blobs/m");
  t.link("unpacked/rev/w", "../../secret");
  CHECK(t.refuses("unpacked/rev/m.onnx"));
  fs::remove(t.at("unpacked/rev/w"));
  t.link("unpacked/blobs/w", "../../secret").link("unpacked/rev/w", "../blobs/w");
  CHECK(t.refuses("unpacked/rev/m.onnx"));
  fs::remove(t.at("unpacked/rev/w"));
  CHECK(t.refuses("unpacked/rev/m.onnx"));  // found beside the file that the model's link leads to
  // A link whose path makes a detour through a folder outside of the archive does not make that folder a part of the
  // archive.
  t.link("unpacked/far.onnx", "../private/../unpacked/m.onnx");
  CHECK(t.refuses("unpacked/far.onnx"));
}

TEST_CASE("a link into a store, or out of one, is followed only for a model in that store") {
  const link_tree t;
  t.weights("repo/.git/annex/objects/aa/bb/private/private", 's').weights("secret", 's');
  t.model("repo/unpacked/m.onnx", "w").link("repo/unpacked/w", "../.git/annex/objects/aa/bb/private/private");
  CHECK(t.refuses("repo/unpacked/m.onnx"));
  t.model("other/.git/annex/objects/cc/dd/m/m", "w")
      .link("repo/unpacked/n.onnx", "../../other/.git/annex/objects/cc/dd/m/m");
  CHECK(t.refuses("repo/unpacked/n.onnx"));
  // A folder with the name of a store is not a store if its links lead out of it.
  t.model("fake/annex/objects/aa/m", "w").link("fake/annex/objects/bb/w", "../../../../secret");
  t.link("fake/m.onnx", "annex/objects/aa/m").link("fake/w", "annex/objects/bb/w");
  CHECK(t.refuses("fake/m.onnx"));
  t.model("tree/aa/m", "w").link("tree/annex/objects", "..").link("tree/sub/m.onnx", "../annex/objects/aa/m");
  t.link("tree/sub/w", "../../secret");
  CHECK(t.refuses("tree/sub/m.onnx"));
  fs::remove(t.at("tree/sub/w"));
  t.weights("tree/key", 's').link("tree/sub/w", "../key");
  CHECK(t.refuses("tree/sub/m.onnx"));
}

TEST_CASE("the folders of a model count only for the file that was opened as the model") {
  const link_tree t;
  t.model("cache/blobs/m", "w").weights("cache/blobs/w", 'w').model("other/m", "w");
  t.link("cache/rev/m.onnx", "../blobs/m").link("cache/rev/w", "../blobs/w");
  read_options how;
  const auto file = detail::file_bytes::map(t.at("cache/rev/m.onnx"));
  REQUIRE(file);
  how.file = *file;
  CHECK(t.read("cache/rev/m.onnx", how) == "w");
  fs::remove(t.at("cache/rev/m.onnx"));
  t.link("cache/rev/m.onnx", "../../other/m");  // the link changes after the model was opened
  CHECK(t.refuses("cache/rev/m.onnx", how));
}

TEST_CASE("a folder that the caller names is the only one that is searched; its links may lead to the model's folder") {
  const link_tree t;
  t.model("blobs/m", "w").weights("blobs/w", 'w').link("rev/m.onnx", "../blobs/m").link("named/x", "../blobs/w");
  read_options how;
  how.external_data_folder = t.at("named");
  CHECK(t.read("rev/m.onnx", how).find("there is no such file") != std::string::npos);
  t.link("named/w", "../blobs/w");
  CHECK(t.read("rev/m.onnx", how) == "w");
  fs::remove(t.at("named/w"));
  t.weights("secret", 's').link("named/w", "../secret");
  CHECK(t.refuses("rev/m.onnx", how));
}

TEST_CASE("a folder that the caller names replaces that of the model's path, unless that path is a link") {
  const link_tree t;
  t.model("home/m.onnx", "w").weights("home/key", 's').link("named/w", "../home/key");
  read_options how;
  how.external_data_folder = t.at("named");
  CHECK(t.refuses("home/m.onnx", how));
}

TEST_CASE("the error for a link that leads outside says how to allow it") {
  const link_tree t;
  t.model("m/m.onnx", "w").weights("elsewhere/w", 'w').link("m/w", "../elsewhere/w");
  CHECK(t.read("m/m.onnx").find("set external_data_folder (session key") != std::string::npos);
  read_options how;
  how.external_data_folder = t.at("elsewhere");
  CHECK(t.read("m/m.onnx", how) == "w");
}
