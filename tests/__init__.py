"""The tests stand as the rooms do; laws, oracles, habits and scenarios that concern many rooms have folders of their own."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
