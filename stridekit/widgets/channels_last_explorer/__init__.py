"""ChannelsLastExplorer: the same values in NCHW and NHWC order."""
