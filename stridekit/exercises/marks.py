"""The marks of sections and exercises: essential or further, and one to three dots.

Everything that shows or follows a path asks this module: `paths` and `progress`, the task of an exercise,
and the site. The essentials are the sections and exercises that are named here. All others are further.
"""

from __future__ import annotations

from typing import NamedTuple

WORDS = ("essential", "further")  # which a reader sees beside a section or an exercise
START = "00_start"  # the lesson that both paths begin with: it has no marks
PRACTICE = ("10_bug_hunt", "11_puzzles")  # lessons that teach nothing new
# The headings of essential sections, in the order of the lesson. A section that checks exercises has their
# mark. The words before the first section belong to both paths.
ESSENTIAL_SECTIONS = {
    "01_strides": (
        "Memory is one line",
        "The formula",
        "Play with it",
        "By rows or by columns",
        "Two units: elements and bytes",
        "The storage offset: where reading starts",
        "The stride of a new tensor",
        "A slice changes three numbers",
        "What to take away",
    ),
    "02_views": (
        "A cache that outgrew its machine",
        "Two names, one memory",
        "Play with it",
        "The memory set",
        "What a view is",
        "Two rows, taken in two ways",
        "A game: view, copy, or does it depend?",
        "How long memory lives",
        "Writing where others live",
        "The cache, fixed",
        "What to take away",
    ),
    "03_contiguity": (
        "A model that trains, badly",
        "Reading order, memory order",
        "Chunks: which dims step evenly",
        "The rule of view",
        "Walk it",
        "reshape asks view first",
        "The message, decoded",
        "Two ways from (2, 3) to (3, 2)",
        "Back to the heads",
        "What to take away",
    ),
}


class Mark(NamedTuple):
    """The mark of an exercise: from one dot, a first try, to three, a riddle."""

    dots: int
    is_essential: bool = False

    def __str__(self) -> str:
        dots = "●" * self.dots + "○" * (3 - self.dots)
        return f"{word(self.is_essential)} · {dots}"


def word(is_essential: bool) -> str:
    """Return the word that a reader sees beside a section or an exercise."""
    return WORDS[0] if is_essential else WORDS[1]


# By key of an exercise: the package of its lesson and its name.
EXERCISES = {
    "start_slot": Mark(1, is_essential=True),
    "strides_element": Mark(1, is_essential=True),
    "strides_address": Mark(1, is_essential=True),
    "strides_contiguous_stride": Mark(2, is_essential=True),
    "strides_slice_layout": Mark(3),
    "strides_recover_slice": Mark(3),
    "strides_raw_bytes": Mark(2),
    "strides_row": Mark(1),
    "strides_column": Mark(1),
    "strides_diagonal": Mark(2),
    "strides_trace": Mark(1),
    "strides_windows": Mark(2),
    "views_memset_of": Mark(2),
    "views_share_bytes": Mark(3),
    "views_permute_layout": Mark(2),
    "views_keep_row": Mark(1, is_essential=True),
    "views_first_copy": Mark(2),
    "views_bump_first": Mark(1, is_essential=True),
    "contiguity_is_contiguous": Mark(2),
    "contiguity_mergeable": Mark(2, is_essential=True),
    "contiguity_view_stride": Mark(3),
    "contiguity_unviewable": Mark(3),
    "contiguity_clone_stride": Mark(3),
    "contiguity_by_columns": Mark(2),
    "channels_last_channels_last_stride": Mark(1),
    "channels_last_channels_last_view": Mark(1),
    "channels_last_formats": Mark(3),
    "channels_last_first_to_lose": Mark(2),
    "channels_last_flatten_images": Mark(2),
    "channels_last_uses_to_pay_back": Mark(2),
    "performance_cache_lines": Mark(2),
    "performance_bytes_moved": Mark(2),
    "performance_cheapest_first": Mark(3),
    "performance_break_even": Mark(2),
    "attention_head_layout": Mark(2),
    "attention_matmul_clones": Mark(3),
    "attention_merge_heads": Mark(1),
    "attention_group_scores": Mark(2),
    "attention_append": Mark(2),
    "attention_blocks": Mark(3),
    "your_model_norm_bytes": Mark(1),
    "your_model_made_by": Mark(3),
    "your_model_shuffle": Mark(3),
    "your_model_features": Mark(1),
    "your_model_does_nothing": Mark(2),
    "your_model_can_go": Mark(3),
    "your_model_decode": Mark(2),
    "hardware_warp_sectors": Mark(1),
    "hardware_time_it": Mark(2),
    "hardware_slowdown": Mark(2),
    "way_back_for_kernel": Mark(1),
    "way_back_grad_stride": Mark(2),
    "way_back_arrives": Mark(2),
    "way_back_grad_views": Mark(2),
    "way_back_may_write": Mark(3),
    "way_back_fake_halve": Mark(2),
    "bug_hunt_prepare": Mark(1),
    "bug_hunt_fit": Mark(1),
    "bug_hunt_save_states": Mark(1),
    "bug_hunt_train_reader": Mark(2),
    "bug_hunt_train_photos": Mark(2),
    "bug_hunt_pack": Mark(2),
    "bug_hunt_features": Mark(3),
    "bug_hunt_train_branches": Mark(3),
    "puzzles_turned": Mark(1),
    "puzzles_second_rows": Mark(1),
    "puzzles_inside": Mark(1),
    "puzzles_stereo": Mark(1),
    "puzzles_same_rows": Mark(1),
    "puzzles_channels_first": Mark(1),
    "puzzles_diagonal": Mark(1),
    "puzzles_corners": Mark(1),
    "puzzles_twice": Mark(1),
    "puzzles_antidiagonal": Mark(2),
    "puzzles_windows": Mark(2),
    "puzzles_patches": Mark(3),
    "puzzles_heads": Mark(2),
    "puzzles_tiles": Mark(2),
    "puzzles_phases": Mark(2),
    "puzzles_batch_diagonals": Mark(2),
    "puzzles_bytes_of": Mark(2),
    "puzzles_band": Mark(3),
    "puzzles_half_turn": Mark(1),
    "puzzles_rolled": Mark(1),
    "puzzles_sums": Mark(1),
    "puzzles_merged_heads": Mark(2),
    "puzzles_upsampled": Mark(2),
    "puzzles_channels_last": Mark(2),
    "puzzles_doubled": Mark(2),
    "puzzles_moving_sums": Mark(2),
    "puzzles_histories": Mark(3),
    "puzzles_lower_triangle": Mark(2),
    "puzzles_mirrored": Mark(3),
    "puzzles_circulant": Mark(3),
}
