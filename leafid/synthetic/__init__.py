"""Leaves drawn by formula, for the demo, the tests and the shipped sample.

A species is a description (`catalogue`); a plant and a leaf are variations of it (`species`); the contour and the veins
follow by formula (`outline`, `anatomy`), are painted (`painter`) and put into a scene (`backgrounds`, `scene`);
a whole collection is a plan (`plan`) that is written out (`writer`).
"""
