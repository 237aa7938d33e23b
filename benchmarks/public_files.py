"""``python -m benchmarks.public_files``: ``spansvm tune FILE --target COLUMN`` on files of others.

The files are those below, as public repositories have them; the folder that holds them under these
names is in the environment variable SPANSVM_PUBLIC_FILES, and ``--list`` says where each comes
from.  None is part of this project.  Each is tuned in a process of its own, with no option but the
target, and must end.

Columns: what was read; the rows that candidates were compared on; the command's own figure for new
rows, and for the best candidate (error, or for a regression 1 - R2 of left-out rows); five-fold
cross-validation by scikit-learn on the rows that were searched, of an SVC or SVR with the selected
parameters (optimistic: they were selected on these rows), of one with its defaults, and of the
largest class or the mean; processor seconds and peak memory of the command; and what it said.
Columns are prepared for scikit-learn in the same way: it takes neither gaps nor texts.  (nan: it
refuses the weight of a class that a fold lacks.)
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, SVR

from reproduction.csv_files import read_rows
from spansvm_app.cli.smaller import draw_sample
from spansvm_app.cli.terminal import Terminal
from spansvm_app.tables import Roles, Table, build_pipeline, read_table

from .measure import RESULTS, machine, write

FOLDER = "SPANSVM_PUBLIC_FILES"
FOLDS = 5

#: Lines of the command that say how far it is, not what it found.
PROGRESS = re.compile(r"^\d+/\d+ candidates|^Search(ing|ed) |^Train(ing|ed) |^This will take|^--")


@dataclass(frozen=True)
class File:
    """A file: its name here, its target, where it comes from, and its SHA-256."""

    name: str
    target: str
    repository: str
    commit: str
    path: str
    digest: str

    @property
    def address(self) -> str:
        """Where it can be had."""
        return f"https://raw.githubusercontent.com/{self.repository}/{self.commit}/{self.path}"


FILES = (
    File("titanic.csv", "Survived", "datasciencedojo/datasets",
         "f0ccab6a7ceafdff780052166fb6fab3311398eb", "titanic.csv",
         "4a437fde05fe5264e1701a7387ac6fb75393772ba38bb2c9c566405af5af4bd7"),
    File("loan_train.csv", "Loan_Status", "subashgandyer/datasets",
         "fd947a6980eaed94a098b193cdda7cc50a51bbd7", "loan_train.csv",
         "d3bb9a21e11492e9e036c9744ced577d495ea88d3ba89d7401d137f9936d0e3f"),
    File("german_credit.csv", "default", "stedy/Machine-Learning-with-R-datasets",
         "ff933238d9c30da179b7e3ad4b6ca938d67efc53", "credit.csv",
         "5c9906df163beb8c7d9c497146d3bdf210c4816401f32b488d6c10fcbff0d048"),
    File("penguins.csv", "species", "mwaskom/seaborn-data",
         "71e2436a092d714350de0fc409ca8a8714e7e78f", "penguins.csv",
         "e07636bd8af74260099ea2f8678e2eabbf35def579940cc76f67061ee16c06c1"),
    File("HouseVotes84.csv", "Class", "selva86/datasets",
         "c943fa8851270387c44d26efb0f9c0aac1559e11", "HouseVotes84.csv",
         "1c2f6936cc14a2d9295fd27654d7d2ef46e044ae6a2544d2e15c9c14c749fb33"),
    File("usedcars.csv", "price", "stedy/Machine-Learning-with-R-datasets",
         "ff933238d9c30da179b7e3ad4b6ca938d67efc53", "usedcars.csv",
         "bcc9bd6ab2cdf80a3cfe3fbdaef897ae4e1b0cfe1ebba3aad31022421b333900"),
    File("mpg.csv", "mpg", "mwaskom/seaborn-data",
         "71e2436a092d714350de0fc409ca8a8714e7e78f", "mpg.csv",
         "c14b8b855ea7ee86cb9736bf8caaf281c4685ca08826f3eb2acaccaaf40f0d5a"),
    File("student-mat.csv", "G3", "4sunny/PythonDataScienceTutoring",
         "7962bef8f981a79e5d78270a0ada036bbcc2e8b4", "student-mat.csv",
         "f060c9d7b31e7bc6abc4a889f564b071ac0aac1d7733e45edf4c58089994a03b"),
    File("hr_attrition.csv", "Attrition", "mkariithi/HRdataIBM",
         "d65916f43181065383818c6cb52f73654fd6b710", "WA_Fn-UseC_-HR-Employee-Attrition.csv",
         "d0c8269408bf28895e21b599005776f67f7a363427c0e60798f2aacc037e56ea"),
    File("Soybean.csv", "Class", "selva86/datasets",
         "c943fa8851270387c44d26efb0f9c0aac1559e11", "Soybean.csv",
         "96eac8047b2034523c57c5d6ae32ecc64ba2da139b1d930a838a35de3cda5ce6"),
    File("sms_spam.csv", "type", "stedy/Machine-Learning-with-R-datasets",
         "ff933238d9c30da179b7e3ad4b6ca938d67efc53", "sms_spam.csv",
         "f68d2d3f7cf0d382f6f8c922484db8c496bd610d2ae69dfd619011fad2479b01"),
    File("concrete.csv", "strength", "stedy/Machine-Learning-with-R-datasets",
         "ff933238d9c30da179b7e3ad4b6ca938d67efc53", "concrete.csv",
         "d7d8bd087f832935e902bcb2687667238cac3fe06799677a93ca2f46dce8db02"),
    File("bank-additional.csv", "y", "gauravbalyan/datasets",
         "30b3813b58dfe40607cdb39b24270e9053920be8", "bank-additional.csv",
         "7e59cf650004d65d1c9d6b08553bad2ee9a9ad70d594f536e3c584ee6ed5df50"),
    File("Vehicle.csv", "Class", "selva86/datasets",
         "c943fa8851270387c44d26efb0f9c0aac1559e11", "Vehicle.csv",
         "6ac6c57691c9db640e54a973cde46928366b77b20b9f06341c66cc5a8bcf14c5"),
    File("BreastCancer.csv", "Class", "selva86/datasets",
         "c943fa8851270387c44d26efb0f9c0aac1559e11", "BreastCancer.csv",
         "7efcfc593f86f3d898df92a8fec32e64ce84195647bd3a8a2d48c68c005767f4"),
    File("Glass.csv", "Type", "selva86/datasets",
         "c943fa8851270387c44d26efb0f9c0aac1559e11", "Glass.csv",
         "6c1bc5ccf98200009d2d12d72e5fb45e6eac9d3ab7ac5397a8e8d52565156b1f"),
    File("Hitters.csv", "Salary", "selva86/datasets",
         "c943fa8851270387c44d26efb0f9c0aac1559e11", "Hitters.csv",
         "34bf36e0351e8638d65bcdb57a6224e1abdffb6e1d3e532578fdd3af1faf88d2"),
    File("Admission.csv", "Chance of Admit", "selva86/datasets",
         "c943fa8851270387c44d26efb0f9c0aac1559e11", "Admission.csv",
         "d6b07027b0211b399994deb819511965d07e630fe1d9806e1cd0fabd7fb3d5fb"),
    File("Cars93_miss.csv", "Price", "selva86/datasets",
         "c943fa8851270387c44d26efb0f9c0aac1559e11", "Cars93_miss.csv",
         "de7e8b297b8077937db282b09e668dc50a3b1886cf1be6c5abc06b38c2f8d77f"),
    File("Fish.csv", "Weight", "SoumadipDey/datasets",
         "f13d40b67633a5074f39439ee65076d73ceb5453", "Fish.csv",
         "561fc2f04d95698b65eca8094fc99170994947bda61c3ffe7a0d21e61bbbe341"),
    File("AER_credit_card.csv", "card", "gauravbalyan/datasets",
         "30b3813b58dfe40607cdb39b24270e9053920be8", "AER_credit_card_data.csv",
         "93a46ce44e0542e5094e9675440fcc36e9a018c2ec879e868726f717ebd47c21"),
    File("tips.csv", "tip", "mwaskom/seaborn-data",
         "71e2436a092d714350de0fc409ca8a8714e7e78f", "tips.csv",
         "e54cc4d2ce1bff65d32ca60b3e4b802e06bde1d7e7caf6f796f6bf7370e863b0"),
    File("candy.csv", "winpercent", "gauravbalyan/datasets",
         "30b3813b58dfe40607cdb39b24270e9053920be8", "candy.csv",
         "71ada1e91d90f18090b1d6fc7f65b22f9f832c5cc9bdd1d12fa099904ba7a3ca"),
    File("insurance.csv", "charges", "stedy/Machine-Learning-with-R-datasets",
         "ff933238d9c30da179b7e3ad4b6ca938d67efc53", "insurance.csv",
         "505c1cbc2e63d0363bac59501563df2530aadf4cdb9cfee226f4ef32f5468281"),
    File("heart_disease.csv", "TenYearCHD", "subashgandyer/datasets",
         "fd947a6980eaed94a098b193cdda7cc50a51bbd7", "heart_disease.csv",
         "f902677c57100765499e4bbae59e9625708c026c111d13db3fe70d5b4ec28495"),
    File("telco_churn.csv", "Churn", "Arunava14/Telco-Customer-Churn",
         "2a26d570076990b6c617a98f5c7d75656c647912", "WA_Fn-UseC_-Telco-Customer-Churn.csv",
         "518f4c9937308960a3c6615afe469ce58e2654be5b5390f62c565d8056d1aa86"),
    File("Life_Expectancy_Data.csv", "Life expectancy", "selva86/datasets",
         "c943fa8851270387c44d26efb0f9c0aac1559e11", "Life_Expectancy_Data.csv",
         "38a91f707cddcfc492e02fe53dc1b8c1637a6f17f3d91d11d183de21b2087bc9"),
    File("flavors_of_cocoa.csv", "Rating", "SoumadipDey/datasets",
         "f13d40b67633a5074f39439ee65076d73ceb5453", "flavors_of_cocoa.csv",
         "5f00d4da1962f9b4cc9d7d7605a9dc3de76aeb6c62b07adcba15fbd5ce12fee3"),
    File("winequality-white.csv", "quality", "stedy/Machine-Learning-with-R-datasets",
         "ff933238d9c30da179b7e3ad4b6ca938d67efc53", "winequality-white.csv",
         "66b071bfe464e02aaef19d61fe28ce99b6f75efebb81be0fb58555713c3ab7a6"),
    File("Churn_Modelling.csv", "Exited", "selva86/datasets",
         "c943fa8851270387c44d26efb0f9c0aac1559e11", "Churn_Modelling.csv",
         "3996cd1fa372e0db0cd9c0ebac35bbd4e8e3c65fb942bb010c826e7b1eeef0a0"),
    File("AmesHousing2.csv", "SalePrice", "gauravbalyan/datasets",
         "30b3813b58dfe40607cdb39b24270e9053920be8", "AmesHousing2.csv",
         "65a1cbb89c2b58b11674097135dd04e710df5db726bcfe6ec551de38b44e4911"),
    File("mushrooms.csv", "type", "stedy/Machine-Learning-with-R-datasets",
         "ff933238d9c30da179b7e3ad4b6ca938d67efc53", "mushrooms.csv",
         "758f8af700c43b5dec249e83c97ecf239daf2f6fb8c0b9dd6a25fd47e7dd3311"),
    File("CarDekhoPriceDataset.csv", "selling_price", "SoumadipDey/datasets",
         "f13d40b67633a5074f39439ee65076d73ceb5453", "CarDekhoPriceDataset.csv",
         "454fe4ea4f6d2af973493287abf0631006a32bd4f462103e4dfcffa75d721edf"),
    File("melb_data.csv", "Price", "gauravbalyan/datasets",
         "30b3813b58dfe40607cdb39b24270e9053920be8", "melb_data_with_id.csv",
         "589bc7ab542527deae2119a53a5e491c193c807a2fe62f05a43ba2dfa6abb1ff"),
    File("california_housing.csv", "median_house_value", "ageron/data",
         "2ea73147454d2ff8c8a933913be4606f05b352ca", "housing/housing.csv",
         "2364609dc48bec7df3ba9dbb7041478e704ecddcee70ef1827ec3fc49d22c0cc"),
    File("adult_train.csv", "class", "selva86/datasets",
         "c943fa8851270387c44d26efb0f9c0aac1559e11", "adult_train.csv",
         "8aa29f8f84b4b8b8db3ee22412ac9f4969f6b71f22adffce08af8e174db4d90b"),
)  # fmt: skip


def tuned(file: File, path: Path, folder: Path) -> dict[str, Any]:
    """The command's exit code, what it said, its report, and what it took."""
    command = [sys.executable, "-m", "spansvm", "tune", str(path), "--target", file.target]
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=(folder / "said").open("w")
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    lines = (folder / "said").read_text().splitlines()
    found = list(folder.glob("*-tuned/report.json"))
    return {
        "code": process.returncode,
        "said": " | ".join(line for line in lines if not PROGRESS.match(line)),
        "report": json.loads(found[0].read_text()) if found else None,
        "cpu": used.ru_utime + used.ru_stime,
        "memory": used.ru_maxrss / 2**20,
    }


def searched_rows(table: Table, report: dict[str, Any]) -> Table:
    """The rows that candidates were compared on."""
    sample = report["facts"]["sample"]
    if sample is None:
        return table
    size = int(re.search(r"--sample (\d+)", sample["in_words"])[1])
    drawn = draw_sample(table, size, 0, Terminal(quiet=True))
    assert drawn is not None
    return drawn.table


def cross_validated(table: Table, rows: Table, estimator: Any, scale: str) -> float:
    """The error of five-fold cross-validation, or 1 - R2."""
    regression = table.task == "regression"
    kind = KFold if regression else StratifiedKFold
    model = build_pipeline(table, estimator, scale=scale, all_categories=True)
    if isinstance(estimator, (DummyClassifier, DummyRegressor)):
        model = Pipeline(model.steps[-1:])
    scores = cross_val_score(
        model, rows.X, rows.y, cv=kind(FOLDS, shuffle=True, random_state=0),
        scoring="r2" if regression else "accuracy",
    )  # fmt: skip
    return 1.0 - float(np.mean(scores))


def selected(report: dict[str, Any], table: Table) -> Any:
    """scikit-learn's estimator with the selected parameters."""
    given = {name.removeprefix("svm__"): value for name, value in report["best_params"].items()}
    weights = given.pop("class_weight", None)
    linear = "gamma" not in given
    if linear:
        given["kernel"] = "linear"
    if table.task == "regression":
        return SVR(**given)
    if weights is not None:
        classes = {str(label): label for label in table.schema.classes}
        given["class_weight"] = {classes[str(key)]: one for key, one in weights.items()}
    return SVC(**given)


def measure(file: File, folder: Path) -> dict[str, object]:
    """The row of a file."""
    path = folder / file.name
    if hashlib.sha256(path.read_bytes()).hexdigest() != file.digest:
        raise SystemExit(f"{path} is not the file of {file.address}; get it from there.")
    with tempfile.TemporaryDirectory() as own:
        found = tuned(file, path, Path(own))
    row: dict[str, object] = {
        "file": file.name, "target": file.target, "commit": commit(), "code": found["code"]
    }  # fmt: skip
    report = found["report"]
    if report is None:
        return {**row, "said": found["said"]}
    table = read_table(path, roles=Roles(target=file.target))
    rows = searched_rows(table, report)
    regression = table.task == "regression"
    corrected, best = figures(report, regression=regression)
    dummy = DummyRegressor() if regression else DummyClassifier()
    scale = report["facts"]["preprocessing"]["scale"]
    return {
        **row,
        "task": table.task,
        "rows": table.n_rows,
        "columns": len(table.feature_names),
        "encoded": report["facts"]["preprocessing"]["n_encoded"],
        "classes": len(table.schema.classes) or None,
        "searched": rows.n_rows,
        "expected": corrected,
        "left_out": best,
        "cv_selected": cross_validated(table, rows, selected(report, table), scale),
        "cv_default": cross_validated(table, rows, SVR() if regression else SVC(), scale),
        "cv_largest_or_mean": cross_validated(table, rows, dummy, scale),
        "cpu_seconds": round(found["cpu"], 1),
        "peak_gib": round(found["memory"], 2),
        "said": found["said"],
    }


def commit() -> str:
    """The version of this project that makes the row."""
    found = re.search(r"commit ([^;]+)", machine())
    return "" if found is None else found[1]


def figures(report: dict[str, Any], *, regression: bool) -> tuple[float | None, float]:
    """What the report expects on new rows, if it corrects that, and what the best candidate has."""
    summary = report["summary"]
    if regression:
        return 1.0 - summary["expected"]["r2"], 1.0 - summary["loo_r2"]
    return summary["corrected_error"], summary["loo_error"]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.public_files", description=__doc__)
    parser.add_argument("--list", action="store_true", help="say where the files come from")
    parser.add_argument("--only", nargs="+", metavar="FILE", help="keep the rows of all others")
    arguments = parser.parse_args()
    if arguments.list:
        print("\n".join(f"{file.name}\t{file.address}" for file in FILES))
        return
    folder = os.environ.get(FOLDER)
    if not folder:
        raise SystemExit(f"{FOLDER} is not set: it names the folder with the files of --list.")
    known = {}
    if arguments.only:
        known = {row["file"]: row for row in read_rows(RESULTS / "public_files.csv")[0]}
    for file in FILES:
        if not arguments.only or file.name in arguments.only:
            known[file.name] = measure(file, Path(folder))
            write("public_files", [known[one.name] for one in FILES if one.name in known])
            print(
                {name: own for name, own in known[file.name].items() if name != "said"}, flush=True
            )


if __name__ == "__main__":
    main()
