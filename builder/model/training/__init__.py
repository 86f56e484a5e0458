"""How the encoder is trained: labels, partial gold, augmentation, the network, export. Needs the extra `train`."""
