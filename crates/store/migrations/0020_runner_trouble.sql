-- Why a runner cannot record what happens, while it cannot.
ALTER TABLE runners ADD COLUMN trouble TEXT;
