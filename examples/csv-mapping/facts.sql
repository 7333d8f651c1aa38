CREATE TABLE users (name TEXT PRIMARY KEY, country TEXT);
INSERT INTO users VALUES ('a', 'it'), ('b', 'it'), ('c', 'no'), ('d', 'no'), ('e', 'de'), ('f', 'it');
