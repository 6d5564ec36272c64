"""The posing page and the player: a figure that is taken by the hand in a browser, and motions that play there (viser)."""

from typing import TYPE_CHECKING

from supple import lazily

if TYPE_CHECKING:
    from supple.view.page.page import Page as Page
    from supple.view.page.session import Session as Session

__getattr__, __dir__, __all__ = lazily(__name__, {"page": ["Page"], "session": ["Session"]})
