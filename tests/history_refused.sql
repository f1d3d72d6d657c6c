-- files, addresses and settings, which the connection refuses too
SELECT * FROM read_csv('/etc/passwd')
SELECT * FROM read_csv_auto('/etc/passwd')
SELECT * FROM '/etc/passwd'
SELECT * FROM "/etc/passwd"
SELECT * FROM read_text('/etc/passwd')
SELECT * FROM read_blob('/etc/passwd')
SELECT * FROM read_json('/etc/passwd')
SELECT * FROM read_parquet('/tmp/*.parquet')
SELECT * FROM parquet_metadata('/tmp/x.parquet')
SELECT * FROM sniff_csv('/etc/passwd')
SELECT * FROM glob('/etc/*')
SELECT * FROM 'https://example.com/x.csv'
SELECT * FROM read_csv('https://example.com/x.csv')
SELECT * FROM cables, read_csv('/etc/passwd')
SELECT (SELECT content FROM read_text('/etc/passwd'))
WITH x AS (SELECT * FROM read_text('/etc/passwd')) SELECT * FROM x
DESCRIBE SELECT * FROM read_text('/etc/passwd')
SUMMARIZE SELECT * FROM read_text('/etc/passwd')
EXPLAIN ANALYZE SELECT * FROM read_text('/etc/passwd')
COPY cables TO '/tmp/stolen.csv'
COPY (SELECT 1) TO '/dev/stdout'
EXPLAIN ANALYZE COPY (SELECT 1) TO '/tmp/stolen.csv'
EXPORT DATABASE '/tmp/stolen'
IMPORT DATABASE '/tmp/stolen'
ATTACH '/tmp/stolen.db'
SET enable_external_access = true
SET memory_limit = '100GB'
SET lock_configuration = false
RESET lock_configuration
PRAGMA memory_limit = '100GB'
INSTALL httpfs
LOAD httpfs
LOAD '/tmp/x.so'
CREATE SECRET (TYPE s3)
CALL enable_logging(storage := 'file')
SELECT * FROM enable_logging()

-- what the connection may do, and a question may not
SELECT * FROM duckdb_settings()
SELECT * FROM duckdb_secrets()
SELECT * FROM information_schema.tables
SELECT * FROM pg_catalog.pg_class
SELECT current_setting('memory_limit')
SELECT getenv('HOME')
SELECT write_log('x')
CREATE TABLE x AS SELECT 1
CREATE MACRO x() AS 1
INSERT INTO cables SELECT * FROM cables
WITH x AS (SELECT 1) INSERT INTO cables SELECT * FROM x
DELETE FROM cables
UPDATE cables SET device = 'x'
DROP VIEW cables
BEGIN
PREPARE x AS SELECT 1
EXPLAIN (FORMAT json) SELECT 1
