-- Which link a runner has, at whichever hub: the others must know that it is there.

ALTER TABLE runners ADD COLUMN link TEXT;
