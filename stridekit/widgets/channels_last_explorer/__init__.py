"""ChannelsLastExplorer: the same values in NCHW and NHWC order, and a network that keeps or loses one."""

from stridekit.widgets.channels_last_explorer.widget import ChannelsLastExplorer

__all__ = ["ChannelsLastExplorer"]
