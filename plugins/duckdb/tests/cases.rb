# Runs the statements of standard input, which ";" ends, in DuckDB's package for Java, and prints the last one's first value. JRuby runs it, since a
# runtime of Java has no compiler.
require "java"
properties = java.util.Properties.new
properties.setProperty("allow_unsigned_extensions", "true")
connection = org.duckdb.DuckDBDriver.new.connect("jdbc:duckdb:", properties)
statement = connection.createStatement
last = nil
STDIN.read.split(/;\n/).each do |text|
  next if text.strip.empty?
  if statement.execute(text)
    rows = statement.getResultSet
    last = rows.getString(1) if rows.next
  end
end
puts last
