"""Motion: motions and markers, from markers to motions (`tracking`, `optimal_tracking`), people made to measure
(`subject`), and motions carried over to other figures (`retargeting`).

A *motion* is postures over time; *markers* are points that cameras saw.
"""

from typing import TYPE_CHECKING

from supple import lazily

if TYPE_CHECKING:
    from supple.motion.markers import Markers as Markers
    from supple.motion.motion import Motion as Motion
    from supple.motion.optimal_tracking.natural import Natural as Natural
    from supple.motion.optimal_tracking.settings import (
        OptimalTracking as OptimalTracking,
        TrackedFrames as TrackedFrames,
    )
    from supple.motion.optimal_tracking.trial import DrivenAngle as DrivenAngle, Held as Held
    from supple.motion.retargeting.match import Match as Match
    from supple.motion.retargeting.retarget import (
        Retargeted as Retargeted,
        match_segments as match_segments,
        retarget as retarget,
    )
    from supple.motion.subject.subject import Subject as Subject, fit_subject as fit_subject
    from supple.motion.tracking.frame_by_frame import FrameByFrame as FrameByFrame
    from supple.motion.tracking.relabelling import relabelled as relabelled
    from supple.motion.tracking.track import track as track
    from supple.motion.tracking.tracked import Tracked as Tracked
    from supple.motion.tracking.whole_clip import WholeClip as WholeClip

__getattr__, __dir__, __all__ = lazily(
    __name__,
    {
        "markers": ["Markers"],
        "motion": ["Motion"],
        "optimal_tracking.natural": ["Natural"],
        "optimal_tracking.settings": ["OptimalTracking", "TrackedFrames"],
        "optimal_tracking.trial": ["DrivenAngle", "Held"],
        "retargeting.match": ["Match"],
        "retargeting.retarget": ["Retargeted", "match_segments", "retarget"],
        "subject.subject": ["Subject", "fit_subject"],
        "tracking.frame_by_frame": ["FrameByFrame"],
        "tracking.relabelling": ["relabelled"],
        "tracking.track": ["track"],
        "tracking.tracked": ["Tracked"],
        "tracking.whole_clip": ["WholeClip"],
    },
)
