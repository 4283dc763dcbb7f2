"""ChannelsLastExplorer: the same values in NCHW and NHWC order."""

from stridekit.widgets.channels_last_explorer.widget import ChannelsLastExplorer

__all__ = ["ChannelsLastExplorer"]
