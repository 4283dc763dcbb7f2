"""Repairs of the bugs of notebook 10, as changes of the faulty program: "piece => other piece".

A wrong repair has words of the hint that it should get: what is still wrong, with numbers.
"""

RIGHT = {
    "prepare": [
        "x.reshape(3, height, width) => x.permute(2, 0, 1)",
        "x.reshape(3, height, width) => x.movedim(-1, 0)",
        "x.reshape(3, height, width) => x.transpose(0, 2).transpose(1, 2)",
        "x.reshape(3, height, width) => torch.stack(x.unbind(-1))",
        "x.reshape(3, height, width) => x.reshape(-1, 3).T.reshape(3, height, width)",
        "torch.from_numpy(photo) => torch.from_numpy(photo.transpose(2, 0, 1).copy())",
    ],
}  # fmt: skip

WRONG = {
    "prepare": {
        "x.reshape(3, height, width) => x.permute(2, 1, 0)": "the picture lies on its side",
        "x.reshape(3, height, width) => x.view(3, height, width)":
            "Do these three values lie beside each other in the photo?",
        "x.reshape(3, height, width) => x.mean(2).expand(3, height, width)":
            "The three channels are equal, so all colour is gone: the first pixel reads [1, 1, 1]",
        "x.reshape(3, height, width) => x.permute(2, 0, 1).flip(0)":
            "Red and blue are exchanged in 16 of 16 pixels",
        "x = x.reshape(3, height, width) => x = x.permute(2, 0, 1)[[2, 1, 0]]":
            "Red and blue are exchanged in 16 of 16 pixels",
        "x.reshape(3, height, width) => x.permute(2, 0, 1) && [None] => ":
            "Your batch has shape (3, 4, 4)",
        "    x = x.reshape(3, height, width)\n => "
        "    x = F.avg_pool2d(x.reshape(3, height, width), 3, 1, 1)\n":
            "16 of 16 pixels are wrong",
    },
}  # fmt: skip
