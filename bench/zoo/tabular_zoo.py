"""Linear models, support vector machines, nearest neighbors and tree ensembles of scikit-learn, XGBoost and LightGBM.
They are trained on random data, because the converters only take fitted models."""
import numpy as np
import onnx

from zoo_tools import Entry

ROWS, FEATURES = 300, 8


def data():
    r = np.random.default_rng(3)
    x = r.standard_normal((ROWS, FEATURES)).astype(np.float32)
    score = x @ r.standard_normal(FEATURES) + 0.3 * np.sin(3 * x[:, 0])
    return x, score.astype(np.float32), np.digitize(score, [-1.5, 1.5])


def save(model, folder):
    onnx.save(model, str(folder / "model.onnx"))
    return {model.graph.input[0].name: data()[0][:17]}


def sklearn(make, kind, zipmap=True):
    def build(folder):
        from skl2onnx import to_onnx
        x, score, label = data()
        fitted = make()
        fitted.fit(x, {"classify": label, "two": label > 1, "regress": score, "none": None}[kind])
        options = {id(fitted): {"zipmap": False}} if zipmap and kind in ("classify", "two") else None
        return save(to_onnx(fitted, x[:1], options=options, target_opset={"": 17, "ai.onnx.ml": 3}), folder)
    return build


def boosted(package, make, kind):
    def build(folder):
        import onnxmltools
        from onnxmltools.convert.common.data_types import FloatTensorType
        x, score, label = data()
        fitted = make().fit(x, label if kind == "classify" else score)
        convert = getattr(onnxmltools, f"convert_{package}")
        plain = {"zipmap": False} if package == "lightgbm" and kind == "classify" else {}
        return save(convert(fitted, initial_types=[("X", FloatTensorType([None, FEATURES]))], target_opset=15, **plain),
                    folder)
    return build


def entries():
    from sklearn import ensemble, linear_model, naive_bayes, neighbors, neural_network, pipeline, preprocessing, svm
    from sklearn import cluster, decomposition, impute, tree
    import lightgbm
    import xgboost

    def chain(*steps):
        return lambda: pipeline.make_pipeline(*(s() for s in steps))

    small = {"n_estimators": 12, "max_depth": 5, "random_state": 1}
    ten = {"n_estimators": 10}
    made = [
        ("sk_logistic", sklearn(linear_model.LogisticRegression, "classify")),
        ("sk_ridge", sklearn(linear_model.Ridge, "regress")),
        ("sk_forest", sklearn(lambda: ensemble.RandomForestClassifier(**small), "classify")),
        ("sk_forest_regressor", sklearn(lambda: ensemble.RandomForestRegressor(**small), "regress")),
        ("sk_extra_trees", sklearn(lambda: ensemble.ExtraTreesClassifier(**small), "two")),
        ("sk_boosting", sklearn(lambda: ensemble.GradientBoostingClassifier(n_estimators=8, random_state=1), "two")),
        ("sk_tree", sklearn(lambda: tree.DecisionTreeClassifier(max_depth=6, random_state=1), "classify")),
        ("sk_svc", sklearn(lambda: svm.SVC(random_state=1), "classify")),
        ("sk_svr", sklearn(lambda: svm.SVR(), "regress")),
        ("sk_linear_svc", sklearn(lambda: svm.LinearSVC(), "classify", zipmap=False)),
        ("sk_one_class", sklearn(lambda: svm.OneClassSVM(), "none")),
        ("sk_neighbors", sklearn(lambda: neighbors.KNeighborsClassifier(4), "classify")),
        ("sk_bayes", sklearn(naive_bayes.GaussianNB, "classify")),
        ("sk_perceptron", sklearn(lambda: neural_network.MLPClassifier((12,), random_state=1), "classify")),
        ("sk_kmeans", sklearn(lambda: cluster.KMeans(4, random_state=1, n_init=2), "none")),
        ("sk_isolation", sklearn(lambda: ensemble.IsolationForest(n_estimators=6, random_state=1), "none")),
        ("sk_pipeline", sklearn(chain(impute.SimpleImputer, preprocessing.StandardScaler,
                                      lambda: preprocessing.PolynomialFeatures(2, include_bias=False),
                                      lambda: decomposition.PCA(6), linear_model.LogisticRegression), "classify")),
        ("sk_scalers", sklearn(chain(preprocessing.MinMaxScaler, preprocessing.Normalizer,
                                     lambda: preprocessing.KBinsDiscretizer(3, encode="onehot-dense",
                                                                            strategy="uniform")), "none")),
        ("xgboost_classifier", boosted("xgboost", lambda: xgboost.XGBClassifier(**ten, max_depth=4), "classify")),
        ("xgboost_regressor", boosted("xgboost", lambda: xgboost.XGBRegressor(**ten, max_depth=4), "regress")),
        ("lightgbm_classifier", boosted("lightgbm", lambda: lightgbm.LGBMClassifier(**ten, verbose=-1), "classify")),
        ("lightgbm_regressor", boosted("lightgbm", lambda: lightgbm.LGBMRegressor(**ten, verbose=-1), "regress")),
    ]
    return [Entry(name, "tabular", build, 1e-3, 1e-5) for name, build in made]
