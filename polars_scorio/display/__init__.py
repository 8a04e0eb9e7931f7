"""For people who look: leaderboards, tables and pictures."""
