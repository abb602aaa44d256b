"""Model files for tests: changed copies, and the complaints about them."""

import hashlib
import json

import pytest
from safetensors.numpy import load, save

from leafid.errors import LeafidError
from leafid.model.model import Model


def answers(model, pictures, loader):
    return [
        (answer.picture.name, answer.ranking)
        for answer in model.predict(pictures, loader)
    ]


def complaint(file):
    with pytest.raises(LeafidError) as caught:
        Model.read(file)
    message = str(caught.value)
    assert message.startswith(f"{file}: ")
    assert "\n" not in message
    assert len(message) < 700
    return message


def take_apart(file):
    """Read the manifest and the arrays of a model."""
    content = file.read_bytes()
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    return json.loads(header["__metadata__"]["manifest"].partition("\n")[2]), load(
        content
    )


def read_reproducible_content(file):
    """Read all of a model to the bit but the classifiers that skops stores.

    It writes them differently every time.
    """
    manifest, arrays = take_apart(file)
    for type_model in manifest["model"]["types"].values():
        for scorer in type_model["identifier"]["estimators"].values():
            assert scorer.pop("content")
    return manifest, {
        name: (array.shape, array.dtype, array.tobytes())
        for name, array in arrays.items()
    }


def changed(source, target, change):
    """Copy a model with another manifest, under a correct checksum."""
    manifest, arrays = take_apart(source)
    change(manifest)
    return put_together(target, json.dumps(manifest), arrays)


def put_together(target, text, arrays):
    bare = save(arrays)
    data = bare[8 + int.from_bytes(bare[:8], "little") :]
    checksum = hashlib.sha256(text.encode() + data).hexdigest()
    target.write_bytes(save(arrays, {"manifest": f"{checksum}\n{text}"}))
    return target
