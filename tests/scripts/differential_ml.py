#!/usr/bin/env python3
"""The operators of ai.onnx.ml against onnxruntime.

For the options of the long campaign see tests/program/differential.py.
"""
import pathlib
import sys

import numpy as np
from onnx import numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "program"))
import differential as d  # noqa: E402

NUMBERS = ["f4", "f8", "i8", "i4"]
TRANSFORMS = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"]
WORDS = np.array(["a", "b", "c", "dog", "", "é"], object)


def ml(op, inputs, outputs=1, *, opset=1, **more):
    return d.one_node(op, inputs, outputs, opset=opset, domain="ai.onnx.ml", **more)


def floats(rng, n, scale=1.0):
    return [float(np.float32(v)) for v in rng.uniform(-scale, scale, n)]


def table(rng, kind, columns=None, ranks=(1, 2)):
    """Small numbers, often integral, with zeros and rows of zeros among them."""
    shape = [int(n) for n in rng.integers(1, 6, int(rng.choice(ranks)))]
    if columns:
        shape[-1] = columns
    x = rng.uniform(-4, 4, shape)
    if rng.random() < 0.5:
        x = np.round(x)
    if rng.random() < 0.4:
        x *= rng.random(shape) < 0.6
    if len(shape) == 2 and rng.random() < 0.3:
        x[int(rng.integers(shape[0]))] = 0
    if rng.random() < 0.2:
        x = -np.abs(x)
    return x.astype(kind)


def kind_of(rng):
    return str(rng.choice(NUMBERS))


def normalizer(rng):
    return ml("Normalizer", [table(rng, kind_of(rng))], norm=str(rng.choice(["MAX", "L1", "L2"])) if rng.random() < 0.9
              else None, rtol=1e-5, atol=1e-6)


def scaler(rng):
    x = table(rng, kind_of(rng))
    n = x.shape[-1] if rng.random() < 0.6 else 1
    return ml("Scaler", [x], offset=floats(rng, n), scale=floats(rng, n), rtol=1e-5, atol=1e-6)


def binarizer(rng):
    return ml("Binarizer", [table(rng, "f4", ranks=(1, 2, 3))],
              threshold=float(rng.integers(-2, 3)) if rng.random() < 0.8 else None)


def imputer(rng):
    kind = str(rng.choice(["f4", "i8"]))
    x = table(rng, kind)
    n = x.shape[-1] if rng.random() < 0.6 else 1
    if kind == "i8":
        return ml("Imputer", [x], imputed_value_int64s=[int(i) for i in rng.integers(-9, 9, n)],
                  replaced_value_int64=int(rng.integers(-2, 3)))
    if rng.random() < 0.5:
        x[rng.random(x.shape) < 0.3] = np.nan
    return ml("Imputer", [x], imputed_value_floats=floats(rng, n),
              replaced_value_float=float(rng.choice([np.nan, 0.0, 1.0, -2.0])))


def feature_vectorizer(rng):
    kind, rows = kind_of(rng), int(rng.integers(1, 4))
    widths = [int(n) for n in rng.integers(1, 4, int(rng.integers(1, 4)))]
    said = [max(1, w + int(rng.integers(-1, 2))) if rng.random() < 0.4 else w for w in widths]
    return ml("FeatureVectorizer", [rng.integers(-5, 5, (rows, w)).astype(kind) for w in widths], inputdimensions=said)


def words(rng, *shape):
    return rng.choice(WORDS, shape)


def one_hot_encoder(rng):
    shape = [int(n) for n in rng.integers(1, 4, int(rng.integers(1, 3)))]
    zeros = None if rng.random() < 0.7 else 1
    if rng.random() < 0.4:
        return ml("OneHotEncoder", [words(rng, *shape)], cats_strings=[str(w) for w in WORDS[:4] if w], zeros=zeros)
    return ml("OneHotEncoder", [rng.integers(0, 5, shape).astype(kind_of(rng))], cats_int64s=[1, 3, 0], zeros=zeros)


def array_feature_extractor(rng):
    kind = kind_of(rng)
    shape = [int(n) for n in rng.integers(1, 5, int(rng.integers(1, 4)))]
    x = words(rng, *shape) if rng.random() < 0.3 else rng.integers(-9, 9, shape).astype(kind)
    return ml("ArrayFeatureExtractor", [x, rng.integers(0, shape[-1], int(rng.integers(1, 5))).astype("i8")])


def category_mapper(rng):
    shape = [int(n) for n in rng.integers(1, 4, int(rng.integers(1, 3)))]
    x = words(rng, *shape) if rng.random() < 0.5 else rng.integers(0, 6, shape).astype("i8")
    return ml("CategoryMapper", [x], cats_strings=["a", "dog", "c"], cats_int64s=[5, 2, 0],
              default_string=None if rng.random() < 0.5 else "none", default_int64=None if rng.random() < 0.5 else 7)


def label_encoder(rng):
    shape = [int(n) for n in rng.integers(1, 4, int(rng.integers(1, 3)))]
    kinds = ["strings", "int64s", "floats"]
    from_kind, to_kind = (str(k) for k in rng.choice(kinds, 2))
    pool = {"strings": ["a", "c", "dog"], "int64s": [3, 1, 4], "floats": [0.5, float("nan"), 2.0]}
    x = {"strings": lambda: words(rng, *shape), "int64s": lambda: rng.integers(0, 6, shape).astype("i8"),
         "floats": lambda: rng.choice([0.5, 1.5, np.nan, 2.0, 0.0], shape).astype("f4")}[from_kind]()
    defaults = {"strings": ("default_string", "none"), "int64s": ("default_int64", -7), "floats": ("default_float", 9.5)}
    given = dict([defaults[to_kind]]) if rng.random() < 0.6 else {}
    if rng.random() < 0.3:  # keys and values as tensors
        types = {"strings": object, "int64s": "i8", "floats": "f4"}
        keys, values = (numpy_helper.from_array(np.array(pool[k], types[k]), k) for k in (from_kind, to_kind))
        more = {}
        if given:
            more["default_tensor"] = numpy_helper.from_array(np.array([list(given.values())[0]], types[to_kind]), "d")
        return ml("LabelEncoder", [x], opset=4, keys_tensor=keys, values_tensor=values, **more)
    return ml("LabelEncoder", [x], opset=int(rng.choice([2, 4])),
              **{f"keys_{from_kind}": pool[from_kind], f"values_{to_kind}": pool[to_kind]}, **given)


def dict_vectorizer(rng):
    if rng.random() < 0.5:
        x = {str(k): np.float32(v) for k, v in zip(["a", "c", "x"], rng.uniform(-1, 1, int(rng.integers(1, 4))))}
        return ml("DictVectorizer", [x], string_vocabulary=["c", "a", "b"])
    x = {int(k): np.float32(v) for k, v in zip([4, 2, 9], rng.uniform(-1, 1, int(rng.integers(1, 4))))}
    return ml("DictVectorizer", [x], int64_vocabulary=[2, 4, 7])


def zip_map(rng):
    x = rng.uniform(-1, 1, (int(rng.integers(1, 4)), 3)).astype("f4")
    if rng.random() < 0.5:
        return ml("ZipMap", [x], classlabels_int64s=[4, 2, 9])
    return ml("ZipMap", [x], classlabels_strings=["a", "c", "b"])


def surplus(rng):
    """The number of surplus coefficients of a class or target; 0 in most cases."""
    return int(rng.integers(1, 3)) if rng.random() < 0.2 else 0


def linear_regressor(rng):
    x, targets = table(rng, "f4", ranks=(2,)), int(rng.integers(1, 4))
    return ml("LinearRegressor", [x], coefficients=floats(rng, targets * x.shape[-1] + surplus(rng)), targets=targets,
              intercepts=floats(rng, targets) if rng.random() < 0.6 else None,
              post_transform=str(rng.choice(TRANSFORMS)), rtol=1e-4, atol=1e-5)


def labels(rng, classes, ints):
    return ({"classlabels_strings": ["a", "b", "c", "d"][:classes]} if rng.random() < 0.4 else
            {ints: [4, 2, 9, 7][:classes]})


def linear_classifier(rng):
    x, classes = table(rng, kind_of(rng), ranks=(2,)), int(rng.integers(2, 5))
    rows = 1 if classes == 2 and rng.random() < 0.5 else classes
    return ml("LinearClassifier", [x], 2, coefficients=floats(rng, rows * (x.shape[-1] + surplus(rng))),
              intercepts=floats(rng, rows),
              post_transform=str(rng.choice(TRANSFORMS)), multi_class=int(rng.integers(2)),
              **labels(rng, classes, "classlabels_ints"), rtol=1e-4, atol=1e-5)


def kernel_of(rng):
    kind = str(rng.choice(["LINEAR", "POLY", "RBF", "SIGMOID"]))
    return {"kernel_type": kind, "kernel_params": [0.3, 0.2, float(rng.integers(1, 4))]}


def svm_regressor(rng):
    x, supports = table(rng, "f4", ranks=(2,)), int(rng.integers(1, 5))
    columns = x.shape[-1]
    return ml("SVMRegressor", [x], n_supports=supports, coefficients=floats(rng, supports), rho=floats(rng, 1),
              support_vectors=floats(rng, supports * columns), post_transform="NONE",
              one_class=int(rng.random() < 0.2), **kernel_of(rng), rtol=1e-4, atol=1e-4)


def svm_classifier(rng):
    x, classes = table(rng, kind_of(rng), ranks=(2,)), int(rng.integers(2, 4))
    columns, each = x.shape[-1], [int(n) for n in rng.integers(1, 3, classes)]
    supports, pairs = sum(each), classes * (classes - 1) // 2
    with_probabilities = rng.random() < 0.5
    return ml("SVMClassifier", [x], 2, coefficients=floats(rng, supports * (classes - 1)), rho=floats(rng, pairs),
              support_vectors=floats(rng, supports * columns), vectors_per_class=each,
              prob_a=floats(rng, pairs) if with_probabilities else None,
              prob_b=floats(rng, pairs) if with_probabilities else None,
              post_transform=str(rng.choice(TRANSFORMS)), **kernel_of(rng),
              **labels(rng, classes, "classlabels_ints"), rtol=1e-4, atol=1e-4)


class forest:
    """A few random trees as the attributes nodes_..."""

    def __init__(self, rng, columns, targets, weights="target", modes=("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                                                         "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")):
        self.nodes, self.leaves, self.rng, self.columns, self.targets = [], [], rng, columns, targets
        self.modes = modes if rng.random() < 0.4 else modes[:1]
        self.weights = weights
        for tree in range(int(rng.integers(1, 4))):
            self.next = 0
            self.grow(tree, int(rng.integers(0, 4)))
            # A leaf that no node leads to: onnxruntime gives its weights to the first node if that is a leaf.
            if self.nodes[0][3] != "LEAF" and rng.random() < 0.1:
                self.grow(tree, 0)
        if rng.random() < 0.3:
            self.leaves = [self.leaves[i] for i in rng.permutation(len(self.leaves))]

    def grow(self, tree, depth):
        rng, node = self.rng, self.next
        self.next += 1
        row = [tree, node, int(rng.integers(self.columns)), "LEAF", 0.0, 0, 0, 0]
        self.nodes.append(row)
        if depth == 0:
            for target in rng.integers(0, self.targets, int(rng.integers(1, 4))):  # a target may occur twice
                self.leaves.append((tree, node, int(target), floats(rng, 1)[0]))
            return node
        row[3] = str(rng.choice(self.modes))
        row[4] = float(np.float32(np.round(rng.uniform(-3, 3)) if rng.random() < 0.5 else rng.uniform(-3, 3)))
        row[7] = int(rng.random() < 0.5)
        row[5] = self.grow(tree, depth - 1)
        row[6] = self.grow(tree, depth - 1)
        return node

    def attributes(self):
        names = ["treeids", "nodeids", "featureids", "modes", "values", "truenodeids", "falsenodeids",
                 "missing_value_tracks_true"]
        made = {f"nodes_{name}": [row[i] for row in self.nodes] for i, name in enumerate(names)}
        for i, name in enumerate(("treeids", "nodeids", "ids", "weights")):
            made[f"{self.weights}_{name}"] = [leaf[i] for leaf in self.leaves]
        return made


def rows_with_missing(rng, kind):
    x = table(rng, kind, ranks=(2,))
    if kind.startswith("f") and rng.random() < 0.3:
        x[rng.random(x.shape) < 0.2] = np.nan
    return x


def tree_regressor(rng):
    x, targets = rows_with_missing(rng, str(rng.choice(["f4", "f8"]))), int(rng.integers(1, 4))
    return ml("TreeEnsembleRegressor", [x], opset=int(rng.choice([1, 3])), n_targets=targets,
              **forest(rng, x.shape[-1], targets).attributes(), post_transform=str(rng.choice(TRANSFORMS)),
              aggregate_function=str(rng.choice(["SUM", "AVERAGE", "MIN", "MAX"])),
              base_values=floats(rng, targets) if rng.random() < 0.4 else None, rtol=1e-4, atol=1e-5)


def tree_classifier(rng):
    x, classes = rows_with_missing(rng, kind_of(rng)), int(rng.integers(1, 5))
    binary = classes == 2  # onnxruntime returns 0 and 1 instead of labels for two classes that leaves name
    # For one class, too, onnxruntime returns a number instead of the label, and the process crashes if the label is a string.
    outputs, names = (["", "out_1"], {"classlabels_int64s": [4]}) if classes == 1 else (
        2, labels(rng, classes, "classlabels_int64s"))
    return ml("TreeEnsembleClassifier", [x], outputs, opset=int(rng.choice([1, 3])),
              **forest(rng, x.shape[-1], 1 if binary else classes, "class").attributes(),
              post_transform=str(rng.choice(TRANSFORMS)), **names,
              base_values=floats(rng, 1 if binary else classes) if rng.random() < 0.3 else None, rtol=1e-4, atol=1e-5)


class packed_forest:
    """A few random trees as attributes of TreeEnsemble, which lists inner nodes and leaves separately. One test in six
    is of membership in a set; a tree of one leaf is a node whose branches both lead to it."""

    def __init__(self, rng, columns, targets):
        self.rng, self.columns, self.targets = rng, columns, targets
        self.modes = 7 if rng.random() < 0.5 else 1
        self.nodes, self.leaves, self.members, self.tracks_missing = [], [], {}, rng.random() < 0.5
        self.roots = [self.grow(int(rng.integers(0, 4))) for _ in range(int(rng.integers(1, 5)))]

    def leaf(self):
        self.leaves.append((int(self.rng.integers(self.targets)), floats(self.rng, 1)[0]))
        return len(self.leaves) - 1

    def branch(self, depth):
        if depth == 0 or self.rng.random() < 0.3:
            return self.leaf(), 1
        return self.grow(depth - 1), 0

    def grow(self, depth):
        rng, at = self.rng, len(self.nodes)
        self.nodes.append(None)
        mode, split = int(rng.integers(self.modes)), floats(rng, 1, 3)[0]
        split = float(np.round(split)) if rng.random() < 0.5 else split
        if mode == 6:
            self.members[at] = [float(v) for v in rng.integers(-4, 5, int(rng.integers(1, 5)))]
        first = self.branch(depth)
        second = first if depth == 0 else self.branch(depth)
        self.nodes[at] = (int(rng.integers(self.columns)), mode, split, *first, *second, int(rng.random() < 0.5))
        return at

    def leaf_of(self, row, at):
        feature, mode, split, true, true_leaf, false, false_leaf, missing = self.nodes[at]
        x = float(row[feature])
        tests = [x <= split, x < split, x >= split, x > split, x == split, x != split, x in self.members.get(at, [])]
        yes = tests[mode] or (self.tracks_missing and missing and np.isnan(x))
        to, is_leaf = (true, true_leaf) if yes else (false, false_leaf)
        return self.leaves[to] if is_leaf else self.leaf_of(row, to)

    def scores(self, x, aggregate, transform):
        """The definition, in doubles. onnxruntime does not transform the scores of a single target."""
        made = np.zeros((len(x), self.targets))
        for row, to in zip(x, made):
            told = [self.leaf_of(row, root) for root in self.roots]
            for target in {t for t, _ in told}:
                weights = [w for t, w in told if t == target]
                to[target] = [sum(weights) / len(self.roots), sum(weights), min(weights), max(weights)][aggregate]
        if self.targets == 1:
            return made
        if transform == 2:
            return 1 / (1 + np.exp(-made))
        if transform:
            powers = np.where((made == 0) & (transform == 3), 0, np.exp(made))
            made = powers / np.maximum(powers.sum(1, keepdims=True), 1e-30)
        return made

    def attributes(self, kind):
        columns = list(zip(*self.nodes))
        names = ["nodes_featureids", "nodes_modes", "nodes_splits", "nodes_truenodeids", "nodes_trueleafs",
                 "nodes_falsenodeids", "nodes_falseleafs", "nodes_missing_value_tracks_true"]
        made = {name: list(column) for name, column in zip(names, columns)}
        targets, weights = zip(*self.leaves)
        made |= {"tree_roots": self.roots, "leaf_targetids": list(targets)}

        def tensor(name, values, of):
            made[name] = numpy_helper.from_array(np.array(values, of), name)

        tensor("nodes_modes", made["nodes_modes"], "u1")
        tensor("nodes_splits", made["nodes_splits"], kind)
        tensor("leaf_weights", weights, kind)
        if self.members:
            tensor("membership_values", [v for at in sorted(self.members) for v in self.members[at] + [np.nan]], kind)
        if not self.tracks_missing:
            del made["nodes_missing_value_tracks_true"]
        return made


def tree_ensemble(rng):
    kind = str(rng.choice(["f4", "f8"]))
    x, targets = rows_with_missing(rng, kind), int(rng.integers(1, 4))
    trees, transform, aggregate = packed_forest(rng, x.shape[-1], targets), int(rng.integers(4)), int(rng.integers(4))
    return ml("TreeEnsemble", [x], opset=5, n_targets=targets, **trees.attributes(kind), post_transform=transform,
              aggregate_function=aggregate, oracle=lambda: {"out_0": trees.scores(x, aggregate, transform).astype(kind)},
              rtol=1e-4, atol=1e-5)


FAMILIES = {
    "TreeEnsemble": (tree_ensemble, 500),
    "Normalizer": (normalizer, 600), "Scaler": (scaler, 200), "Binarizer": (binarizer, 100), "Imputer": (imputer, 200),
    "FeatureVectorizer": (feature_vectorizer, 200), "OneHotEncoder": (one_hot_encoder, 200),
    "ArrayFeatureExtractor": (array_feature_extractor, 200), "CategoryMapper": (category_mapper, 100),
    "LabelEncoder": (label_encoder, 300), "DictVectorizer": (dict_vectorizer, 100), "ZipMap": (zip_map, 50),
    "LinearRegressor": (linear_regressor, 300), "LinearClassifier": (linear_classifier, 400),
    "SVMRegressor": (svm_regressor, 300), "SVMClassifier": (svm_classifier, 400),
    "TreeEnsembleRegressor": (tree_regressor, 500), "TreeEnsembleClassifier": (tree_classifier, 600),
}

NAN_KEY = {"keys_floats": [0.5, float("nan")], "values_int64s": [3, 4], "default_int64": 7}
ALWAYS = [ml("LabelEncoder", [np.array([np.nan, 0.5, 2], "f4")], opset=v, name=f"NaN {v}", **NAN_KEY) for v in (2, 4)]
ALWAYS += [ml("TreeEnsembleRegressor", [np.ones((1, 1), "f4")], n_targets=2, base_values=[0.5, 0.25],
              nodes_treeids=[0], nodes_nodeids=[0], nodes_featureids=[0], nodes_modes=["LEAF"], nodes_values=[0.0],
              nodes_truenodeids=[0], nodes_falsenodeids=[0], target_treeids=[0], target_nodeids=[0], target_ids=[1],
              target_weights=[2.0], name="base")]

if __name__ == "__main__":
    sys.exit(d.main(FAMILIES, ALWAYS))
