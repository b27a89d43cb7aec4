# SPDX-License-Identifier: MIT OR Apache-2.0
"""The parts of ws-bench; ../README.md says how it is used."""
