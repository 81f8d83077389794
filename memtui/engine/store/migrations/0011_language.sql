-- The language that a text is written in, where somebody says so.
ALTER TABLE memories ADD COLUMN language TEXT;
