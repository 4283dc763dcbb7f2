# The public names, in the order in which a learner meets them: __init__.py reads them here.
from stridekit.layout import Layout as Layout
from stridekit.layout import LayoutError as LayoutError
from stridekit.tensors.explain import explain as explain
from stridekit.widgets import StrideExplorer as StrideExplorer
from stridekit.widgets import explore as explore
from stridekit.widgets import Goal as Goal
from stridekit.widgets import Predict as Predict
from stridekit.exercises import review as review
from stridekit.widgets import Drill as Drill
from stridekit.tensors.storage import read_element as read_element
from stridekit.tensors.storage import read_storage as read_storage
from stridekit.tensors.storage import storage_view as storage_view
from stridekit.tensors.sharing import memset as memset
from stridekit.memory.memset import MemorySet as MemorySet
from stridekit.tensors.sharing import is_view as is_view
from stridekit.tensors.sharing import shares_memory as shares_memory
from stridekit.tensors.sharing import shares_storage as shares_storage
from stridekit.tensors.sharing import has_internal_overlap as has_internal_overlap
from stridekit.memory.memset import Undecided as Undecided
from stridekit.tensors.relation import relation as relation
from stridekit.tensors.storages import storages as storages
from stridekit.widgets import AliasExplorer as AliasExplorer
from stridekit.widgets import Sort as Sort
from stridekit.tensors.view_error import explain_view as explain_view
from stridekit.widgets import ReshapeStepper as ReshapeStepper
from stridekit.widgets.diagnosis import diagnose as diagnose
from stridekit.widgets import Diagnose as Diagnose
from stridekit.widgets import ChannelsLastExplorer as ChannelsLastExplorer
from stridekit.widgets import FormatTracer as FormatTracer
from stridekit.elementwise import output_layout as output_layout
from stridekit.elementwise import loop_nest as loop_nest
from stridekit.tensors.tricky import tricky_layouts as tricky_layouts
from stridekit.widgets import TraversalExplorer as TraversalExplorer
from stridekit.cost.traffic import traffic as traffic
from stridekit.timing import measure as measure
from stridekit.timing import compare as compare
from stridekit.widgets import AttentionExplorer as AttentionExplorer
from stridekit.widgets import CacheExplorer as CacheExplorer
from stridekit.audit import audit as audit
from stridekit.widgets import CopyTracer as CopyTracer

__version__: str
__all__: list[str]

def load_ipython_extension(shell: object) -> None: ...
