"""Model files for tests: changed copies, and the complaints about them."""

import io
import json
import zipfile

import numpy as np
import pytest

from leafid.errors import LeafidError
from leafid.model.model import Model


def answers(model, pictures, loader):
    return [(answer.picture.name, answer.ranking) for answer in model.predict(pictures, loader)]


def complaint(file):
    with pytest.raises(LeafidError) as caught:
        Model.read(file)
    message = str(caught.value)
    assert message.startswith(f"{file}: ")
    assert "\n" not in message
    assert len(message) < 600
    return message


def changed(source, target, change=None, leave_out=(), add=None):
    """Copy a model with another manifest, or other members."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "manifest.json" and change:
                manifest = json.loads(content)
                content = json.dumps(change(manifest) or manifest)
            if name not in leave_out and name not in (add or {}):
                new.writestr(name, content)
        for name, content in (add or {}).items():
            new.writestr(name, content)
    return target


def npy(array, allow_pickle=False):
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=allow_pickle)
    return stream.getvalue()
