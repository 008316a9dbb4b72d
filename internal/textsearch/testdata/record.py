"""Writes a small text encoder, an image encoder with features of the same kind, a tokenizer, and the ids that the
library tokenizers gives: python3 record.py. It needs onnx and tokenizers."""

import json

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

START, END = "<|startoftext|>", "<|endoftext|>"
LENGTH = 8
merges = [("r", "e"), ("re", "d</w>"), ("g", "re"), ("gre", "e"), ("gree", "n</w>"), ("b", "l"), ("bl", "u"), ("blu", "e</w>"), ("'", "s</w>"), ("e", "d</w>"), ("o", "o"), ("Ã", "ł</w>")]
vocab = ["!"] + [a + end for a in "abcdefghilnoprstu'.12Ãłį©ÂŃÌĩ" for end in ("", "</w>")] + [a + b for a, b in merges] + [START, END]
ids = {token: i for i, token in enumerate(vocab)}

t = Tokenizer(models.BPE(vocab=ids, merges=merges, continuing_subword_prefix="", end_of_word_suffix="</w>", unk_token=END))
t.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()])
t.pre_tokenizer = pre_tokenizers.Sequence([
    pre_tokenizers.Split(Regex(r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"), behavior="removed", invert=True),
    pre_tokenizers.ByteLevel(add_prefix_space=False)])
t.post_processor = processors.RobertaProcessing((END, ids[END]), (START, ids[START]), trim_offsets=False, add_prefix_space=False)
t.save("tokenizer.json", pretty=False)
texts = ["red", "a RED  house", "green's", "the blue's red.", "bleed reed", "12 21", "", " \t\n", "...", "'s's", "a\u00a0b\u3000c\vd", "\u00e0 a\u0300", "\u00ad", "\u0130", "\u00ef\u732b"]
with open("encoded.json", "w") as out:
    json.dump([{"text": x, "ids": t.encode(x).ids} for x in texts], out, indent=0)

table = np.zeros((len(vocab), 3), np.float32)
for column, word in enumerate(("red", "green", "blue")):
    table[ids[word + "</w>"], column] = 1
nodes = [
    helper.make_node("Gather", ["table", "input_ids"], ["rows"]),
    helper.make_node("Transpose", ["rows"], ["columns"], perm=[0, 2, 1]),
    helper.make_node("Unsqueeze", ["columns"], ["map"], axes=[2]),
    helper.make_node("GlobalAveragePool", ["map"], ["pooled"]),
    helper.make_node("Flatten", ["pooled"], ["text_embeds"]),
]
graph = helper.make_graph(nodes, "text", [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", LENGTH])],
                          [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("text_embeds", "rows")],
                          [numpy_helper.from_array(table, "table")])
save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 11)]), "text.onnx")
nodes = [helper.make_node("GlobalAveragePool", ["image"], ["pooled"]), helper.make_node("Flatten", ["pooled"], ["image_embeds"])]
graph = helper.make_graph(nodes, "image", [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 3, 6, 6])],
                          [helper.make_tensor_value_info("image_embeds", TensorProto.FLOAT, None)])
save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 11)]), "image.onnx")
