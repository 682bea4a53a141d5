"""How bench/engine measures: processes and tools, what stacks say, tables; the measures are in measures/."""
