CREATE TABLE products (code TEXT PRIMARY KEY, "unit price" REAL, name TEXT);
INSERT INTO products VALUES
  ('p1', 9.5, 'Pencil'), ('p2', 120.0, 'Lamp'), ('p3', 75.25, NULL), ('it''s', 60.0, 'Quoted'), ('p5', 3.0, 'Clip');
