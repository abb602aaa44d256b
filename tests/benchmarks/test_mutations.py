import pytest

from benchmarks.mutations import REPOSITORY, Mutation, apply_mutation, read_mutations

MUTATION = Mutation("more", "module.py", "LIMIT = 3", "LIMIT = 4", ("tests",))


def test_the_list_names_files_and_tests_of_the_repository():
    mutations = read_mutations()
    assert len(mutations) >= 40
    assert len({mutation.what for mutation in mutations}) == len(mutations)
    for mutation in mutations:
        assert (REPOSITORY / mutation.file).read_text(encoding="utf-8").count(
            mutation.old
        ) == 1, mutation.what
        assert mutation.old != mutation.new
        for test in mutation.tests:
            assert (REPOSITORY / test.partition("::")[0]).exists(), (
                f"{mutation.what}: {test}"
            )


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (0, "survived"),
        (1, "noticed"),
        (2, "tests can't be run"),
        (4, "tests can't be run"),
    ],
)
def test_a_change_is_applied_while_its_tests_run(tmp_path, status, outcome):
    file = tmp_path / "module.py"
    file.write_text("# A limit.\nLIMIT = 3\n")
    seen = []

    def run(folder, tests):
        seen.append((folder, tests, file.read_text()))
        return status

    assert apply_mutation(MUTATION, tmp_path, run) == outcome
    assert seen == [(tmp_path, ("tests",), "# A limit.\nLIMIT = 4\n")]
    assert file.read_text() == "# A limit.\nLIMIT = 3\n"


@pytest.mark.parametrize("text", ["LIMIT = 5\n", "LIMIT = 3\nLIMIT = 3\n", None])
def test_a_change_without_its_old_text_is_stale(tmp_path, text):
    if text is not None:
        (tmp_path / "module.py").write_text(text)
    assert (
        apply_mutation(
            MUTATION, tmp_path, lambda folder, tests: pytest.fail("no tests are run")
        )
        == "stale"
    )
