"""What cells measure, predict, claim and try with: clocks, records, memory, levers, data and task graphs."""
