"""For the eye: figures, a page, and the plain model that a learned one is held against."""
